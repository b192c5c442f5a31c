//! Cosignatures, how each witness is doing, the round that is under way, and the heads that wait for its end.

use sqlx::FromRow;

use super::{Conn, Head, Result, WriteTx, int};
use crate::clock::Timestamp;

/// How a witness is doing.
#[derive(Clone, Debug, Eq, FromRow, PartialEq)]
pub struct Standing {
    /// Its key's text.
    pub vkey: String,
    /// The largest size that it is known to have cosigned.
    #[sqlx(try_from = "i64")]
    pub size: u64,
    /// When it last cosigned.
    pub cosigned_at: Option<Timestamp>,
    /// What is wrong, in a word, since its last cosignature.
    pub trouble: Option<String>,
    /// When that was found last.
    pub trouble_at: Option<Timestamp>,
    /// How often asking failed since the last cosignature.
    #[sqlx(try_from = "i64")]
    pub failures: u32,
    /// When it may be asked again.
    pub next_at: Timestamp,
}

/// Which checkpoint witnesses are asked for.
#[derive(Clone, Copy, Debug, Eq, FromRow, PartialEq)]
pub struct Round {
    /// Its size; 0 before the first round.
    #[sqlx(try_from = "i64")]
    pub size: u64,
    /// Since when.
    pub begun_at: Timestamp,
    /// The largest size that had its quorum; 0 if none had.
    #[sqlx(try_from = "i64")]
    pub cosigned: u64,
    /// How often anything about witnesses changed.
    pub changes: i64,
}

macro_rules! standing {
    ($rest:literal) => {
        concat!("SELECT vkey, size, cosigned_at, trouble, trouble_at, failures, next_at FROM witness ", $rest)
    };
}
macro_rules! waiting {
    ($rest:literal) => {
        concat!("SELECT pinset, version, envelope, issued, expires, checkpoint_size FROM head_waiting ", $rest)
    };
}
macro_rules! released {
    ($rest:literal) => {
        concat!("SELECT pinset, version, envelope, issued, expires, checkpoint_size FROM head_released ", $rest)
    };
}
pub(super) use {released, standing, waiting};

pub(super) const ROUND: &str = "SELECT size, begun_at, cosigned, changes FROM witness_round";

impl Conn {
    /// The lines by which witnesses have cosigned the checkpoint of this size, by key.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn cosignatures(&mut self, size: u64) -> Result<Vec<(String, String)>> {
        const SQL: &str = "SELECT witness, line FROM cosignature WHERE size = $1 ORDER BY witness";
        Ok(on!(&mut self.0, |c| sqlx::query_as(SQL).bind(int(size)).fetch_all(&mut **c).await?))
    }

    /// How every witness is doing that was ever asked.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn standings(&mut self) -> Result<Vec<Standing>> {
        const SQL: &str = standing!("ORDER BY vkey");
        Ok(on!(&mut self.0, |c| sqlx::query_as(SQL).fetch_all(&mut **c).await?))
    }

    /// The round that is under way.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn round(&mut self) -> Result<Round> {
        Ok(on!(&mut self.0, |c| sqlx::query_as(ROUND).fetch_one(&mut **c).await?))
    }

    /// The head of every pin set that gateways get.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn released_heads(&mut self) -> Result<Vec<Head>> {
        const SQL: &str = released!("ORDER BY pinset");
        Ok(on!(&mut self.0, |c| sqlx::query_as(SQL).fetch_all(&mut **c).await?))
    }

    /// Heads that wait for the quorum of the checkpoint of this size.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn waiting_heads(&mut self, size: u64) -> Result<Vec<Head>> {
        const SQL: &str = waiting!("WHERE checkpoint_size = $1 ORDER BY pinset");
        Ok(on!(&mut self.0, |c| sqlx::query_as(SQL).bind(int(size)).fetch_all(&mut **c).await?))
    }
}

impl WriteTx {
    /// Keeps a verified cosignature; the first of a witness for a size stays.
    ///
    /// # Errors
    /// [`super::StoreError::Database`] also if there is no checkpoint of this size.
    pub async fn put_cosignature(&mut self, size: u64, witness: &str, line: &str, at: Timestamp) -> Result<()> {
        const SQL: &str = "INSERT INTO cosignature (size, witness, line, received_at) VALUES ($1, $2, $3, $4) \
             ON CONFLICT (size, witness) DO NOTHING";
        run!(self, sqlx::query(SQL).bind(int(size)).bind(witness).bind(line).bind(at));
        Ok(())
    }

    /// Takes the right to ask a witness: nobody else asks it before `until`. False if it isn't to be asked at `now`.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn claim_witness(&mut self, vkey: &str, now: Timestamp, until: Timestamp) -> Result<bool> {
        const SQL: &str = "INSERT INTO witness (vkey, size, failures, next_at) VALUES ($1, 0, 0, $2) \
             ON CONFLICT (vkey) DO UPDATE SET next_at = $2 WHERE witness.next_at <= $3";
        Ok(run!(self, sqlx::query(SQL).bind(vkey).bind(until).bind(now)) == 1)
    }

    /// Notes how a witness is doing.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn put_standing(&mut self, row: &Standing) -> Result<()> {
        const SQL: &str = "UPDATE witness SET size = $2, cosigned_at = $3, trouble = $4, trouble_at = $5, failures = $6, \
             next_at = $7 WHERE vkey = $1";
        run!(
            self,
            sqlx::query(SQL)
                .bind(&row.vkey)
                .bind(int(row.size))
                .bind(row.cosigned_at)
                .bind(&row.trouble)
                .bind(row.trouble_at)
                .bind(i64::from(row.failures))
                .bind(row.next_at)
        );
        Ok(())
    }

    /// Begins a round: from now on witnesses are asked for this size. Heads that waited for a smaller one wait no more.
    ///
    /// # Errors
    /// [`super::StoreError::Database`] also if it would go back.
    pub async fn begin_round(&mut self, size: u64, at: Timestamp) -> Result<()> {
        const ROUND: &str = "UPDATE witness_round SET size = $1, begun_at = $2, changes = changes + 1";
        const WAITING: &str = "DELETE FROM head_waiting WHERE checkpoint_size < $1";
        run!(self, sqlx::query(ROUND).bind(int(size)).bind(at));
        run!(self, sqlx::query(WAITING).bind(int(size)));
        Ok(())
    }

    /// Notes that a checkpoint has its quorum, unless a larger one has it already.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn put_cosigned(&mut self, size: u64) -> Result<()> {
        const SQL: &str = "UPDATE witness_round SET cosigned = $1 WHERE cosigned < $1";
        run!(self, sqlx::query(SQL).bind(int(size)));
        Ok(())
    }

    /// Tells other processes that something about witnesses has changed.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn witnesses_changed(&mut self) -> Result<()> {
        const SQL: &str = "UPDATE witness_round SET changes = changes + 1";
        run!(self, sqlx::query(SQL));
        Ok(())
    }

    /// Keeps a head until its checkpoint has its quorum.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn put_waiting(&mut self, row: &Head) -> Result<()> {
        const SQL: &str = "INSERT INTO head_waiting (pinset, version, envelope, issued, expires, checkpoint_size) \
             VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (checkpoint_size, pinset) DO UPDATE SET \
             version = excluded.version, envelope = excluded.envelope, issued = excluded.issued, \
             expires = excluded.expires";
        run!(
            self,
            sqlx::query(SQL)
                .bind(&row.pinset)
                .bind(int(row.version))
                .bind(&row.envelope)
                .bind(row.issued)
                .bind(row.expires)
                .bind(int(row.checkpoint_size))
        );
        Ok(())
    }

    /// Releases a head: gateways get it from now on, unless they get a newer one.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn release_head(&mut self, row: &Head) -> Result<()> {
        const SQL: &str = "INSERT INTO head_released (pinset, version, envelope, issued, expires, checkpoint_size) \
             VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (pinset) DO UPDATE SET version = excluded.version, \
             envelope = excluded.envelope, issued = excluded.issued, expires = excluded.expires, \
             checkpoint_size = excluded.checkpoint_size \
             WHERE excluded.version >= head_released.version \
             AND excluded.checkpoint_size >= head_released.checkpoint_size";
        run!(
            self,
            sqlx::query(SQL)
                .bind(&row.pinset)
                .bind(int(row.version))
                .bind(&row.envelope)
                .bind(row.issued)
                .bind(row.expires)
                .bind(int(row.checkpoint_size))
        );
        Ok(())
    }
}
