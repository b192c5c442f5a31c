//! The anchor's table: one row a registry, in a PostgreSQL database that a restore of the registry's doesn't reach.
//!
//! Not part of the registry's database and in none of its transactions. A row changes by compare-and-swap: whoever moves it
//! on says what it held, and finds out if another replica was first.

use sqlx::{
    PgPool,
    postgres::{PgConnectOptions, PgPoolOptions},
};
use tokio::sync::OnceCell;

use super::{On, Reader, StoreError, int};
use crate::config::DatabaseText;

/// A database to itself, as far as a connection can tell: when its server started, and its name there.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Identity(String, String);

/// The table, reached when it is needed.
#[derive(Clone, Debug)]
pub struct AnchorTable {
    pool: PgPool,
    /// The registry's own database, where that is PostgreSQL.
    own: Option<Identity>,
    ready: std::sync::Arc<OnceCell<()>>,
}

/// The table can't be used.
#[derive(Debug, thiserror::Error)]
pub enum AnchorError {
    /// A restore of the registry would bring the anchor back along.
    #[error("it lies in the registry's own database, which a restore brings back along: name another database")]
    SameDatabase,
    /// The database doesn't answer.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Two connections: replicas move the row one after the other.
const CONNECTIONS: u32 = 2;
/// Every answer to a write waits for the anchor; one that takes longer is down.
const ACQUIRE: std::time::Duration = std::time::Duration::from_secs(3);
const IDENTITY: &str = "SELECT pg_postmaster_start_time()::text, current_database()::text";

impl Reader {
    /// Which database this is; none for a file.
    ///
    /// # Errors
    /// [`StoreError`] if it doesn't answer.
    pub async fn identity(&self) -> super::Result<Option<Identity>> {
        match &self.0 {
            On::Sqlite(_) => Ok(None),
            On::Postgres(pool) => Ok(Some(identity(pool).await?)),
        }
    }
}

impl AnchorTable {
    /// The table in the database at `url`, beside a registry in the database `own`.
    ///
    /// # Errors
    /// [`StoreError`] for a URL that no database can have.
    pub fn at(url: &DatabaseText, own: Option<Identity>) -> super::Result<Self> {
        let options: PgConnectOptions = url.reveal().parse()?;
        let options = options.application_name("countersign anchor").options([("synchronous_commit", "on")]);
        let pool = PgPoolOptions::new().max_connections(CONNECTIONS).acquire_timeout(ACQUIRE);
        Ok(Self { pool: pool.connect_lazy_with(options), own, ready: std::sync::Arc::default() })
    }

    /// The note that is held for a registry.
    ///
    /// # Errors
    /// [`AnchorError`].
    pub async fn read(&self, registry: &str) -> Result<Option<String>, AnchorError> {
        const SQL: &str = "SELECT note FROM countersign_anchor WHERE registry = $1";
        let note = sqlx::query_scalar(SQL).bind(registry).fetch_optional(self.pool().await?).await;
        Ok(note.map_err(StoreError::from)?)
    }

    /// Puts `note` in the place of `held`, unless something else is there by now.
    ///
    /// # Errors
    /// [`AnchorError`].
    pub async fn swap(&self, registry: &str, held: Option<&str>, note: &str, size: u64) -> Result<bool, AnchorError> {
        const FIRST: &str =
            "INSERT INTO countersign_anchor (registry, size, note) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING";
        const NEXT: &str = "UPDATE countersign_anchor SET size = $2, note = $3 WHERE registry = $1 AND note = $4";
        let query = sqlx::query(if held.is_some() { NEXT } else { FIRST }).bind(registry).bind(int(size)).bind(note);
        let query = match held {
            Some(held) => query.bind(held),
            None => query,
        };
        let done = query.execute(self.pool().await?).await.map_err(StoreError::from)?;
        Ok(done.rows_affected() == 1)
    }

    /// Puts `note` there whatever is held.
    ///
    /// # Errors
    /// [`AnchorError`].
    pub async fn set(&self, registry: &str, note: &str, size: u64) -> Result<(), AnchorError> {
        const SQL: &str = "INSERT INTO countersign_anchor (registry, size, note) VALUES ($1, $2, $3) \
             ON CONFLICT (registry) DO UPDATE SET size = excluded.size, note = excluded.note";
        let query = sqlx::query(SQL).bind(registry).bind(int(size)).bind(note);
        query.execute(self.pool().await?).await.map_err(StoreError::from)?;
        Ok(())
    }

    /// Ends all connections.
    pub async fn close(&self) {
        self.pool.close().await;
    }

    async fn pool(&self) -> Result<&PgPool, AnchorError> {
        self.ready.get_or_try_init(|| self.prepare()).await?;
        Ok(&self.pool)
    }

    async fn prepare(&self) -> Result<(), AnchorError> {
        const TABLE: &str = "CREATE TABLE IF NOT EXISTS countersign_anchor (registry TEXT COLLATE \"C\" PRIMARY KEY, \
             size BIGINT NOT NULL CHECK (size >= 0), note TEXT NOT NULL)";
        if self.own.is_some() && self.own == Some(identity(&self.pool).await?) {
            return Err(AnchorError::SameDatabase);
        }
        // Two that make it at once: the slower one is told of a duplicate, and finds the table the next time.
        sqlx::query(TABLE).execute(&self.pool).await.map_err(StoreError::from)?;
        Ok(())
    }
}

async fn identity(pool: &PgPool) -> super::Result<Identity> {
    let (started, name) = sqlx::query_as(IDENTITY).fetch_one(pool).await?;
    Ok(Identity(started, name))
}
