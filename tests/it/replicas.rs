//! Several replicas on one database, through HTTP, with polling off: their clocks stand still, so that no job ever runs.
//! What a replica shows is then old; what it writes is right all the same, and a revocation reaches gateways in bounded
//! time whatever is served to them.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use axum::{
    Router,
    extract::{OriginalUri, State},
    http::StatusCode,
    response::{IntoResponse, Response},
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use countersign::{
    attest::Role as Speaks,
    cli::serve::{self, Running},
    client,
    clock::{Span, Timestamp},
    config::{self, Database, Flags},
    env::ManualClock,
    pinset::{head::Head, trust::Trust},
    store::Role,
};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::{
    api::{EXPORT, EXPORT_2, SEARCH, account, authority, publisher, release, signed, token},
    databases::{Fresh, block_on, on_both},
    service::{START, check_log, eventually},
    terminal::Desk,
};

/// A registry served by several processes' worth of replicas, each with a clock of its own.
struct Fleet<'a> {
    fresh: &'a Fresh,
    replicas: Vec<(Running, ManualClock)>,
    publish: String,
    review: String,
    client: reqwest::Client,
}

fn start() -> Timestamp {
    Timestamp::from_micros(START).expect("in range")
}

impl<'a> Fleet<'a> {
    async fn new(fresh: &'a Fresh, replicas: u8) -> Self {
        let client = reqwest::Client::builder().no_proxy().build().expect("a client");
        let mut fleet = Self { fresh, replicas: vec![], publish: String::new(), review: String::new(), client };
        fleet.join().await;
        let app = fleet.replicas[0].0.app.clone();
        account(&app, "bot", &[]).await;
        account(&app, "ada", &[Role::Reviewer]).await;
        authority(&app, "com.example", &publisher(), Speaks::Publisher).await;
        fleet.publish = token(&app, "publish:com.example", "bot").await;
        fleet.review = token(&app, "review", "ada").await;
        for _ in 1..replicas {
            fleet.join().await;
        }
        fleet
    }

    /// One more replica: keys and anchor are shared, its own folder holds nothing.
    async fn join(&mut self) {
        let n = self.replicas.len();
        let clock = ManualClock::at(start());
        let shared = |name: &str| Some(self.fresh.dir.path().join(name));
        let url = match &self.fresh.database {
            Database::Postgres(url) => Some(url.clone()),
            Database::Sqlite(_) => None,
        };
        let flags = Flags {
            listen: Some("127.0.0.1:0".to_owned()),
            origin: Some("pins.example".to_owned()),
            keys: shared("keys"),
            anchor: shared("anchor"),
            database_url: url,
            ..Flags::default()
        };
        let desk = Desk { seed: 20 + n as u64, ..Desk::at(&clock) };
        let data = self.fresh.dir.path().join(format!("replica-{n}"));
        let mut settings = config::Serve::load(&data, &flags, &desk.vars).expect("settings");
        settings.registry.database = self.fresh.database.clone();
        settings.registry.limits.requests_per_minute = 10_000_000;
        self.replicas.push((serve::start(&settings, &desk.env()).await.expect("starts"), clock));
    }

    fn url(&self, replica: usize) -> String {
        self.replicas[replica].0.url.as_str().trim_end_matches('/').to_owned()
    }

    async fn get(&self, replica: usize, path: &str) -> String {
        let request = self.client.get(format!("{}{path}", self.url(replica))).bearer_auth(&self.review);
        request.send().await.expect("answers").text().await.expect("text")
    }

    async fn post(&self, replica: usize, token: &str, path: &str, body: String) -> (u16, Value) {
        let request = self.client.post(format!("{}{path}", self.url(replica))).bearer_auth(token).body(body);
        let answer = request.send().await.expect("answers");
        let (status, body) = (answer.status().as_u16(), answer.text().await.expect("text"));
        (status, serde_json::from_str(&body).unwrap_or_else(|e| panic!("{e}: {body}")))
    }

    async fn publish(&self, replica: usize, server: &str, version: &str, tools: &[&str]) -> (u16, Value) {
        let body = signed(&release(server, version, tools), &publisher(), Speaks::Publisher);
        self.post(replica, &self.publish, "/v1/releases", body).await
    }

    async fn bind(&self, replica: usize, alias: &str, server: &str) -> (u16, Value) {
        let body = json!({"alias": alias, "server": server}).to_string();
        self.post(replica, &self.review, "/v1/pinsets/default/aliases", body).await
    }

    /// A vote on what a replica shows of a candidate.
    async fn ballot(&self, replica: usize, id: &str) -> String {
        let candidate: Value =
            serde_json::from_str(&self.get(replica, &format!("/v1/candidates/{id}")).await).expect("JSON");
        json!({"outcome": "approve", "reason": "Read it.", "shown": candidate["shown"]}).to_string()
    }

    async fn approve(&self, replica: usize, id: &str) -> (u16, Value) {
        let ballot = self.ballot(replica, id).await;
        self.post(replica, &self.review, &format!("/v1/candidates/{id}/decisions"), ballot).await
    }

    /// Publishes tools of `com.example/notes`, under the alias `notes`, and approves them.
    async fn approved(&self, replica: usize, version: &str, tools: &[&str]) {
        let (status, published) = self.publish(replica, "com.example/notes", version, tools).await;
        assert_eq!(status, 201, "{published}");
        self.bind(replica, "notes", "com.example/notes").await;
        for candidate in published["candidates"].as_array().expect("a list") {
            let (status, answer) = self.approve(replica, candidate["id"].as_str().expect("an id")).await;
            assert_eq!(status, 201, "{answer}");
        }
    }

    async fn refresh(&self) {
        for (replica, _) in &self.replicas {
            replica.app.refresh().await.expect("looks");
        }
    }

    async fn stop(self) {
        for (replica, _) in self.replicas {
            replica.stop().await.expect("stops");
        }
    }
}

#[test]
fn replicas_that_never_look_show_what_is_old_and_write_what_is_right() {
    block_on(on_both(async |fresh| {
        let fleet = Arc::new(Fleet::new(fresh, 3).await);
        let old = fleet.get(1, "/log/checkpoint").await;
        assert_eq!(old, fleet.get(2, "/log/checkpoint").await);
        // Stale reads: what one has acknowledged another doesn't show.
        fleet.publish(0, "com.example/notes", "0.0.1", &[EXPORT]).await;
        let new = fleet.get(0, "/log/checkpoint").await;
        assert_eq!((fleet.get(1, "/log/checkpoint").await, new != old), (old.clone(), true));

        // Writers everywhere at once; whoever writes builds upon all that was written.
        let seen: Arc<std::sync::Mutex<BTreeSet<String>>> = Arc::default();
        let mut writers = JoinSet::new();
        for writer in 0..12_usize {
            // The writers' future borrows nothing of this scope.
            let (seen, url, client) = (Arc::clone(&seen), fleet.url(writer % 3), fleet.client.clone());
            let token = fleet.publish.clone();
            writers.spawn(async move {
                for n in 0..5 {
                    let tool = format!(r#"{{"name":"t{writer}x{n}","inputSchema":{{"type":"object"}}}}"#);
                    let body = signed(
                        &release("com.example/notes", &format!("1.{writer}.{n}"), &[&tool]),
                        &publisher(),
                        Speaks::Publisher,
                    );
                    let request = client.post(format!("{url}/v1/releases")).bearer_auth(&token).body(body);
                    let answer = request.send().await.expect("answers");
                    assert_eq!(answer.status().as_u16(), 201);
                    let note = client.get(format!("{url}/log/checkpoint")).send().await.expect("answers");
                    let note = note.text().await.expect("text");
                    seen.lock().expect("whole").insert(note);
                }
            });
        }
        while let Some(ended) = writers.join_next().await {
            ended.expect("no writer fails");
        }
        fleet.refresh().await;
        let notes: BTreeSet<String> =
            [fleet.get(0, "/log/checkpoint").await, fleet.get(1, "/log/checkpoint").await].into();
        assert_eq!(notes.len(), 1, "once they have looked they show the same");
        // Each checkpoint that anybody saw is the one of its size, and a prefix of the newest: `check_log` proves that.
        let app = &fleet.replicas[0].0.app;
        check_log(app).await;
        let mut conn = app.reader().conn().await.expect("a connection");
        let seen: Vec<String> = seen.lock().expect("whole").iter().cloned().collect();
        for note in seen.iter().chain([&old, &new]) {
            let size = note.lines().nth(1).expect("a size").parse().expect("a number");
            assert_eq!(conn.checkpoint(size).await.expect("read").as_ref(), Some(note));
        }
        let released = fleet.get(2, "/v1/servers/com.example/notes").await;
        assert!(released.contains("1.0.4") && released.contains("1.11.4"), "{released}");
        drop(conn);
        Arc::try_unwrap(fleet).unwrap_or_else(|_| panic!("nobody else")).stop().await;
    }));
}

#[test]
fn a_replica_that_never_looks_loses_no_precondition() {
    block_on(on_both(async |fresh| {
        let fleet = Fleet::new(fresh, 3).await;
        let (_, published) = fleet.publish(0, "com.example/notes", "1.0.0", &[EXPORT, SEARCH]).await;
        fleet.publish(0, "com.example/other", "1.0.0", &[EXPORT]).await;
        let ids: Vec<String> = published["candidates"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|candidate| candidate["id"].as_str().expect("an id").to_owned())
            .collect();

        // One alias for two servers, one server under two aliases: on other replicas, which have seen none of it.
        let (first, second, third) = (
            fleet.bind(1, "notes", "com.example/notes").await,
            fleet.bind(2, "notes", "com.example/other").await,
            fleet.bind(0, "memos", "com.example/notes").await,
        );
        assert_eq!((first.0, second.0, third.0), (201, 409, 409), "{second:?} {third:?}");

        // The same ballot on all replicas at once: one decision.
        let ballot = fleet.ballot(1, &ids[0]).await;
        let path = format!("/v1/candidates/{}/decisions", ids[0]);
        let vote = |replica| fleet.post(replica, &fleet.review, &path, ballot.clone());
        let (one, two, three) = tokio::join!(vote(0), vote(1), vote(2));
        let mut told: Vec<(u16, &Value)> =
            [&one, &two, &three].map(|(status, answer)| (*status, &answer["decision"])).into();
        told.sort_by_key(|(status, _)| *status);
        let decision = told[0].1;
        assert_eq!(told, [(200, decision), (200, decision), (201, decision)], "decided once, and told again");

        // Replica 1 decides, replica 2 has seen the candidate as it was, and refuses another vote on that.
        let stale = fleet.ballot(2, &ids[1]).await.replace("approve", "reject");
        let path = format!("/v1/candidates/{}/decisions", ids[1]);
        assert_eq!(fleet.approve(1, &ids[1]).await.0, 201);
        let (status, answer) = fleet.post(2, &fleet.review, &path, stale).await;
        assert_eq!(status, 409, "{answer}");

        // The same release twice, on two replicas: one release, and other subjects under its version are refused.
        let (status, again) = fleet.publish(2, "com.example/notes", "1.0.0", &[EXPORT, SEARCH]).await;
        assert_eq!((status, &again["release"]), (200, &published["release"]));
        assert_eq!(fleet.publish(1, "com.example/notes", "1.0.0", &[EXPORT_2]).await.0, 409);

        fleet.refresh().await;
        let app = &fleet.replicas[2].0.app;
        let size = check_log(app).await;
        let leaves = app.reader().conn().await.expect("a connection").leaves(0, size).await.expect("read");
        let decisions =
            leaves.iter().filter(|leaf| String::from_utf8_lossy(leaf).contains(r#""type":"decision""#)).count();
        assert_eq!(decisions, 2);
        // Heads: whoever signs, signs the newest version, without having looked.
        let (running, clock) = &fleet.replicas[1];
        clock.set(start() + Span::minutes(16));
        eventually(|| (), || running.app.moment().heads.values().all(|head| head.issued > start() + Span::minutes(15)))
            .await;
        let newest =
            running.app.moment().state.set(&"default".parse().expect("legal")).and_then(|set| set.document().cloned());
        assert_eq!(
            running.app.moment().heads.values().next().expect("one").version,
            newest.expect("published").version
        );
        fleet.stop().await;
    }));
}

/// Status and body, by address.
type Answers = BTreeMap<String, (u16, Vec<u8>)>;

/// A cache that keeps the first answer to each question for ever, and answers so when the registry is gone.
#[derive(Clone)]
struct Cache {
    origin: String,
    client: reqwest::Client,
    kept: Arc<std::sync::Mutex<Answers>>,
}

impl Cache {
    async fn before(origin: String) -> String {
        let client = reqwest::Client::builder().no_proxy().build().expect("a client");
        let cache = Self { origin, client, kept: Arc::default() };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("bound"));
        let router = Router::new().fallback(Self::answer).with_state(cache);
        tokio::spawn(async move { axum::serve(listener, router).await });
        url
    }

    async fn answer(State(cache): State<Self>, OriginalUri(uri): OriginalUri) -> Response {
        // Whatever tree was asked from: this cache knows heads by their path.
        let kept = cache.kept.lock().expect("whole").get(uri.path()).cloned();
        let (status, body) = match kept {
            Some(kept) => kept,
            None => {
                let answer = cache.client.get(format!("{}{uri}", cache.origin)).send().await.expect("answers");
                let kept = (answer.status().as_u16(), answer.bytes().await.expect("whole").to_vec());
                cache.kept.lock().expect("whole").insert(uri.path().to_owned(), kept.clone());
                kept
            }
        };
        (StatusCode::from_u16(status).expect("a status"), body).into_response()
    }
}

/// A gateway: a clock, a state directory, and where it pulls from.
struct Gateway {
    clock: ManualClock,
    state: PathBuf,
    from: String,
}

impl Gateway {
    async fn pull(&self, trust: &Trust) -> Result<(), client::PullError> {
        let registry = client::Registry::new(&self.from, None).expect("an address");
        let set = "default".parse().expect("legal");
        client::pull(&registry, &self.state, &set, trust.clone(), &self.clock).await.map(drop)
    }

    async fn allows(&self, tool: &str) -> bool {
        let list = format!(r#"{{"tools":[{tool}]}}"#);
        let args = ["check", "--state", self.state.to_str().expect("text"), "--alias", "notes", "-"];
        Desk::at(&self.clock).run_with(args, list.as_bytes()).await.exit == 0
    }
}

#[test]
fn a_revoked_pin_is_allowed_nowhere_after_the_heads_lifetime_and_the_skew() {
    block_on(on_both(async |fresh| {
        let mut fleet = Fleet::new(fresh, 1).await;
        fleet.approved(0, "1.0.0", &[EXPORT, SEARCH]).await;
        fleet.join().await;
        let trust = Trust::first(&fleet.get(0, "/v1/trust").await).expect("signed");
        let (lifetime, skew) = (trust.terms().head_lifetime, trust.terms().clock_skew);
        let folder = fresh.dir.path();
        let almost = u32::try_from(skew.as_seconds()).expect("small") - 1;
        let gateway = |name: &str, from: String, behind: Span| Gateway {
            clock: ManualClock::at(start().minus(behind)),
            state: folder.join(name),
            from,
        };
        // Pulling from a replica that works, from one that lags for ever, and through a cache that replays; the last
        // with a clock that is as far behind as clocks may be.
        let lagging = fleet.url(1);
        let gateways = [
            gateway("prompt", fleet.url(0), Span::ZERO),
            gateway("lagging", lagging.clone(), Span::ZERO),
            gateway("replayed", Cache::before(fleet.url(0)).await, Span::ZERO),
            gateway("behind", Cache::before(lagging).await, Span::seconds(almost)),
        ];
        for gateway in &gateways {
            gateway.pull(&trust).await.expect("an honest registry");
            assert!(gateway.allows(EXPORT).await && gateway.allows(SEARCH).await);
        }
        let digest = countersign::canon::parse(EXPORT.as_bytes()).expect("JSON").digest().to_string();
        let body = json!({"name": "notes.export", "digest": digest, "reason": "It leaks."}).to_string();
        let (status, answer) = fleet.post(0, &fleet.review, "/v1/pinsets/default/revocations", body).await;
        assert_eq!(status, 201, "{answer}");

        // Time passes, minute by minute, a second after each full one: times in the log are a few microseconds late.
        let all = || gateways.iter().map(|gateway| &gateway.clock).chain([&fleet.replicas[0].1]);
        all().for_each(|clock| clock.advance(Span::seconds(1)));
        // The replica that works signs anew; nobody else learns of anything.
        let bound = lifetime.as_seconds() / 60 + skew.as_seconds() / 60;
        let mut last = [0; 4];
        for minute in 0..=bound + 30 {
            for (n, gateway) in gateways.iter().enumerate() {
                let _ = gateway.pull(&trust).await;
                if gateway.allows(EXPORT).await {
                    last[n] = minute + 1;
                }
            }
            all().for_each(|clock| clock.advance(Span::minutes(1)));
            fleet.replicas[0].0.app.resign().await.expect("answers");
        }
        let (lifetime, skew) = (lifetime.as_seconds() / 60, skew.as_seconds() / 60);
        assert_eq!(last, [0, lifetime, lifetime, lifetime + skew], "minutes for which the revoked pin was let through");
        assert!(gateways[0].allows(SEARCH).await, "what wasn't revoked goes on");

        // Back at an honest replica they learn it; an old head does not get them back.
        let (replayed, cache) = (&gateways[2], gateways[2].from.clone());
        let honest = Gateway { clock: replayed.clock.clone(), state: replayed.state.clone(), from: fleet.url(0) };
        honest.pull(&trust).await.expect("honest");
        let kept = fs::read(replayed.state.join("state.json")).expect("kept");
        let again = Gateway { from: cache, ..honest };
        let refused = again.pull(&trust).await.expect_err("a replay").to_string();
        assert!(refused.contains("went back from version"), "{refused}");
        assert_eq!(fs::read(again.state.join("state.json")).expect("kept"), kept);
        assert!(!again.allows(EXPORT).await && again.allows(SEARCH).await);
        fleet.stop().await;
    }));
}

#[tokio::test]
async fn a_registry_that_signs_an_old_version_is_convicted_by_a_head_that_the_gateway_keeps() {
    use crate::{client_lies::Liar, in_memory::key};
    let liar = Liar::new().await;
    // Version 4 is in the log, at leaf 13; the registry goes on signing version 3, over a log that has it.
    let published = liar.goes_on();
    assert_eq!((published.version, published.index), (4, 13));
    liar.signs_the_old_version_over_the_new_log();
    liar.pull().await.expect("nothing contradicts what this gateway has seen");
    let kept = fs::read_to_string(Path::new(&liar.state()).join("heads")).expect("kept");
    let keys = [(key(3).verifying().id(), key(3).verifying())].into();
    let heads: Vec<Head> = kept
        .lines()
        .map(|line| Head::open(&STANDARD.decode(line).expect("base64"), &keys).expect("the registry's own signature"))
        .collect();
    let convicts = |head: &&Head| head.version < published.version && head.checkpoint_size > published.index;
    assert_eq!(heads.len(), 2);
    assert_eq!(heads.iter().filter(convicts).count(), 1, "a head of version 3 over a log that holds version 4");
}
