//! Ballots, and the decisions that came of them.

use sqlx::FromRow;

use super::{Conn, Result, WriteTx, int};
use crate::{
    canon::Sha256,
    clock::Timestamp,
    name::SetName,
    review::{CandidateId, Outcome, ReviewerId},
};

/// One reviewer's vote on one view of a candidate.
#[derive(Clone, Debug, Eq, FromRow, PartialEq)]
pub struct Ballot {
    /// The candidate.
    pub candidate: CandidateId,
    /// Who voted.
    pub reviewer: ReviewerId,
    /// The view.
    pub view: Sha256,
    /// The ballot's canonical bytes.
    pub document: Vec<u8>,
    /// The voter's reason, as its hash.
    pub reason: Sha256,
    /// When.
    pub cast_at: Timestamp,
    /// Since when it counts no more.
    pub void_since: Option<Timestamp>,
}

/// A decision, as the log has it.
#[derive(Clone, Debug, Eq, FromRow, PartialEq)]
pub struct Decided {
    /// Its leaf.
    #[sqlx(try_from = "i64")]
    pub log_index: u64,
    /// SHA-256 of its leaf.
    pub sha256: Sha256,
    /// The candidate.
    pub candidate: CandidateId,
    /// What was decided.
    pub outcome: Outcome,
    /// The reason, as its hash.
    pub reason: Sha256,
    /// `solo`, or how many of how many.
    pub mode: String,
    /// When.
    pub at: Timestamp,
}

macro_rules! ballot {
    ($rest:literal) => {
        concat!("SELECT candidate, reviewer, view, document, reason, cast_at, void_since FROM ballot ", $rest)
    };
}
macro_rules! decided {
    ($rest:literal) => {
        concat!("SELECT log_index, sha256, candidate, outcome, reason, mode, at FROM decision ", $rest)
    };
}
pub(super) use {ballot, decided};

impl Conn {
    /// The ballots that count for a candidate, oldest first.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn ballots(&mut self, candidate: &CandidateId) -> Result<Vec<Ballot>> {
        const SQL: &str = ballot!("WHERE candidate = $1 AND void_since IS NULL ORDER BY cast_at, reviewer");
        Ok(on!(&mut self.0, |c| sqlx::query_as(SQL).bind(candidate).fetch_all(&mut **c).await?))
    }

    /// What was decided about a candidate, oldest first.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn decisions(&mut self, candidate: &CandidateId) -> Result<Vec<Decided>> {
        const SQL: &str = decided!("WHERE candidate = $1 ORDER BY log_index");
        Ok(on!(&mut self.0, |c| sqlx::query_as(SQL).bind(candidate).fetch_all(&mut **c).await?))
    }

    /// The last decisions of all, newest first.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn last_decisions(&mut self, limit: u32) -> Result<Vec<Decided>> {
        const SQL: &str = decided!("ORDER BY log_index DESC LIMIT $1");
        Ok(on!(&mut self.0, |c| sqlx::query_as(SQL).bind(i64::from(limit)).fetch_all(&mut **c).await?))
    }

    /// One decision.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn decision(&mut self, sha256: Sha256) -> Result<Option<Decided>> {
        const SQL: &str = decided!("WHERE sha256 = $1");
        Ok(on!(&mut self.0, |c| sqlx::query_as(SQL).bind(sha256).fetch_optional(&mut **c).await?))
    }
}

impl WriteTx {
    /// Keeps a ballot; `false` if this reviewer has one on this view that counts. A void one is replaced: after a reopen
    /// the same view can come back.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn put_ballot(&mut self, row: &Ballot) -> Result<bool> {
        const SQL: &str = "INSERT INTO ballot (candidate, reviewer, view, document, reason, cast_at, void_since) \
             VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (candidate, reviewer, view) DO UPDATE SET \
             document = excluded.document, reason = excluded.reason, cast_at = excluded.cast_at, \
             void_since = excluded.void_since WHERE ballot.void_since IS NOT NULL";
        let done = run!(
            self,
            sqlx::query(SQL)
                .bind(&row.candidate)
                .bind(&row.reviewer)
                .bind(row.view)
                .bind(&row.document)
                .bind(row.reason)
                .bind(row.cast_at)
                .bind(row.void_since)
        );
        Ok(done == 1)
    }

    /// Voids the ballots of a candidate that count; how many it were.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn void_ballots(&mut self, candidate: &CandidateId, at: Timestamp) -> Result<u64> {
        const SQL: &str = "UPDATE ballot SET void_since = $2 WHERE candidate = $1 AND void_since IS NULL";
        Ok(run!(self, sqlx::query(SQL).bind(candidate).bind(at)))
    }

    /// Voids all ballots of a pin set that count; how many it were.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn void_ballots_of(&mut self, pinset: &SetName, at: Timestamp) -> Result<u64> {
        const SQL: &str = "UPDATE ballot SET void_since = $2 WHERE void_since IS NULL AND candidate IN \
             (SELECT id FROM candidate WHERE pinset = $1 AND state = 'pending')";
        Ok(run!(self, sqlx::query(SQL).bind(pinset).bind(at)))
    }

    /// Keeps a decision.
    ///
    /// # Errors
    /// [`super::StoreError::Database`] also if there is one with its leaf.
    pub async fn put_decision(&mut self, row: &Decided) -> Result<()> {
        const SQL: &str = "INSERT INTO decision (log_index, sha256, candidate, outcome, reason, mode, at) \
             VALUES ($1, $2, $3, $4, $5, $6, $7)";
        run!(
            self,
            sqlx::query(SQL)
                .bind(int(row.log_index))
                .bind(row.sha256)
                .bind(&row.candidate)
                .bind(row.outcome)
                .bind(row.reason)
                .bind(&row.mode)
                .bind(row.at)
        );
        Ok(())
    }
}
