//! The record of a decision, as the log keeps it: all that the fold needs to change a pin set, and all that an auditor
//! needs to see who agreed to what.

use std::{collections::BTreeSet, fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use super::ballot::{Ballot, Outcome};
use crate::{
    attest::{Level, Signer},
    canon::{Digest, Recipe, Sha256},
    clock::Timestamp,
    name::{Alias, Kind, QualifiedName, ServerName, SetName, Variant, WireName},
};

/// One outcome for one digest under one name in one pin set.
///
/// It is the leaf `decision` itself (see [`crate::event`] for `v`, `type`, `at` and for what the words below mean):
///
/// ```text
/// {"pinset", "alias"?, "server", "variant", "kind", "name": the descriptor's own, "qualified"?, "wire"?,
///  "digests": {"jcs-sha256": "<64 hex>", "python-sorted-sha256": "<64 hex>"},
///  "outcome": "approve" | "reject" | "revoke" | "reopen", "candidate": "<32 hex>", "base"?: digest,
///  "release": id, "attestation": SHA-256, "level", "signer",
///  "findings": SHA-256, "accepted": [finding ids], "ruleset": SHA-256, "policy": SHA-256,
///  "supersedes": [{"digest", "until"?: time}], "mode": "solo" | "<given>-of-<needed>",
///  "ballots": [ballot, …], "reason": SHA-256, "not_after"?: time}
/// ```
///
/// Each ballot is the object of [`Ballot`], with `"type": "countersign/ballot/v1"`, `registry`, `pinset`, `candidate`,
/// `outcome`, `view` (SHA-256 of the canonical bytes of the [`View`](super::View) that was shown), `accepts` (finding
/// ids), `reviewer` and `issued` (a time). No member may be absent; `?` marks those that may be `null`.
/// [`Decision::check`] says which of them belong together: all ballots name the decision's pin set, candidate and
/// outcome and one view, no reviewer twice; `solo` has one ballot, another mode as many as were given, and at least one
/// and as many as were needed; an approval, and nothing else, has a `not_after`, and it has alias and qualified name.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Decision {
    /// The pin set.
    pub pinset: SetName,
    /// The server's alias there; only a rejection can come before it is bound.
    pub alias: Option<Alias>,
    /// The server.
    pub server: ServerName,
    /// The variant of its list.
    pub variant: Variant,
    /// What kind of descriptor.
    pub kind: Kind,
    /// The descriptor's own name, as listed.
    pub name: String,
    /// Alias and name; present when the alias is.
    pub qualified: Option<QualifiedName>,
    /// The wire name of a tool or prompt; present when the alias is.
    pub wire: Option<WireName>,
    /// The digest by both recipes.
    pub digests: Digests,
    /// What was decided.
    pub outcome: Outcome,
    /// The candidate it was decided on.
    pub candidate: CandidateId,
    /// The digest that the diff was made against.
    pub base: Option<Digest>,
    /// The release that the evidence belongs to.
    pub release: String,
    /// SHA-256 of the attestation as received.
    pub attestation: Sha256,
    /// Level of that evidence.
    pub level: Level,
    /// Who signed it.
    pub signer: Signer,
    /// SHA-256 of the scan report that was shown.
    pub findings: Sha256,
    /// Ids of the findings that every ballot accepts, sorted.
    pub accepted: Vec<String>,
    /// The rule set of that report.
    pub ruleset: Sha256,
    /// The policy in force.
    pub policy: Sha256,
    /// Older pins of the same name and variant, and when they end: `null` is at once.
    pub supersedes: Vec<Superseded>,
    /// How many agreed, of how many that were needed.
    pub mode: Mode,
    /// The ballots that counted, in the order they came.
    pub ballots: Vec<Ballot>,
    /// SHA-256 of 16 random bytes and the reason's text.
    pub reason: Sha256,
    /// When the pin ends; approvals only.
    pub not_after: Option<Timestamp>,
}

/// A descriptor's digest by both recipes, as pins show it.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Digests {
    /// The deciding one.
    #[serde(rename = "jcs-sha256")]
    pub jcs: Sha256,
    /// The one for display and migration.
    #[serde(rename = "python-sorted-sha256")]
    pub python: Sha256,
}

/// An older pin that an approval brings to an end.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Superseded {
    /// Its digest.
    pub digest: Digest,
    /// Its new end; `null` where it leaves with the decision.
    pub until: Option<Timestamp>,
}

/// A candidate's id: 128 bits of the digest of what it names, in hex.
#[derive(Clone, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct CandidateId(String);

/// `solo`, or how many ballots of how many needed, as `2-of-2`.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(try_from = "String", into = "String")]
pub enum Mode {
    /// One person decides alone in this set.
    Solo,
    /// This many agreed, of this many needed.
    Ballots {
        /// Ballots given.
        given: u32,
        /// Ballots needed.
        needed: u32,
    },
}

/// The text of a reason: 1 to 2,000 characters that aren't all space, and no control characters but line feed and tab.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ReasonText(String);

/// A page of text; what is longer belongs in a ticket that the reason names.
const MAX_REASON_CHARS: usize = 2_000;

/// A decision that doesn't hold together by itself.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Unsound {
    /// A ballot names another set, candidate or outcome, or the ballots name several views.
    #[error("a ballot is about something else")]
    BallotElsewhere,
    /// A reviewer is counted twice.
    #[error("a reviewer is counted twice")]
    SameReviewer,
    /// Fewer ballots than the mode says.
    #[error("the ballots are not as many as the mode says")]
    TooFewBallots,
    /// An approval without alias, qualified name or end; or an end on something else.
    #[error("an approval needs alias, qualified name and an end, and nothing else has an end")]
    Incomplete,
}

impl Decision {
    /// The deciding digest with its recipe.
    pub const fn digest(&self) -> Digest {
        self.digests.digest()
    }

    /// Checks what can be checked without knowing the registry's state.
    ///
    /// # Errors
    /// The first thing that doesn't fit; a log that holds such a record was not written by these rules.
    pub fn check(&self) -> Result<(), Unsound> {
        let about = |b: &Ballot| b.pinset == self.pinset && b.candidate == self.candidate && b.outcome == self.outcome;
        let one_view = self.ballots.windows(2).all(|pair| pair[0].view == pair[1].view);
        if !one_view || !self.ballots.iter().all(about) {
            return Err(Unsound::BallotElsewhere);
        }
        let reviewers: BTreeSet<_> = self.ballots.iter().map(|b| &b.reviewer).collect();
        if reviewers.len() != self.ballots.len() {
            return Err(Unsound::SameReviewer);
        }
        let enough = match self.mode {
            Mode::Solo => self.ballots.len() == 1,
            Mode::Ballots { given, needed } => {
                needed > 0 && given >= needed && usize::try_from(given) == Ok(self.ballots.len())
            }
        };
        if !enough {
            return Err(Unsound::TooFewBallots);
        }
        let approves = self.outcome == Outcome::Approve;
        let named = self.alias.is_some() && self.qualified.is_some();
        if approves != self.not_after.is_some() || (approves && !named) {
            return Err(Unsound::Incomplete);
        }
        Ok(())
    }
}

impl Digests {
    /// The deciding digest with its recipe.
    pub const fn digest(&self) -> Digest {
        Digest { recipe: Recipe::JcsSha256, sha256: self.jcs }
    }
}

impl CandidateId {
    /// The id of what these bytes describe.
    pub fn of(document: &[u8]) -> Self {
        Self(Sha256::of(document).id())
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for CandidateId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The text is no candidate id.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("not a candidate id (32 hex digits)")]
pub struct NotACandidate;

impl FromStr for CandidateId {
    type Err = NotACandidate;

    fn from_str(text: &str) -> Result<Self, NotACandidate> {
        let hex = text.len() == 32 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        if hex { Ok(Self(text.to_owned())) } else { Err(NotACandidate) }
    }
}

impl TryFrom<String> for CandidateId {
    type Error = NotACandidate;

    fn try_from(text: String) -> Result<Self, NotACandidate> {
        text.parse()
    }
}

impl From<CandidateId> for String {
    fn from(id: CandidateId) -> Self {
        id.0
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Solo => f.write_str("solo"),
            Self::Ballots { given, needed } => write!(f, "{given}-of-{needed}"),
        }
    }
}

/// The text is no mode.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("not a mode: solo, or as 2-of-2")]
pub struct NotAMode;

impl FromStr for Mode {
    type Err = NotAMode;

    fn from_str(text: &str) -> Result<Self, NotAMode> {
        if text == "solo" {
            return Ok(Self::Solo);
        }
        let (given, needed) = text.split_once("-of-").ok_or(NotAMode)?;
        let mode = Self::Ballots {
            given: given.parse().map_err(|_| NotAMode)?,
            needed: needed.parse().map_err(|_| NotAMode)?,
        };
        if mode.to_string() == text { Ok(mode) } else { Err(NotAMode) }
    }
}

impl TryFrom<String> for Mode {
    type Error = NotAMode;

    fn try_from(text: String) -> Result<Self, NotAMode> {
        text.parse()
    }
}

impl From<Mode> for String {
    fn from(mode: Mode) -> Self {
        mode.to_string()
    }
}

/// A reason that is empty or too long.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("a reason has 1 to 2,000 characters, and no control characters but line breaks and tabs")]
pub struct NotAReason;

impl ReasonText {
    /// The text as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What the log keeps of it: a digest that says nothing to whoever lacks the salt.
    pub fn digest(&self, salt: &[u8; 16]) -> Sha256 {
        Sha256::of(&[salt.as_slice(), self.0.as_bytes()].concat())
    }
}

impl FromStr for ReasonText {
    type Err = NotAReason;

    fn from_str(text: &str) -> Result<Self, NotAReason> {
        // Nobody types the others, and PostgreSQL takes no NUL in text.
        let control = |c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t');
        if text.trim().is_empty() || text.chars().count() > MAX_REASON_CHARS || text.contains(control) {
            return Err(NotAReason);
        }
        Ok(Self(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mode_has_one_spelling() {
        assert_eq!("solo".parse(), Ok(Mode::Solo));
        assert_eq!("2-of-3".parse(), Ok(Mode::Ballots { given: 2, needed: 3 }));
        for bad in ["", "2", "02-of-3", "+2-of-3", "2-of-", "2 of 3"] {
            assert_eq!(bad.parse::<Mode>(), Err(NotAMode), "{bad}");
        }
    }

    #[test]
    fn a_reason_is_not_empty_and_not_a_book() {
        assert!("ok,\r\n\tlooked at it".parse::<ReasonText>().is_ok());
        assert!("ä".repeat(2_000).parse::<ReasonText>().is_ok());
        for bad in ["", " \n", "nul\0", "\u{1b}[2J", &"a".repeat(2_001)] {
            assert_eq!(bad.parse::<ReasonText>(), Err(NotAReason), "{}", bad.len());
        }
    }

    #[test]
    fn a_reason_digest_is_salted() {
        let reason: ReasonText = "read it".parse().expect("legal");
        assert_ne!(reason.digest(&[0; 16]), reason.digest(&[1; 16]));
    }
}
