//! The log's rows. What is in a tile and what a checkpoint says is `service::log`'s business.

use sqlx::FromRow;

use super::{Conn, Result, StoreError, WriteTx, int};
use crate::{canon::Sha256, clock::Timestamp};

/// The single row that stands for the log's end and serialises its writers.
#[derive(Clone, Debug, Eq, FromRow, PartialEq)]
pub struct LogHead {
    /// Number of leaves.
    #[sqlx(try_from = "i64")]
    pub size: u64,
    /// Time of the last leaf.
    pub last_at: Timestamp,
    /// The root over them.
    pub root: Sha256,
}

/// What tells a process that another one has written.
#[derive(Clone, Copy, Debug, Default, Eq, FromRow, PartialEq)]
pub struct Poll {
    /// The log's size.
    #[sqlx(try_from = "i64")]
    pub size: u64,
    /// How often the rules of who may do what changed.
    pub access: i64,
    /// When the last head was signed, in microseconds.
    pub heads: i64,
    /// How often something about witnesses changed.
    pub witnesses: i64,
}

/// A checkpoint as the log key signed it.
#[derive(Clone, Debug, Eq, FromRow, PartialEq)]
pub struct SignedCheckpoint {
    /// How many leaves it covers.
    #[sqlx(try_from = "i64")]
    pub size: u64,
    /// The signed note.
    pub note: String,
}

impl Conn {
    /// Whether somebody has written since.
    ///
    /// # Errors
    /// [`StoreError`] as for all of these.
    pub async fn poll(&mut self) -> Result<Poll> {
        const SQL: &str = "SELECT log_head.size, access_head.version AS access, \
             (SELECT COALESCE(MAX(issued), 0) FROM head) AS heads, \
             (SELECT changes FROM witness_round) AS witnesses FROM log_head, access_head";
        Ok(on!(&mut self.0, |c| sqlx::query_as(SQL).fetch_one(&mut **c).await?))
    }

    /// The log's end.
    ///
    /// # Errors
    /// [`StoreError`] as for all of these.
    pub async fn log_head(&mut self) -> Result<LogHead> {
        const SQL: &str = "SELECT size, last_at, root FROM log_head";
        Ok(on!(&mut self.0, |c| sqlx::query_as(SQL).fetch_one(&mut **c).await?))
    }

    /// Leaves `from` up to but not with `to`, in order, all of them.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] if one is missing.
    pub async fn leaves(&mut self, from: u64, to: u64) -> Result<Vec<Vec<u8>>> {
        const SQL: &str = "SELECT idx, leaf FROM log_leaf WHERE idx >= $1 AND idx < $2 ORDER BY idx";
        self.before(SQL).await?;
        let rows: Vec<(i64, Vec<u8>)> =
            on!(&mut self.0, |c| sqlx::query_as(SQL).bind(int(from)).bind(int(to)).fetch_all(&mut **c).await?);
        let in_order = rows.iter().zip(from..).all(|((idx, _), expected)| *idx == int(expected));
        if !in_order || int(to.saturating_sub(from)) != int(rows.len() as u64) {
            return Err(StoreError::Corrupt { table: "log_leaf", what: format!("a leaf of {from}..{to} is missing") });
        }
        Ok(rows.into_iter().map(|(_, leaf)| leaf).collect())
    }

    /// One leaf.
    ///
    /// # Errors
    /// [`StoreError`] as for all of these.
    pub async fn leaf(&mut self, index: u64) -> Result<Option<Vec<u8>>> {
        const SQL: &str = "SELECT leaf FROM log_leaf WHERE idx = $1";
        Ok(on!(&mut self.0, |c| sqlx::query_scalar(SQL).bind(int(index)).fetch_optional(&mut **c).await?))
    }

    /// The hashes that tile `index` of `level` has so far, 32 bytes each.
    ///
    /// # Errors
    /// [`StoreError`] as for all of these.
    pub async fn tile(&mut self, level: u8, index: u64) -> Result<Option<Vec<u8>>> {
        const SQL: &str = "SELECT hashes FROM log_tile WHERE level = $1 AND idx = $2";
        let level = i64::from(level);
        Ok(on!(&mut self.0, |c| sqlx::query_scalar(SQL).bind(level).bind(int(index)).fetch_optional(&mut **c).await?))
    }

    /// The tiles of a level from number `from` up to but not with `to`, as far as they are there, with their numbers.
    ///
    /// # Errors
    /// [`StoreError`] as for all of these.
    pub async fn tiles(&mut self, level: u8, from: u64, to: u64) -> Result<Vec<(u64, Vec<u8>)>> {
        const SQL: &str = "SELECT idx, hashes FROM log_tile WHERE level = $1 AND idx >= $2 AND idx < $3 ORDER BY idx";
        let (level, from, to) = (i64::from(level), int(from), int(to));
        let rows: Vec<(i64, Vec<u8>)> =
            on!(&mut self.0, |c| sqlx::query_as(SQL).bind(level).bind(from).bind(to).fetch_all(&mut **c).await?);
        Ok(rows.into_iter().filter_map(|(index, hashes)| Some((u64::try_from(index).ok()?, hashes))).collect())
    }

    /// The signed checkpoint of this size.
    ///
    /// # Errors
    /// [`StoreError`] as for all of these.
    pub async fn checkpoint(&mut self, size: u64) -> Result<Option<String>> {
        const SQL: &str = "SELECT note FROM checkpoint WHERE size = $1";
        self.before(SQL).await?;
        Ok(on!(&mut self.0, |c| sqlx::query_scalar(SQL).bind(int(size)).fetch_optional(&mut **c).await?))
    }

    /// Signed checkpoints of sizes above `after` and up to `newest`, the smallest first.
    ///
    /// # Errors
    /// [`StoreError`] as for all of these.
    pub async fn checkpoints(&mut self, after: u64, newest: u64, limit: u32) -> Result<Vec<SignedCheckpoint>> {
        const SQL: &str = "SELECT size, note FROM checkpoint WHERE size > $1 AND size <= $2 ORDER BY size LIMIT $3";
        let (after, newest, limit) = (int(after), int(newest), i64::from(limit));
        let found = on!(&mut self.0, |c| {
            sqlx::query_as(SQL).bind(after).bind(newest).bind(limit).fetch_all(&mut **c).await?
        });
        Ok(found)
    }
}

impl WriteTx {
    /// Takes the row that serialises writers: until this transaction ends nobody else appends. The first statement of
    /// every transaction that appends, so that all it reads afterwards is what it builds upon.
    ///
    /// # Errors
    /// [`StoreError`] as for all of these.
    pub async fn take_head(&mut self) -> Result<LogHead> {
        const SQL: &str = "UPDATE log_head SET size = size RETURNING size, last_at, root";
        Ok(returning!(self, fetch_one, sqlx::query_as(SQL)))
    }

    /// Adds a leaf.
    ///
    /// # Errors
    /// [`StoreError::Database`] also if there is one at `index`.
    pub async fn put_leaf(&mut self, index: u64, leaf: &[u8]) -> Result<()> {
        const SQL: &str = "INSERT INTO log_leaf (idx, leaf) VALUES ($1, $2)";
        run!(self, sqlx::query(SQL).bind(int(index)).bind(leaf));
        Ok(())
    }

    /// Writes the hashes of a tile; those it had must be the first of them.
    ///
    /// # Errors
    /// [`StoreError::Database`] also if they aren't.
    pub async fn put_tile(&mut self, level: u8, index: u64, hashes: &[u8]) -> Result<()> {
        const SQL: &str = "INSERT INTO log_tile (level, idx, hashes) VALUES ($1, $2, $3) \
             ON CONFLICT (level, idx) DO UPDATE SET hashes = excluded.hashes";
        let level = i64::from(level);
        run!(self, sqlx::query(SQL).bind(level).bind(int(index)).bind(hashes));
        Ok(())
    }

    /// Moves the log's end.
    ///
    /// # Errors
    /// [`StoreError::Database`] also if it would move back.
    pub async fn put_log_head(&mut self, head: &LogHead) -> Result<()> {
        const SQL: &str = "UPDATE log_head SET size = $1, last_at = $2, root = $3";
        run!(self, sqlx::query(SQL).bind(int(head.size)).bind(head.last_at).bind(head.root));
        Ok(())
    }

    /// Keeps a signed checkpoint; there is one of each size.
    ///
    /// # Errors
    /// [`StoreError::Database`] also if there is one of this size.
    pub async fn put_checkpoint(&mut self, size: u64, note: &str, at: Timestamp) -> Result<()> {
        const SQL: &str = "INSERT INTO checkpoint (size, note, signed_at) VALUES ($1, $2, $3)";
        run!(self, sqlx::query(SQL).bind(int(size)).bind(note).bind(at));
        Ok(())
    }
}
