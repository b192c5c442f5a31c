//! The binary as a process: signals, and kills in the middle of writes. Only here does a test run it.

use std::{
    io::{BufRead as _, BufReader},
    net::SocketAddr,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::{Arc, Mutex},
    time::Duration,
};

use countersign::{
    attest::{Role, Statement, dsse},
    config::{self, Database, Flags},
    descriptor::{Capture, Kind, Listed, Release},
    env::{SystemClock, SystemRng},
    keys::SigningKey,
    name::{Variant, Version},
    pinset::State,
    scan::Ruleset,
    service::{
        App, Opening,
        access::{AddAccount, AddToken, Principal},
        govern::{self, Governor, Grant},
    },
    store,
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use crate::{
    databases::{Fresh, on_both},
    whole::{at_the_end, fold_equals_store},
};

/// Longer than any of these steps takes on a busy machine; only a test that fails waits for it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A registry's process, killed when the test ends. What it leaves folds to what it kept, however it ended.
pub(crate) struct Process {
    child: Child,
    pub(crate) address: SocketAddr,
    data: PathBuf,
    database: Database,
    /// Whether what it leaves is looked at when it ends.
    looked_at: bool,
}

impl Process {
    pub(crate) fn start(data: &Path, database: &Database) -> Self {
        let mut child = Self::spawn(data, database);
        let lines = BufReader::new(child.stdout.take().expect("piped")).lines();
        let address = lines.map(|line| line.expect("text")).find_map(|line| {
            line.strip_prefix("listening on http://").map(|address| address.parse().expect("an address"))
        });
        let address = address.expect("it says where it listens before it ends");
        Self { child, address, data: data.to_owned(), database: database.clone(), looked_at: true }
    }

    /// The program, just begun: whether it listens yet nobody knows.
    pub(crate) fn spawn(data: &Path, database: &Database) -> Child {
        let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
        command.args(["serve", "--listen", "127.0.0.1:0", "--data"]).arg(data);
        if let Database::Postgres(url) = database {
            command.args(["--database-url", url.reveal()]);
        }
        command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the binary starts")
    }

    fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, signal).expect("it runs");
    }

    /// Kills it, with many more to come: what they leave together is looked at in the end.
    pub(crate) fn killed(mut self) {
        self.looked_at = false;
    }

    fn ended(&mut self) -> ExitStatus {
        self.child.wait().expect("it ends")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if !self.looked_at {
            return;
        }
        at_the_end(async || {
            let app = open(&self.data, &self.database, false).await;
            assert_eq!(app.read_only(), None);
            fold_equals_store(&app).await;
            app.close().await;
        });
    }
}

/// Opens the registry as `admin` does.
pub(crate) async fn open(data: &Path, database: &Database, create: bool) -> App {
    let url = match database {
        Database::Postgres(url) => Some(url.clone()),
        Database::Sqlite(_) => None,
    };
    let flags = Flags { database_url: url, ..Flags::default() };
    let registry = config::Registry::load(data, &flags, &Default::default()).expect("settings");
    let rules = Arc::new(Ruleset::builtin().expect("the rules keep their examples"));
    let opening = Opening { registry: &registry, host: None, rules, create };
    App::open(opening, Arc::new(SystemClock), Arc::new(SystemRng)).await.expect("opens")
}

/// A registry with a publisher, and the publisher's token.
async fn prepared(data: &Path, database: &Database) -> String {
    let app = open(data, database, true).await;
    let by = Principal::LocalOperator;
    let password = app.hash_password("correct horse battery".parse().expect("long")).await.expect("hashed");
    let name: countersign::service::access::AccountName = "ada".parse().expect("legal");
    let roles = [store::Role::Reviewer].into();
    app.write(AddAccount { name: name.clone(), password, roles, by: by.clone() }).await.expect("added");
    let grant = Grant {
        scope: "com.example".parse().expect("legal"),
        key: key().verifying(),
        role: Role::Publisher,
        holder: None,
        by: Governor { by: countersign::review::ReviewerId::local_operator(), name: "local-operator".into() },
        alone: true,
    };
    govern::grant(&app, grant).await.expect("granted");
    let scope = "publish:com.example".parse().expect("a scope");
    let token = app.add_token(AddToken { scope, account: name, days: None, by }).await.expect("made");
    app.close().await;
    token.done.0.reveal().to_owned()
}

pub(crate) fn key() -> SigningKey {
    SigningKey::from_seed(&[9; 32])
}

/// The body of `POST /v1/releases` for release `n`.
pub(crate) fn submission(n: u32) -> String {
    submission_of("com.example/notes", n)
}

/// The same for a server.
pub(crate) fn submission_of(server: &str, n: u32) -> String {
    let tool = format!(r#"{{"name":"t{n}","inputSchema":{{"type":"object"}}}}"#);
    let listed = vec![Listed::new(Kind::Tool, tool.as_bytes())];
    let capture = Capture { complete: true, listed, ..Capture::default() };
    let version: Version = format!("1.0.{n}").parse().expect("legal");
    let release = Release::new(server.parse().expect("legal"), version, Variant::default(), capture);
    let statement = Statement::for_release(&release, Role::Publisher);
    let attestation = dsse::sign("application/vnd.in-toto+json", &statement.to_payload(), &key());
    let release = String::from_utf8(release.to_json()).expect("JSON");
    let attestation = String::from_utf8(attestation).expect("JSON");
    format!("{},\"attestation\":{attestation}}}", release.strip_suffix('}').expect("an object"))
}

fn data(fresh: &Fresh) -> PathBuf {
    fresh.dir.path().join("data")
}

fn database(fresh: &Fresh) -> Database {
    match &fresh.database {
        Database::Sqlite(_) => Database::Sqlite(data(fresh).join("registry.db")),
        postgres @ Database::Postgres(_) => postgres.clone(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sigterm_finishes_the_requests_in_flight() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    let database = Database::Sqlite(data.join("registry.db"));
    let token = prepared(&data, &database).await;
    let mut process = Process::start(&data, &database);
    let body = submission(0);
    let mut stream = TcpStream::connect(process.address).await.expect("connects");
    let head = format!(
        "POST /v1/releases HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n",
        process.address,
        body.len()
    );
    stream.write_all(head.as_bytes()).await.expect("sent");
    let mut go_on = [0; 25];
    let read = tokio::time::timeout(PATIENCE, stream.read_exact(&mut go_on)).await;
    read.expect("it answers").expect("it asks for the body");
    assert_eq!(&go_on, b"HTTP/1.1 100 Continue\r\n\r\n");

    // The request is in flight: its handler waits for the body.
    process.signal(rustix::process::Signal::TERM);
    let refused = async {
        while TcpStream::connect(process.address).await.is_ok() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, refused).await.expect("it takes no new connection");
    stream.write_all(body.as_bytes()).await.expect("sent");
    let mut answer = String::new();
    let read = tokio::time::timeout(PATIENCE, stream.read_to_string(&mut answer)).await;
    read.expect("it answers").expect("a whole answer");
    assert!(answer.starts_with("HTTP/1.1 201 Created\r\n"), "{answer}");
    assert!(process.ended().success());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_acknowledged_outlives_kills_in_the_middle_of_writes() {
    const KILLS: usize = 4;
    const ACKNOWLEDGED_BEFORE_A_KILL: usize = 12;
    on_both(async |fresh| {
        let (data, database) = (data(fresh), database(fresh));
        let token = prepared(&data, &database).await;
        let acknowledged: Arc<Mutex<Vec<(u32, String, u64)>>> = Arc::default();
        let next = Arc::new(std::sync::atomic::AtomicU32::new(0));
        for kill in 1..=KILLS {
            let process = Process::start(&data, &database);
            let mut writers = tokio::task::JoinSet::new();
            for _ in 0..4 {
                writers.spawn(write_until_it_breaks(
                    process.address,
                    token.clone(),
                    Arc::clone(&next),
                    Arc::clone(&acknowledged),
                ));
            }
            while acknowledged.lock().expect("not poisoned").len() < kill * ACKNOWLEDGED_BEFORE_A_KILL {
                tokio::task::yield_now().await;
            }
            process.signal(rustix::process::Signal::KILL);
            writers.join_all().await;
        }
        // Opening folds and hashes the whole log and compares it with checkpoint and anchor.
        let app = open(&data, &database, false).await;
        assert_eq!(app.read_only(), None);
        let mut conn = app.reader().conn().await.expect("a connection");
        let size = app.moment().checkpoint.size;
        let leaves = conn.leaves(0, size).await.expect("read");
        assert_eq!(leaves.len() as u64, size);
        let mut replay = State::default();
        for (index, leaf) in (0..).zip(&leaves) {
            replay.apply(index, leaf).expect("the log is whole");
        }
        let acknowledged = acknowledged.lock().expect("not poisoned").clone();
        for (n, release, index) in &acknowledged {
            let row = conn.release(release).await.expect("read").expect("what was acknowledged is there");
            assert_eq!((row.version.as_str(), row.log_index), (format!("1.0.{n}").as_str(), *index));
            let leaf = String::from_utf8(leaves[usize::try_from(*index).expect("small")].clone()).expect("JSON");
            assert!(leaf.contains(&format!("\"release\":\"{release}\"")), "{leaf}");
        }
        drop(conn);
        app.close().await;
    })
    .await;
}

/// Publishes one release after the other and keeps what was acknowledged, until the server is gone.
async fn write_until_it_breaks(
    address: SocketAddr,
    token: String,
    next: Arc<std::sync::atomic::AtomicU32>,
    acknowledged: Arc<Mutex<Vec<(u32, String, u64)>>>,
) {
    let client = reqwest::Client::builder().no_proxy().build().expect("a client");
    loop {
        let n = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let request = client.post(format!("http://{address}/v1/releases")).bearer_auth(&token).body(submission(n));
        let Ok(answer) = request.send().await else { return };
        let status = answer.status();
        let Ok(body) = answer.bytes().await else { return };
        assert_eq!(status, 201, "{}", String::from_utf8_lossy(&body));
        let body: serde_json::Value = serde_json::from_slice(&body).expect("JSON");
        let release = body["release"].as_str().expect("an id").to_owned();
        let index = body["log"]["index"].as_u64().expect("an index");
        acknowledged.lock().expect("not poisoned").push((n, release, index));
    }
}
