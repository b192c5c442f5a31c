//! One step's turn at the log: what a write may do while the head row is held.
//!
//! A step is a write in three parts. Costly work (parsing, verification, scanning) was done before it queued. In its turn
//! it first reads what it depends on, from the fold and the transaction, and decides; only then does it log events and
//! write rows. So a refusal has written nothing, and no savepoint is needed. The queue may let a step take its turn
//! again, alone, after the database failed; a step keeps what it needs for that.

use std::future::Future;

use crate::{
    canon::Sha256,
    clock::Timestamp,
    event::{Event, Leaf, NotALeaf},
    pinset::{Effect, FoldError, State},
    store::{StoreError, WriteTx},
};

/// A write that waits for its turn.
pub trait Step: Send + 'static {
    /// What the caller learns when it is durable.
    type Done: Send + 'static;
    /// Why it may be refused.
    type Refused: Send + 'static;

    /// Reads, decides, logs and writes, in this order.
    fn take(
        &mut self,
        turn: &mut Turn<'_>,
    ) -> impl Future<Output = Result<Self::Done, StepError<Self::Refused>>> + Send;
}

/// Why a step didn't come through.
#[derive(Debug, thiserror::Error)]
pub enum StepError<R> {
    /// The step itself said no, and has written nothing.
    #[error("refused")]
    Refused(R),
    /// The fold refused an event: the step's own checks missed something.
    #[error(transparent)]
    Fold(#[from] FoldError),
    /// The event is no leaf, because it is too long.
    #[error(transparent)]
    Leaf(#[from] NotALeaf),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The state and the transaction, for the length of one step.
pub struct Turn<'a> {
    state: &'a mut State,
    tx: &'a mut WriteTx,
    now: Timestamp,
    logged: Vec<Logged>,
}

/// An event that was logged in this turn.
#[derive(Clone, Debug)]
pub struct Logged {
    /// Its place in the log.
    pub index: u64,
    /// Its time.
    pub at: Timestamp,
    /// The leaf.
    pub leaf: Vec<u8>,
    /// SHA-256 of the leaf's bytes, as decisions are named.
    pub sha256: Sha256,
    /// What the fold made of it.
    pub effect: Effect,
}

impl<'a> Turn<'a> {
    /// A turn over a state that is the step's to change: the queue discards it if the step fails.
    pub const fn new(state: &'a mut State, tx: &'a mut WriteTx, now: Timestamp) -> Self {
        Self { state, tx, now, logged: Vec::new() }
    }

    /// What the log says, the steps before this one included.
    pub const fn state(&self) -> &State {
        self.state
    }

    /// The transaction.
    pub const fn tx(&mut self) -> &mut WriteTx {
        self.tx
    }

    /// State and transaction at once, for reads that need both.
    pub const fn both(&mut self) -> (&State, &mut WriteTx) {
        (self.state, self.tx)
    }

    /// The registry's clock when the batch began.
    pub const fn now(&self) -> Timestamp {
        self.now
    }

    /// The time that the next logged event will carry.
    pub fn at(&self) -> Timestamp {
        self.state.next_at(self.now)
    }

    /// Logs an event. Its leaf is written with the batch; the state has it at once.
    ///
    /// # Errors
    /// [`StepError::Fold`] if the event doesn't follow from the log, [`StepError::Leaf`] if it is too long.
    pub fn log<R>(&mut self, event: Event) -> Result<&Logged, StepError<R>> {
        let (index, at) = (self.state.size(), self.at());
        let leaf = Leaf::new(at, event).to_bytes()?;
        let effect = self.state.apply(index, &leaf)?;
        self.logged.push(Logged { index, at, sha256: Sha256::of(&leaf), leaf, effect });
        // Pushed just above.
        self.logged.last().ok_or(StepError::Fold(FoldError::Order { expected: index, index }))
    }

    /// What was logged in this turn, for the queue to write.
    pub fn into_logged(self) -> Vec<Logged> {
        self.logged
    }
}
