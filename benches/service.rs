//! What the service adds to the work that can't be spared: a check of 20 tools against a bare handler that canonicalises
//! and hashes the same tools, and two reads against a bare handler that returns as many bytes, each behind the same layers.
//!
//! Requests go through the router without a socket: with one, both sides of each ratio would have the same more to do.
//! `cargo bench --bench service` prints criterion's figures and then the ratios.

#![expect(clippy::expect_used, clippy::print_stdout, reason = "a bench stops at a fault and prints its table")]

use std::{
    collections::BTreeSet,
    hint::black_box,
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{
    Json, Router,
    body::{Body, Bytes, to_bytes},
    http::{Request, header},
    routing::{get, post},
};
use countersign::{
    api,
    attest::{Role, Statement, dsse},
    canon,
    clock::Timestamp,
    config::{Flags, PublicUrl, Readers, Registry},
    descriptor::Release,
    env::{ManualClock, SeededRng},
    keys::SigningKey,
    review::{Outcome, ReviewerId},
    scan::Ruleset,
    service::{
        App, Opening,
        access::{AddAccount, AddToken, Principal},
        desk::{Vote, desk, vote},
        govern::{Bind, Governor, Grant, bind, grant},
        publish::{Submission, publish},
    },
    store,
    web::{Pages, Settings, Web, layers},
};
use criterion::{Criterion, criterion_group, criterion_main};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::runtime::Runtime;
use tower::ServiceExt as _;

const TOOLS: usize = 20;

/// As real servers list them: prose and an input schema of a few members, 1.5 KB.
fn tool(n: usize) -> String {
    let member = |i: usize| {
        format!(
            r#""member_{i}":{{"type":"string","description":"The {i}th way to narrow what comes back. Quotes \"like these\" are kept.","maxLength":4096,"enum":["open","closed","draft"],"default":"open"}}"#
        )
    };
    let members: Vec<String> = (0..7).map(member).collect();
    format!(
        r#"{{"name":"search_{n}","title":"Search records","description":"Searches the archive and returns matching records.","annotations":{{"readOnlyHint":true}},"inputSchema":{{"type":"object","properties":{{{}}},"required":["member_0"]}}}}"#,
        members.join(",")
    )
}

/// A registry in which all tools are approved, and its web.
async fn registry(dir: &std::path::Path) -> (App, Web, String) {
    let flags = Flags { origin: Some("pins.example".to_owned()), ..Flags::default() };
    let mut registry = Registry::load(&dir.join("data"), &flags, &Default::default()).expect("usable");
    registry.limits.requests_per_minute = 10_000_000;
    let rules = Arc::new(Ruleset::builtin().expect("it passes its own examples"));
    let opening = Opening { registry: &registry, host: None, rules, create: true };
    let clock = ManualClock::at(Timestamp::from_micros(1_796_025_600_000_000).expect("in range"));
    let app = App::open(opening, Arc::new(clock), Arc::new(SeededRng::new(1))).await.expect("opens");
    let password = app.hash_password("correct horse battery".parse().expect("long")).await.expect("hashed");
    let (name, roles) = ("ada".parse().expect("legal"), BTreeSet::from([store::Role::Reviewer]));
    app.write(AddAccount { name, password, roles, by: Principal::LocalOperator }).await.expect("made");
    let account = "ada".parse().expect("legal");
    let token =
        AddToken { scope: "pull:default".parse().expect("a scope"), account, days: None, by: Principal::LocalOperator };
    let token = app.add_token(token).await.expect("made").done.0.reveal().to_owned();
    let key = SigningKey::from_seed(&[9; 32]);
    let by = Governor { by: ReviewerId::local_operator(), name: "local-operator".to_owned() };
    let scope = "com.example".parse().expect("a scope");
    let asked = Grant { scope, key: key.verifying(), role: Role::Publisher, holder: None, by: by.clone(), alone: true };
    grant(&app, asked).await.expect("granted");
    approve(&app, &key, by).await;
    let public_url = PublicUrl::parse("https://pins.example").expect("legal");
    let settings = Settings { public_url, readers: Readers::Anonymous, trusted_proxy: vec![], admin_apart: false };
    (app.clone(), Web::new(app, settings), token)
}

async fn approve(app: &App, key: &SigningKey, by: Governor) {
    let tools: Vec<String> = (0..TOOLS).map(tool).collect();
    let release = format!(
        r#"{{"server":{{"name":"com.example/notes","version":"1.0.0"}},"capture":{{"complete":true,"tools":[{}]}}}}"#,
        tools.join(",")
    );
    let statement = Statement::for_release(&Release::parse(release.as_bytes()).expect("a release"), Role::Publisher);
    let envelope = dsse::sign("application/vnd.in-toto+json", &statement.to_payload(), key);
    let body = format!("{},\"attestation\":{}}}", &release[..release.len() - 1], String::from_utf8_lossy(&envelope));
    let published = publish(app, None, Submission::parse(body.as_bytes()).expect("a submission")).await.expect("held");
    let (pinset, server) = ("default".parse().expect("legal"), "com.example/notes".parse().expect("legal"));
    bind(app, Bind { pinset, alias: "notes".parse().expect("legal"), server, by }).await.expect("bound");
    let reviewer = app.access().user("ada").expect("is there").reviewer.clone();
    for candidate in published.done.candidates {
        let shown = desk(app, &candidate.id).await.expect("reads").expect("is there").view.shown();
        let (reason, accepts) = ("Read it.".parse().expect("short"), vec![]);
        let (account, reviewer) = ("ada".to_owned(), reviewer.clone());
        let cast =
            Vote { candidate: candidate.id, outcome: Outcome::Approve, reason, shown, accepts, reviewer, account };
        vote(app, cast).await.expect("counts");
    }
}

#[derive(Deserialize)]
struct Asked<'a> {
    #[serde(borrow)]
    servers: Vec<Lists<'a>>,
}

#[derive(Deserialize)]
struct Lists<'a> {
    #[serde(borrow)]
    tools: Vec<&'a RawValue>,
}

/// The work that no check can do without, and nothing else.
async fn bare_check(body: Bytes) -> Json<Vec<String>> {
    let asked: Asked<'_> = serde_json::from_slice(&body).expect("JSON");
    let tools = asked.servers.iter().flat_map(|server| &server.tools);
    let digest = |raw: &&RawValue| canon::parse(raw.get().as_bytes()).expect("strict JSON").digest().to_string();
    Json(tools.map(digest).collect())
}

/// A request that is sent over and over.
#[derive(Clone)]
struct Call {
    method: &'static str,
    path: &'static str,
    token: Option<String>,
    body: Bytes,
}

async fn send(router: &Router, call: &Call) -> Bytes {
    let mut request = Request::builder().method(call.method).uri(call.path);
    if let Some(token) = &call.token {
        request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
    }
    let request = request.body(Body::from(call.body.clone())).expect("a request");
    let response = router.clone().oneshot(request).await.expect("infallible");
    assert_eq!(response.status(), 200, "{}", call.path);
    to_bytes(response.into_body(), 1 << 24).await.expect("ends")
}

fn bare(web: &Web, head: Bytes, pins: Bytes) -> Router {
    let router = Router::new()
        .route("/bare/check", post(bare_check))
        .route("/bare/head", get(async move || head))
        .route("/bare/pins", get(async move || pins));
    layers(router, web, Pages::none().shown)
}

fn calls(token: &str) -> [(&'static str, Call, Call); 3] {
    let tools: Vec<String> = (0..TOOLS).map(tool).collect();
    let list = format!(r#"{{"servers":[{{"alias":"notes","complete":true,"tools":[{}]}}]}}"#, tools.join(","));
    let call = |method, path, body: &str, token: Option<&str>| Call {
        method,
        path,
        token: token.map(str::to_owned),
        body: Bytes::from(body.to_owned()),
    };
    let check = call("POST", "/v1/pinsets/default/check", &list, Some(token));
    [
        ("check of 20 tools", check, call("POST", "/bare/check", &list, None)),
        ("head", call("GET", "/v1/pinsets/default/head", "", None), call("GET", "/bare/head", "", None)),
        (
            "pins of a name",
            call("GET", "/v1/pinsets/default/pins/notes.search_7", "", None),
            call("GET", "/bare/pins", "", None),
        ),
    ]
}

fn service(criterion: &mut Criterion) {
    // One thread: what is measured is the work, not how it is spread.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let dir = tempfile::tempdir().expect("a folder");
    let (_app, web, token) = runtime.block_on(registry(dir.path()));
    let served = api::router(&web, Pages::none());
    let calls = calls(&token);
    let answers: Vec<Bytes> = calls.iter().map(|(_, call, _)| runtime.block_on(send(&served, call))).collect();
    assert_eq!(String::from_utf8_lossy(&answers[0]).matches(r#""action":"allow""#).count(), TOOLS);
    let bare = bare(&web, answers[1].clone(), answers[2].clone());
    for (name, call, other) in &calls {
        let mut group = criterion.benchmark_group(*name);
        group.sample_size(10).warm_up_time(Duration::from_millis(200)).measurement_time(Duration::from_millis(800));
        group.bench_function("service", |bench| bench.iter(|| runtime.block_on(send(&served, black_box(call)))));
        group.bench_function("bare", |bench| bench.iter(|| runtime.block_on(send(&bare, black_box(other)))));
        group.finish();
    }
    println!("\nservice : bare, the median of 15 turns, one after the other");
    for (name, call, other) in &calls {
        let (service, bare) = side_by_side(&runtime, (&served, call), (&bare, other));
        println!("{name:20} {service:9.1?} : {bare:9.1?} = {:.2}", service.as_secs_f64() / bare.as_secs_f64());
    }
}

/// Both in turns, so that what else the machine does falls on both.
fn side_by_side(runtime: &Runtime, one: (&Router, &Call), other: (&Router, &Call)) -> (Duration, Duration) {
    let (mut ones, mut others) = (Vec::new(), Vec::new());
    for _ in 0..15 {
        ones.push(time(runtime, one));
        others.push(time(runtime, other));
    }
    (median(ones), median(others))
}

#[expect(clippy::disallowed_methods, reason = "a bench measures time")]
fn time(runtime: &Runtime, (router, call): (&Router, &Call)) -> Duration {
    const TIMES: u32 = 200;
    let start = Instant::now();
    runtime.block_on(async {
        for _ in 0..TIMES {
            black_box(send(router, call).await);
        }
    });
    start.elapsed() / TIMES
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

criterion_group!(benches, service);
criterion_main!(benches);
