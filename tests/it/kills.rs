//! Writers over HTTP while the server, and PostgreSQL below it, are killed at random moments: what was acknowledged is
//! there, no checkpoint that anybody saw is contradicted by a later one, an audit finds nothing, and the service comes back.
//!
//! Twenty kills an engine; `COUNTERSIGN_TEST_KILLS` asks for more, and `COUNTERSIGN_TEST_SEED` for a run again.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

use countersign::{
    attest::Role as Speaks,
    canon::Sha256,
    config::Database,
    env::{Rng, SeededRng, SystemRng},
    log::Proof,
    store::Role,
};
use serde_json::{Value, json};
use tokio::{sync::watch, task::JoinSet};

use crate::{
    api::{account, authority, token},
    cluster::Cluster,
    process::{self, PATIENCE, Process, key, submission_of},
    terminal::Desk,
    whole::fold_equals_store,
};

const WRITERS: usize = 6;
/// At most so many writes are acknowledged between two kills.
const WRITES_A_KILL: u64 = 24;
/// How long writers that got no answer wait before they are told to try again.
const AGAIN: Duration = Duration::from_millis(200);

/// Something that the registry said is done.
#[derive(Clone, Debug)]
enum Acknowledged {
    /// A release, in this leaf.
    Release { id: String, index: u64 },
    /// A decision, this leaf, with this hash.
    Decision { sha256: String, index: u64 },
    /// An alias of a server.
    Alias { alias: String, server: String },
}

/// Where the server is, and how often writers were told to try again.
type Place = (Option<SocketAddr>, u64);

/// What writers share.
struct Work {
    publish: String,
    review: String,
    place: watch::Receiver<Place>,
    next: AtomicU32,
    done: watch::Sender<usize>,
    acknowledged: Mutex<Vec<Acknowledged>>,
    /// Every checkpoint that anybody was shown, by size.
    checkpoints: Mutex<BTreeMap<u64, String>>,
}

impl Work {
    fn acknowledge(&self, what: Acknowledged) {
        self.acknowledged.lock().expect("whole").push(what);
        self.done.send_modify(|done| *done += 1);
    }

    fn saw(&self, note: &str) {
        let size = note.lines().nth(1).expect("a size").parse().expect("a number");
        let before = self.checkpoints.lock().expect("whole").insert(size, note.to_owned());
        assert!(before.is_none_or(|before| before == note), "two checkpoints of size {size}");
    }

    fn saw_proof(&self, log: &Value) {
        let proof: Proof = log["proof"].as_str().expect("a proof").parse().expect("a proof");
        self.saw(&proof.checkpoint);
    }

    /// Asks until there is an answer that isn't the server's failure. `None` when all is over.
    async fn ask(&self, method: &str, path: &str, token: &str, body: &str) -> Option<(u16, Vec<u8>)> {
        let client = reqwest::Client::builder().no_proxy().build().expect("a client");
        let mut place = self.place.clone();
        loop {
            let (address, _) = *place.borrow_and_update();
            if let Some(address) = address {
                let url = format!("http://{address}{path}");
                let request = client.request(method.parse().expect("a method"), url).bearer_auth(token);
                if let Ok(answer) = request.body(body.to_owned()).send().await {
                    let status = answer.status().as_u16();
                    match answer.bytes().await {
                        Ok(body) if status < 500 => return Some((status, body.to_vec())),
                        _ => {}
                    }
                }
            }
            // The sender goes away at the end.
            place.changed().await.ok()?;
        }
    }
}

/// Publishes one release after the other; each tenth is a new server's, which gets an alias.
async fn publish(work: Arc<Work>) {
    loop {
        let n = work.next.fetch_add(1, Ordering::Relaxed);
        let server = if n % 10 == 9 { format!("com.example/s{n}") } else { "com.example/notes".to_owned() };
        let body = submission_of(&server, n);
        let Some((status, answer)) = work.ask("POST", "/v1/releases", &work.publish, &body).await else { return };
        assert!(matches!(status, 200 | 201), "{status} {}", String::from_utf8_lossy(&answer));
        let answer: Value = serde_json::from_slice(&answer).expect("JSON");
        work.saw_proof(&answer["log"]);
        let (id, index) = (answer["release"].as_str().expect("an id"), answer["log"]["index"].as_u64());
        work.acknowledge(Acknowledged::Release { id: id.to_owned(), index: index.expect("an index") });
        if n % 10 != 9 {
            continue;
        }
        let alias = format!("s{n}");
        let body = json!({"alias": alias, "server": server}).to_string();
        let Some((status, answer)) = work.ask("POST", "/v1/pinsets/default/aliases", &work.review, &body).await else {
            return;
        };
        assert!(matches!(status, 200 | 201), "{status} {}", String::from_utf8_lossy(&answer));
        work.acknowledge(Acknowledged::Alias { alias, server });
    }
}

/// Approves what waits.
async fn review(work: Arc<Work>) {
    loop {
        let waiting = "/v1/candidates?state=pending&limit=20";
        let Some((200, answer)) = work.ask("GET", waiting, &work.review, "").await else { return };
        let answer: Value = serde_json::from_slice(&answer).expect("JSON");
        for item in answer["items"].as_array().expect("a list") {
            let path = format!("/v1/candidates/{}", item["id"].as_str().expect("an id"));
            let Some((_, answer)) = work.ask("GET", &path, &work.review, "").await else { return };
            let candidate: Value = serde_json::from_slice(&answer).expect("JSON");
            let vote = json!({"outcome": "approve", "reason": "Read it.", "shown": candidate["shown"]}).to_string();
            let path = format!("{path}/decisions");
            let Some((status, answer)) = work.ask("POST", &path, &work.review, &vote).await else { return };
            let answer: Value = serde_json::from_slice(&answer).expect("JSON");
            // It moved on meanwhile: it has no alias yet, or an answer got lost and the vote had been counted.
            if status != 201 {
                assert_eq!(status, 409, "{answer}");
                continue;
            }
            work.saw_proof(&answer["log"]);
            let (sha256, index) = (answer["decision"].as_str(), answer["log"]["index"].as_u64());
            let sha256 = sha256.expect("a decision").to_owned();
            work.acknowledge(Acknowledged::Decision { sha256, index: index.expect("an index") });
        }
    }
}

/// Looks at the log as anybody may.
async fn watch_the_log(work: Arc<Work>) {
    let token = work.publish.clone();
    while let Some((status, note)) = work.ask("GET", "/log/checkpoint", &token, "").await {
        assert_eq!(status, 200, "{}", String::from_utf8_lossy(&note));
        work.saw(std::str::from_utf8(&note).expect("text"));
    }
}

/// A registry with a publisher and a reviewer: their tokens.
async fn prepared(data: &Path, database: &Database) -> (String, String) {
    std::fs::create_dir_all(data).expect("made");
    std::fs::set_permissions(data, std::os::unix::fs::PermissionsExt::from_mode(0o700)).expect("ours");
    let many = "[limits]\nrequests_per_minute = 10000000\n";
    std::fs::write(data.join("countersign.toml"), many).expect("written");
    let app = process::open(data, database, true).await;
    account(&app, "bot", &[]).await;
    account(&app, "rex", &[Role::Reviewer]).await;
    authority(&app, "com.example", &key(), Speaks::Publisher).await;
    let tokens = (token(&app, "publish:com.example", "bot").await, token(&app, "review", "rex").await);
    std::fs::write(data.join("trust.txt"), &app.moment().trust.note).expect("written");
    app.close().await;
    tokens
}

/// Chance that a seed repeats.
struct Chance(SeededRng);

impl Chance {
    fn below(&self, n: u64) -> u64 {
        let mut bytes = [0; 8];
        self.0.fill(&mut bytes);
        u64::from_le_bytes(bytes) % n
    }
}

#[expect(clippy::disallowed_methods, reason = "tests have no Env of their own")]
fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name} is a number")))
}

#[expect(clippy::disallowed_methods, reason = "how long it takes to come back is measured, and decides nothing")]
fn now() -> Instant {
    Instant::now()
}

/// What is killed.
enum Victim<'a> {
    Server,
    /// The server or PostgreSQL below it, or both at once.
    Either(&'a mut Cluster),
}

async fn kill_again_and_again(data: PathBuf, database: Database, mut victim: Victim<'_>) {
    let kills = setting("COUNTERSIGN_TEST_KILLS").unwrap_or(20);
    let seed = setting("COUNTERSIGN_TEST_SEED").unwrap_or_else(|| {
        let mut bytes = [0; 4];
        SystemRng.fill(&mut bytes);
        u64::from(u32::from_le_bytes(bytes))
    });
    say(&format!("COUNTERSIGN_TEST_SEED={seed} COUNTERSIGN_TEST_KILLS={kills}"));
    let chance = Chance(SeededRng::new(seed));
    let (publisher, reviewer) = prepared(&data, &database).await;
    let (place, placed) = watch::channel((None, 0));
    let work = Arc::new(Work {
        publish: publisher,
        review: reviewer,
        place: placed,
        next: AtomicU32::new(0),
        done: watch::Sender::new(0),
        acknowledged: Mutex::default(),
        checkpoints: Mutex::default(),
    });
    let mut tasks = JoinSet::new();
    for _ in 0..WRITERS {
        tasks.spawn(publish(Arc::clone(&work)));
    }
    tasks.spawn(review(Arc::clone(&work)));
    tasks.spawn(watch_the_log(Arc::clone(&work)));
    let mut server: Option<Process> = None;
    let (mut ready, mut back) = (Vec::new(), Vec::new());
    for kill in 0..=kills {
        let began = now();
        if server.is_none() {
            if chance.below(6) == 0 {
                kill_while_it_starts(&data, &database, &chance).await;
            }
            let began = now();
            let started = Process::start(&data, &database);
            ready.push(began.elapsed());
            place.send_modify(|(address, _)| *address = Some(started.address));
            server = Some(started);
        }
        let target = *work.done.borrow() + 1 + usize::try_from(chance.below(WRITES_A_KILL)).expect("small");
        let first = *work.done.borrow() + 1;
        acknowledged(&work, &place, &mut tasks, first).await;
        back.push(began.elapsed());
        acknowledged(&work, &place, &mut tasks, target).await;
        if kill == kills / 2 {
            // Beside the server, while everybody writes.
            audited(&data, &database).await;
        }
        if kill == kills {
            break;
        }
        let which = if let Victim::Either(_) = victim { chance.below(5) } else { 0 };
        if which >= 2
            && let Victim::Either(cluster) = &mut victim
        {
            cluster.kill();
        }
        if matches!(which, 0 | 1 | 4)
            && let Some(server) = server.take()
        {
            server.killed();
        }
        if which >= 2
            && let Victim::Either(cluster) = &mut victim
        {
            cluster.start().await;
        }
    }
    drop(place);
    // Its last writers get their answers, or don't.
    server.take().expect("runs").killed();
    tasks.join_all().await;
    ready.sort();
    back.sort();
    let done = *work.done.borrow();
    say(&format!(
        "{kills} kills, {done} writes acknowledged, {} checkpoints seen; from start to listening {:.0?} (median) {:.0?} \
         (at most); from the kill, or the start after it, to the next acknowledged write {:.0?} (median) {:.0?} (at most)",
        work.checkpoints.lock().expect("whole").len(),
        ready[ready.len() / 2],
        ready[ready.len() - 1],
        back[back.len() / 2],
        back[back.len() - 1],
    ));
    nothing_is_lost(&data, &database, &work).await;
    audited(&data, &database).await;
}

/// What an auditor says of the database: everything is there, and nothing contradicts.
async fn audited(data: &Path, database: &Database) {
    let (target, trust) = (data.to_str().expect("text"), data.join("trust.txt"));
    let mut args = vec!["audit", target, "--json", "--trust", trust.to_str().expect("text")];
    if let Database::Postgres(url) = database {
        args.extend(["--database-url", url.reveal()]);
    }
    let ran = Desk::new().in_real_time().run(args).await;
    assert_eq!(ran.exit, 0, "{ran}");
    let report: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!((&report["complete"], &report["faults"]), (&json!(true), &json!([])), "{report}");
    assert_eq!(report["verified"]["leaves"], report["size"], "{report}");
}

/// Kills a server at some moment of its start.
async fn kill_while_it_starts(data: &Path, database: &Database, chance: &Chance) {
    let mut child = Process::spawn(data, database);
    for _ in 0..chance.below(2_000) {
        tokio::task::spawn_blocking(std::thread::yield_now).await.expect("no panic");
    }
    child.kill().expect("a child");
    child.wait().expect("ends");
}

/// Waits until so many writes were acknowledged; whoever got no answer is told to try again now and then.
async fn acknowledged(work: &Work, place: &watch::Sender<Place>, tasks: &mut JoinSet<()>, target: usize) {
    let mut done = work.done.subscribe();
    let waiting = async {
        loop {
            if tokio::time::timeout(AGAIN, done.wait_for(|done| *done >= target)).await.is_ok() {
                return;
            }
            place.send_modify(|(_, again)| *again += 1);
            if let Some(ended) = tasks.try_join_next() {
                ended.expect("no writer fails");
            }
        }
    };
    tokio::time::timeout(PATIENCE, waiting).await.expect("the service comes back");
}

async fn nothing_is_lost(data: &Path, database: &Database, work: &Work) {
    // Opening folds and hashes the whole log and compares it with tiles, checkpoint and anchor; the rest is what anybody
    // could check.
    let app = process::open(data, database, false).await;
    assert_eq!(app.read_only(), None);
    fold_equals_store(&app).await;
    let size = app.moment().checkpoint.size;
    let mut conn = app.reader().conn().await.expect("a connection");
    let leaves = conn.leaves(0, size).await.expect("read");
    let leaf = |index: u64| &leaves[usize::try_from(index).expect("small")];
    let moment = app.moment();
    let set = moment.state.set(&"default".parse().expect("legal")).expect("there");
    for done in work.acknowledged.lock().expect("whole").iter() {
        match done {
            Acknowledged::Release { id, index } => {
                let text = String::from_utf8_lossy(leaf(*index)).into_owned();
                assert!(text.contains(&format!("\"release\":\"{id}\"")), "{text}");
            }
            Acknowledged::Decision { sha256, index } => assert_eq!(Sha256::of(leaf(*index)).to_string(), *sha256),
            Acknowledged::Alias { alias, server } => {
                let bound = set.alias_of(&server.parse().expect("legal")).map(ToString::to_string);
                assert_eq!(bound.as_ref(), Some(alias));
            }
        }
    }
    // The fold showed that each stored checkpoint is a prefix of the newest; those that were seen are stored ones.
    let seen = work.checkpoints.lock().expect("whole").clone();
    for (size, note) in &seen {
        assert_eq!(conn.checkpoint(*size).await.expect("read").as_ref(), Some(note), "seen at size {size}");
    }
    drop(conn);
    app.close().await;
}

#[expect(clippy::print_stderr, reason = "figures and the seed of a run, for whoever reads its output")]
fn say(what: &str) {
    eprintln!("{what}");
}

#[tokio::test(flavor = "multi_thread")]
async fn kills_of_the_server_on_sqlite_lose_and_fork_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    let database = Database::Sqlite(data.join("registry.db"));
    kill_again_and_again(data, database, Victim::Server).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn kills_of_the_server_and_of_postgresql_lose_and_fork_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut cluster = Cluster::new().await;
    let database = cluster.database();
    kill_again_and_again(folder.path().join("data"), database, Victim::Either(&mut cluster)).await;
}
