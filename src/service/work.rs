//! One write: what a step sees and does inside the transaction it shares with others.
//!
//! A step reads what it depends on, decides, and only then writes. If it refuses after all although it has written, the
//! whole transaction is thrown away and the others are tried again without it: slower, never wrong.

use std::{future::Future, ops::Range, sync::Arc};

use crate::{
    canon::Sha256,
    clock::Timestamp,
    env::Rng,
    event::{Event, Leaf, PinsetPublished},
    name::SetName,
    pinset::{FoldError, HeldPin, Published, State},
    store::{AuditRow, Conn, StoreError, Trust, WriteTx},
};

/// Something to be written, with all that it needs except what it depends on in the database. It may be run twice: when
/// the transaction that it was first tried in is thrown away.
pub trait Step: Send + Sync + 'static {
    /// What comes of it.
    type Done: Send + 'static;
    /// Why it may not be done.
    type Refused: Send + 'static;

    /// Reads, decides, writes, in this order.
    fn run(&self, work: &mut Work) -> impl Future<Output = Result<Self::Done, Stop<Self::Refused>>> + Send;
}

/// A step ends without having done anything.
#[derive(Debug)]
pub enum Stop<R> {
    /// It may not be done; nothing was written.
    Refused(R),
    /// The database didn't do its part.
    Store(StoreError),
    /// The fold wouldn't take the event: the step should have refused before.
    Fold(FoldError),
}

/// The transaction, and the state as it is with everything that was appended in it so far.
pub struct Work {
    pub(super) tx: WriteTx,
    pub(super) state: State,
    pub(super) leaves: Vec<Vec<u8>>,
    pub(super) published: Vec<Version>,
    pub(super) audit: Vec<AuditRow>,
    pub(super) wrote: bool,
    pub(super) access: bool,
    /// The trust file that is in force from this transaction on.
    pub(super) trust: Option<Trust>,
    first: u64,
    now: Timestamp,
    rng: Arc<dyn Rng>,
}

/// A version that this transaction publishes.
pub(super) struct Version {
    pub(super) placed: Placed,
    pub(super) published: Published,
}

/// An event in its place.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Placed {
    /// The leaf's index.
    pub index: u64,
    /// The leaf's time.
    pub at: Timestamp,
    /// SHA-256 of the leaf's bytes: how documents name a decision.
    pub sha256: Sha256,
    /// Pins that the event took away.
    pub held: Vec<HeldPin>,
}

impl Work {
    pub(super) fn new(tx: WriteTx, state: State, now: Timestamp, rng: Arc<dyn Rng>) -> Self {
        let first = state.size();
        let (leaves, published, audit) = (Vec::new(), Vec::new(), Vec::new());
        Self { tx, state, leaves, published, audit, wrote: false, access: false, trust: None, first, now, rng }
    }

    /// What the log says, events of this transaction included.
    pub const fn state(&self) -> &State {
        &self.state
    }

    /// The time that the next event will carry.
    pub fn at(&self) -> Timestamp {
        self.state.next_at(self.now)
    }

    /// When the transaction began.
    pub const fn now(&self) -> Timestamp {
        self.now
    }

    /// Salts, secrets, reviewer ids.
    pub fn rng(&self) -> &dyn Rng {
        self.rng.as_ref()
    }

    /// Rows as they are, those written in this transaction included.
    pub fn read(&mut self) -> &mut Conn {
        &mut self.tx
    }

    /// To write rows. From here on the step doesn't refuse any more.
    pub const fn write(&mut self) -> &mut WriteTx {
        self.wrote = true;
        &mut self.tx
    }

    /// Appends an event to the log, and takes it into [`Work::state`].
    ///
    /// # Errors
    /// [`FoldError`] if the event doesn't follow from the log; nothing has changed then.
    pub fn append(&mut self, event: Event) -> Result<Placed, FoldError> {
        self.place(event).map(|(placed, _)| placed)
    }

    /// Adds to the audit trail when the transaction ends.
    pub fn audit(&mut self, actor: &str, action: &str, subject: &str, detail: &str) {
        self.audit.push(AuditRow {
            id: 0,
            at: self.now,
            actor: actor.to_owned(),
            action: action.to_owned(),
            subject: subject.to_owned(),
            detail: detail.to_owned(),
        });
        self.wrote = true;
    }

    /// Says that who may do what has changed: this process and the others look again.
    ///
    /// # Errors
    /// [`StoreError`] if the database doesn't answer.
    pub async fn access_changed(&mut self) -> Result<(), StoreError> {
        self.access = true;
        self.write().access_changed().await
    }

    /// Ends the batch: every pin set that changed gets its next version.
    pub(super) fn publish(&mut self) -> Result<(), FoldError> {
        let changed: Vec<SetName> =
            self.state.sets().filter(|set| set.is_changed()).map(|set| set.name().clone()).collect();
        for pinset in changed {
            let next = self.state.next_version(&pinset, self.at())?;
            let (version, set_sha256) = (next.version, next.set_sha256);
            let event = Event::PinsetPublished(PinsetPublished { pinset, version, set_sha256 });
            let (placed, published) = self.place(event)?;
            self.published.extend(published.map(|published| Version { placed, published }));
        }
        Ok(())
    }

    /// Indices of the leaves that were appended in this transaction so far.
    pub(super) fn range(&self) -> Range<u64> {
        self.first..self.state.size()
    }

    fn place(&mut self, event: Event) -> Result<(Placed, Option<Published>), FoldError> {
        let (index, at) = (self.state.size(), self.at());
        let leaf = Leaf::new(at, event).to_bytes()?;
        let effect = self.state.apply(index, &leaf)?;
        let placed = Placed { index, at, sha256: Sha256::of(&leaf), held: effect.held };
        self.leaves.push(leaf);
        self.wrote = true;
        Ok((placed, effect.published))
    }
}

impl<R> From<StoreError> for Stop<R> {
    fn from(e: StoreError) -> Self {
        Self::Store(e)
    }
}

impl<R> From<FoldError> for Stop<R> {
    fn from(e: FoldError) -> Self {
        Self::Fold(e)
    }
}
