//! What a release's attestation says: an in-toto Statement v1 with our own predicate.
//!
//! Follows in-toto/attestation `spec/v1`, more strictly: a member that the format doesn't know is refused, a subject has
//! one digest and nothing else, and subjects are sorted. A statement read here is only words; [`super::verify`] says
//! whose.

use serde::Serialize;

use super::{
    Role,
    members::{Malformed, Members},
    predicate::{NotAPredicate, Predicate, Server},
};
use crate::canon::{self, Sha256, Value};

/// The in-toto statement type.
pub const STATEMENT_TYPE: &str = "https://in-toto.io/Statement/v1";
/// The payload type of a DSSE envelope that holds a statement.
pub const PAYLOAD_TYPE: &str = "application/vnd.in-toto+json";
/// Our predicate type. A changed predicate gets another one.
pub const PREDICATE_TYPE: &str = "urn:countersign:attestation:mcp-release:v1";

/// One descriptor of a release, as attestations name it.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Subject {
    /// Kind, slash, name as listed: `tool/export`.
    pub name: String,
    /// The digest by the deciding recipe.
    pub sha256: Sha256,
}

/// Which descriptors belong to which release, and who says so in which role.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Statement {
    /// Every descriptor of the release, sorted.
    pub subjects: Vec<Subject>,
    /// What is said about them.
    pub predicate: Predicate,
}

/// Why a payload is no statement of ours.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum NotAStatement {
    /// Not strict JSON of the statement's form.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// `_type` is another one.
    #[error("the statement type is {0:?}")]
    StatementType(String),
    /// `predicateType` is another one.
    #[error("the predicate type is {0:?}")]
    PredicateType(String),
    /// The subjects' digests are made by a recipe that decides nothing.
    #[error("the canonicalization is {0:?}")]
    Canonicalization(String),
    /// A subject stands before one that sorts lower.
    #[error("the subjects are not sorted at {0:?}")]
    Unsorted(String),
}

impl Statement {
    /// A statement about these subjects; the optional parts of the predicate are public and start out empty.
    pub fn new(server: Server, role: Role, mut subjects: Vec<Subject>) -> Self {
        subjects.sort_unstable();
        Self { subjects, predicate: Predicate::new(server, role) }
    }

    /// The payload to sign, in canonical form.
    pub fn to_payload(&self) -> Vec<u8> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Out<'a> {
            #[serde(rename = "_type")]
            statement_type: &'static str,
            subject: Vec<OutSubject<'a>>,
            predicate_type: &'static str,
            predicate: &'a Predicate,
        }
        #[derive(Serialize)]
        struct OutSubject<'a> {
            name: &'a str,
            digest: OutDigest,
        }
        #[derive(Serialize)]
        struct OutDigest {
            sha256: Sha256,
        }
        let subject =
            self.subjects.iter().map(|s| OutSubject { name: &s.name, digest: OutDigest { sha256: s.sha256 } });
        canon::to_jcs(&Out {
            statement_type: STATEMENT_TYPE,
            subject: subject.collect(),
            predicate_type: PREDICATE_TYPE,
            predicate: &self.predicate,
        })
    }

    /// Reads a payload. It needn't be in canonical form: what was signed are its bytes.
    ///
    /// # Errors
    /// The first of [`NotAStatement`] that applies, types before contents.
    pub fn parse(payload: &[u8]) -> Result<Self, NotAStatement> {
        let value = canon::parse_up_to(payload, payload.len()).map_err(Malformed::from)?;
        let mut members = Members::of(&value, String::new())?;
        let found = members.text("_type")?;
        if found != STATEMENT_TYPE {
            return Err(NotAStatement::StatementType(found.to_owned()));
        }
        let found = members.text("predicateType")?;
        if found != PREDICATE_TYPE {
            return Err(NotAStatement::PredicateType(found.to_owned()));
        }
        let listed = members.array("subject")?;
        let subjects = listed.into_iter().map(|(at, value)| Subject::read(value, at)).collect::<Result<Vec<_>, _>>()?;
        let predicate = Predicate::read(members.members("predicate")?)?;
        members.done()?;
        if let Some(pair) = subjects.windows(2).find(|pair| pair[0] > pair[1]) {
            return Err(NotAStatement::Unsorted(pair[1].name.clone()));
        }
        Ok(Self { subjects, predicate })
    }
}

impl Subject {
    fn read(value: &Value<'_>, pointer: String) -> Result<Self, Malformed> {
        let mut members = Members::of(value, pointer)?;
        let name = members.text("name")?.to_owned();
        let mut digest = members.members("digest")?;
        let sha256 = digest.parsed("sha256", "64 lower-case hex digits")?;
        digest.done()?;
        members.done()?;
        Ok(Self { name, sha256 })
    }
}

impl From<NotAPredicate> for NotAStatement {
    fn from(refused: NotAPredicate) -> Self {
        match refused {
            NotAPredicate::Malformed(malformed) => Self::Malformed(malformed),
            NotAPredicate::Canonicalization(found) => Self::Canonicalization(found),
        }
    }
}
