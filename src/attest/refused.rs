//! Everything that can be wrong with an attestation.

use super::{Role, dsse, members::Malformed, statement::NotAStatement};
use crate::canon;

/// Why a release with this attestation is not taken. Each has a stable slug, which problems and scripts go by.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Refused {
    /// The capture is not complete: nobody knows what the server lists.
    #[error("the capture is incomplete, so it can't be attested")]
    Incomplete,
    /// A listed item is not strict JSON, so it has no digest that could be attested.
    #[error("item {index} of the capture is refused: {refused}")]
    Descriptor {
        /// Its place in the capture, counted from 0.
        index: usize,
        /// Why.
        refused: canon::Refused,
    },
    /// The envelope is not strict JSON of DSSE's form.
    #[error("the attestation is no DSSE envelope: {0}")]
    Envelope(Malformed),
    /// The envelope holds something else than an in-toto statement.
    #[error("the attestation's payload type is {0:?}, not application/vnd.in-toto+json")]
    PayloadType(String),
    /// There is no signature at all.
    #[error("the attestation is not signed")]
    Unsigned,
    /// Nobody gave the signing key any authority.
    #[error("the attestation is signed by no key that is known here")]
    UnknownKey,
    /// The signing key may speak for other servers only.
    #[error("the signing key has no authority over {0}")]
    NoAuthority(String),
    /// The signing key's authority over the server was revoked.
    #[error("the authority {0} was revoked")]
    Revoked(String),
    /// The signature isn't the key's over this payload.
    #[error("the attestation's signature does not verify")]
    Signature,
    /// One key signed twice.
    #[error("the attestation holds two signatures by one key")]
    RepeatedKey,
    /// The payload is no in-toto statement of our form.
    #[error("the attestation's statement is malformed: {0}")]
    Statement(Malformed),
    /// The payload is another type of statement.
    #[error("the statement type is {0:?}, not https://in-toto.io/Statement/v1")]
    StatementType(String),
    /// The payload is a statement of another predicate.
    #[error("the predicate type is {0:?}, not urn:countersign:attestation:mcp-release:v1")]
    PredicateType(String),
    /// The statement or its predicate has a member that the format doesn't know.
    #[error("the statement has an unknown member at {0:?}")]
    UnknownMember(String),
    /// The digests are made by another recipe.
    #[error("the canonicalization is {0:?}, not jcs-sha256")]
    Canonicalization(String),
    /// The statement is about another server.
    #[error("the attestation is about the server {attested}, not {submitted}")]
    Server {
        /// What the statement says.
        attested: String,
        /// What was submitted.
        submitted: String,
    },
    /// The statement is about another version.
    #[error("the attestation is about version {attested}, not {submitted}")]
    Version {
        /// What the statement says.
        attested: String,
        /// What was submitted.
        submitted: String,
    },
    /// The statement is about another variant.
    #[error("the attestation is about variant {attested:?}, not {submitted:?}")]
    Variant {
        /// What the statement says.
        attested: String,
        /// What was submitted.
        submitted: String,
    },
    /// The statement claims a role that the signing key doesn't have.
    #[error("the attestation claims the role {claimed}, but its key has authority as {held}")]
    Role {
        /// What the statement says.
        claimed: Role,
        /// What the key's authority is for.
        held: Role,
    },
    /// The list of subjects is not in order.
    #[error("the attestation's subjects are not sorted at {0:?}")]
    SubjectsUnsorted(String),
    /// A submitted descriptor is not attested.
    #[error("the descriptor {0:?} is submitted but not attested")]
    SubjectMissing(String),
    /// An attested descriptor was not submitted.
    #[error("the descriptor {0:?} is attested but not submitted")]
    SubjectExtra(String),
    /// A descriptor is attested with another digest.
    #[error("the descriptor {0:?} is attested with another digest")]
    SubjectDigest(String),
}

impl Refused {
    /// The stable name of what is wrong.
    pub const fn slug(&self) -> &'static str {
        match self {
            Self::Incomplete => "capture-incomplete",
            Self::Descriptor { refused, .. } => refused.code.as_str(),
            Self::Envelope(_) => "attestation-malformed",
            Self::PayloadType(_) => "attestation-payload-type",
            Self::Unsigned => "attestation-unsigned",
            Self::UnknownKey => "attestation-unknown-key",
            Self::NoAuthority(_) => "attestation-no-authority",
            Self::Revoked(_) => "attestation-authority-revoked",
            Self::Signature => "attestation-signature-invalid",
            Self::RepeatedKey => "attestation-repeated-key",
            Self::Statement(_) => "attestation-statement-malformed",
            Self::StatementType(_) => "attestation-statement-type",
            Self::PredicateType(_) => "attestation-predicate-type",
            Self::UnknownMember(_) => "attestation-unknown-member",
            Self::Canonicalization(_) => "attestation-canonicalization",
            Self::Server { .. } => "attestation-server",
            Self::Version { .. } => "attestation-version",
            Self::Variant { .. } => "attestation-variant",
            Self::Role { .. } => "attestation-role",
            Self::SubjectsUnsorted(_) => "attestation-subjects-unsorted",
            Self::SubjectMissing(_) => "attestation-subject-missing",
            Self::SubjectExtra(_) => "attestation-subject-extra",
            Self::SubjectDigest(_) => "attestation-subject-digest",
        }
    }
}

impl From<dsse::Refused> for Refused {
    fn from(refused: dsse::Refused) -> Self {
        match refused {
            dsse::Refused::Malformed(malformed) => Self::Envelope(malformed),
            dsse::Refused::PayloadType(found) => Self::PayloadType(found),
            dsse::Refused::Unsigned => Self::Unsigned,
            dsse::Refused::UnknownKey => Self::UnknownKey,
            dsse::Refused::Signature => Self::Signature,
            dsse::Refused::RepeatedKey => Self::RepeatedKey,
        }
    }
}

impl From<NotAStatement> for Refused {
    fn from(refused: NotAStatement) -> Self {
        match refused {
            NotAStatement::Malformed(Malformed::Unknown(pointer)) => Self::UnknownMember(pointer),
            NotAStatement::Malformed(malformed) => Self::Statement(malformed),
            NotAStatement::StatementType(found) => Self::StatementType(found),
            NotAStatement::PredicateType(found) => Self::PredicateType(found),
            NotAStatement::Canonicalization(found) => Self::Canonicalization(found),
            NotAStatement::Unsorted(name) => Self::SubjectsUnsorted(name),
        }
    }
}
