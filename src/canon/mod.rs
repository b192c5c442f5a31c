//! Strict JSON to canonical bytes to digest: the one canonicaliser of the code base.
//!
//! [`parse`] reads I-JSON (RFC 7493) strictly into a borrowed tree, [`Value::to_jcs`] writes it after RFC 8785, and
//! SHA-256 over those bytes is the digest that decides equality. A second recipe, what CPython's `json.dumps` writes with
//! sorted keys, is computed from the same tree for display and migration and decides nothing.
//!
//! One accepted value in a million has canonical bytes that [`parse`] refuses: a float from 2^53 up is written without its
//! point and would come back as an unsafe integer. Canonical bytes are for hashing, comparing and sending; keep the bytes
//! received to have the value again.
//!
//! # Documents of the registry's own
//!
//! Leaves, heads, set and pins documents, views, ballots and bundles are read by [`from_jcs`]: only bytes that are
//! canonical already, with exactly the members that the format lists and each of them present, `null` where there is
//! nothing. Their numbers are integers from 0 to 2^53−1, so a verifier needs no more of RFC 8785 than sorting names by
//! UTF-16 code units and escaping strings. An attestation and its statement are others' bytes: strict JSON, never asked
//! to be canonical. In all formats a SHA-256 is 64 lower-case hex digits, a digest is a recipe, a colon and those, and
//! base64 is the standard alphabet with padding in its one canonical spelling (no white space, no stray bits).
//!
//! The input is a stranger's bytes and nothing about it is trusted. What other parsers lose silently is refused with a
//! [`Code`]: duplicate members, integers that no double holds, lone surrogates. This module knows JSON, not descriptors.

mod digest;
mod document;
mod number;
mod order;
mod parse;
pub mod pointer;
mod python;
mod refused;
mod run;
mod value;
mod write;

pub use digest::{Digest, NotADigest, NotHex, Recipe, Sha256};
pub use document::{NotCanonical, from_jcs, to_jcs};
pub use parse::{MAX_BYTES, MAX_DEPTH, parse, parse_up_to};
pub use refused::{Code, Refused};
pub use value::{Object, Value};
pub use write::Canonical;
