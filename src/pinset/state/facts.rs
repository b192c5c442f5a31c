//! What the fold knows besides pin sets: the registry itself, authorities, evidence.

use crate::{
    attest::Authority,
    canon::Sha256,
    clock::Timestamp,
    event::{AuthorityGranted, Evidence, RegistryCreated},
    pinset::PinEvidence,
};

/// Who this registry is.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Registry {
    /// What the first leaf says.
    pub created: RegistryCreated,
    /// The scanner's rules in force.
    pub ruleset: Sha256,
}

/// A key's authority, as far as the log goes.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AuthorityState {
    /// What was granted.
    pub facts: AuthorityGranted,
    /// Index of the leaf that granted it.
    pub log_index: u64,
    /// When.
    pub granted_at: Timestamp,
    /// Since when it is revoked.
    pub revoked: Option<Timestamp>,
}

/// An attestation over a release.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct EvidenceState {
    /// What was attested.
    pub facts: Evidence,
    /// Index of the leaf that recorded it.
    pub log_index: u64,
    /// When the registry received it.
    pub received_at: Timestamp,
}

impl Registry {
    pub(super) const fn new(created: RegistryCreated) -> Self {
        let ruleset = created.ruleset;
        Self { created, ruleset }
    }
}

impl AuthorityState {
    /// In the form that verification takes.
    pub fn to_authority(&self) -> Authority {
        Authority {
            id: self.facts.authority.clone(),
            scope: self.facts.scope.clone(),
            key: self.facts.key,
            role: self.facts.role,
            holder: self.facts.holder.as_ref().map(ToString::to_string),
            generation: self.facts.generation,
            granted_at: self.granted_at,
            revoked: self.revoked,
        }
    }
}

impl EvidenceState {
    /// In the form that pins documents show.
    pub fn to_pin_evidence(&self) -> PinEvidence {
        PinEvidence {
            release: self.facts.release.clone(),
            version: self.facts.version.clone(),
            role: self.facts.role,
            level: self.facts.level,
            signer: self.facts.signer,
            remotes: self.facts.remotes.clone(),
            artifacts: self.facts.artifacts.clone(),
            log_index: self.log_index,
        }
    }
}
