//! The database: what was published, decided and may be done, in SQLite or PostgreSQL.
//!
//! It keeps states and decides nothing: rules are in `review` and `pinset`, order in `service`. Rows of the log only
//! grow, and triggers say so too. One SQL text serves both engines: `$1` parameters, named columns, integers, text,
//! bytes and booleans; [`On`] holds the same thing of either and `on!` runs one body on both. Where the engines
//! differ (opening, pragmas, `BEGIN`) is in this file and nowhere else. There are no compile-time checked queries,
//! because sqlx checks against one engine; `tests/it/store.rs` runs every statement on both instead.
//!
//! Trusts the database to return what was written, except for what it serves as signed: leaves are hashed again from
//! what was stored before a checkpoint covers them, and [`Conn::fsck`] reads every row by its type.

use std::{
    ops::{Deref, DerefMut},
    os::unix::fs::OpenOptionsExt as _,
    time::Duration,
};

use sqlx::{
    Database, PgPool, Postgres, Sqlite, SqlitePool, Transaction,
    pool::PoolConnection,
    postgres::{PgConnectOptions, PgPoolOptions},
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous},
};

use self::probe::Probed;
use crate::config;

/// Runs one body on whichever engine is open; the compiler checks it for both.
macro_rules! on {
    ($on:expr, |$x:ident| $body:expr) => {
        match $on {
            $crate::store::On::Sqlite($x) => $body,
            $crate::store::On::Postgres($x) => $body,
        }
    };
}

/// Runs a statement in a transaction; how many rows it touched. Every write is this or [`returning!`], so that a
/// [`Probe`] sees it.
macro_rules! run {
    ($tx:expr, sqlx::query($sql:expr) $(.bind($bind:expr))*) => {{
        $tx.before($sql).await?;
        let rows = on!(&mut $tx.0.0, |c| {
            sqlx::query($sql)$(.bind($bind))*.execute(&mut **c).await?.rows_affected()
        });
        $tx.after($sql).await?;
        rows
    }};
}

/// Runs a statement in a transaction that gives back what it wrote.
macro_rules! returning {
    ($tx:expr, $fetch:ident, sqlx::$query:ident($sql:expr) $(.bind($bind:expr))*) => {{
        $tx.before($sql).await?;
        let row = on!(&mut $tx.0.0, |c| sqlx::$query($sql)$(.bind($bind))*.$fetch(&mut **c).await?);
        $tx.after($sql).await?;
        row
    }};
}

mod access;
mod anchor;
mod audit;
mod candidates;
mod column;
mod content;
mod fsck;
mod log;
mod migrate;
mod pinsets;
mod probe;
mod queue;
mod releases;
mod sessions;
mod votes;
mod witness;

pub use self::{
    access::{AccessSnapshot, Account, Role, Token},
    anchor::{AnchorError, AnchorTable, Identity},
    audit::AuditRow,
    candidates::{Candidate, Count, QueueKey, Stage},
    content::{Content, Reason, Scan},
    fsck::Fault,
    log::{LogHead, Poll, SignedCheckpoint},
    pinsets::{Head, SetVersion, Trust},
    probe::{COMMIT, Probe},
    queue::{ReasonCount, Search, ServerCount},
    releases::{Attestation, Descriptor, Release, Server, listed_name},
    sessions::{Failures, Session, Setup},
    votes::{Ballot, Decided},
    witness::{Round, Standing},
};

/// The same thing on either engine.
#[derive(Clone, Debug)]
pub enum On<S, P> {
    /// SQLite's.
    Sqlite(S),
    /// PostgreSQL's.
    Postgres(P),
}

type Pool = On<SqlitePool, PgPool>;

/// Connections that read.
#[derive(Clone, Debug)]
pub struct Reader(Pool, Probed);

/// Connections that write: one on SQLite, where a second would only wait for the first.
#[derive(Clone, Debug)]
pub struct Writer(Pool, Probed);

/// One connection, alone or in a transaction. Everything that reads is a method of it.
pub struct Conn(On<Held<Sqlite>, Held<Postgres>>, Probed);

/// A transaction that writes. Reads what it wrote; dropped before [`WriteTx::commit`] it leaves no trace.
pub struct WriteTx(Conn);

enum Held<DB: Database> {
    Pooled(PoolConnection<DB>),
    Tx(Transaction<'static, DB>),
}

/// The database couldn't do it.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// No answer, or an error of the database itself: try again later.
    #[error("database: {0}")]
    Database(#[source] sqlx::Error),
    /// The tables are not those of this program: an upgrade is missing, or a downgrade was tried.
    #[error("the database's tables don't belong to this version: {0}")]
    Schema(#[from] sqlx::migrate::MigrateError),
    /// A commit whose reply was lost, and nobody could look whether it is there.
    #[error("the database was lost at the commit: whether it was done is not known")]
    Unconfirmed,
    /// A row that this program would not have written.
    #[error("table {table}: {what}")]
    Corrupt {
        /// The table.
        table: &'static str,
        /// What is wrong.
        what: String,
    },
}

type Result<T> = std::result::Result<T, StoreError>;

/// How long a writer waits for another process's transaction. Transactions take milliseconds; one that takes longer
/// than this is stuck, and waiting on is no help.
const BUSY: Duration = Duration::from_secs(30);
/// How long a request waits for a connection before it is told that the service is overloaded.
const ACQUIRE: Duration = Duration::from_secs(10);
/// PostgreSQL connections that write: the commit queue's, sign-ins beside it, and jobs.
const WRITE_CONNECTIONS: u32 = 4;

/// Opens the database, creating or upgrading its tables.
///
/// # Errors
/// [`StoreError`] if it can't be reached or holds tables of another version.
pub async fn open(database: &config::Database, read_connections: u32) -> Result<(Reader, Writer)> {
    let (reader, writer) = match database {
        config::Database::Sqlite(path) => open_sqlite(path, read_connections).await?,
        config::Database::Postgres(url) => open_postgres(url, read_connections).await?,
    };
    writer.migrate().await?;
    Ok((reader, writer))
}

/// Opens a database to read it, beside whoever writes there, and changes nothing in it: no tables are made or upgraded.
///
/// # Errors
/// [`StoreError`] if it can't be reached, or not without writing.
pub async fn open_to_read(database: &config::Database, connections: u32) -> Result<Reader> {
    let pool = match database {
        config::Database::Sqlite(path) => {
            let options = SqliteConnectOptions::new().filename(path).read_only(true).busy_timeout(BUSY);
            On::Sqlite(SqlitePoolOptions::new().max_connections(connections).connect_with(options).await?)
        }
        config::Database::Postgres(url) => {
            let options: PgConnectOptions = url.reveal().parse()?;
            let options = options.application_name("countersign").options([("default_transaction_read_only", "on")]);
            let pool = PgPoolOptions::new().acquire_timeout(ACQUIRE).max_connections(connections);
            On::Postgres(pool.connect_with(options).await?)
        }
    };
    Ok(Reader(pool, None))
}

async fn open_sqlite(path: &std::path::Path, readers: u32) -> Result<(Reader, Writer)> {
    // A new file turns to its write-ahead log under an exclusive lock, and SQLite doesn't wait for that one however long it
    // may be busy: of several first starts at once the others would fail. So they make and turn it one after the other.
    let turn = turn(path).await?;
    make_private(path)?;
    let options = SqliteConnectOptions::new()
        .filename(path)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .foreign_keys(true)
        .busy_timeout(BUSY);
    // Connections are files: they don't go stale, and closing the last one would throw the write-ahead log's index away.
    let pool = || {
        let pool = SqlitePoolOptions::new().acquire_timeout(BUSY + ACQUIRE);
        pool.idle_timeout(None).max_lifetime(None).test_before_acquire(false).min_connections(1)
    };
    let writer = pool().max_connections(1).connect_with(options.clone()).await?;
    drop(turn);
    let reading = options.pragma("query_only", "ON");
    let reader = pool().max_connections(readers).connect_with(reading).await?;
    Ok((Reader(On::Sqlite(reader), None), Writer(On::Sqlite(writer), None)))
}

/// Waits until nobody else is opening a database in this folder. Whoever has opened one doesn't hold it, so the wait is of
/// milliseconds.
async fn turn(path: &std::path::Path) -> Result<std::fs::File> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(std::path::Path::new("."));
    let folder = std::fs::File::open(folder).map_err(sqlx::Error::Io)?;
    let locked = tokio::task::spawn_blocking(move || folder.lock().map(|()| folder));
    let locked = tokio::time::timeout(BUSY, locked).await.map_err(|_| sqlx::Error::PoolTimedOut)?;
    Ok(locked.map_err(|e| sqlx::Error::Io(e.into()))?.map_err(sqlx::Error::Io)?)
}

/// Makes the file before SQLite makes one that others may read; the files beside it take over its permissions. One that
/// is there is not opened: closing it would take this process's locks away from whoever else has the database open in it.
fn make_private(path: &std::path::Path) -> Result<()> {
    match std::fs::OpenOptions::new().create_new(true).write(true).mode(0o600).open(path) {
        Ok(_) => Ok(()),
        Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        Err(e) => Err(sqlx::Error::Io(e).into()),
    }
}

async fn open_postgres(url: &config::DatabaseText, readers: u32) -> Result<(Reader, Writer)> {
    let options: PgConnectOptions = url.reveal().parse()?;
    let options = options.application_name("countersign");
    // An acknowledged write is durable whatever the server's default is; and the head row serialises writers only if
    // each statement after it sees what was committed before.
    let durable = [("synchronous_commit", "on"), ("default_transaction_isolation", "read committed")];
    let pool = || PgPoolOptions::new().acquire_timeout(ACQUIRE);
    let writer = pool().max_connections(WRITE_CONNECTIONS).connect_with(options.clone().options(durable)).await?;
    let reading = options.options([("default_transaction_read_only", "on")]);
    let reader = pool().max_connections(readers).connect_with(reading).await?;
    Ok((Reader(On::Postgres(reader), None), Writer(On::Postgres(writer), None)))
}

impl Reader {
    /// A connection; each statement sees what was committed before it.
    ///
    /// # Errors
    /// [`StoreError::Database`] if none is free in time.
    pub async fn conn(&self) -> Result<Conn> {
        let conn = match &self.0 {
            On::Sqlite(pool) => On::Sqlite(Held::Pooled(pool.acquire().await?)),
            On::Postgres(pool) => On::Postgres(Held::Pooled(pool.acquire().await?)),
        };
        Ok(Conn(conn, self.1.clone()))
    }

    /// The engine's name, for people.
    pub const fn engine(&self) -> &'static str {
        match &self.0 {
            On::Sqlite(_) => "SQLite",
            On::Postgres(_) => "PostgreSQL",
        }
    }

    /// Ends all connections, waiting for what runs on them.
    pub async fn close(&self) {
        on!(&self.0, |pool| pool.close().await);
    }

    /// A connection whose statements all see one moment.
    ///
    /// # Errors
    /// [`StoreError::Database`] if none is free in time.
    pub async fn snapshot(&self) -> Result<Conn> {
        const POSTGRES: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
        let conn = match &self.0 {
            On::Sqlite(pool) => On::Sqlite(Held::Tx(pool.begin_with("BEGIN DEFERRED").await?)),
            On::Postgres(pool) => On::Postgres(Held::Tx(pool.begin_with(POSTGRES).await?)),
        };
        Ok(Conn(conn, self.1.clone()))
    }
}

impl Writer {
    /// Begins to write. On SQLite this waits for whoever is writing; on PostgreSQL [`WriteTx::take_head`] does.
    ///
    /// # Errors
    /// [`StoreError::Database`] if the wait is too long.
    pub async fn begin(&self) -> Result<WriteTx> {
        let conn = match &self.0 {
            On::Sqlite(pool) => On::Sqlite(Held::Tx(pool.begin_with("BEGIN IMMEDIATE").await?)),
            On::Postgres(pool) => On::Postgres(Held::Tx(pool.begin().await?)),
        };
        Ok(WriteTx(Conn(conn, self.1.clone())))
    }

    /// Ends all connections, waiting for what runs on them.
    pub async fn close(&self) {
        on!(&self.0, |pool| pool.close().await);
    }

    async fn migrate(&self) -> Result<()> {
        match &self.0 {
            // All in one transaction, because here the migrator takes no lock of its own: of several processes that start
            // at once one makes the tables and the others find them made.
            On::Sqlite(pool) => {
                let mut tx = pool.begin_with("BEGIN IMMEDIATE").await?;
                migrate::sqlite().run(&mut *tx).await?;
                tx.commit().await?;
            }
            On::Postgres(pool) => migrate::postgres().run(pool).await?,
        }
        Ok(())
    }
}

impl WriteTx {
    /// Makes it all durable.
    ///
    /// # Errors
    /// [`StoreError::Database`]: whether the transaction is durable is then unknown.
    pub async fn commit(self) -> Result<()> {
        self.before(COMMIT).await?;
        let Self(Conn(conn, probe)) = self;
        match conn {
            On::Sqlite(Held::Tx(tx)) => tx.commit().await?,
            On::Postgres(Held::Tx(tx)) => tx.commit().await?,
            // No constructor makes one: nothing was written in a transaction, so nothing is confirmed.
            On::Sqlite(Held::Pooled(_)) | On::Postgres(Held::Pooled(_)) => {
                return Err(StoreError::Database(sqlx::Error::PoolClosed));
            }
        }
        match probe {
            Some(probe) => probe.after(COMMIT).await,
            None => Ok(()),
        }
    }
}

/// A number as columns hold it. Positions in the log stay far below the bound; one beyond it finds no row.
fn int(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

impl Deref for WriteTx {
    type Target = Conn;

    fn deref(&self) -> &Conn {
        &self.0
    }
}

impl DerefMut for WriteTx {
    fn deref_mut(&mut self) -> &mut Conn {
        &mut self.0
    }
}

impl<DB: Database> Deref for Held<DB> {
    type Target = DB::Connection;

    fn deref(&self) -> &Self::Target {
        match self {
            Self::Pooled(conn) => conn,
            Self::Tx(tx) => tx,
        }
    }
}

impl<DB: Database> DerefMut for Held<DB> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        match self {
            Self::Pooled(conn) => conn,
            Self::Tx(tx) => tx,
        }
    }
}

/// A column that its type refuses is a fault of the row, not of the connection.
impl From<sqlx::Error> for StoreError {
    fn from(e: sqlx::Error) -> Self {
        match e {
            sqlx::Error::ColumnDecode { index, source } => {
                Self::Corrupt { table: "", what: format!("column {index}: {source}") }
            }
            e => Self::Database(e),
        }
    }
}
