//! The documents of a pin set: one small set document, and one document of pins an alias. They are canonical and named by
//! their SHA-256, so a gateway fetches only what it lacks.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    attest::{Artifact, Level, Role, Signer},
    canon::{Digest, NotCanonical, Sha256, from_jcs, to_jcs},
    clock::Timestamp,
    name::{Alias, Kind, QualifiedName, ServerName, SetName, Variant, Version, WireName},
    review::{Digests, Mode},
    scan::Severity,
};

/// A set of 100,000 aliases is 20 MB; no fleet is near it.
pub(super) const MAX_SET_BYTES: usize = 32 << 20;
/// 2,000 descriptors of one server, several digests each, with room for denials.
pub(super) const MAX_PINS_BYTES: usize = 32 << 20;

/// One version of a pin set. Canonical JSON of at most 32 MiB, named by its SHA-256; no member may be absent:
///
/// ```text
/// {"type": "countersign/pinset/v1", "registry": origin, "name": pin set, "epoch", "version", "issued": time of its leaf,
///  "policy_sha256", "flag_at": "info" | "low" | "medium" | "high" | "critical", "ruleset_sha256",
///  "aliases": {"<alias>": {"server", "pins_sha256", "pins_size": bytes}, …}}
/// ```
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct SetDocument {
    /// Always `countersign/pinset/v1`.
    pub r#type: SetType,
    /// Origin of the registry.
    pub registry: String,
    /// The set's name.
    pub name: SetName,
    /// The registry's epoch.
    pub epoch: u64,
    /// Grows by one with each version.
    pub version: u64,
    /// The time of the leaf that published it.
    pub issued: Timestamp,
    /// The policy in force.
    pub policy_sha256: Sha256,
    /// A finding of this severity or above flags a descriptor.
    pub flag_at: Severity,
    /// The scanner's rules.
    pub ruleset_sha256: Sha256,
    /// The servers, by alias.
    pub aliases: BTreeMap<Alias, AliasEntry>,
}

/// Where the pins of one alias are.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct AliasEntry {
    /// The server the alias belongs to, for good.
    pub server: ServerName,
    /// SHA-256 of its pins document.
    pub pins_sha256: Sha256,
    /// The document's size in bytes.
    pub pins_size: u64,
}

/// The pins of one alias. Canonical JSON of at most 32 MiB, named by its SHA-256. No member may be absent; `wire` is
/// `null` for other kinds than tools and prompts; each pin's `evidence` is one of the document's. [`crate::event`] says what the words mean that leaves use too.
///
/// ```text
/// {"type": "countersign/pins/v1", "registry": origin, "set": pin set, "alias", "server",
///  "evidence": {"<SHA-256 of an attestation>": {"release": id, "version", "role", "level", "signer",
///               "remotes": [URL], "artifacts": [{"purl", "digest"}], "log_index": of the leaf that recorded it}, …},
///  "pins": [{"kind", "name": qualified, "wire", "variant", "evidence": SHA-256 of the attestation,
///            "digests": {"jcs-sha256": 64 hex, "python-sorted-sha256": 64 hex},
///            "approval": {"decision_sha256": of the decision's leaf, "log_index": its index, "mode",
///                         "approved_at": its time, "not_after": time}}, …],
///  "denied": [{"kind", "name": qualified, "variant", "digest": recipe and hash,
///              "state": "revoked" | "rejected" | "held", "reason_sha256", "at": time, "log_index"}, …]}
/// ```
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct PinsDocument {
    /// Always `countersign/pins/v1`.
    pub r#type: PinsType,
    /// Origin of the registry.
    pub registry: String,
    /// The set's name.
    pub set: SetName,
    /// The alias.
    pub alias: Alias,
    /// Its server.
    pub server: ServerName,
    /// Who vouches for the pins, by SHA-256 of the attestation.
    pub evidence: BTreeMap<Sha256, PinEvidence>,
    /// The pins, sorted by kind, name, variant and digest.
    pub pins: Vec<Pin>,
    /// What was decided against, in the same order.
    pub denied: Vec<Denial>,
}

/// Who vouches for a pin.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct PinEvidence {
    /// The release.
    pub release: String,
    /// Its version.
    pub version: Version,
    /// Who the signer speaks as.
    pub role: Role,
    /// The level of the evidence.
    pub level: Level,
    /// The signer.
    pub signer: Signer,
    /// Endpoint URLs the attestation names.
    pub remotes: Vec<String>,
    /// Artifacts the attestation names.
    pub artifacts: Vec<Artifact>,
    /// Index of the leaf that recorded it.
    pub log_index: u64,
}

/// One approved digest.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Pin {
    /// The kind of descriptor.
    pub kind: Kind,
    /// Its qualified name.
    pub name: QualifiedName,
    /// Its wire name; `null` for others than tools and prompts.
    // Stated by hand, so that a missing member isn't read as `null`: one document, one spelling.
    #[serde(deserialize_with = "Option::deserialize")]
    pub wire: Option<WireName>,
    /// The variant of the server's list.
    pub variant: Variant,
    /// SHA-256 of the attestation; a key of the document's `evidence`.
    pub evidence: Sha256,
    /// The digest by both recipes; only the first decides.
    pub digests: Digests,
    /// Who approved it and until when.
    pub approval: Approval,
}

/// The approval behind a pin.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Approval {
    /// SHA-256 of the decision's leaf.
    pub decision_sha256: Sha256,
    /// Index of that leaf.
    pub log_index: u64,
    /// How many agreed.
    pub mode: Mode,
    /// When.
    pub approved_at: Timestamp,
    /// The first moment at which the pin is no more.
    pub not_after: Timestamp,
}

/// One digest that was decided against.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Denial {
    /// The kind of descriptor.
    pub kind: Kind,
    /// Its qualified name.
    pub name: QualifiedName,
    /// The variant of the server's list.
    pub variant: Variant,
    /// The digest.
    pub digest: Digest,
    /// In which way.
    pub state: Denied,
    /// SHA-256 of salt and reason.
    pub reason_sha256: Sha256,
    /// When.
    pub at: Timestamp,
    /// Index of the leaf that says so.
    pub log_index: u64,
}

/// The ways to be denied.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Denied {
    /// Was a pin; a reviewer took it back.
    Revoked,
    /// Was never a pin; a reviewer refused it.
    Rejected,
    /// Was a pin; its evidence or a finding took it back.
    Held,
}

/// The type of a [`SetDocument`], which has one value.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub enum SetType {
    /// The first version.
    #[default]
    #[serde(rename = "countersign/pinset/v1")]
    V1,
}

/// The type of a [`PinsDocument`], which has one value.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub enum PinsType {
    /// The first version.
    #[default]
    #[serde(rename = "countersign/pins/v1")]
    V1,
}

impl SetDocument {
    /// The document's bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        to_jcs(self)
    }

    /// Reads a set document.
    ///
    /// # Errors
    /// [`NotCanonical`].
    pub fn parse(bytes: &[u8]) -> Result<Self, NotCanonical> {
        from_jcs(bytes, MAX_SET_BYTES)
    }
}

impl PinsDocument {
    /// The document's bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        to_jcs(self)
    }

    /// Reads a pins document.
    ///
    /// # Errors
    /// [`NotCanonical`].
    pub fn parse(bytes: &[u8]) -> Result<Self, NotCanonical> {
        from_jcs(bytes, MAX_PINS_BYTES)
    }

    /// The first pin whose evidence the document doesn't carry: a reader of the document refuses it.
    pub fn unvouched(&self) -> Option<&Pin> {
        self.pins.iter().find(|pin| !self.evidence.contains_key(&pin.evidence))
    }
}
