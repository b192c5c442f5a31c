//! The registry at work: the one place where keys sign, the log grows and rules meet rows.
//!
//! [`App`] is what pages, API and commands share. It reads through a [`Moment`] in memory (what the log says, the newest
//! checkpoint and heads) and a [`Reader`], and writes through [`App::write`] alone. Several processes may work on one
//! database, `admin` beside `serve` or replicas side by side: the log's head row puts their writes in one order, and
//! each looks every 250 ms whether another has written. Nothing here knows HTTP.
//!
//! Trusts its keys, its clock and its anchor. It doesn't trust the database with the log: what it reads back is folded
//! and hashed again, and where that doesn't come out the registry stays up, but read-only ([`ReadOnly`]).

pub mod access;
mod anchor;
mod challenge;
mod commit;
pub mod desk;
pub mod distribute;
mod durable;
mod find;
pub mod govern;
mod health;
pub mod history;
pub mod jobs;
mod kept;
mod keyring;
mod logs;
mod moment;
mod open;
mod opening;
mod proofs;
pub mod publish;
mod queue;
mod recheck;
mod repeat;
mod scanning;
mod sign;
mod tiles;
mod tip;
pub mod trust;
mod witness;
mod work;

use std::sync::{Arc, RwLock};

use arc_swap::ArcSwap;

use self::{access::Access, anchor::Anchor, commit::Failure, queue::Queue, sign::Signers, tip::Tip};
pub use self::{
    anchor::ReadOnly,
    challenge::ChallengeError,
    find::Found,
    health::{AnchorHealth, Anchored},
    kept::{KeptHead, KeptHeads},
    keyring::{KeyError, KeyKind},
    moment::Moment,
    open::{OpenError, Opening, owns},
    proofs::NoProof,
    queue::{WriteError, Written},
    recheck::Rechecked,
    tiles::CacheUse,
    witness::{QuorumHealth, Trouble, WitnessHealth},
    work::{Placed, Step, Stop, Work},
};
use crate::{
    config::{Heads, Limits},
    env::{Clock, Rng},
    keys::KeyId,
    pinset::State,
    scan::Ruleset,
    store::{Reader, StoreError, Writer},
};

/// An open registry. Clones share it.
#[derive(Clone)]
pub struct App {
    core: Arc<Core>,
    queue: Queue,
}

/// What the queue's worker and the jobs share with every [`App`].
struct Core {
    reader: Reader,
    writer: Writer,
    clock: Arc<dyn Clock>,
    rng: Arc<dyn Rng>,
    heads: Heads,
    limits: Limits,
    signers: Signers,
    anchor: Anchor,
    anchor_inside_data: bool,
    rules: Arc<Ruleset>,
    witnesses: witness::Witnesses,
    /// Held while the log is read or written on; taken before a transaction is begun.
    tip: tokio::sync::Mutex<Tip>,
    moment: ArcSwap<Moment>,
    access: ArcSwap<Access>,
    /// Held while `access` is read anew: an older look must not replace a newer one and bring a revoked token back.
    looking: tokio::sync::Mutex<()>,
    hashers: access::Hashers,
    /// Full tiles and bundles that readers asked for.
    full: tiles::Full,
    /// Held while stored leaves are read again.
    walk: tokio::sync::Mutex<recheck::Walk>,
    rechecked: ArcSwap<Rechecked>,
    read_only: RwLock<Option<ReadOnly>>,
}

impl App {
    /// What is served now.
    pub fn moment(&self) -> Arc<Moment> {
        self.core.moment()
    }

    /// Who may do what, now.
    pub fn access(&self) -> Arc<Access> {
        self.core.access.load_full()
    }

    /// To read rows.
    pub fn reader(&self) -> &Reader {
        &self.core.reader
    }

    /// What time it is.
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.core.clock
    }

    /// Sizes of pools and queues.
    pub fn limits(&self) -> &Limits {
        &self.core.limits
    }

    /// The trust fingerprint: what a person compares before they trust this registry.
    pub fn fingerprint(&self) -> KeyId {
        self.moment().logs.trust.fingerprint()
    }

    /// The scanner's rules.
    pub fn rules(&self) -> &Arc<Ruleset> {
        &self.core.rules
    }

    /// How the memory for the log's full files was used.
    pub fn cache_use(&self) -> CacheUse {
        self.core.full.used()
    }

    /// Why nothing may be appended, if nothing may.
    pub fn read_only(&self) -> Option<ReadOnly> {
        self.core.read_only()
    }

    /// Whether a restored copy of the data directory would bring the anchor back along, so that it isn't noticed.
    pub fn anchor_is_inside_data(&self) -> bool {
        self.core.anchor_inside_data
    }

    /// Writes: waits for a place in the queue's next transaction, for its commit, and for the anchor.
    ///
    /// # Errors
    /// [`WriteError`]; unless it is [`StoreError::Unconfirmed`], nothing was written.
    pub async fn write<S: Step>(&self, step: S) -> Result<Written<S::Done>, WriteError<S::Refused>> {
        self.queue.write(step).await
    }

    /// Ends: takes no more writes, finishes those that wait, and closes the database.
    pub async fn close(&self) {
        self.queue.close().await;
        self.core.writer.close().await;
        self.core.reader.close().await;
        self.core.anchor.close().await;
    }

    /// Looks now, not at the next poll, whether another process has written.
    ///
    /// # Errors
    /// [`StoreError`] if the database doesn't answer.
    pub async fn refresh(&self) -> Result<(), StoreError> {
        self.core.refresh().await
    }
}

impl Core {
    fn moment(&self) -> Arc<Moment> {
        self.moment.load_full()
    }

    fn origin(&self, state: &State) -> Result<String, Failure> {
        let origin = state.registry().map(|registry| registry.origin.clone());
        origin.ok_or_else(|| self.lost(ReadOnly::Damaged("there is no registry in the log".to_owned()).into()))
    }

    fn read_only(&self) -> Option<ReadOnly> {
        self.read_only.read().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
    }

    /// From here on nothing is appended or signed until a person has looked and started the service again.
    fn stop_appending(&self, reason: ReadOnly) -> ReadOnly {
        tracing::error!(%reason, "read-only from now on");
        let mut held = self.read_only.write().unwrap_or_else(std::sync::PoisonError::into_inner);
        held.get_or_insert(reason).clone()
    }

    fn lost(&self, lost: tip::Lost) -> Failure {
        match lost {
            tip::Lost::Store(e) => Failure::Store(e),
            tip::Lost::ReadOnly(reason) => Failure::ReadOnly(self.stop_appending(reason)),
        }
    }

    /// Moves the anchor on, then serves what was committed: never the other way round. If the anchor can't be written
    /// what was committed is kept, but not served.
    async fn serve(&self, moment: Moment) -> Result<Arc<Moment>, ReadOnly> {
        let moved = self.anchor.advance(&moment.checkpoint, &moment.note, &moment.logs).await;
        moved.map_err(|reason| self.stop_appending(reason))?;
        let moment = Arc::new(moment);
        self.moment.store(Arc::clone(&moment));
        self.witnesses.wake.notify_waiters();
        Ok(moment)
    }

    /// Notices what other processes have written.
    async fn refresh(&self) -> Result<(), StoreError> {
        let poll = self.reader.conn().await?.poll().await?;
        let moment = self.moment();
        let served = (moment.checkpoint.size, moment.heads_signed(), moment.witnesses_changed());
        if (poll.size, poll.heads, poll.witnesses) != served && self.read_only().is_none() {
            self.follow().await?;
        }
        if poll.access != self.access.load().version() {
            self.reload_access().await?;
        }
        if matches!(self.read_only(), Some(ReadOnly::NoAnchor | ReadOnly::Unusable(_))) {
            self.look_at_the_anchor().await?;
        }
        Ok(())
    }

    async fn follow(&self) -> Result<(), StoreError> {
        let mut tip = self.tip.lock().await;
        // Begun under the lock, so that it sees at least what this process has committed.
        let mut conn = self.reader.snapshot().await?;
        let head = conn.log_head().await?;
        match tip.catch_up(&mut conn, &head, false).await {
            Ok(Some(signed)) => {
                let heads = moment::Heads::read(&mut conn, &self.gate(&tip)).await?;
                let moment = self.moment().next(&tip, signed, heads);
                // A failure has been logged and has made the registry read-only.
                let _ = self.serve(moment).await;
                Ok(())
            }
            Ok(None) => Ok(()),
            Err(tip::Lost::Store(e)) => Err(e),
            Err(tip::Lost::ReadOnly(reason)) => {
                self.stop_appending(reason);
                Ok(())
            }
        }
    }

    async fn reload_access(&self) -> Result<(), StoreError> {
        let _alone = self.looking.lock().await;
        let rows = self.reader.snapshot().await?.access().await?;
        self.access.store(Arc::new(Access::new(rows).succeed(&self.access.load())));
        Ok(())
    }

    /// A registry that opened without an anchor goes on once somebody has adopted its checkpoint; one whose anchor couldn't
    /// be reached, once it can. What was committed in between is served then.
    async fn look_at_the_anchor(&self) -> Result<(), StoreError> {
        let mut tip = self.tip.lock().await;
        let Ok(Some(held)) = self.anchor.read().await else { return Ok(()) };
        let mut conn = self.reader.snapshot().await?;
        let head = conn.log_head().await?;
        let signed = match tip.catch_up(&mut conn, &head, false).await {
            Ok(Some(signed)) => signed,
            Ok(None) | Err(tip::Lost::ReadOnly(_)) => return Ok(()),
            Err(tip::Lost::Store(e)) => return Err(e),
        };
        let heads = moment::Heads::read(&mut conn, &self.gate(&tip)).await?;
        let moment = self.moment().next(&tip, signed, heads);
        match moment.logs.held(&held) {
            Ok(logs::Held::Checkpoint(anchor)) => {
                let root = proofs::root_at(&mut conn, anchor.size).await?;
                if let Err(reason) = anchor::compare(Some(&anchor), head.size, root) {
                    *self.read_only.write().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(reason);
                    return Ok(());
                }
            }
            Ok(logs::Held::LeftBehind) => {}
            Err(_) => return Ok(()),
        }
        tracing::info!("the anchor is there again");
        self.read_only.write().unwrap_or_else(std::sync::PoisonError::into_inner).take();
        // A failure makes the registry read-only again.
        let _ = self.serve(moment).await;
        Ok(())
    }
}

impl std::fmt::Debug for App {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("App").field("origin", &self.core.moment().checkpoint.origin).finish_non_exhaustive()
    }
}
