//! Fresh databases of both engines. PostgreSQL is not optional: what runs on one engine alone is not tested.

use std::{
    future::Future,
    sync::atomic::{AtomicU32, Ordering},
};

use countersign::{
    config::{Database, DatabaseText},
    env::{Rng, SystemRng},
};
use sqlx::{Connection as _, Executor as _, PgConnection};

/// Which engine.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Engine {
    Sqlite,
    Postgres,
}

/// An empty database and a folder, both gone when the test has passed.
pub(crate) struct Fresh {
    pub(crate) engine: Engine,
    pub(crate) database: Database,
    pub(crate) dir: tempfile::TempDir,
    schema: Option<String>,
}

/// Runs a case on a fresh database of each engine, one after the other.
pub(crate) async fn on_both<F: AsyncFn(&Fresh)>(case: F) {
    for engine in [Engine::Sqlite, Engine::Postgres] {
        let fresh = Fresh::new(engine).await;
        case(&fresh).await;
        fresh.drop_schema().await;
    }
}

impl Fresh {
    pub(crate) async fn new(engine: Engine) -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        match engine {
            Engine::Sqlite => {
                let database = Database::Sqlite(dir.path().join("registry.db"));
                Self { engine, database, dir, schema: None }
            }
            Engine::Postgres => {
                let url = postgres();
                let schema = unused_name();
                let mut server = PgConnection::connect(&url).await.expect("COUNTERSIGN_TEST_POSTGRES can be reached");
                server.execute(sqlx::AssertSqlSafe(format!("CREATE SCHEMA {schema}"))).await.expect("a schema");
                let joint = if url.contains('?') { '&' } else { '?' };
                let url = format!("{url}{joint}options=-c%20search_path%3D{schema}");
                Self { engine, database: Database::Postgres(DatabaseText::new(url)), dir, schema: Some(schema) }
            }
        }
    }

    /// A copy of the database as it is, to be restored later: a file, or a schema.
    pub(crate) async fn backup(&self) {
        match &self.database {
            Database::Sqlite(path) => {
                std::fs::copy(path, path.with_extension("backup")).expect("backed up");
            }
            Database::Postgres(url) => {
                let schema = self.schema.as_deref().expect("has one");
                let mut conn = PgConnection::connect(url.reveal()).await.expect("reached");
                let tables: Vec<String> =
                    sqlx::query_scalar("SELECT tablename::text FROM pg_tables WHERE schemaname = $1")
                        .bind(schema)
                        .fetch_all(&mut conn)
                        .await
                        .expect("tables");
                let mut sql = format!("CREATE SCHEMA {schema}_b;");
                for table in tables {
                    sql += &format!("CREATE TABLE {schema}_b.{table} (LIKE {schema}.{table} INCLUDING ALL);");
                    sql += &format!(
                        "INSERT INTO {schema}_b.{table} OVERRIDING SYSTEM VALUE SELECT * FROM {schema}.{table};"
                    );
                }
                // The only column that counts by itself.
                let next = format!("COALESCE((SELECT MAX(id) FROM {schema}.audit), 0) + 1");
                sql += &format!("SELECT setval(pg_get_serial_sequence('{schema}_b.audit', 'id'), {next}, false);");
                conn.execute(sqlx::AssertSqlSafe(sql)).await.expect("backed up");
            }
        }
    }

    /// Puts the copy in the place of the database.
    pub(crate) async fn restore(&self) {
        match &self.database {
            Database::Sqlite(path) => {
                for beside in ["db-wal", "db-shm"] {
                    let _ = std::fs::remove_file(path.with_extension(beside));
                }
                std::fs::copy(path.with_extension("backup"), path).expect("restored");
            }
            Database::Postgres(url) => {
                let schema = self.schema.as_deref().expect("has one");
                let mut conn = PgConnection::connect(url.reveal()).await.expect("reached");
                let sql = format!("DROP SCHEMA {schema} CASCADE; ALTER SCHEMA {schema}_b RENAME TO {schema}");
                conn.execute(sqlx::AssertSqlSafe(sql)).await.expect("restored");
            }
        }
    }

    /// After a failed test the schema stays, to be looked at.
    pub(crate) async fn drop_schema(self) {
        let Some(schema) = self.schema else { return };
        let mut server = PgConnection::connect(&postgres()).await.expect("still there");
        server.execute(sqlx::AssertSqlSafe(format!("DROP SCHEMA {schema} CASCADE"))).await.expect("dropped");
    }
}

/// Runs one statement past the store, as somebody with a database client would.
pub(crate) async fn tamper(fresh: &Fresh, sql: &str) -> Result<(), sqlx::Error> {
    let sql = sqlx::AssertSqlSafe(sql.to_owned());
    match &fresh.database {
        Database::Sqlite(path) => {
            let options = sqlx::sqlite::SqliteConnectOptions::new().filename(path).foreign_keys(true);
            let mut conn = sqlx::SqliteConnection::connect_with(&options).await?;
            conn.execute(sql).await?;
            conn.close().await
        }
        Database::Postgres(url) => {
            let mut conn = PgConnection::connect(url.reveal()).await?;
            conn.execute(sql).await?;
            conn.close().await
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "tests have no Env of their own")]
fn postgres() -> String {
    std::env::var("COUNTERSIGN_TEST_POSTGRES").unwrap_or_else(|_| {
        panic!(
            "COUNTERSIGN_TEST_POSTGRES is not set. Every statement runs on both engines: set it to the URL of a \
             PostgreSQL database that tests may make schemas in, as postgres://postgres@localhost/postgres?host=/tmp/pg; \
             `sh tests/run` makes a cluster of its own and sets it"
        )
    })
}

fn unused_name() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let mut random = [0; 8];
    SystemRng.fill(&mut random);
    let random: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("t_{random}_{}", COUNT.fetch_add(1, Ordering::Relaxed))
}

/// Another database of the same server, for anchors.
pub(crate) struct Elsewhere {
    pub(crate) url: String,
    name: String,
}

impl Elsewhere {
    pub(crate) async fn new() -> Self {
        let (url, name) = (postgres(), unused_name());
        let mut server = PgConnection::connect(&url).await.expect("COUNTERSIGN_TEST_POSTGRES can be reached");
        server.execute(sqlx::AssertSqlSafe(format!("CREATE DATABASE {name}"))).await.expect("a database");
        let mut url: url::Url = url.parse().expect("a URL");
        url.set_path(&name);
        Self { url: url.to_string(), name }
    }

    pub(crate) async fn execute(&self, sql: &str) {
        let mut conn = PgConnection::connect(&self.url).await.expect("reached");
        conn.execute(sqlx::AssertSqlSafe(sql.to_owned())).await.expect("done");
    }

    pub(crate) async fn text(&self, sql: &str) -> Option<String> {
        let mut conn = PgConnection::connect(&self.url).await.expect("reached");
        sqlx::query_scalar(sqlx::AssertSqlSafe(sql.to_owned())).fetch_optional(&mut conn).await.expect("answers")
    }

    /// As if the server were gone, or back.
    pub(crate) async fn reachable(&self, reachable: bool) {
        let mut server = PgConnection::connect(&postgres()).await.expect("reached");
        let name = &self.name;
        let allow = format!("ALTER DATABASE {name} ALLOW_CONNECTIONS {reachable}");
        server.execute(sqlx::AssertSqlSafe(allow)).await.expect("altered");
        let end = format!("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'");
        server.execute(sqlx::AssertSqlSafe(end)).await.expect("ended");
    }

    pub(crate) async fn drop_database(self) {
        let mut server = PgConnection::connect(&postgres()).await.expect("reached");
        let drop = format!("DROP DATABASE {} WITH (FORCE)", self.name);
        server.execute(sqlx::AssertSqlSafe(drop)).await.expect("dropped");
    }
}

/// Blocks on a future as `#[tokio::test]` does, with threads: the service spawns tasks.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime")
        .block_on(future)
}
