//! The commit queue: 64 writers on either engine, against a bare loop that runs the same statements in batches of 64, and
//! against one writer when each commit takes five milliseconds longer.
//!
//! `cargo bench --bench commit` prints a table; PostgreSQL takes part where `COUNTERSIGN_TEST_POSTGRES` names one.

#![expect(clippy::expect_used, clippy::print_stdout, reason = "a bench stops at a fault and prints its table")]

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use countersign::{
    config::{Database, DatabaseText, Flags, Registry},
    env::{BoxFuture, SystemClock, SystemRng},
    event::{Event, ReviewerSet},
    review::ReviewerId,
    scan::Ruleset,
    service::{App, Opening, Step, Stop, Work},
    store::{self, AuditRow, COMMIT, LogHead, Probe, StoreError, WriteTx},
};
use criterion::{Criterion, criterion_group, criterion_main};
use sqlx::{Connection as _, Executor as _};
use tokio::task::JoinSet;

const WRITERS: u64 = 64;
const MEASURED: Duration = Duration::from_secs(3);

/// One leaf and one row, and a state that doesn't grow: a reviewer comes or goes.
struct Toggle(u64);

impl Step for Toggle {
    type Done = ();
    type Refused = ();

    async fn run(&self, work: &mut Work) -> Result<(), Stop<()>> {
        let by = ReviewerId::local_operator();
        let reviewer = ReviewerId::random([7; 16]);
        work.append(Event::ReviewerSet(ReviewerSet { reviewer, active: self.0.is_multiple_of(2), by }))?;
        work.audit("bench", "toggle", "reviewer", "");
        Ok(())
    }
}

/// Counts commits, and makes each take longer.
#[derive(Debug, Default)]
struct Commits {
    count: AtomicU64,
    slow: AtomicBool,
}

impl Probe for Commits {
    #[expect(clippy::disallowed_methods, reason = "a disk that is slower than this machine's")]
    fn before<'a>(&'a self, sql: &'static str) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            if sql == COMMIT {
                self.count.fetch_add(1, Ordering::Relaxed);
                if self.slow.load(Ordering::Relaxed) {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
            }
            Ok(())
        })
    }

    fn after<'a>(&'a self, _: &'static str) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async { Ok(()) })
    }
}

async fn open(database: &Database, dir: &std::path::Path, commits: &Arc<Commits>) -> App {
    let flags = Flags { origin: Some("pins.example".to_owned()), ..Flags::default() };
    let settings = Registry::load(&dir.join("data"), &flags, &Default::default()).expect("usable");
    let settings = Registry { database: database.clone(), ..settings };
    let (reader, writer) = store::open(database, 4).await.expect("opens");
    let probe: Arc<dyn Probe> = Arc::<Commits>::clone(commits);
    let rules = Arc::new(Ruleset::builtin().expect("it passes its own examples"));
    let opening = Opening { registry: &settings, host: None, rules, create: true };
    App::open_on((reader, writer.probed(probe)), opening, Arc::new(SystemClock), Arc::new(SystemRng))
        .await
        .expect("opens")
}

/// Acknowledged writes a second, and how many a commit.
async fn written(app: &App, commits: &Commits, writers: u64) -> (f64, f64) {
    let (stop, done) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let mut tasks = JoinSet::new();
    let before = commits.count.load(Ordering::Relaxed);
    let began = instant();
    for writer in 0..writers {
        let (app, stop, done) = (app.clone(), Arc::clone(&stop), Arc::clone(&done));
        tasks.spawn(async move {
            let mut n = writer;
            while !stop.load(Ordering::Relaxed) {
                app.write(Toggle(n)).await.expect("written");
                done.fetch_add(1, Ordering::Relaxed);
                n += 1;
            }
        });
    }
    pass(MEASURED).await;
    stop.store(true, Ordering::Relaxed);
    tasks.join_all().await;
    let (took, done) = (began.elapsed().as_secs_f64(), done.load(Ordering::Relaxed) as f64);
    (done / took, done / (commits.count.load(Ordering::Relaxed) - before) as f64)
}

/// The statements of a batch of 64, as the queue runs them, with nothing decided, folded, hashed or signed.
async fn bare(database: &Database, from: u64) -> f64 {
    let (reader, writer) = store::open(database, 1).await.expect("opens");
    let mut size = from;
    let leaf = vec![b'x'; 160];
    let tile = vec![7_u8; 32 * 256];
    let note = "pins.example\n".repeat(12);
    let began = instant();
    let mut done = 0;
    while began.elapsed() < MEASURED {
        let mut tx: WriteTx = writer.begin().await.expect("begins");
        let head: LogHead = tx.take_head().await.expect("taken");
        tx.checkpoint(head.size).await.expect("read");
        for _ in 0..WRITERS {
            let text = |text: &str| text.to_owned();
            let at = head.last_at;
            let row = AuditRow {
                id: 0,
                at,
                actor: text("bench"),
                action: text("toggle"),
                subject: text("reviewer"),
                detail: text(""),
            };
            tx.put_audit(&row).await.expect("put");
        }
        for n in 0..WRITERS {
            tx.put_leaf(size + n, &leaf).await.expect("put");
        }
        tx.leaves(size, size + WRITERS).await.expect("read");
        size += WRITERS;
        // A tile that grows by 64 hashes with each batch.
        let (index, width) = ((size - 1) / 256, usize::try_from((size - 1) % 256 + 1).expect("small"));
        tx.put_tile(60, index, &tile[..width * 32]).await.expect("put");
        tx.put_log_head(&LogHead { size, ..head }).await.expect("put");
        tx.heads().await.expect("read");
        tx.put_checkpoint(size, &note, tx_at()).await.expect("put");
        tx.commit().await.expect("commits");
        done += WRITERS;
    }
    let rate = done as f64 / began.elapsed().as_secs_f64();
    writer.close().await;
    reader.close().await;
    rate
}

fn tx_at() -> countersign::clock::Timestamp {
    countersign::clock::Timestamp::from_micros(1_796_025_600_000_000).expect("in range")
}

async fn measure(name: &str, database: &Database) {
    let folder = tempfile::tempdir().expect("a folder");
    let commits = Arc::new(Commits::default());
    let app = open(database, folder.path(), &commits).await;
    let mut rates = (vec![], vec![]);
    let mut a_commit = 0.0;
    for _ in 0..3 {
        let (rate, per_commit) = written(&app, &commits, WRITERS).await;
        rates.0.push(rate);
        a_commit = per_commit;
        app.refresh().await.expect("looks");
        // After it the log is no log any more: the last thing that is done in each turn is done on a copy of its own.
        rates.1.push(bare_apart(name, database).await);
    }
    let (queue, loop_) = (median(rates.0), median(rates.1));
    println!(
        "{name}: 64 writers {queue:.0} writes/s, {a_commit:.1} a commit; bare loop {loop_:.0} writes/s: ratio {:.2}",
        queue / loop_
    );
    commits.slow.store(true, Ordering::Relaxed);
    let (many, _) = written(&app, &commits, WRITERS).await;
    let (one, _) = written(&app, &commits, 1).await;
    println!(
        "{name}: with 5 ms added to each commit {many:.0} writes/s by 64 writers, {one:.0} by one: {:.1} times",
        many / one
    );
    app.close().await;
}

/// The bare loop on a database of the same engine that nobody else uses.
async fn bare_apart(name: &str, database: &Database) -> f64 {
    match database {
        Database::Sqlite(_) => {
            let folder = tempfile::tempdir().expect("a folder");
            bare(&Database::Sqlite(folder.path().join("bare.db")), 0).await
        }
        Database::Postgres(url) => {
            let schema = Schema::new(url.reveal(), name).await;
            let rate = bare(&schema.database, 0).await;
            schema.drop().await;
            rate
        }
    }
}

/// A schema of PostgreSQL that is dropped afterwards.
struct Schema {
    server: String,
    name: String,
    database: Database,
}

impl Schema {
    async fn new(url: &str, name: &str) -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let server = url.split("&options=").next().expect("a URL").to_owned();
        let name =
            format!("bench_{name}_{}_{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed)).to_lowercase();
        let mut conn = sqlx::PgConnection::connect(&server).await.expect("reached");
        conn.execute(sqlx::AssertSqlSafe(format!("CREATE SCHEMA {name}"))).await.expect("a schema");
        let database = Database::Postgres(DatabaseText::new(format!("{server}&options=-c%20search_path%3D{name}")));
        Self { server, name, database }
    }

    async fn drop(self) {
        let mut conn = sqlx::PgConnection::connect(&self.server).await.expect("reached");
        conn.execute(sqlx::AssertSqlSafe(format!("DROP SCHEMA {} CASCADE", self.name))).await.expect("dropped");
    }
}

#[expect(clippy::disallowed_methods, reason = "a bench has no Env")]
fn postgres() -> Option<String> {
    std::env::var("COUNTERSIGN_TEST_POSTGRES").ok()
}

fn queue(_: &mut Criterion) {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    println!();
    runtime.block_on(async {
        let folder = tempfile::tempdir().expect("a folder");
        measure("SQLite", &Database::Sqlite(folder.path().join("registry.db"))).await;
        let Some(url) = postgres() else { return println!("PostgreSQL: COUNTERSIGN_TEST_POSTGRES is not set") };
        let schema = Schema::new(&url, "queue").await;
        measure("PostgreSQL", &schema.database).await;
        schema.drop().await;
    });
}

#[expect(clippy::disallowed_methods, reason = "a bench measures time")]
async fn pass(span: Duration) {
    tokio::time::sleep(span).await;
}

#[expect(clippy::disallowed_methods, reason = "a bench measures time")]
fn instant() -> Instant {
    Instant::now()
}

fn median(mut rates: Vec<f64>) -> f64 {
    rates.sort_by(f64::total_cmp);
    rates[rates.len() / 2]
}

criterion_group!(benches, queue);
criterion_main!(benches);
