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

/// Blocks on a future as `#[tokio::test]` does, with threads: the service spawns tasks.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime")
        .block_on(future)
}
