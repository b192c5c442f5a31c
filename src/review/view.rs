//! The document of everything a reviewer's page was made from.

use serde::{Deserialize, Serialize};

use super::{
    Reason,
    decision::{CandidateId, Digests},
};
use crate::{
    attest::{Artifact, Level, Role, Signer},
    canon::{Digest, Sha256, to_jcs},
    name::{Alias, Kind, QualifiedName, ServerName, SetName, Variant, Version, WireName},
};

/// What was shown. Whatever changes in it makes it another view, and ballots name the view by its digest.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct View {
    /// Always `countersign/view/v1`.
    pub r#type: ViewType,
    /// Origin of the registry.
    pub registry: String,
    /// The pin set.
    pub pinset: SetName,
    /// The candidate.
    pub candidate: CandidateId,
    /// Why it is open, most urgent first.
    pub reasons: Vec<Reason>,
    /// The server.
    pub server: ServerName,
    /// Its alias in the set, once bound.
    pub alias: Option<Alias>,
    /// The variant of its list.
    pub variant: Variant,
    /// The kind of descriptor.
    pub kind: Kind,
    /// Its own name, as listed.
    pub name: String,
    /// Alias and name.
    pub qualified: Option<QualifiedName>,
    /// The wire name.
    pub wire: Option<WireName>,
    /// The digest by both recipes.
    pub digests: Digests,
    /// What the diff is made against.
    pub base: Option<Digest>,
    /// Why the descriptor can't be pinned, as `missing-input-schema`.
    pub unpinnable: Option<String>,
    /// SHA-256 of the scan report.
    pub findings: Sha256,
    /// The rule set it was made with.
    pub ruleset: Sha256,
    /// The policy in force.
    pub policy: Sha256,
    /// Who vouches for it.
    pub evidence: ViewEvidence,
    /// Whether the descriptor can do more than its base.
    pub grew: bool,
    /// Days until an approval made now would end.
    pub lifetime_days: u32,
    /// Ballots that an approval needs.
    pub needed: u32,
}

/// The evidence part of a view.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ViewEvidence {
    /// The release.
    pub release: String,
    /// Its version.
    pub version: Version,
    /// SHA-256 of the attestation.
    pub attestation: Sha256,
    /// Who the signer speaks as.
    pub role: Role,
    /// The level.
    pub level: Level,
    /// The signer.
    pub signer: Signer,
    /// The authority the signer holds.
    pub authority: String,
    /// Endpoint URLs the attestation names.
    pub remotes: Vec<String>,
    /// Package URLs with digest the attestation names.
    pub artifacts: Vec<Artifact>,
}

/// The document type, which has one value.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub enum ViewType {
    /// The first version.
    #[default]
    #[serde(rename = "countersign/view/v1")]
    V1,
}

/// What a ballot sends back to say what its maker saw.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Shown {
    /// SHA-256 of the view; it alone decides.
    pub view: Sha256,
    /// The candidate's digest.
    pub digest: Digest,
    /// What the diff was made against.
    pub base: Option<Digest>,
    /// SHA-256 of the scan report.
    pub findings: Sha256,
    /// The rule set.
    pub ruleset: Sha256,
    /// The policy.
    pub policy: Sha256,
}

impl View {
    /// The document's bytes.
    pub fn to_jcs(&self) -> Vec<u8> {
        to_jcs(self)
    }

    /// What a ballot on this view must send back.
    pub fn shown(&self) -> Shown {
        Shown {
            view: Sha256::of(&self.to_jcs()),
            digest: self.digests.digest(),
            base: self.base,
            findings: self.findings,
            ruleset: self.ruleset,
            policy: self.policy,
        }
    }
}
