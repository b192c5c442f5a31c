//! What waits for a decision: the review queue and its counts.

use serde::{Deserialize, Serialize};
use sqlx::FromRow;

use super::{Conn, Result, WriteTx, int};
use crate::{
    canon::Sha256,
    clock::Timestamp,
    name::{Kind, ServerName, SetName, Variant},
    review::{CandidateId, Reason},
};

/// A digest that waits, or waited, for a decision.
#[derive(Clone, Debug, Eq, FromRow, PartialEq)]
pub struct Candidate {
    /// Its id.
    pub id: CandidateId,
    /// The pin set.
    pub pinset: SetName,
    /// The server.
    pub server: ServerName,
    /// The variant.
    pub variant: Variant,
    /// The kind.
    pub kind: Kind,
    /// The descriptor's name as [`super::listed_name`] shows it.
    pub name: String,
    /// Why it was opened: the most urgent reason.
    pub reason: Reason,
    /// By the deciding recipe.
    pub digest: Sha256,
    /// What was pinned under the name when it was opened.
    pub base: Option<Sha256>,
    /// Where it stands.
    pub state: Stage,
    /// SHA-256 of the decision's leaf that put it there.
    pub decision: Option<Sha256>,
    /// The release that it came with.
    pub release: String,
    /// Its place there.
    pub position: i64,
    /// The attestation that it came with.
    pub attestation: Sha256,
    /// When it was opened.
    pub opened_at: Timestamp,
    /// The leaf that opened it.
    #[sqlx(try_from = "i64")]
    pub log_index: u64,
}

/// Where a candidate stands, without what `review::State` knows besides.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// Waits for ballots.
    Pending,
    /// Pinned.
    Approved,
    /// Refused.
    Rejected,
    /// Was pinned, taken back by a reviewer.
    Revoked,
    /// Was pinned, taken back by a rule.
    Held,
}

/// A place in the queue, which is sorted by urgency, then age, then as the publisher listed it: what a cursor carries.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct QueueKey {
    /// Of the reason; smaller is more urgent.
    pub urgency: i64,
    /// Microseconds.
    pub opened_at: i64,
    /// Among the release's descriptors, which are by kind and then as they were listed.
    pub position: i64,
    /// The candidate's id.
    pub id: String,
}

/// How many candidates of a pin set are in a state.
#[derive(Clone, Debug, Eq, FromRow, PartialEq)]
pub struct Count {
    /// The pin set.
    pub pinset: SetName,
    /// The state.
    pub state: Stage,
    /// How many.
    pub n: i64,
}

macro_rules! candidate {
    ($rest:literal) => {
        concat!(
            "SELECT id, pinset, server, variant, kind, name, reason, digest, base, state, decision, release, position, \
             attestation, opened_at, log_index FROM candidate ",
            $rest
        )
    };
}
pub(super) use candidate;

impl QueueKey {
    /// Before everything.
    pub const START: Self = Self { urgency: -1, opened_at: 0, position: 0, id: String::new() };
}

impl Candidate {
    /// Its place in the queue.
    pub fn key(&self) -> QueueKey {
        QueueKey {
            urgency: i64::from(self.reason.urgency()),
            opened_at: self.opened_at.micros(),
            position: self.position,
            id: self.id.as_str().to_owned(),
        }
    }
}

impl Conn {
    /// A candidate.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn candidate(&mut self, id: &CandidateId) -> Result<Option<Candidate>> {
        const SQL: &str = candidate!("WHERE id = $1");
        Ok(on!(&mut self.0, |c| sqlx::query_as(SQL).bind(id).fetch_optional(&mut **c).await?))
    }

    /// The queue of one pin set after a place.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn queue_of(
        &mut self,
        pinset: &SetName,
        state: Stage,
        after: &QueueKey,
        limit: u32,
    ) -> Result<Vec<Candidate>> {
        const SQL: &str = candidate!(
            "WHERE pinset = $1 AND state = $2 AND (urgency, opened_at, position, id) > ($3, $4, $7, $5) \
             ORDER BY urgency, opened_at, position, id LIMIT $6"
        );
        Ok(on!(&mut self.0, |c| sqlx::query_as(SQL)
            .bind(pinset)
            .bind(state)
            .bind(after.urgency)
            .bind(after.opened_at)
            .bind(&after.id)
            .bind(i64::from(limit))
            .bind(after.position)
            .fetch_all(&mut **c)
            .await?))
    }

    /// The queue of all pin sets together after a place.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn queue(&mut self, state: Stage, after: &QueueKey, limit: u32) -> Result<Vec<Candidate>> {
        const SQL: &str = candidate!(
            "WHERE state = $1 AND (urgency, opened_at, position, id) > ($2, $3, $6, $4) \
             ORDER BY urgency, opened_at, position, id LIMIT $5"
        );
        Ok(on!(&mut self.0, |c| sqlx::query_as(SQL)
            .bind(state)
            .bind(after.urgency)
            .bind(after.opened_at)
            .bind(&after.id)
            .bind(i64::from(limit))
            .bind(after.position)
            .fetch_all(&mut **c)
            .await?))
    }

    /// All candidates of one name, oldest first.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn candidates_named(
        &mut self,
        pinset: &SetName,
        server: &ServerName,
        variant: &Variant,
        kind: Kind,
        name: &str,
    ) -> Result<Vec<Candidate>> {
        const SQL: &str = candidate!(
            "WHERE pinset = $1 AND server = $2 AND variant = $3 AND kind = $4 AND name = $5 ORDER BY log_index, id"
        );
        Ok(on!(&mut self.0, |c| sqlx::query_as(SQL)
            .bind(pinset)
            .bind(server)
            .bind(variant)
            .bind(kind)
            .bind(super::listed_name(name))
            .fetch_all(&mut **c)
            .await?))
    }

    /// All candidates of one kind and digest in a pin set, oldest first.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn candidates_with(&mut self, pinset: &SetName, kind: Kind, digest: Sha256) -> Result<Vec<Candidate>> {
        const SQL: &str =
            candidate!("WHERE pinset = $1 AND kind = $2 AND digest = $3 ORDER BY log_index, id LIMIT 100");
        Ok(on!(&mut self.0, |c| sqlx::query_as(SQL).bind(pinset).bind(kind).bind(digest).fetch_all(&mut **c).await?))
    }

    /// All candidates of a server in a pin set that are in a state.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn candidates_of_server(
        &mut self,
        pinset: &SetName,
        server: &ServerName,
        state: Stage,
    ) -> Result<Vec<Candidate>> {
        const SQL: &str = candidate!("WHERE pinset = $1 AND server = $2 AND state = $3 ORDER BY log_index, id");
        Ok(on!(&mut self.0, |c| sqlx::query_as(SQL).bind(pinset).bind(server).bind(state).fetch_all(&mut **c).await?))
    }

    /// The candidates that came with a release, by pin set and place.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn candidates_of_release(&mut self, release: &str) -> Result<Vec<Candidate>> {
        const SQL: &str = candidate!("WHERE release = $1 ORDER BY pinset, position, id");
        Ok(on!(&mut self.0, |c| sqlx::query_as(SQL).bind(release).fetch_all(&mut **c).await?))
    }

    /// How many candidates of each pin set are in each state.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn candidate_counts(&mut self) -> Result<Vec<Count>> {
        const SQL: &str = "SELECT pinset, state, n FROM candidate_count ORDER BY pinset, state";
        Ok(on!(&mut self.0, |c| sqlx::query_as(SQL).fetch_all(&mut **c).await?))
    }
}

impl WriteTx {
    /// Opens a candidate; `false` if there is one with this id, which then stays as it is.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn put_candidate(&mut self, row: &Candidate) -> Result<bool> {
        const SQL: &str = "INSERT INTO candidate (id, pinset, server, variant, kind, name, reason, urgency, digest, \
             base, state, decision, release, position, attestation, opened_at, log_index) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17) \
             ON CONFLICT (id) DO NOTHING";
        let done = run!(
            self,
            sqlx::query(SQL)
                .bind(&row.id)
                .bind(&row.pinset)
                .bind(&row.server)
                .bind(&row.variant)
                .bind(row.kind)
                .bind(super::listed_name(&row.name))
                .bind(row.reason)
                .bind(i64::from(row.reason.urgency()))
                .bind(row.digest)
                .bind(row.base)
                .bind(row.state)
                .bind(row.decision)
                .bind(&row.release)
                .bind(row.position)
                .bind(row.attestation)
                .bind(row.opened_at)
                .bind(int(row.log_index))
        );
        if done == 1 {
            self.count(&row.pinset, row.state, 1).await?;
        }
        Ok(done == 1)
    }

    /// Moves a candidate on; `false` if it isn't in the state `from` any more.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn move_candidate(
        &mut self,
        id: &CandidateId,
        from: Stage,
        to: Stage,
        decision: Option<Sha256>,
    ) -> Result<bool> {
        const SQL: &str = "UPDATE candidate SET state = $3, decision = $4 WHERE id = $1 AND state = $2 \
             RETURNING pinset";
        let pinset: Option<SetName> =
            returning!(self, fetch_optional, sqlx::query_scalar(SQL).bind(id).bind(from).bind(to).bind(decision));
        let Some(pinset) = pinset else { return Ok(false) };
        self.count(&pinset, from, -1).await?;
        self.count(&pinset, to, 1).await?;
        Ok(true)
    }

    /// Gives a pending candidate another reason, and with it another place in the queue; `false` if it isn't pending.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn renew_candidate(&mut self, id: &CandidateId, reason: Reason) -> Result<bool> {
        const SQL: &str = "UPDATE candidate SET reason = $2, urgency = $3 WHERE id = $1 AND state = 'pending'";
        Ok(run!(self, sqlx::query(SQL).bind(id).bind(reason).bind(i64::from(reason.urgency()))) == 1)
    }

    async fn count(&mut self, pinset: &SetName, state: Stage, by: i64) -> Result<()> {
        const MOVE: &str = "UPDATE candidate_count SET n = n + $3 WHERE pinset = $1 AND state = $2";
        const FIRST: &str = "INSERT INTO candidate_count (pinset, state, n) VALUES ($1, $2, $3)";
        if run!(self, sqlx::query(MOVE).bind(pinset).bind(state).bind(by)) == 0 {
            run!(self, sqlx::query(FIRST).bind(pinset).bind(state).bind(by));
        }
        Ok(())
    }
}
