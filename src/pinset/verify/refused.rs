//! Why an answer must not be relied on.

use crate::{
    attest::dsse,
    canon::{NotCanonical, Sha256},
    clock::{Span, Timestamp},
    event::NotALeaf,
    log::{BadProof, ProofError, policy::Unwitnessed},
    name::QualifiedName,
    pinset::head::NotAHead,
};

/// Why an answer must not be relied on.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// Not the JSON of an answer.
    #[error("the answer is not a pin set head: {0}")]
    Form(String),
    /// The head isn't signed by a key that the trust file names.
    #[error(transparent)]
    Head(#[from] NotAHead),
    /// A head of something else.
    #[error("the head is about {found}, not about {expected}")]
    Elsewhere {
        /// What was asked for.
        expected: String,
        /// What the head is about.
        found: String,
    },
    /// The key that signed it didn't count at the time it says it was issued.
    #[error("the head was issued at {issued}, when the key that signed it did not count")]
    KeyTime {
        /// What the head says.
        issued: Timestamp,
    },
    /// A head of another life of this registry.
    #[error("the head is of epoch {found}, the trust file of epoch {trusted}")]
    Epoch {
        /// The trust file's.
        trusted: u64,
        /// The head's.
        found: u64,
    },
    /// The head was issued in the future, further than clocks may be apart.
    #[error("the head was signed at {issued}, which is in the future: it is {now}")]
    Future {
        /// When it was signed, as it says.
        issued: Timestamp,
        /// The gateway's clock.
        now: Timestamp,
    },
    /// The head lasts longer than the trust file allows.
    #[error("the head lasts {} seconds, the trust file allows {}", .lasts.as_seconds(), .cap.as_seconds())]
    Lifetime {
        /// How long it lasts.
        lasts: Span,
        /// How long it may.
        cap: Span,
    },
    /// The head ends before it begins.
    #[error("the head expires at {0}, before it was signed")]
    Times(Timestamp),
    /// The head has run out.
    #[error("the head expired at {0}")]
    Expired(Timestamp),
    /// An older version than the one relied on.
    #[error("the registry went back from version {seen} to version {offered}")]
    Rollback {
        /// The version in hand.
        seen: u64,
        /// The version that was offered.
        offered: u64,
    },
    /// The version in hand has other contents now.
    #[error("version {0} has another digest than before: the registry signed two sets under one version")]
    TwoSets(u64),
    /// More versions than the log has room for: each has a leaf of its own. Whoever holds the head key alone could
    /// otherwise name a version so high that no honest one ever follows.
    #[error("version {offered} can't be: a log of {leaves} leaves has room for version {most} at most")]
    FastForward {
        /// The version that was offered.
        offered: u64,
        /// The highest that there can be.
        most: u64,
        /// Leaves that the head was signed over.
        leaves: u64,
    },
    /// The proof or its checkpoint doesn't hold.
    #[error(transparent)]
    Proof(#[from] BadProof),
    /// The checkpoint isn't the one that the head names.
    #[error("the head was signed over another checkpoint than the one that came with it")]
    OtherCheckpoint,
    /// The witnesses that the trust file asks for haven't cosigned the checkpoint.
    #[error(transparent)]
    Unwitnessed(#[from] Unwitnessed),
    /// The log is shorter than it was.
    #[error("the log went back from {seen} to {offered} leaves")]
    ShorterLog {
        /// Leaves seen.
        seen: u64,
        /// Leaves offered.
        offered: u64,
    },
    /// Two trees of one size, both signed: proof of a lie by itself.
    #[error("the log was split: it signed two different trees of {0} leaves")]
    SplitView(u64),
    /// The log doesn't contain the log seen before.
    #[error("the log was forked: it does not contain what it showed before ({0})")]
    Fork(ProofError),
    /// The leaf isn't one.
    #[error(transparent)]
    NotALeaf(#[from] NotALeaf),
    /// The leaf published something else.
    #[error("the logged leaf does not publish this version of the set")]
    OtherLeaf,
    /// A document isn't the one that its digest names.
    #[error("document {0} is missing or has other contents")]
    Document(Sha256),
    /// A document isn't readable or belongs elsewhere.
    #[error("a document does not belong to this set: {0}")]
    NotCanonical(#[from] NotCanonical),
    /// A document belongs elsewhere.
    #[error("a document does not belong to this set: {0}")]
    Foreign(&'static str),
    /// A pin rests on evidence that isn't there.
    #[error("the pin {0} names evidence that its document does not carry")]
    NoEvidence(QualifiedName),
}

impl Refused {
    /// Whether a newer trust file could make it acceptable: what is refused by keys, names, caps and witnesses that such a
    /// file may change. Everything else is wrong by what the answer itself says.
    pub const fn hangs_on_trust(&self) -> bool {
        matches!(
            self,
            Self::Head(NotAHead::Envelope(dsse::Refused::UnknownKey))
                | Self::Elsewhere { .. }
                | Self::KeyTime { .. }
                | Self::Epoch { .. }
                | Self::Lifetime { .. }
                | Self::Proof(BadProof::Checkpoint(_))
                | Self::Unwitnessed(_)
        )
    }
}
