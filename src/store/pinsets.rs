//! Versions of pin sets, their heads, and the trust file.

use sqlx::FromRow;

use super::{Conn, Result, WriteTx, int};
use crate::{canon::Sha256, clock::Timestamp, name::SetName};

/// A published version of a pin set.
#[derive(Clone, Debug, Eq, FromRow, PartialEq)]
pub struct SetVersion {
    /// The pin set.
    pub pinset: SetName,
    /// The version.
    #[sqlx(try_from = "i64")]
    pub version: u64,
    /// The set, a document.
    pub set_sha256: Sha256,
    /// When it was published.
    pub issued: Timestamp,
    /// Its `pinset-published` leaf.
    #[sqlx(try_from = "i64")]
    pub log_index: u64,
}

/// The newest signed head of a pin set.
#[derive(Clone, Debug, Eq, FromRow, PartialEq)]
pub struct Head {
    /// The pin set.
    pub pinset: SetName,
    /// The version that it names.
    #[sqlx(try_from = "i64")]
    pub version: u64,
    /// The envelope as signed.
    pub envelope: Vec<u8>,
    /// When it was signed.
    pub issued: Timestamp,
    /// When it expires.
    pub expires: Timestamp,
    /// Size of the checkpoint that it names.
    #[sqlx(try_from = "i64")]
    pub checkpoint_size: u64,
}

/// A trust file as the root key signed it.
#[derive(Clone, Debug, Eq, FromRow, PartialEq)]
pub struct Trust {
    /// Its version.
    #[sqlx(try_from = "i64")]
    pub version: u64,
    /// The signed note.
    pub note: String,
}

macro_rules! set_version {
    ($rest:literal) => {
        concat!("SELECT pinset, version, set_sha256, issued, log_index FROM set_version ", $rest)
    };
}
macro_rules! head {
    ($rest:literal) => {
        concat!("SELECT pinset, version, envelope, issued, expires, checkpoint_size FROM head ", $rest)
    };
}
pub(super) use {head, set_version};

impl Conn {
    /// One version of a pin set.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn set_version(&mut self, pinset: &SetName, version: u64) -> Result<Option<SetVersion>> {
        const SQL: &str = set_version!("WHERE pinset = $1 AND version = $2");
        let version = int(version);
        Ok(on!(&mut self.0, |c| sqlx::query_as(SQL).bind(pinset).bind(version).fetch_optional(&mut **c).await?))
    }

    /// Versions of a pin set, newest first, those before `before`.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn set_versions(&mut self, pinset: &SetName, before: u64, limit: u32) -> Result<Vec<SetVersion>> {
        const SQL: &str = set_version!("WHERE pinset = $1 AND version < $2 ORDER BY version DESC LIMIT $3");
        let (before, limit) = (int(before), i64::from(limit));
        Ok(on!(&mut self.0, |c| sqlx::query_as(SQL).bind(pinset).bind(before).bind(limit).fetch_all(&mut **c).await?))
    }

    /// The version whose set document has this digest, whichever set's it is. Reads all versions that there are: for
    /// somebody who looks one up, not for every request.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn set_version_with(&mut self, set_sha256: Sha256) -> Result<Option<SetVersion>> {
        const SQL: &str = set_version!("WHERE set_sha256 = $1 ORDER BY log_index LIMIT 1");
        Ok(on!(&mut self.0, |c| sqlx::query_as(SQL).bind(set_sha256).fetch_optional(&mut **c).await?))
    }

    /// The first version of a pin set that was published by this leaf or a later one.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn set_version_from(&mut self, pinset: &SetName, log_index: u64) -> Result<Option<SetVersion>> {
        const SQL: &str = set_version!("WHERE pinset = $1 AND log_index >= $2 ORDER BY log_index LIMIT 1");
        let from = int(log_index);
        Ok(on!(&mut self.0, |c| sqlx::query_as(SQL).bind(pinset).bind(from).fetch_optional(&mut **c).await?))
    }

    /// The newest head of a pin set.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn head(&mut self, pinset: &SetName) -> Result<Option<Head>> {
        const SQL: &str = head!("WHERE pinset = $1");
        Ok(on!(&mut self.0, |c| sqlx::query_as(SQL).bind(pinset).fetch_optional(&mut **c).await?))
    }

    /// The newest head of every pin set.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn heads(&mut self) -> Result<Vec<Head>> {
        const SQL: &str = head!("ORDER BY pinset");
        self.before(SQL).await?;
        Ok(on!(&mut self.0, |c| sqlx::query_as(SQL).fetch_all(&mut **c).await?))
    }

    /// The trust file of one version.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn trust_version(&mut self, version: u64) -> Result<Option<Trust>> {
        const SQL: &str = "SELECT version, note FROM trust WHERE version = $1";
        Ok(on!(&mut self.0, |c| sqlx::query_as(SQL).bind(int(version)).fetch_optional(&mut **c).await?))
    }

    /// The newest trust file.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn trust(&mut self) -> Result<Option<Trust>> {
        const SQL: &str = "SELECT version, note FROM trust ORDER BY version DESC LIMIT 1";
        Ok(on!(&mut self.0, |c| sqlx::query_as(SQL).fetch_optional(&mut **c).await?))
    }
}

impl WriteTx {
    /// Keeps a version.
    ///
    /// # Errors
    /// [`super::StoreError::Database`] also if there is one of this number.
    pub async fn put_set_version(&mut self, row: &SetVersion) -> Result<()> {
        const SQL: &str = "INSERT INTO set_version (pinset, version, set_sha256, issued, log_index) \
             VALUES ($1, $2, $3, $4, $5)";
        run!(
            self,
            sqlx::query(SQL)
                .bind(&row.pinset)
                .bind(int(row.version))
                .bind(row.set_sha256)
                .bind(row.issued)
                .bind(int(row.log_index))
        );
        Ok(())
    }

    /// Replaces the head of a pin set.
    ///
    /// # Errors
    /// [`super::StoreError::Database`] also if it would go back.
    pub async fn put_head(&mut self, row: &Head) -> Result<()> {
        const SQL: &str = "INSERT INTO head (pinset, version, envelope, issued, expires, checkpoint_size) \
             VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (pinset) DO UPDATE SET version = excluded.version, \
             envelope = excluded.envelope, issued = excluded.issued, expires = excluded.expires, \
             checkpoint_size = excluded.checkpoint_size";
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

    /// Keeps a trust file.
    ///
    /// # Errors
    /// [`super::StoreError::Database`] also if there is one of this version.
    pub async fn put_trust(&mut self, row: &Trust) -> Result<()> {
        const SQL: &str = "INSERT INTO trust (version, note) VALUES ($1, $2)";
        run!(self, sqlx::query(SQL).bind(int(row.version)).bind(&row.note));
        Ok(())
    }
}
