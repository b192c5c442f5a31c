//! What an MCP server advertises, as whole objects: one descriptor, a capture of all of them, a release of a server.
//!
//! - [`Descriptor`] is one object exactly as it was listed, its canonical bytes and digests, and whether it may be pinned.
//! - [`Capture`] is what a server listed at one moment. An item that the strict parser refuses stays in it, refused, and
//!   its neighbours are judged without it.
//! - [`Release`] is a capture attested for a server, version and variant.
//! - [`diff`] says what moved between two descriptors and hides nothing; [`renamed`] pairs vanished names with new ones.
//!
//! Nothing here projects a descriptor onto known fields: unknown members are legal and hashed, and raw bytes are kept as
//! they were received. This module fetches nothing, believes nothing that `serverInfo` says, and doesn't judge safety.
//! It follows the MCP specification, protocol versions 2024-11-05 to 2026-07-28.

mod capture;
pub mod diff;
mod file;
mod item;
mod listed;
mod release;
mod renamed;
mod rules;

pub use capture::{Capture, CaptureError, MAX_CAPTURE_BYTES, MAX_DESCRIPTORS, Method, PROTOCOL_VERSIONS, Taken};
pub use item::{Descriptor, Member};
pub use listed::Listed;
pub use release::{Release, Subject};
pub use renamed::{Rename, renamed};
pub use rules::{Rule, Unpinnable};

pub use crate::name::Kind;
