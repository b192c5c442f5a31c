//! One batch: from the head row to the signed checkpoint, the commit and the anchor.

use std::sync::Arc;

use super::{
    Core, Moment, ReadOnly,
    logs::Logs,
    moment::Heads as Rows,
    proofs,
    queue::{Ran, Waiting},
    sign::Signers,
    tip::{Lost, Tip},
    witness::Gate,
    work::Work,
};
use crate::{
    clock::Span,
    config::{self, Heads},
    log::{Checkpoint, Edge, leaf_hash},
    store::{Content, Head, LogHead, Round, SetVersion, StoreError, WriteTx},
};

/// How long a document that no head names any more is kept: a gateway that was offline finds what its head named.
pub(super) const KEEP_DOCUMENTS: Span = Span::days(30);
/// What documents of ours are.
pub(super) const JSON: &str = "application/json";

/// A batch that was not committed.
#[derive(Debug)]
pub(super) enum Failure {
    /// A step spoiled the transaction; its own outcome says how.
    Step,
    /// The database failed; nothing was committed.
    Store(StoreError),
    /// The database failed so that nobody knows whether the batch was committed: it must not be tried again.
    Unconfirmed(StoreError),
    /// Nothing may be appended.
    ReadOnly(ReadOnly),
}

/// What a batch comes to, before it is committed.
pub(super) struct Sealed {
    edge: Edge,
    logs: Arc<Logs>,
    checkpoint: Checkpoint,
    note: String,
    heads: Rows,
}

/// Runs the steps in one transaction and commits it, unless there was nothing to write.
pub(super) async fn batch(core: &Core, jobs: &mut [Box<dyn Waiting>]) -> Result<Arc<Moment>, Failure> {
    if let Some(reason) = core.read_only() {
        return Err(Failure::ReadOnly(reason));
    }
    let mut tip = core.tip.lock().await;
    let mut work = begin(core, &mut tip).await?;
    for job in jobs {
        if job.run(&mut work).await == Ran::Badly {
            return Err(Failure::Step);
        }
    }
    if !work.wrote {
        return catch_up(core, &mut work, &tip).await;
    }
    let access = work.access;
    let sealed = seal(&core.signers, core.heads, core.witnesses.configured(), &mut work, &tip).await;
    let sealed = sealed.map_err(|lost| core.lost(lost))?;
    finish(core, work, &mut tip, sealed).await?;
    if access {
        // The change is durable; if it can't be read back now, the poll tries again and nobody gains a right by it.
        if let Err(error) = core.reload_access().await {
            tracing::warn!(%error, "who may do what could not be read back");
        }
    }
    Ok(core.moment())
}

/// Signs heads anew that are due, always for the newest version, while the head row is held. How many it were.
pub(super) async fn resign(core: &Core, due: impl Fn(&Head) -> bool) -> Result<usize, Failure> {
    if let Some(reason) = core.read_only() {
        return Err(Failure::ReadOnly(reason));
    }
    let mut tip = core.tip.lock().await;
    let mut work = begin(core, &mut tip).await?;
    let heads: Vec<Head> = work.tx.heads().await?.into_iter().filter(due).collect();
    // Also where nothing was due: another replica, whose clock may be behind, has signed, and its heads are served too.
    sign_anew(core, work, &tip, &heads).await?;
    Ok(heads.len())
}

/// Begins a round if one is `due` of what the rows say and the log's size: from now on witnesses are asked for the newest
/// checkpoint, and every pin set whose newest head isn't released, or not as it would have to be now, has one that waits for
/// it.
pub(super) async fn begin_round(core: &Core, due: impl Fn(&Round, u64) -> bool) -> Result<(), Failure> {
    if let Some(reason) = core.read_only() {
        return Err(Failure::ReadOnly(reason));
    }
    let mut tip = core.tip.lock().await;
    let mut work = begin(core, &mut tip).await?;
    let size = tip.edge.size();
    if !due(&work.tx.round().await?, size) {
        return Ok(());
    }
    let (gate, released) = (core.gate(&tip), work.tx.released_heads().await?);
    let mut heads = Vec::new();
    for head in work.tx.heads().await?.into_iter().filter(|head| head.checkpoint_size < size) {
        // One that was released when less was asked for is none for gateways that ask for more by now.
        if !released.contains(&head) || !is_cosigned(core, &mut work, head.checkpoint_size, &gate).await? {
            heads.push(head);
        }
    }
    work.tx.begin_round(size, core.clock.now()).await?;
    sign_anew(core, work, &tip, &heads).await
}

/// Signs a head over the newest checkpoint in the place of each of these, commits and serves. One whose checkpoint has its
/// witness quorum already is released, the others wait.
async fn sign_anew(core: &Core, mut work: Work, tip: &Tip, heads: &[Head]) -> Result<(), Failure> {
    let (size, root) = (tip.edge.size(), tip.edge.root());
    let checkpoint = Checkpoint { origin: core.origin(&work.state)?, size, root };
    let missing = || core.lost(ReadOnly::Damaged(format!("the checkpoint of size {size} is missing")).into());
    let note = work.tx.checkpoint(size).await?.ok_or_else(missing)?;
    let gate = core.gate(tip);
    let cosigned = is_cosigned(core, &mut work, size, &gate).await?;
    for head in heads {
        let signed = core.signers.head(&work.state, &head.pinset, &checkpoint, core.clock.now(), core.heads);
        let signed = signed.map_err(|why| core.lost(why.into()))?;
        put_head(&mut work.tx, &signed, cosigned).await?;
    }
    let rows = Rows::read(&mut work.tx, &gate).await?;
    work.tx.commit().await?;
    let moment = core.moment().next(tip, (checkpoint, note), rows);
    core.serve(moment).await.map_err(Failure::ReadOnly)?;
    Ok(())
}

/// Whether the checkpoint of this size has all that heads over it need.
async fn is_cosigned(core: &Core, work: &mut Work, size: u64, gate: &Gate) -> Result<bool, StoreError> {
    let note = proofs::note_at(&mut work.tx, size).await?;
    Ok(note.is_some_and(|note| gate.passes(&note, core.clock.now())))
}

/// Keeps a head that was signed: gateways get it from now on, or it waits for its checkpoint's quorum.
async fn put_head(tx: &mut WriteTx, head: &Head, release: bool) -> Result<(), StoreError> {
    tx.put_head(head).await?;
    if release { tx.release_head(head).await } else { tx.put_waiting(head).await }
}

/// Serves what others have appended and this process has not seen before: an answer that says what was done there, and
/// proves it, or refuses because of it, must not come with an older log.
async fn catch_up(core: &Core, work: &mut Work, tip: &Tip) -> Result<Arc<Moment>, Failure> {
    let (before, size) = (core.moment(), tip.edge.size());
    if before.checkpoint.size >= size {
        return Ok(before);
    }
    let missing = || core.lost(ReadOnly::Damaged(format!("the checkpoint of size {size} is missing")).into());
    let note = work.tx.checkpoint(size).await?.ok_or_else(missing)?;
    let checkpoint = Checkpoint { origin: core.origin(&tip.state)?, size, root: tip.edge.root() };
    let rows = Rows::read(&mut work.tx, &core.gate(tip)).await?;
    let moment = before.next(tip, (checkpoint, note), rows);
    core.serve(moment).await.map_err(Failure::ReadOnly)
}

/// Takes the head row and whatever others have appended since.
pub(super) async fn begin(core: &Core, tip: &mut Tip) -> Result<Work, Failure> {
    let mut tx = core.writer.begin().await?;
    let head = tx.take_head().await?;
    if let Err(lost) = tip.catch_up(&mut tx, &head, false).await {
        return Err(core.lost(lost));
    }
    Ok(Work::new(tx, tip.state.clone(), core.clock.now(), Arc::clone(&core.rng)))
}

/// Writes what ends a batch: audit rows, versions, leaves, tiles, head row, heads, and the checkpoint last. `None` if no
/// leaf was added.
pub(super) async fn seal(
    signers: &Signers,
    lifetimes: Heads,
    witnesses: Option<&config::Witnesses>,
    work: &mut Work,
    tip: &Tip,
) -> Result<Option<Sealed>, Lost> {
    work.publish().map_err(|e| ReadOnly::Damaged(format!("no next version follows from the log: {e}")))?;
    for row in std::mem::take(&mut work.audit) {
        work.tx.put_audit(&row).await?;
    }
    let added = work.range();
    if added.is_empty() {
        return Ok(None);
    }
    write_versions(work).await?;
    for (index, leaf) in added.clone().zip(&work.leaves) {
        work.tx.put_leaf(index, leaf).await?;
    }
    // What the tree is made of is what the database gives back, not what we meant to write.
    let stored = work.tx.leaves(added.start, added.end).await?;
    if stored != work.leaves {
        return Err(ReadOnly::Damaged("the database returns other leaves than were written".to_owned()).into());
    }
    let mut edge = tip.edge.clone();
    stored.iter().for_each(|leaf| edge.append(leaf_hash(leaf)));
    let tiles: Vec<_> = edge.tiles().collect();
    for (tile, bytes) in tiles {
        work.tx.put_tile(tile.level(), tile.index(), &bytes).await?;
    }
    edge.settle();
    let (size, root, now) = (edge.size(), edge.root(), work.now());
    let last_at = work.at().minus(Span::micros(1));
    work.tx.put_log_head(&LogHead { size, last_at, root }).await?;
    let registry = work.state.registry().cloned();
    let registry = registry.ok_or_else(|| ReadOnly::Damaged("there is no registry in the log".to_owned()))?;
    let logs = match work.trust.take() {
        Some(row) => Arc::new(Logs::new(row, &registry)?),
        None => tip.logs.clone().ok_or_else(|| ReadOnly::Damaged("there is no trust file".to_owned()))?,
    };
    // By the trust file in force from this batch on: what it asks for is asked of the heads beside it.
    let gate = Gate::new(witnesses, &logs.trust);
    let checkpoint = Checkpoint { origin: registry.origin.clone(), size, root };
    for version in &work.published {
        let head = signers.head(&work.state, &version.published.pinset, &checkpoint, now, lifetimes)?;
        put_head(&mut work.tx, &head, gate.is_open()).await?;
    }
    let heads = Rows::read(&mut work.tx, &gate).await?;
    let note = signers.checkpoint(&registry, &checkpoint, last_at)?;
    work.tx.put_checkpoint(size, &note, now).await?;
    Ok(Some(Sealed { edge, logs, checkpoint, note, heads }))
}

/// Commits, moves the anchor on, serves.
pub(super) async fn finish(core: &Core, work: Work, tip: &mut Tip, sealed: Option<Sealed>) -> Result<(), Failure> {
    let Work { tx, state, .. } = work;
    let committed = tx.commit().await;
    let Some(Sealed { edge, logs, checkpoint, note, heads }) = sealed else {
        // Nothing was logged, so nothing tells whether rows alone are there.
        return committed.map_err(Failure::Unconfirmed);
    };
    if let Err(error) = committed {
        if !is_there(core, &checkpoint, &note).await.map_err(Failure::Unconfirmed)? {
            return Err(error.into());
        }
        tracing::warn!(%error, size = checkpoint.size, "the commit was not confirmed, but is there");
    }
    *tip = Tip { state, edge, logs: Some(logs) };
    // From here on the batch is durable. If we stop now, the database is ahead of the anchor, which is no fault.
    let moment = core.moment().next(tip, (checkpoint, note), heads);
    core.serve(moment).await.map_err(Failure::ReadOnly)?;
    Ok(())
}

/// Whether a batch whose commit failed is durable all the same. One checkpoint of its size was signed: that is there, or
/// nothing is. The head row is taken to look, so that a commit which the database is still at has ended one way or the
/// other; without that a step could be tried again that is done a moment later.
async fn is_there(core: &Core, checkpoint: &Checkpoint, note: &str) -> Result<bool, StoreError> {
    let mut tx = core.writer.begin().await?;
    tx.take_head().await?;
    Ok(tx.checkpoint(checkpoint.size).await?.as_deref() == Some(note))
}

async fn write_versions(work: &mut Work) -> Result<(), StoreError> {
    for version in &work.published {
        let (published, placed) = (&version.published, &version.placed);
        let mut named = vec![published.set_sha256];
        work.tx.put_content(&Content::new(published.set.clone(), JSON, true)).await?;
        for (_, pins) in &published.pins {
            work.tx.put_content(&Content::new(pins.clone(), JSON, true)).await?;
        }
        if let Some(document) = work.state.set_document(&published.pinset) {
            named.extend(document.aliases.values().map(|alias| alias.pins_sha256));
        }
        work.tx.put_named(&published.pinset, &named, placed.at + KEEP_DOCUMENTS).await?;
        work.tx
            .put_set_version(&SetVersion {
                pinset: published.pinset.clone(),
                version: published.version,
                set_sha256: published.set_sha256,
                issued: placed.at,
                log_index: placed.index,
            })
            .await?;
    }
    Ok(())
}

impl From<StoreError> for Failure {
    fn from(e: StoreError) -> Self {
        Self::Store(e)
    }
}
