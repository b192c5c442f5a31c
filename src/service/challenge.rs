//! Anybody may show this registry a checkpoint that it signed. If its database can't answer for it, the database is an
//! old copy or a fork, and nothing more is signed.

use super::{App, ReadOnly, anchor, proofs};
use crate::{log::BadCheckpoint, store::StoreError};

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
        let shown = self.moment().logs.open(note)?;
        // On a fresh connection: another replica may have signed it a moment ago.
        let mut conn = self.reader().snapshot().await?;
        let size = conn.log_head().await?.size;
        let root = proofs::root_at(&mut conn, shown.size).await?;
        let Err(reason) = anchor::compare(Some(&shown), size, root) else { return Ok(None) };
        let reason = self.core.stop_appending(reason);
        if let Err(error) = self.core.anchor.set(note, shown.size).await {
            tracing::error!(%error, "the checkpoint that convicts this database could not be kept: a restart forgets it");
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
        let moment = self.moment();
        self.core.anchor.set(&moment.note, moment.checkpoint.size).await
    }
}
