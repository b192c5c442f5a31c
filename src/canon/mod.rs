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
