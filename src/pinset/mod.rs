//! Pin sets: from the log's events to signed documents, and from signed documents to a verdict.
//!
//! Two directions meet here. The registry folds events into [`State`] and publishes documents under a signed
//! [`head`]. A gateway starts from a [`trust`] file, [`verify`]s what it fetched and asks [`verdict`] about what a server
//! lists. Both ask the same verdict function. An auditor [`replay`]s the log and compares. Nothing here does I/O or reads a
//! clock.
//!
//! A [`bundle`] proves one pin to somebody who has nothing but the trust file.
//!
//! What differs between two versions, [`changes`] says.
//!
//! A [`PinSet`] can be had only from [`verify`] or from a registry's own [`State`]: whoever holds one holds verified pins.

pub mod bundle;
pub mod changes;
pub mod desk;
mod document;

pub mod head;
pub mod replay;
mod set;
mod state;
pub mod trust;
pub mod verdict;
pub mod verify;

pub use document::{
    AliasEntry, Approval, Denial, Denied, Pin, PinEvidence, PinsDocument, PinsType, SetDocument, SetType,
};

pub use set::{AliasPins, PinSet};
pub use state::{
    AliasState, AuthorityState, Effect, EvidenceState, FoldError, HeldPin, PinKey, Published, Registry, SetState, State,
};
