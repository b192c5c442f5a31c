//! Witnesses: others who see every checkpoint of this log and cosign it only if it continues what they saw before.
//!
//! ```text
//! commit ─► head is signed, and waits ─► round: all witnesses are asked for the newest checkpoint ─► quorum ─► release
//! ```
//!
//! All witnesses are asked for one and the same checkpoint, that of the [`round`]: if each got whichever was newest when
//! its turn came, no checkpoint might ever gather a quorum. A round begins by signing, while the log's head row is
//! held, a head over its checkpoint for every pin set whose newest head isn't released; so whatever gets the quorum
//! has heads that wait for it. Until then gateways get the head before, which nobody signs anew over the same old
//! checkpoint once the log has grown: it runs out, and they stop, if the quorum stays away.
//!
//! What a witness answers is believed if its signature verifies, and only that: sizes and refusals are nobody's word,
//! so they are said aloud ([`WitnessHealth`]) and decide nothing. Replicas share rows: one process at a time asks a
//! witness, whichever looks first, and a second one asking all the same would do no harm.

mod ask;
mod gate;
mod keep;
mod round;

use std::sync::Arc;

use arc_swap::ArcSwap;
use reqwest::Client;
use tokio::{sync::Notify, task::JoinSet};

pub use self::ask::Trouble;
pub(super) use self::gate::Gate;
use super::{App, Core, commit::Failure, tip::Tip};
use crate::{
    clock::{Span, Timestamp},
    config,
    store::{Conn, Round, Standing, StoreError},
};

/// How far a witness's clock may be ahead of ours: as far as trust files let gateways' clocks be apart, because what
/// we release they must count.
const CLOCK_SKEW: Span = super::sign::CLOCK_SKEW;

/// The witnesses of this process's settings.
pub(super) struct Witnesses {
    configured: Option<config::Witnesses>,
    http: Client,
    health: ArcSwap<Health>,
    /// Woken when there is something new to serve: a checkpoint to ask for, perhaps.
    pub(super) wake: Notify,
}

#[derive(Default)]
struct Health {
    cosigned: u64,
    each: Vec<WitnessHealth>,
}

/// How a witness is doing.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct WitnessHealth {
    /// What the settings call it.
    pub name: String,
    /// The largest checkpoint that it is known to have cosigned.
    pub size: u64,
    /// Leaves that the log has beyond that.
    pub lag: u64,
    /// When it last cosigned.
    pub cosigned_at: Option<Timestamp>,
    /// What is wrong since then.
    pub trouble: Option<Trouble>,
    /// When that was found last.
    pub trouble_at: Option<Timestamp>,
}

/// How the quorum is doing.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct QuorumHealth {
    /// The largest checkpoint that had it; 0 before the first.
    pub cosigned: u64,
    /// Whether the trust file that is served asks gateways for this very quorum. Where it doesn't, a new version has to
    /// be signed with the root key.
    pub in_trust: bool,
}

impl Witnesses {
    pub(super) fn new(configured: Option<config::Witnesses>) -> Result<Self, reqwest::Error> {
        // A redirect would hand the choice of who is asked to whoever answers; an unpacked answer has no length before
        // it is unpacked.
        let http = Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .no_gzip()
            .user_agent(concat!("countersign/", env!("CARGO_PKG_VERSION")))
            .build()?;
        Ok(Self { configured, http, health: ArcSwap::default(), wake: Notify::new() })
    }

    pub(super) const fn configured(&self) -> Option<&config::Witnesses> {
        self.configured.as_ref()
    }
}

impl Core {
    /// What must be cosigned before heads are released: what the settings ask for, and the trust file at the log's end.
    pub(super) fn gate(&self, tip: &Tip) -> Gate {
        let served = self.moment();
        Gate::new(self.witnesses.configured(), &tip.logs.as_ref().unwrap_or(&served.logs).trust)
    }

    /// The same by the trust file that is served.
    fn served_gate(&self) -> Gate {
        Gate::new(self.witnesses.configured(), &self.moment().logs.trust)
    }

    /// Keeps what the rows say for those who ask how witnesses are doing.
    fn note_health(&self, round: &Round, standings: &[Standing], newest: u64) {
        let Some(configured) = &self.witnesses.configured else { return };
        let each = configured.each().map(|(witness, _)| {
            let vkey = witness.key.to_string();
            let row = standings.iter().find(|row| row.vkey == vkey);
            let size = row.map_or(0, |row| row.size);
            WitnessHealth {
                name: witness.name.clone(),
                size,
                lag: newest.saturating_sub(size),
                cosigned_at: row.and_then(|row| row.cosigned_at),
                trouble: row.and_then(|row| row.trouble.as_deref()).and_then(|word| word.parse().ok()),
                trouble_at: row.and_then(|row| row.trouble_at),
            }
        });
        self.witnesses.health.store(Arc::new(Health { cosigned: round.cosigned, each: each.collect() }));
    }

    async fn look_at_witnesses(&self, conn: &mut Conn) -> Result<(), StoreError> {
        if self.witnesses.configured.is_some() {
            let (round, standings) = (conn.round().await?, conn.standings().await?);
            self.note_health(&round, &standings, conn.log_head().await?.size);
        }
        Ok(())
    }
}

impl App {
    /// How each witness of the settings is doing, as this process last saw it; empty without witnesses.
    pub fn witnesses(&self) -> Vec<WitnessHealth> {
        self.core.witnesses.health.load().each.clone()
    }

    /// How the quorum is doing; `None` where no witness is asked for, neither by the settings nor by the trust file.
    pub fn quorum(&self) -> Option<QuorumHealth> {
        let gate = self.core.served_gate();
        let health = self.core.witnesses.health.load();
        (!gate.is_open()).then(|| QuorumHealth { cosigned: health.cosigned, in_trust: gate.is_in_trust() })
    }

    /// Asks, once, every witness that is to be asked now, all at the same time, and waits for their answers; how many
    /// it were.
    ///
    /// # Errors
    /// [`StoreError`] if the database fails.
    pub async fn ask_witnesses(&self) -> Result<usize, StoreError> {
        let due = self.witnesses_due().await?;
        let mut asked = JoinSet::new();
        for n in &due {
            asked.spawn(self.clone().ask_witness(*n));
        }
        while let Some(done) = asked.join_next().await {
            // One that panicked has kept nothing, and is asked again when its claim has run out.
            done.unwrap_or(Ok(()))?;
        }
        Ok(due.len())
    }

    /// Which witnesses of the settings are to be asked now, by their place; begins a round if one is due.
    pub(super) async fn witnesses_due(&self) -> Result<Vec<usize>, StoreError> {
        match round::due(&self.core).await {
            Ok(due) => Ok(due),
            Err(Failure::Store(e) | Failure::Unconfirmed(e)) => Err(e),
            // Nothing is asked for what may be a fork.
            Err(Failure::ReadOnly(_) | Failure::Step) => Ok(Vec::new()),
        }
    }

    /// Asks one witness for the round's checkpoint, unless another process does.
    pub(super) async fn ask_witness(self, n: usize) -> Result<(), StoreError> {
        keep::ask(&self.core, n).await?;
        self.core.look_at_witnesses(&mut self.core.reader.conn().await?).await
    }

    /// Ends when there may be something new to ask for.
    pub(super) async fn witnesses_woken(&self) {
        self.core.witnesses.wake.notified().await;
    }

    /// Whether the settings name witnesses.
    pub(super) fn has_witnesses(&self) -> bool {
        self.core.witnesses.configured.is_some()
    }
}
