//! What is served, at one size of the log. Readers hold one moment for as long as they answer, so that an answer never
//! mixes two.

use std::{collections::BTreeMap, sync::Arc};

use crate::{
    log::Checkpoint,
    name::SetName,
    pinset::State,
    store::{Head, Trust},
};

/// State, checkpoint and heads that belong together.
#[derive(Clone, Debug)]
pub struct Moment {
    /// What the log says.
    pub state: State,
    /// The newest checkpoint.
    pub checkpoint: Checkpoint,
    /// The same, as it was signed.
    pub note: Arc<str>,
    /// The newest head of each pin set.
    pub heads: BTreeMap<SetName, Arc<Head>>,
    /// The newest trust file.
    pub trust: Arc<Trust>,
}

impl Moment {
    pub(super) fn new(state: State, (checkpoint, note): (Checkpoint, String), heads: Vec<Head>, trust: Trust) -> Self {
        Self { state, checkpoint, note: note.into(), heads: by_set(heads), trust: Arc::new(trust) }
    }

    pub(super) fn next(&self, state: State, checkpoint: Checkpoint, note: String, heads: Vec<Head>) -> Self {
        Self { state, checkpoint, note: note.into(), heads: by_set(heads), trust: Arc::clone(&self.trust) }
    }

    /// When the last head was signed, as the poll compares it.
    pub(super) fn heads_signed(&self) -> i64 {
        self.heads.values().map(|head| head.issued.micros()).max().unwrap_or(0)
    }
}

fn by_set(heads: Vec<Head>) -> BTreeMap<SetName, Arc<Head>> {
    heads.into_iter().map(|head| (head.pinset.clone(), Arc::new(head))).collect()
}
