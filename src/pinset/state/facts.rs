//! What the fold knows besides pin sets: the registry itself, authorities, evidence.

use std::collections::BTreeSet;

use super::FoldError;
use crate::{
    attest::Authority,
    canon::Sha256,
    clock::Timestamp,
    event::{
        AuthorityGranted, Continued, EpochStarted, Evidence, HeadTerm, KeyRotated, Keys, LogTerm, RegistryCreated,
        TrustFile,
    },
    keys::KeyId,
    pinset::PinEvidence,
};

/// Who this registry is.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Registry {
    /// The name of registry and log.
    pub origin: String,
    /// The epoch.
    pub epoch: u64,
    /// What it was before, oldest first; empty in the first epoch.
    pub continues: Vec<Continued>,
    /// Version of the trust file in force.
    pub trust_version: u64,
    /// SHA-256 of its note; the first one's isn't in the log.
    pub trust_sha256: Option<Sha256>,
    /// The keys that it names.
    pub keys: Keys,
    /// The keys of the log that have signed a checkpoint, or do with this leaf's.
    pub signing: BTreeSet<KeyId>,
    /// Every key that the registry ever had.
    pub known: BTreeSet<KeyId>,
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
    /// The first trust file names the keys of the first leaf, and no times that anybody has to know.
    pub(super) fn new(created: &RegistryCreated) -> Self {
        let RegistryCreated { origin, epoch, root_key, log_key, head_key, ruleset } = created.clone();
        let from = Timestamp::EPOCH;
        let keys = Keys {
            root: root_key,
            logs: vec![LogTerm { key: log_key, from, until: None }],
            heads: vec![HeadTerm { key: head_key, from }],
        };
        Self {
            origin,
            epoch,
            continues: Vec::new(),
            trust_version: 1,
            trust_sha256: None,
            signing: BTreeSet::from([log_key]),
            known: keys.all().collect(),
            keys,
            ruleset,
        }
    }

    /// The next version of the trust file.
    pub(super) fn rotate(&mut self, rotated: &KeyRotated, at: Timestamp) -> Result<(), FoldError> {
        if rotated.trust.version != self.trust_version + 1 {
            return Err(FoldError::Keys("the trust file's version is not the next one"));
        }
        self.take(&rotated.trust, at)
    }

    /// A key of the log begins to sign.
    pub(super) fn activate(&mut self, key: KeyId, at: Timestamp) -> Result<(), FoldError> {
        if !self.keys.logs_at(at).any(|counting| counting == key) || !self.signing.insert(key) {
            return Err(FoldError::Keys("the key does not begin to sign the log here"));
        }
        Ok(())
    }

    /// Another name, another epoch. Versions of trust files that a restored copy lacks were in use: the new one is higher
    /// than any of them, not just the next.
    pub(super) fn start_epoch(&mut self, started: &EpochStarted, index: u64, at: Timestamp) -> Result<(), FoldError> {
        let EpochStarted { origin, epoch, continues, trust, .. } = started;
        let new = *origin != self.origin && self.continues.iter().all(|former| former.origin != *origin);
        let follows = *epoch > self.epoch && trust.version > self.trust_version;
        if !new || !follows || continues.origin != self.origin || continues.size != index {
            return Err(FoldError::Keys("the epoch does not follow from the one before"));
        }
        self.take(trust, at)?;
        self.continues.push(continues.clone());
        (self.origin, self.epoch) = (origin.clone(), *epoch);
        Ok(())
    }

    fn take(&mut self, trust: &TrustFile, at: Timestamp) -> Result<(), FoldError> {
        let counts = trust.keys.logs_at(at).next().is_some() && trust.keys.head_at(at).is_some();
        if !trust.keys.is_sound() || !counts {
            return Err(FoldError::Keys("there are moments at which no key counts"));
        }
        self.signing.extend(trust.keys.logs_at(at));
        self.known.extend(trust.keys.all());
        (self.trust_version, self.trust_sha256) = (trust.version, Some(trust.sha256));
        self.keys = trust.keys.clone();
        Ok(())
    }

    /// Keys of the log whose time has come and that have signed nothing yet.
    pub fn due(&self, at: Timestamp) -> Vec<KeyId> {
        self.keys.logs_at(at).filter(|key| !self.signing.contains(key)).collect()
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
