//! What is served, at one size of the log. Readers hold one moment for as long as they answer, so that an answer never
//! mixes two.

use std::{collections::BTreeMap, sync::Arc};

use super::{logs::Logs, tip::Tip};
use crate::{
    log::Checkpoint,
    name::SetName,
    pinset::{PinSet, State},
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
    /// Whose checkpoints count by that.
    pub(super) logs: Arc<Logs>,
    /// The newest version of each pin set, under its newest head.
    sets: BTreeMap<SetName, Arc<PinSet>>,
}

impl Moment {
    /// None for a tip that knows no trust file, which is one that nothing was read into.
    pub(super) fn new(tip: &Tip, (checkpoint, note): (Checkpoint, String), heads: Vec<Head>) -> Option<Self> {
        let logs = Arc::clone(tip.logs.as_ref()?);
        let heads = by_set(heads);
        let sets = pin_sets(&tip.state, &heads, &BTreeMap::new());
        let trust = Arc::clone(&logs.row);
        Some(Self { state: tip.state.clone(), checkpoint, note: note.into(), heads, trust, logs, sets })
    }

    pub(super) fn next(&self, tip: &Tip, (checkpoint, note): (Checkpoint, String), heads: Vec<Head>) -> Self {
        let logs = Arc::clone(tip.logs.as_ref().unwrap_or(&self.logs));
        let heads = by_set(heads);
        let sets = pin_sets(&tip.state, &heads, &self.sets);
        let trust = Arc::clone(&logs.row);
        Self { state: tip.state.clone(), checkpoint, note: note.into(), heads, trust, logs, sets }
    }

    /// The newest version of a pin set, good as long as its newest head.
    pub fn pin_set(&self, name: &SetName) -> Option<&Arc<PinSet>> {
        self.sets.get(name)
    }

    /// When the last head was signed, as the poll compares it.
    pub(super) fn heads_signed(&self) -> i64 {
        self.heads.values().map(|head| head.issued.micros()).max().unwrap_or(0)
    }
}

/// A set that neither changed nor was signed anew is the one before; one that changed shares what stayed.
fn pin_sets(
    state: &State,
    heads: &BTreeMap<SetName, Arc<Head>>,
    before: &BTreeMap<SetName, Arc<PinSet>>,
) -> BTreeMap<SetName, Arc<PinSet>> {
    let set = |(name, head): (&SetName, &Arc<Head>)| {
        let before = before.get(name);
        let same = before.filter(|set| set.document().version == head.version);
        let set = match same {
            Some(set) if set.expires() == head.expires => Arc::clone(set),
            Some(set) => Arc::new(set.until(head.expires)),
            None => Arc::new(PinSet::own(state, name, head.expires, before.map(AsRef::as_ref))?),
        };
        Some((name.clone(), set))
    };
    heads.iter().filter_map(set).collect()
}

fn by_set(heads: Vec<Head>) -> BTreeMap<SetName, Arc<Head>> {
    heads.into_iter().map(|head| (head.pinset.clone(), Arc::new(head))).collect()
}
