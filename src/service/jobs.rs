//! What is done by the clock: looking for others' writes, signing heads anew, reading stored leaves again, sweeping out
//! what is over.
//!
//! Each job says when it is due, and the clock is waited for; no other timer decides anything.

use std::collections::HashMap;

use tokio::task::JoinSet;

use super::{App, commit, commit::Failure, trust};
use crate::{
    clock::{Span, Timestamp},
    store::StoreError,
};

/// How often a process looks whether another has written: what a revoked token lives on at most.
const POLL: Span = Span::millis(250);
/// How often it is written down who was seen.
const SEEN: Span = Span::minutes(1);
/// How often what is over is swept out.
const SWEEP: Span = Span::hours(1);
/// How often a bundle of stored leaves is read again: a million leaves in an hour, for one small read a second.
const RECHECK: Span = Span::seconds(1);
/// Documents dropped in one transaction.
const SWEEP_DOCUMENTS: u32 = 500;

/// Runs all jobs until the future is dropped.
pub async fn run(app: App) {
    let mut jobs = JoinSet::new();
    jobs.spawn(poll(app.clone()));
    jobs.spawn(resign(app.clone()));
    jobs.spawn(note_seen(app.clone()));
    if app.has_witnesses() {
        jobs.spawn(ask_witnesses(app.clone()));
    }
    jobs.spawn(recheck(app.clone()));
    jobs.spawn(sweep(app));
    // They never end by themselves; dropping the set ends them.
    while jobs.join_next().await.is_some() {}
}

async fn poll(app: App) {
    loop {
        app.clock().until(app.clock().now() + POLL).await;
        if let Err(error) = app.refresh().await {
            tracing::warn!(%error, "could not look for others' writes");
        }
    }
}

async fn resign(app: App) {
    loop {
        let due = app.resign_due();
        app.clock().until(due).await;
        match app.resign().await {
            Ok(heads) if heads > 0 => tracing::debug!(heads, "signed anew"),
            // Another process was first, or there is nothing to sign yet.
            Ok(_) => app.clock().until(app.clock().now() + POLL).await,
            Err(error) => {
                tracing::warn!(%error, "heads were not signed anew; they expire if this goes on");
                app.clock().until(app.clock().now() + Span::minutes(1)).await;
            }
        }
    }
}

/// Each witness has at most one request under way, and the others don't wait for it.
async fn ask_witnesses(app: App) {
    let (mut asking, mut under_way) = (JoinSet::new(), HashMap::new());
    loop {
        match app.witnesses_due().await {
            Ok(due) => {
                for n in due {
                    if !under_way.values().any(|asked| *asked == n) {
                        under_way.insert(asking.spawn(app.clone().ask_witness(n)).id(), n);
                    }
                }
            }
            Err(error) => tracing::warn!(%error, "witnesses were not asked"),
        }
        tokio::select! {
            () = app.clock().until(app.clock().now() + POLL) => {}
            () = app.witnesses_woken() => {}
            Some(done) = asking.join_next_with_id() => match done {
                Ok((id, asked)) => {
                    under_way.remove(&id);
                    if let Err(error) = asked {
                        tracing::warn!(%error, "a witness was not asked");
                    }
                }
                Err(panicked) => {
                    under_way.remove(&panicked.id());
                }
            },
        }
    }
}

async fn note_seen(app: App) {
    loop {
        app.clock().until(app.clock().now() + SEEN).await;
        if let Err(error) = app.write_seen().await {
            tracing::warn!(%error, "who was seen was not written down");
        }
    }
}

async fn recheck(app: App) {
    loop {
        app.clock().until(app.clock().now() + RECHECK).await;
        // A registry that is read-only has said why; there is nothing that a second reason would stop.
        if app.read_only().is_none()
            && let Err(error) = app.recheck().await
        {
            tracing::warn!(%error, "stored leaves were not read again");
        }
    }
}

async fn sweep(app: App) {
    loop {
        if let Err(error) = app.sweep().await {
            tracing::warn!(%error, "what is over was not swept out");
        }
        app.clock().until(app.clock().now() + SWEEP).await;
    }
}

impl App {
    /// When the next head is to be signed anew.
    pub fn resign_due(&self) -> Timestamp {
        let issued = self.moment().heads.values().map(|head| head.issued).min();
        issued.map_or_else(|| self.core.clock.now(), |issued| issued + self.core.heads.resign)
    }

    /// Signs every head anew that is due; how many it were. Replicas share the work: a head that another one has just
    /// signed isn't due.
    ///
    /// # Errors
    /// [`StoreError`] if the database fails; a read-only registry signs nothing and says so in [`App::read_only`].
    pub async fn resign(&self) -> Result<usize, StoreError> {
        if let Err(error) = trust::activate(self).await {
            tracing::warn!(%error, "a key of the log whose time has come did not begin to sign");
        }
        let (now, resign) = (self.core.clock.now(), self.core.heads.resign);
        match commit::resign(&self.core, |head| head.issued + resign <= now).await {
            Ok(heads) => Ok(heads),
            Err(Failure::Store(e) | Failure::Unconfirmed(e)) => Err(e),
            Err(Failure::ReadOnly(_) | Failure::Step) => Ok(0),
        }
    }

    /// Sweeps out ended sessions, forgotten failures and documents whose time is over.
    ///
    /// # Errors
    /// [`StoreError`] if the database fails.
    pub async fn sweep(&self) -> Result<(), StoreError> {
        let now = self.core.clock.now();
        let mut tx = self.core.writer.begin().await?;
        super::access::sweep(&mut tx, now).await?;
        tx.drop_content(now, SWEEP_DOCUMENTS).await?;
        tx.commit().await
    }
}
