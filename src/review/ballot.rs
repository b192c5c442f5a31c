//! One reviewer's vote on exactly one view.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use super::decision::CandidateId;
use crate::{
    canon::{Sha256, to_jcs},
    clock::Timestamp,
    name::SetName,
};

/// A vote. Its canonical bytes are what a passkey signs; they name the view by digest, so a vote can't be moved to
/// anything else that was shown or will be shown.
///
/// ```text
/// {"type": "countersign/ballot/v1", "registry": origin, "pinset", "candidate": 32 hex, "outcome", "view": SHA-256,
///  "accepts": [finding ids], "reviewer": 32 hex or "local-operator", "issued": time}
/// ```
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Ballot {
    /// Always `countersign/ballot/v1`.
    pub r#type: BallotType,
    /// Origin of the registry.
    pub registry: String,
    /// The pin set it counts in.
    pub pinset: SetName,
    /// The candidate it is about.
    pub candidate: CandidateId,
    /// What the reviewer wants.
    pub outcome: Outcome,
    /// SHA-256 of the view that was shown.
    pub view: Sha256,
    /// Ids of findings that the reviewer accepts, sorted.
    pub accepts: Vec<String>,
    /// Who votes, as a random id whose name stays in the database.
    pub reviewer: ReviewerId,
    /// When, by the registry's clock.
    pub issued: Timestamp,
}

/// The document type, which has one value.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub enum BallotType {
    /// The first version.
    #[default]
    #[serde(rename = "countersign/ballot/v1")]
    V1,
}

/// What a ballot asks for and a decision brings.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The digest is pinned.
    Approve,
    /// The digest is refused.
    Reject,
    /// A pin is taken away and its digest denied.
    Revoke,
    /// A rejected, revoked or held digest waits for ballots again.
    Reopen,
}

/// A reviewer in documents: 32 hex digits made at random, or `local-operator` for `admin` beside the database.
#[derive(Clone, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct ReviewerId(String);

impl Ballot {
    /// The bytes that are signed and hashed.
    pub fn to_jcs(&self) -> Vec<u8> {
        to_jcs(self)
    }
}

impl Outcome {
    /// As documents write it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Approve => "approve",
            Self::Reject => "reject",
            Self::Revoke => "revoke",
            Self::Reopen => "reopen",
        }
    }
}

impl ReviewerId {
    /// The id made of 16 random bytes.
    pub fn random(bytes: [u8; 16]) -> Self {
        Self(format!("{:032x}", u128::from_be_bytes(bytes)))
    }

    /// Whoever runs `admin` on the machine that holds the database.
    pub fn local_operator() -> Self {
        Self("local-operator".into())
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ReviewerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The text is no reviewer id.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("not a reviewer id (32 hex digits)")]
pub struct NotAReviewer;

impl FromStr for ReviewerId {
    type Err = NotAReviewer;

    fn from_str(text: &str) -> Result<Self, NotAReviewer> {
        let hex = text.len() == 32 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        if hex || text == "local-operator" { Ok(Self(text.to_owned())) } else { Err(NotAReviewer) }
    }
}

impl TryFrom<String> for ReviewerId {
    type Error = NotAReviewer;

    fn try_from(text: String) -> Result<Self, NotAReviewer> {
        text.parse()
    }
}

impl From<ReviewerId> for String {
    fn from(id: ReviewerId) -> Self {
        id.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ballot_is_a_canonical_document_that_names_what_was_shown() {
        let ballot = Ballot {
            r#type: BallotType::V1,
            registry: "pins.example".into(),
            pinset: "default".parse().expect("legal"),
            candidate: CandidateId::of(b"c"),
            outcome: Outcome::Approve,
            view: Sha256::of(b"view"),
            accepts: vec![],
            reviewer: ReviewerId::random([7; 16]),
            issued: Timestamp::from_micros(1_796_025_600_000_000).expect("in range"),
        };
        assert_eq!(
            String::from_utf8(ballot.to_jcs()).expect("text"),
            "{\"accepts\":[],\"candidate\":\"2e7d2c03a9507ae265ecf5b5356885a5\",\
             \"issued\":\"2026-11-30T08:00:00.000000Z\",\"outcome\":\"approve\",\"pinset\":\"default\",\
             \"registry\":\"pins.example\",\"reviewer\":\"07070707070707070707070707070707\",\
             \"type\":\"countersign/ballot/v1\",\
             \"view\":\"2bcb43cbc8f6b7ef66331532881143fcbae60a879db3a8fb853f645bb24c2b3c\"}"
        );
    }

    #[test]
    fn a_reviewer_is_32_hex_digits_or_the_local_operator() {
        assert!("00000000000000000000000000000001".parse::<ReviewerId>().is_ok());
        assert_eq!("local-operator".parse(), Ok(ReviewerId::local_operator()));
        for bad in ["", "ada", "0000000000000000000000000000000", "0000000000000000000000000000000A"] {
            assert_eq!(bad.parse::<ReviewerId>(), Err(NotAReviewer), "{bad}");
        }
    }
}
