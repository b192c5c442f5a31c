//! What a longer log costs: publish, decide, check and pull at a fixed number of aliases and pins, on SQLite, while the log
//! grows from a thousand to a hundred thousand events.
//!
//! `cargo bench --bench growth` prints a table; `GROWTH=1000000` in the environment adds that many events to it.
//!
//! The events in between are releases of one publisher: the leaves that real logs are full of, and the fold remembers each.

#![expect(clippy::expect_used, clippy::print_stdout, reason = "a bench stops at a fault and prints its table")]

use std::{
    collections::BTreeSet,
    hint::black_box,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{
    Router,
    body::{Body, to_bytes},
    http::{Request, header},
};
use countersign::{
    api,
    attest::{Role, Statement, dsse},
    client,
    clock::Timestamp,
    config::{Flags, PublicUrl, Readers, Registry},
    descriptor::Release,
    env::{ManualClock, SeededRng},
    keys::SigningKey,
    review::{CandidateId, Outcome, ReviewerId},
    scan::Ruleset,
    service::{
        App, Opening,
        access::{AddAccount, AddToken, Principal},
        desk::{Vote, desk, vote},
        govern::{Bind, Governor, Grant, bind, grant},
        publish::{Submission, publish},
    },
    store,
    web::{Pages, Settings, Web},
};
use criterion::{Criterion, criterion_group, criterion_main};
use tower::ServiceExt as _;

#[expect(dead_code, reason = "it fills with other leaves too, which tests ask for")]
#[path = "../tests/it/filled.rs"]
mod filled;

use filled::{With, fill};

const TOOLS: usize = 50;
/// Each action at each size; what a table shows is the median.
const TURNS: usize = 9;

fn now() -> Timestamp {
    Timestamp::from_micros(1_796_025_600_000_000).expect("in range")
}

/// The tools of a release: the first of another wording in each edition, so that each edition has one to decide on.
fn tools(edition: usize) -> Vec<String> {
    let tool = |n: usize| {
        let wording = if n == 0 { format!(" Edition {edition}.") } else { String::new() };
        format!(
            r#"{{"name":"search_{n}","description":"Searches the archive and returns matching records.{wording}","inputSchema":{{"type":"object","properties":{{"q":{{"type":"string","description":"What is looked for."}}}},"required":["q"]}}}}"#
        )
    };
    (0..TOOLS).map(tool).collect()
}

struct Measured {
    app: App,
    router: Router,
    url: String,
    token: String,
    reviewer: ReviewerId,
    edition: usize,
}

impl Measured {
    async fn new(dir: &Path) -> Self {
        let flags = Flags { origin: Some("pins.example".to_owned()), ..Flags::default() };
        let mut registry = Registry::load(&dir.join("data"), &flags, &Default::default()).expect("usable");
        registry.limits.requests_per_minute = 10_000_000;
        let rules = Arc::new(Ruleset::builtin().expect("it passes its own examples"));
        let opening = Opening { registry: &registry, host: None, rules, create: true };
        let clock = ManualClock::at(now());
        let app = App::open(opening, Arc::new(clock), Arc::new(SeededRng::new(1))).await.expect("opens");
        let password = app.hash_password("correct horse battery".parse().expect("long")).await.expect("hashed");
        let (name, roles) = ("ada".parse().expect("legal"), BTreeSet::from([store::Role::Reviewer]));
        app.write(AddAccount { name, password, roles, by: Principal::LocalOperator }).await.expect("made");
        let token = AddToken {
            scope: "pull:default".parse().expect("a scope"),
            account: "ada".parse().expect("legal"),
            days: None,
            by: Principal::LocalOperator,
        };
        let token = app.add_token(token).await.expect("made").done.0.reveal().to_owned();
        let by = Governor { by: ReviewerId::local_operator(), name: "local-operator".to_owned() };
        let scope = "com.example".parse().expect("a scope");
        let key = publisher().verifying();
        let asked = Grant { scope, key, role: Role::Publisher, holder: None, by: by.clone(), alone: true };
        grant(&app, asked).await.expect("granted");
        let reviewer = app.access().user("ada").expect("is there").reviewer.clone();
        let public_url = PublicUrl::parse("https://pins.example").expect("legal");
        let settings = Settings { public_url, readers: Readers::Anonymous, trusted_proxy: vec![], admin_apart: false };
        let router = api::router(&Web::new(app.clone(), settings), Pages::none());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("bound"));
        let served = router.clone();
        let service = served.into_make_service_with_connect_info::<std::net::SocketAddr>();
        tokio::spawn(async move { axum::serve(listener, service).await });
        let mut measured = Self { app, router, url, token, reviewer, edition: 0 };
        let first = measured.publish().await;
        let (pinset, server) = ("default".parse().expect("legal"), "com.example/notes".parse().expect("legal"));
        bind(&measured.app, Bind { pinset, alias: "notes".parse().expect("legal"), server, by }).await.expect("bound");
        for candidate in first {
            measured.decide(candidate).await;
        }
        measured
    }

    /// A release of which all tools but one are known: the candidates it made.
    async fn publish(&mut self) -> Vec<CandidateId> {
        let submission = self.submission();
        let published = publish(&self.app, None, submission).await.expect("held");
        published.done.candidates.into_iter().map(|candidate| candidate.id).collect()
    }

    /// Signed by its publisher: not the registry's work.
    fn submission(&mut self) -> Submission {
        let release = format!(
            r#"{{"server":{{"name":"com.example/notes","version":"1.0.{}"}},"capture":{{"complete":true,"tools":[{}]}}}}"#,
            self.edition,
            tools(self.edition).join(",")
        );
        self.edition += 1;
        let parsed = Release::parse(release.as_bytes()).expect("a release");
        let statement = Statement::for_release(&parsed, Role::Publisher);
        let envelope = dsse::sign("application/vnd.in-toto+json", &statement.to_payload(), &publisher());
        let body =
            format!("{},\"attestation\":{}}}", &release[..release.len() - 1], String::from_utf8_lossy(&envelope));
        Submission::parse(body.as_bytes()).expect("a submission")
    }

    /// What a reviewer's desk shows, and the vote that decides; it publishes the next version of the set.
    async fn decide(&self, candidate: CandidateId) {
        let shown = desk(&self.app, &candidate).await.expect("reads").expect("is there").view.shown();
        let (reason, accepts) = ("Read it.".parse().expect("short"), vec![]);
        let (account, reviewer) = ("ada".to_owned(), self.reviewer.clone());
        let cast = Vote { candidate, outcome: Outcome::Approve, reason, shown, accepts, reviewer, account };
        vote(&self.app, cast).await.expect("counts");
    }

    async fn check(&self) {
        let list = format!(r#"{{"servers":[{{"alias":"notes","complete":true,"tools":[{}]}}]}}"#, tools(0).join(","));
        let request = Request::post("/v1/pinsets/default/check")
            .header(header::AUTHORIZATION, format!("Bearer {}", self.token))
            .body(Body::from(list))
            .expect("a request");
        let response = self.router.clone().oneshot(request).await.expect("infallible");
        assert_eq!(response.status(), 200);
        black_box(to_bytes(response.into_body(), 1 << 24).await.expect("ends"));
    }

    /// Into an empty directory, or into one that has an older version.
    async fn pull(&self, directory: &Path) {
        let registry = client::Registry::new(&self.url, None).expect("an address");
        let clock = ManualClock::at(now());
        let trust = client::trust(&registry, &clock).await.expect("fetched").expect("signed by its own root");
        let set = "default".parse().expect("legal");
        client::pull(&registry, directory, &set, trust, &clock).await.expect("pulls");
    }

    async fn turns(&mut self) -> [Duration; 5] {
        let mut times = [const { vec![] }; 5];
        let folder = tempfile::tempdir().expect("a folder");
        let kept = folder.path().join("kept");
        self.pull(&kept).await;
        for turn in 0..TURNS {
            let submission = self.submission();
            let began = instant();
            let published = publish(&self.app, None, submission).await.expect("held");
            times[0].push(began.elapsed());
            let candidate = published.done.candidates.into_iter().next().expect("one is new").id;
            times[1].push(timed(self.decide(candidate)).await);
            times[2].push(timed(self.check()).await);
            times[3].push(timed(self.pull(&folder.path().join(format!("new-{turn}")))).await);
            times[4].push(timed(self.pull(&kept)).await);
        }
        times.map(median)
    }
}

fn publisher() -> SigningKey {
    SigningKey::from_seed(&[9; 32])
}

#[expect(clippy::disallowed_methods, reason = "a bench has no Env")]
fn growth(_: &mut Criterion) {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let dir = tempfile::tempdir().expect("a folder");
        let mut measured = Measured::new(dir.path()).await;
        let more = std::env::var("GROWTH").ok().and_then(|size| size.parse().ok());
        println!("\n{TOOLS} pins of one alias at first, {TURNS} more at each size; the median of {TURNS} turns");
        println!("{:>9} {:>11} {:>11} {:>11} {:>11} {:>11}", "events", "publish", "decide", "check", "pull all", "pull new");
        for size in [1_000, 10_000, 100_000_u64].into_iter().chain(more) {
            let began = instant();
            fill(&measured.app, size, With::Releases).await;
            let filled = began.elapsed();
            let [publish, decide, check, all, new] = measured.turns().await;
            println!("{size:>9} {publish:>11.1?} {decide:>11.1?} {check:>11.1?} {all:>11.1?} {new:>11.1?}   (filled in {filled:.1?})");
        }
        measured.app.close().await;
    });
}

async fn timed(work: impl Future<Output = ()>) -> Duration {
    let began = instant();
    work.await;
    began.elapsed()
}

#[expect(clippy::disallowed_methods, reason = "a bench measures time")]
fn instant() -> Instant {
    Instant::now()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

criterion_group!(benches, growth);
criterion_main!(benches);
