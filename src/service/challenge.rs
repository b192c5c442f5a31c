//! Anybody may show this registry a checkpoint that it signed. If its database can't answer for it, the database is an
//! old copy or a fork, and nothing more is signed.

use std::sync::Arc;

use super::{App, ReadOnly, anchor, proofs};
use crate::{
    log::{BadCheckpoint, open_checkpoint},
    store::StoreError,
};

/// A checkpoint was shown that says nothing about this registry.
#[derive(Debug, thiserror::Error)]
pub enum ChallengeError {
    /// This log didn't sign it.
    #[error(transparent)]
    Checkpoint(#[from] BadCheckpoint),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl App {
    /// Compares a checkpoint that somebody shows with the log. `Some` is why nothing is appended from here on, after a
    /// restart too.
    ///
    /// # Errors
    /// [`ChallengeError`] if it says nothing about this log.
    pub async fn challenge(&self, note: &str) -> Result<Option<ReadOnly>, ChallengeError> {
        let shown = open_checkpoint(note, &self.core.signers.log_verifier)?;
        // On a fresh connection: another replica may have signed it a moment ago.
        let mut conn = self.reader().snapshot().await?;
        let size = conn.log_head().await?.size;
        let root = proofs::root_at(&mut conn, shown.size).await?;
        let Err(reason) = anchor::compare(Some(&shown), size, root) else { return Ok(None) };
        let reason = self.core.stop_appending(reason);
        let (core, note) = (Arc::clone(&self.core), note.to_owned());
        let kept = tokio::task::spawn_blocking(move || core.anchor.set(&note)).await;
        if !matches!(kept, Ok(Ok(()))) {
            tracing::error!("the checkpoint that convicts this database could not be kept: a restart forgets it");
        }
        Ok(Some(reason))
    }

    /// Takes the newest checkpoint as the anchor where there is none.
    ///
    /// # Errors
    /// The reason itself where the anchor isn't just missing: adopting an old copy would fork the log.
    pub async fn adopt_anchor(&self) -> Result<(), ReadOnly> {
        match self.read_only() {
            None => return Ok(()),
            Some(ReadOnly::NoAnchor) => {}
            Some(other) => return Err(other),
        }
        let (core, note) = (Arc::clone(&self.core), self.moment().note.to_string());
        let kept = tokio::task::spawn_blocking(move || core.anchor.set(&note)).await;
        match kept {
            Ok(Ok(())) => Ok(()),
            Ok(Err(e)) => Err(ReadOnly::Unusable(e.to_string())),
            Err(e) => Err(ReadOnly::Unusable(e.to_string())),
        }
    }
}
