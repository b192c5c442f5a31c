//! What the registry signs: checkpoints by the log's keys, heads by the head key, the first trust file by the root key.
//!
//! Which keys sign is what the log says of the moment: never one whose time hasn't come, and both keys of the log while one
//! takes the other's place. The time is the leaf's or the head's own, which the log keeps from going back.

use std::{
    path::PathBuf,
    sync::{Mutex, MutexGuard, PoisonError},
};

use super::{
    ReadOnly,
    keyring::{KeyError, KeyKind, Keyring},
};
use crate::{
    canon::{Sha256, to_jcs},
    clock::{Span, Timestamp},
    config::Heads,
    event::RegistryCreated,
    keys::{KeyId, SigningKey},
    log::{Checkpoint, note::Signer, policy::Policy, sign_checkpoint_by},
    name::SetName,
    pinset::{
        Registry, State,
        head::{Head, HeadType},
        trust::{BadTrust, HeadKey, LogKey, Terms, Trust},
    },
    store,
};

/// How far a gateway's clock may be from ours.
pub(super) const CLOCK_SKEW: Span = Span::minutes(5);

/// The keys that are here. One that a trust file names later is read when it is first needed.
pub(super) struct Signers {
    pub(super) dir: PathBuf,
    held: Mutex<Keyring>,
}

impl Signers {
    pub(super) const fn new(dir: PathBuf, keys: Keyring) -> Self {
        Self { dir, held: Mutex::new(keys) }
    }

    /// The key with this id, wherever in the directory it is.
    pub(super) fn key(&self, id: KeyId) -> Option<SigningKey> {
        if let Some(key) = self.held().key(id) {
            return Some(key.clone());
        }
        match Keyring::read(&self.dir) {
            Ok(read) => *self.held() = read,
            Err(error) => tracing::warn!(%error, "the keys could not be read again"),
        }
        self.held().key(id).cloned()
    }

    fn held(&self) -> MutexGuard<'_, Keyring> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn needed(&self, kind: KeyKind, id: KeyId) -> Result<SigningKey, ReadOnly> {
        self.key(id).ok_or(ReadOnly::NoKey { kind, id })
    }

    /// Whether everything is here that signs at `at`.
    pub(super) fn check(&self, registry: &Registry, at: Timestamp) -> Result<(), ReadOnly> {
        for log in registry.keys.logs_at(at) {
            self.needed(KeyKind::Log, log)?;
        }
        if let Some(head) = registry.keys.head_at(at) {
            self.needed(KeyKind::Head, head)?;
        }
        Ok(())
    }

    /// The signed note of a checkpoint whose last leaf is of `at`. It leaves the process only after the commit that it is
    /// part of.
    pub(super) fn checkpoint(
        &self,
        registry: &Registry,
        checkpoint: &Checkpoint,
        at: Timestamp,
    ) -> Result<String, ReadOnly> {
        let keys = registry.keys.logs_at(at).map(|id| self.needed(KeyKind::Log, id));
        sign(checkpoint, &keys.collect::<Result<Vec<_>, _>>()?)
    }

    /// Signs a head for the newest version of a set over a checkpoint. Call it only while the log's head row is held:
    /// after a version is committed no head of an earlier one may be signed.
    pub(super) fn head(
        &self,
        state: &State,
        pinset: &SetName,
        checkpoint: &Checkpoint,
        now: Timestamp,
        heads: Heads,
    ) -> Result<store::Head, ReadOnly> {
        let missing = || ReadOnly::Damaged(format!("pin set {pinset} has no version"));
        let document = state.set_document(pinset).ok_or_else(missing)?;
        let registry = state.registry().ok_or_else(missing)?;
        let bytes = to_jcs(document);
        // Never before the version that it names, even if the machine's clock was set back.
        let issued = now.max(document.issued);
        let expires = issued + heads.lifetime;
        let head = Head {
            r#type: HeadType::V1,
            registry: registry.origin.clone(),
            name: pinset.clone(),
            epoch: registry.epoch,
            version: document.version,
            set_sha256: Sha256::of(&bytes),
            set_size: bytes.len() as u64,
            issued,
            expires,
            checkpoint_size: checkpoint.size,
            checkpoint_root: checkpoint.root,
        };
        let key = registry.keys.head_at(issued).ok_or_else(missing)?;
        let envelope = head.sign(&self.needed(KeyKind::Head, key)?);
        let (pinset, version) = (pinset.clone(), head.version);
        Ok(store::Head { pinset, version, envelope, issued, expires, checkpoint_size: checkpoint.size })
    }
}

/// The note of a checkpoint by these keys of its log.
pub(super) fn sign(checkpoint: &Checkpoint, keys: &[SigningKey]) -> Result<String, ReadOnly> {
    let unsignable = || ReadOnly::Damaged(format!("a log of {} leaves can't be signed", checkpoint.size));
    let signers = keys.iter().map(|key| Signer::new(&checkpoint.origin, key.clone()).map_err(|_| unsignable()));
    let signers: Vec<Signer> = signers.collect::<Result<_, _>>()?;
    sign_checkpoint_by(checkpoint, &signers.iter().collect::<Vec<_>>()).map_err(|_| unsignable())
}

/// Why there is no first trust file.
#[derive(Debug, thiserror::Error)]
pub(super) enum NoTrust {
    #[error(transparent)]
    Key(#[from] KeyError),
    #[error(transparent)]
    Trust(#[from] BadTrust),
}

/// The registry's first trust file.
pub(super) fn trust(
    created: &RegistryCreated,
    keys: &Keyring,
    head_lifetime: Span,
    from: Timestamp,
    witnesses: Option<&Policy>,
) -> Result<Trust, NoTrust> {
    let root = keys.only(KeyKind::Root)?;
    let terms = Terms {
        version: 1,
        origin: created.origin.clone(),
        epoch: created.epoch,
        former: Vec::new(),
        root: root.verifying(),
        logs: vec![LogKey { key: keys.only(KeyKind::Log)?.verifying(), from: Timestamp::EPOCH, until: None }],
        heads: vec![HeadKey { key: keys.only(KeyKind::Head)?.verifying(), from }],
        head_lifetime,
        clock_skew: CLOCK_SKEW,
        witnesses: witnesses.map(Policy::for_readers),
    };
    Ok(terms.sign(&[root])?)
}
