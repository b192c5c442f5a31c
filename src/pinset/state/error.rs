//! Why a leaf doesn't follow from the leaves before it.

use crate::{event::NotALeaf, name::Clash, review::Unsound};

/// A leaf that these rules could not have written at this place.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum FoldError {
    /// The bytes are no leaf.
    #[error(transparent)]
    NotALeaf(#[from] NotALeaf),
    /// Not the next leaf.
    #[error("leaf {index} was given where leaf {expected} is next")]
    Order {
        /// The index that is next.
        expected: u64,
        /// The index that was given.
        index: u64,
    },
    /// The time is not after the leaf before, or names no moment.
    #[error("time does not grow")]
    Time,
    /// The first leaf, and only it, creates the registry.
    #[error("the first leaf, and no other, creates the registry")]
    Registry,
    /// A version of the trust file, or an epoch, that can't come next.
    #[error("{0}")]
    Keys(&'static str),
    /// A pin set of this name exists.
    #[error("the pin set exists already")]
    SetExists,
    /// No pin set of this name.
    #[error("there is no such pin set")]
    UnknownSet,
    /// A policy that is out of range.
    #[error("the policy is out of range")]
    Policy,
    /// No such authority.
    #[error("there is no such authority")]
    UnknownAuthority,
    /// An authority of this id exists.
    #[error("the authority exists already")]
    AuthorityTwice,
    /// No such attestation.
    #[error("there is no such evidence")]
    UnknownEvidence,
    /// The attestation is known.
    #[error("the evidence is recorded already")]
    EvidenceTwice,
    /// The alias belongs to another server, or the server has another alias.
    #[error("alias and server are bound to each other for good: {0}")]
    Bound(String),
    /// The server has no such alias in the set.
    #[error("the server has no such alias in the pin set")]
    Unbound,
    /// The name could be taken for another one.
    #[error(transparent)]
    Clash(#[from] Clash),
    /// The decision contradicts itself.
    #[error(transparent)]
    Unsound(#[from] Unsound),
    /// The decision contradicts the state: another policy, name, evidence or older pins.
    #[error("the decision does not fit the state: {0}")]
    Decision(&'static str),
    /// No such pin.
    #[error("there is no such pin")]
    UnknownPin,
    /// The version or the documents are not those that follow.
    #[error("the published version is not the one that follows")]
    OtherDocuments,
}
