//! What the registry signs: checkpoints by the log key, heads by the head key, the first trust file by the root key.

use super::{ReadOnly, keyring::Keyring};
use crate::{
    canon::{Sha256, to_jcs},
    clock::{Span, Timestamp},
    config::Heads,
    event::RegistryCreated,
    keys::SigningKey,
    log::{
        Checkpoint,
        note::{NotAKey, Signer, Verifier},
        policy::Policy,
        sign_checkpoint,
    },
    name::SetName,
    pinset::{
        State,
        head::{Head, HeadType},
        trust::{BadTrust, HeadKey, Terms},
    },
    store,
};

/// How far a gateway's clock may be from ours.
pub(super) const CLOCK_SKEW: Span = Span::minutes(5);

/// The keys under their names.
pub(super) struct Signers {
    log: Signer,
    pub(super) log_verifier: Verifier,
    head: SigningKey,
}

impl Signers {
    pub(super) fn new(origin: &str, keys: &Keyring) -> Result<Self, NotAKey> {
        Ok(Self {
            log: Signer::new(origin, keys.log.clone())?,
            log_verifier: Verifier::new(origin, keys.log.verifying())?,
            head: keys.head.clone(),
        })
    }

    /// The signed note of a checkpoint. It leaves the process only after the commit that it is part of.
    pub(super) fn checkpoint(&self, checkpoint: &Checkpoint) -> Result<String, ReadOnly> {
        sign_checkpoint(checkpoint, &self.log)
            .map_err(|_| ReadOnly::Damaged(format!("a log of {} leaves can't be signed", checkpoint.size)))
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
            registry: registry.created.origin.clone(),
            name: pinset.clone(),
            epoch: registry.created.epoch,
            version: document.version,
            set_sha256: Sha256::of(&bytes),
            set_size: bytes.len() as u64,
            issued,
            expires,
            checkpoint_size: checkpoint.size,
            checkpoint_root: checkpoint.root,
        };
        let envelope = head.sign(&self.head);
        let (pinset, version) = (pinset.clone(), head.version);
        Ok(store::Head { pinset, version, envelope, issued, expires, checkpoint_size: checkpoint.size })
    }
}

/// The registry's first trust file.
pub(super) fn trust(
    created: &RegistryCreated,
    root: &SigningKey,
    keys: &Keyring,
    head_lifetime: Span,
    from: Timestamp,
    witnesses: Option<&Policy>,
) -> Result<store::Trust, BadTrust> {
    let terms = Terms {
        version: 1,
        origin: created.origin.clone(),
        epoch: created.epoch,
        root: root.verifying(),
        log: keys.log.verifying(),
        heads: vec![HeadKey { key: keys.head.verifying(), from }],
        head_lifetime,
        clock_skew: CLOCK_SKEW,
        witnesses: witnesses.map(Policy::for_readers),
    };
    let signed = terms.sign(&[root])?;
    Ok(store::Trust { version: 1, note: signed.note().to_owned() })
}
