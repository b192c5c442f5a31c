//! Whose signature on a checkpoint counts: the log's keys by the trust file in force, and the names it had before.

use std::sync::Arc;

use super::ReadOnly;
use crate::{
    canon::Sha256,
    event::Continued,
    log::{BadCheckpoint, Checkpoint, note::Verifier, open_checkpoint_by},
    pinset::{Registry, trust::Trust},
    store,
};

/// The trust file in force, and what follows from it for checkpoints.
#[derive(Debug)]
pub(super) struct Logs {
    pub(super) trust: Trust,
    pub(super) row: Arc<store::Trust>,
    current: Vec<Verifier>,
    /// The name before, with what the epoch took over from it.
    before: Option<(Vec<Verifier>, Continued)>,
}

/// What a note in the anchor is.
#[derive(Debug)]
pub(super) enum Held {
    /// A checkpoint of this log.
    Checkpoint(Checkpoint),
    /// A checkpoint under the name before, which the present epoch accounts for.
    LeftBehind,
}

impl Logs {
    /// The trust file that the log names; anything else in the row is damage.
    pub(super) fn new(row: store::Trust, registry: &Registry) -> Result<Self, ReadOnly> {
        let damaged = |what: &str| ReadOnly::Damaged(format!("the trust file {what}"));
        let trust = Trust::first(&row.note).map_err(|_| damaged("does not verify"))?;
        let terms = trust.terms();
        let same_file = match registry.trust_sha256 {
            Some(sha256) => Sha256::of(row.note.as_bytes()) == sha256,
            None => terms.keys().all().eq(registry.keys.all()),
        };
        let same_registry = (terms.version, terms.epoch) == (registry.trust_version, registry.epoch);
        if !same_file || !same_registry || terms.origin != registry.origin {
            return Err(damaged("is not the one that the log names"));
        }
        let current = trust.logs().map_err(|_| damaged("names no log"))?;
        let before = registry.continues.last().map(|former| {
            let named = current.iter().filter_map(|log| Verifier::new(&former.origin, *log.key()).ok());
            (named.collect(), former.clone())
        });
        Ok(Self { row: Arc::new(row), trust, current, before })
    }

    /// The log's keys under its present name.
    pub(super) fn current(&self) -> &[Verifier] {
        &self.current
    }

    /// The checkpoint in a note that this log signed.
    pub(super) fn open(&self, note: &str) -> Result<Checkpoint, BadCheckpoint> {
        open_checkpoint_by(note, &self.current)
    }

    /// What is in an anchor.
    pub(super) fn held(&self, note: &str) -> Result<Held, ReadOnly> {
        let error = match self.open(note) {
            Ok(checkpoint) => return Ok(Held::Checkpoint(checkpoint)),
            Err(e) => ReadOnly::Unusable(e.to_string()),
        };
        let Some((logs, former)) = &self.before else { return Err(error) };
        let Ok(left) = open_checkpoint_by(note, logs) else { return Err(error) };
        let known = former.abandoned.map_or(left.size <= former.size, |tree| left.size <= tree.size.max(former.size));
        if known { Ok(Held::LeftBehind) } else { Err(error) }
    }
}
