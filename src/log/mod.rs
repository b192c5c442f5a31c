//! The arithmetic and the texts of a transparency log: what can be computed about a Merkle tree and said about it.
//!
//! [`Frontier`] and [`Edge`] grow a tree, [`Plan`] says which hashes a root or a proof needs and computes it once they
//! are there, [`verify_inclusion`] and [`verify_consistency`] check, [`Tile`] and [`Bundle`] are the files a log is
//! published as, [`note`], [`Checkpoint`] and [`Proof`] are the signed and the portable texts, [`policy`] says which
//! witnesses must have cosigned, and [`witness`] is how they are asked.
//!
//! Nothing here stores, fetches, or knows what a leaf says: a leaf is bytes. Hashes that a [`Plan`] is given are not
//! trusted and need not be: whoever fetched them checks the outcome against a root that a key has signed.
//!
//! # What is served
//!
//! Below the prefix `/log`: `checkpoint`; `tile/<L>/<N>` with 256 hashes of 32 bytes, `<L>` from 0 to 7;
//! `tile/entries/<N>` with 256 leaves, each after its length in 16 bits, big-endian. The newest of each are partial,
//! `<N>.p/<W>` with `<W>` of them. `<N>` is written in groups of three digits, all but the last after an `x`:
//! `x001/234`. A leaf hashes as SHA-256 over a zero byte and the leaf, a node over a one byte and both hashes.
//!
//! Follows RFC 6962 (section 2.1), RFC 9162 (sections 2.1.3.2 and 2.1.4.2: the checks) and C2SP `tlog-tiles`,
//! `tlog-checkpoint`, `signed-note`, `tlog-cosignature`, `tlog-policy`, `tlog-witness` and `tlog-proof`; the division of
//! labour is that of Go's `golang.org/x/mod/sumdb/tlog`.

mod checkpoint;
mod edge;
mod merkle;
pub mod note;
mod plan;
pub mod policy;
mod proof;
mod tile;
pub mod witness;

pub use checkpoint::{
    BadCheckpoint, Checkpoint, NotACheckpoint, open_checkpoint, open_checkpoint_by, sign_checkpoint, sign_checkpoint_by,
};
pub use edge::{Edge, NotAnEdge};
pub use merkle::{
    Frontier, Hash, MAX_SIZE, NotAFrontier, PathStep, ProofError, Side, empty_root, inclusion_path, leaf_hash,
    node_hash, verify_consistency, verify_inclusion,
};
pub use plan::{Impossible, Missing, Node, Plan};
pub use proof::{BadProof, NotAProof, Proof};
pub use tile::{BadBundle, Bundle, FULL, MAX_LEAF, NotATile, Tile, Tiles};
