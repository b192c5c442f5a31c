//! The commit queue: waiting writes share one transaction, and the log grows by one signed checkpoint a batch.
//!
//! One worker takes what waits, and takes the log's head row before anything else, so that writers of all processes come
//! one after the other. A database error throws the batch away, and each step of it is tried once alone: one bad apple
//! spoils nobody else's write. No answer leaves before the commit, and none before the anchor has moved on.

use std::{
    ops::Range,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::{
    sync::{Notify, mpsc, oneshot},
    task::JoinHandle,
};

use super::{
    Core, Moment, ReadOnly,
    commit::{self, Failure},
    work::{Step, Stop, Work},
};
use crate::{env::BoxFuture, pinset::FoldError, store::StoreError};

/// Steps in one transaction: enough that a checkpoint's cost is shared, few enough that nobody waits long.
const MAX_BATCH: usize = 64;

/// A write that was committed.
#[derive(Debug)]
pub struct Written<T> {
    /// What came of it.
    pub done: T,
    /// Its leaves; empty if it had nothing to log.
    pub leaves: Range<u64>,
    /// The first moment in which it is done: state, checkpoint, heads.
    pub moment: Arc<Moment>,
}

/// A write that was not committed.
#[derive(Debug, thiserror::Error)]
pub enum WriteError<R> {
    /// It may not be done.
    #[error("refused")]
    Refused(R),
    /// Nothing may be appended here.
    #[error(transparent)]
    ReadOnly(ReadOnly),
    /// Too many writes wait: come back later.
    #[error("too many writes are waiting")]
    Busy,
    /// The service is about to end, or a step of the batch crashed; nothing was written.
    #[error("the write was abandoned")]
    Closed,
    /// The database failed, twice; or it failed at the commit, and nobody knows whether that took effect
    /// ([`StoreError::Unconfirmed`]).
    #[error(transparent)]
    Store(StoreError),
    /// A mistake of this program: a step made an event that doesn't follow from the log.
    #[error("an event does not follow from the log: {0}")]
    Fold(FoldError),
}

/// The way in.
#[derive(Clone)]
pub(super) struct Queue {
    sender: mpsc::Sender<Box<dyn Waiting>>,
    worker: Arc<Worker>,
}

struct Worker {
    stop: Notify,
    task: Mutex<Option<JoinHandle<()>>>,
}

/// A step that waits, of whatever type.
pub(super) trait Waiting: Send {
    fn run<'a>(&'a mut self, work: &'a mut Work) -> BoxFuture<'a, Ran>;
    fn answer(self: Box<Self>, committed: Result<Arc<Moment>, Failure>);
}

/// How a step ended, as far as the batch needs to know.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Ran {
    /// Done, or refused without a trace: the batch goes on.
    Cleanly,
    /// The transaction can't be used any more.
    Badly,
}

/// What a step did, and its leaves, before the commit.
type Outcome<S> = Result<(<S as Step>::Done, Range<u64>), WriteError<<S as Step>::Refused>>;
type Answer<S> = Result<Written<<S as Step>::Done>, WriteError<<S as Step>::Refused>>;

struct Job<S: Step> {
    step: S,
    ran: Option<Outcome<S>>,
    reply: oneshot::Sender<Answer<S>>,
}

impl Queue {
    /// The queue of `core` for at most `waiting` writes, and its worker, which ends with the last queue.
    pub(super) fn start(core: Arc<Core>, waiting: usize) -> Self {
        let (sender, receiver) = mpsc::channel(waiting);
        let worker = Arc::new(Worker { stop: Notify::new(), task: Mutex::new(None) });
        let stop = Arc::clone(&worker);
        let task = tokio::spawn(async move { work_off(core, receiver, &stop.stop).await });
        *worker.task.lock().unwrap_or_else(PoisonError::into_inner) = Some(task);
        Self { sender, worker }
    }

    /// Takes no more writes, and waits for those that wait.
    pub(super) async fn close(&self) {
        self.worker.stop.notify_one();
        let task = self.worker.task.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(task) = task {
            // A worker that panicked has answered nobody and has nothing left to end.
            let _ = task.await;
        }
    }

    pub(super) async fn write<S: Step>(&self, step: S) -> Answer<S> {
        let (reply, answer) = oneshot::channel();
        let job: Box<dyn Waiting> = Box::new(Job { step, ran: None, reply });
        self.sender.try_send(job).map_err(|e| match e {
            mpsc::error::TrySendError::Full(_) => WriteError::Busy,
            mpsc::error::TrySendError::Closed(_) => WriteError::Closed,
        })?;
        answer.await.unwrap_or(Err(WriteError::Closed))
    }
}

async fn work_off(core: Arc<Core>, mut receiver: mpsc::Receiver<Box<dyn Waiting>>, stop: &Notify) {
    let mut stopping = false;
    loop {
        let mut batch = Vec::new();
        let taken = tokio::select! {
            biased;
            () = stop.notified(), if !stopping => {
                stopping = true;
                receiver.close();
                continue;
            }
            taken = receiver.recv_many(&mut batch, MAX_BATCH) => taken,
        };
        if taken == 0 {
            return;
        }
        // A task of its own: a step that panics takes its batch down, whose transaction is then thrown away, and no more.
        if tokio::spawn(run(Arc::clone(&core), batch)).await.is_err() {
            tracing::error!("a write panicked; its batch was not committed");
        }
    }
}

async fn run(core: Arc<Core>, mut batch: Vec<Box<dyn Waiting>>) {
    match commit::batch(&core, &mut batch).await {
        Err(Failure::Step | Failure::Store(_)) => {
            for job in batch {
                let mut alone = [job];
                let committed = commit::batch(&core, &mut alone).await;
                let [job] = alone;
                job.answer(committed);
            }
        }
        // A step that may be done already must not be refused for it.
        Err(Failure::Unconfirmed(error)) => {
            tracing::error!(%error, "a batch was neither confirmed nor found missing");
            let answer = |job: Box<dyn Waiting>| job.answer(Err(Failure::Unconfirmed(StoreError::Unconfirmed)));
            batch.into_iter().for_each(answer);
        }
        // Nothing may be appended, whoever tries.
        Err(Failure::ReadOnly(reason)) => {
            batch.into_iter().for_each(|job| job.answer(Err(Failure::ReadOnly(reason.clone()))));
        }
        Ok(moment) => batch.into_iter().for_each(|job| job.answer(Ok(Arc::clone(&moment)))),
    }
}

impl<S: Step> Waiting for Job<S> {
    fn run<'a>(&'a mut self, work: &'a mut Work) -> BoxFuture<'a, Ran> {
        Box::pin(async move {
            let before = work.range().end;
            let earlier = std::mem::replace(&mut work.wrote, false);
            let ran = self.step.run(work).await;
            let wrote = work.wrote;
            work.wrote |= earlier;
            let (outcome, ran) = match ran {
                Ok(done) => (Ok((done, before..work.range().end)), Ran::Cleanly),
                Err(Stop::Refused(why)) => {
                    (Err(WriteError::Refused(why)), if wrote { Ran::Badly } else { Ran::Cleanly })
                }
                Err(Stop::Store(e)) => (Err(WriteError::Store(e)), Ran::Badly),
                Err(Stop::Fold(e)) => (Err(WriteError::Fold(e)), if wrote { Ran::Badly } else { Ran::Cleanly }),
            };
            self.ran = Some(outcome);
            ran
        })
    }

    fn answer(self: Box<Self>, committed: Result<Arc<Moment>, Failure>) {
        let answer = match (self.ran, committed) {
            (Some(Ok((done, leaves))), Ok(moment)) => Ok(Written { done, leaves, moment }),
            (Some(Err(e)), Ok(_) | Err(Failure::Step)) => Err(e),
            (_, Err(Failure::ReadOnly(reason))) => Err(WriteError::ReadOnly(reason)),
            (_, Err(Failure::Store(e) | Failure::Unconfirmed(e))) => Err(WriteError::Store(e)),
            // A batch is never committed without each step having been run, nor thrown away for a step that was done.
            (None | Some(Ok(_)), _) => Err(WriteError::Closed),
        };
        // Whoever asked may have gone away; the write stands.
        let _ = self.reply.send(answer);
    }
}
