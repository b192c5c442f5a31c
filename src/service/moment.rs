//! What is served, at one size of the log. Readers hold one moment for as long as they answer, so that an answer never
//! mixes two.

use std::{collections::BTreeMap, sync::Arc};

use super::{logs::Logs, proofs, tip::Tip, witness::Gate};
use crate::{
    clock::Timestamp,
    log::Checkpoint,
    name::SetName,
    pinset::{PinSet, State},
    store::{Conn, Head, StoreError, Trust},
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
    /// The newest signed head of each pin set.
    pub heads: BTreeMap<SetName, Arc<Head>>,
    /// The head of each pin set that gateways get: the newest one whose checkpoint has its witness quorum. Without
    /// witnesses that is the newest signed one.
    pub released: BTreeMap<SetName, Arc<Head>>,
    /// The checkpoint's note that readers of the log get, with cosignatures: the newest that has its witness quorum.
    /// `None` while no checkpoint has it.
    pub shown: Option<Arc<str>>,
    /// The newest trust file.
    pub trust: Arc<Trust>,
    /// Whose checkpoints count by that.
    pub(super) logs: Arc<Logs>,
    /// The newest version of each pin set, good as long as its released head.
    sets: BTreeMap<SetName, Arc<PinSet>>,
    /// How often something about witnesses has changed, as the poll compares it.
    witnesses: i64,
}

/// The rows about heads and cosignatures that belong to a moment.
pub(super) struct Heads {
    signed: Vec<Head>,
    /// Released heads and shown checkpoint, where witnesses are asked for.
    gated: Option<(Vec<Head>, Option<String>)>,
    changes: i64,
}

impl Heads {
    pub(super) async fn read(conn: &mut Conn, gate: &Gate) -> Result<Self, StoreError> {
        let (signed, round) = (conn.heads().await?, conn.round().await?);
        let gated = if gate.is_open() {
            None
        } else {
            // Before the first quorum there is no checkpoint of size 0.
            Some((conn.released_heads().await?, proofs::note_at(conn, round.cosigned).await?))
        };
        Ok(Self { signed, gated, changes: round.changes })
    }
}

impl Moment {
    /// None for a tip that knows no trust file, which is one that nothing was read into.
    pub(super) fn new(tip: &Tip, signed: (Checkpoint, String), heads: Heads) -> Option<Self> {
        Some(Self::with(tip, Arc::clone(tip.logs.as_ref()?), signed, heads, &BTreeMap::new()))
    }

    pub(super) fn next(&self, tip: &Tip, signed: (Checkpoint, String), heads: Heads) -> Self {
        let logs = Arc::clone(tip.logs.as_ref().unwrap_or(&self.logs));
        Self::with(tip, logs, signed, heads, &self.sets)
    }

    fn with(
        tip: &Tip,
        logs: Arc<Logs>,
        (checkpoint, note): (Checkpoint, String),
        rows: Heads,
        before: &BTreeMap<SetName, Arc<PinSet>>,
    ) -> Self {
        let note: Arc<str> = note.into();
        let heads = by_set(rows.signed);
        let (released, shown) = match rows.gated {
            Some((released, shown)) => (by_set(released), shown.map(Arc::from)),
            None => (heads.clone(), Some(Arc::clone(&note))),
        };
        let sets = pin_sets(&tip.state, &heads, &released, before);
        let (state, trust) = (tip.state.clone(), Arc::clone(&logs.row));
        Self { state, checkpoint, note, heads, released, shown, trust, logs, sets, witnesses: rows.changes }
    }

    /// The newest version of a pin set, good as long as its released head: what the registry itself knows, so that a
    /// revocation counts here at once, but no longer than gateways may rely on it. Without a released head it is stale.
    pub fn pin_set(&self, name: &SetName) -> Option<&Arc<PinSet>> {
        self.sets.get(name)
    }

    pub(super) const fn witnesses_changed(&self) -> i64 {
        self.witnesses
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
    released: &BTreeMap<SetName, Arc<Head>>,
    before: &BTreeMap<SetName, Arc<PinSet>>,
) -> BTreeMap<SetName, Arc<PinSet>> {
    let set = |(name, head): (&SetName, &Arc<Head>)| {
        let before = before.get(name);
        let expires = released.get(name).map_or(Timestamp::EPOCH, |head| head.expires);
        let same = before.filter(|set| set.document().version == head.version);
        let set = match same {
            Some(set) if set.expires() == expires => Arc::clone(set),
            Some(set) => Arc::new(set.until(expires)),
            None => Arc::new(PinSet::own(state, name, expires, before.map(AsRef::as_ref))?),
        };
        Some((name.clone(), set))
    };
    heads.iter().filter_map(set).collect()
}

fn by_set(heads: Vec<Head>) -> BTreeMap<SetName, Arc<Head>> {
    heads.into_iter().map(|head| (head.pinset.clone(), Arc::new(head))).collect()
}
