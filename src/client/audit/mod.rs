//! The audit: reads a whole log and verifies everything that can be verified about a registry from outside.
//!
//! [`audit`] takes nothing on trust but a trust file. It hashes every entry itself and compares the tiles that are
//! served; verifies every checkpoint's signature and its root at its size; replays the events and compares each document
//! of each pin set byte for byte; checks the heads that are served now, and the heads that a gateway kept. What
//! contradicts is a [`Fault`], with what was signed as its evidence. What couldn't be looked at is no fault: the audit
//! stops there and says so, and never calls it good.
//!
//! Where entries come from is a [`Source`]: a registry over HTTP, or its database. Memory is the fold's and a few files in
//! flight, however long the log is. [`Resume`] is the file by which an interrupted audit goes on.

mod kept;
mod report;
mod resume;
mod source;
mod transitions;
mod walk;

pub use kept::{Kept, NotKept};
pub use report::{Fault, FaultKind, Report, Verified};
pub use resume::Resume;
pub use source::{Blind, Http, Listed, Piece, Served, Source};
pub use walk::{Asked, audit};
