//! From the bytes of a pin set to a set that answers questions, against parsing and hashing the same bytes once; and what a
//! pull fetches when one alias among a thousand has changed.
//!
//! `cargo bench --bench verify` prints criterion's figures and then the table.

#![expect(clippy::expect_used, clippy::print_stdout, reason = "a bench stops at a fault and prints its table")]

use std::{
    collections::{BTreeMap, HashMap},
    hint::black_box,
    sync::{
        Arc, RwLock,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use axum::{
    Router,
    extract::{OriginalUri, State},
    http::StatusCode,
    response::{IntoResponse, Response},
};
use countersign::{
    canon::{self, Sha256},
    client,
    clock::{Span, Timestamp},
    env::ManualClock,
    event::{Event, Leaf, PinsetPublished},
    keys::SigningKey,
    log::{Checkpoint, Edge, Plan, Proof, Tiles, leaf_hash, note::Signer, sign_checkpoint},
    name::SetName,
    pinset::{
        PinSet, PinsDocument, SetDocument,
        head::Head,
        trust::{HeadKey, LogKey, Terms, Trust},
        verify::{self, HeadAnswer},
    },
};
use criterion::{Criterion, criterion_group, criterion_main};

fn key(n: u8) -> SigningKey {
    SigningKey::from_seed(&[n; 32])
}

fn set_name() -> SetName {
    "default".parse().expect("legal")
}

fn now() -> Timestamp {
    Timestamp::from_micros(1_796_025_600_000_000).expect("in range")
}

fn hash(text: &str) -> Sha256 {
    Sha256::of(text.as_bytes())
}

/// The pins of one alias, as a registry writes them.
fn pins(alias: usize, pins: usize, edition: usize) -> Vec<u8> {
    let evidence = hash(&format!("attestation {alias}"));
    let pin = |n: usize| {
        let (jcs, python) = (hash(&format!("{alias} {n} {edition}")), hash(&format!("p {alias} {n} {edition}")));
        let decision = hash(&format!("d {alias} {n}"));
        format!(
            r#"{{"approval":{{"approved_at":"2026-11-01T08:00:00.000000Z","decision_sha256":"{decision}","log_index":{index},"mode":"1-of-1","not_after":"2027-05-01T08:00:00.000000Z"}},"digests":{{"jcs-sha256":"{jcs}","python-sorted-sha256":"{python}"}},"evidence":"{evidence}","kind":"tool","name":"a{alias}.tool_{n:05}","variant":"","wire":"a{alias}__tool_{n:05}"}}"#,
            index = alias * 10_000 + n,
        )
    };
    let pins: Vec<String> = (0..pins).map(pin).collect();
    let signer = key(9).verifying().id();
    let text = format!(
        r#"{{"alias":"a{alias}","denied":[],"evidence":{{"{evidence}":{{"artifacts":[],"level":"key","log_index":{alias},"release":"{release}","remotes":[],"role":"publisher","signer":"key:{signer}","version":"1.0.0"}}}},"pins":[{pins}],"registry":"pins.example","server":"com.example/s{alias}","set":"default","type":"countersign/pins/v1"}}"#,
        release = evidence.id(),
        pins = pins.join(","),
    );
    PinsDocument::parse(text.as_bytes()).expect("a pins document").to_bytes()
}

/// A set under its head, with all that a gateway fetches.
struct Published {
    answer: HeadAnswer,
    set: Vec<u8>,
    pins: HashMap<Sha256, Vec<u8>>,
}

/// A log that publishes versions one after the other.
struct Registry {
    leaves: Vec<Vec<u8>>,
    edge: Edge,
}

impl Registry {
    fn new() -> Self {
        let mut registry = Self { leaves: vec![], edge: Edge::new() };
        registry.log(b"the registry".to_vec());
        registry
    }

    fn log(&mut self, leaf: Vec<u8>) {
        self.edge.append(leaf_hash(&leaf));
        self.leaves.push(leaf);
    }

    fn publish(&mut self, version: u64, documents: Vec<Vec<u8>>, from: u64) -> Published {
        let entry = |(alias, bytes): (usize, &Vec<u8>)| {
            let (sha256, size) = (Sha256::of(bytes), bytes.len());
            format!(r#""a{alias}":{{"pins_sha256":"{sha256}","pins_size":{size},"server":"com.example/s{alias}"}}"#)
        };
        let aliases: Vec<String> = documents.iter().enumerate().map(entry).collect();
        let (policy, rules) = (hash("policy"), countersign::scan::Ruleset::builtin().expect("sound").sha256());
        let text = format!(
            r#"{{"aliases":{{{}}},"epoch":1,"flag_at":"medium","issued":"2026-11-01T08:00:00.000000Z","name":"default","policy_sha256":"{policy}","registry":"pins.example","ruleset_sha256":"{rules}","type":"countersign/pinset/v1","version":{version}}}"#,
            aliases.join(","),
        );
        let document: SetDocument = serde_json::from_str(&text).expect("a set");
        let set = document.to_bytes();
        let set_sha256 = Sha256::of(&set);
        let published = PinsetPublished { pinset: set_name(), version, set_sha256 };
        let leaf = Leaf::new(now(), Event::PinsetPublished(published)).to_bytes().expect("short");
        self.log(leaf.clone());
        let (size, root) = (self.edge.size(), self.edge.root());
        let head = Head {
            r#type: Default::default(),
            registry: "pins.example".into(),
            name: set_name(),
            epoch: 1,
            version,
            set_sha256,
            set_size: set.len() as u64,
            issued: now(),
            expires: now() + Span::hours(1),
            checkpoint_size: size,
            checkpoint_root: root,
        };
        let mut tiles = Tiles::new();
        for (tile, bytes) in self.edge.tiles() {
            tiles.insert(tile, &bytes).expect("fits");
        }
        let hashes = |plan: Plan| plan.compute(|node| tiles.node(node)).expect("all there");
        let log = Signer::new("pins.example", key(2)).expect("legal");
        let checkpoint = Checkpoint { origin: "pins.example".into(), size, root };
        let proof = Proof {
            index: size - 1,
            hashes: hashes(Plan::inclusion(size - 1, size).expect("inside")),
            checkpoint: sign_checkpoint(&checkpoint, &log).expect("signs"),
            extra: None,
        };
        let consistency = hashes(Plan::consistency(from, size).expect("not longer"));
        let answer = HeadAnswer { head: head.sign(&key(3)), leaf, proof, consistency };
        Published { answer, set, pins: documents.into_iter().map(|bytes| (Sha256::of(&bytes), bytes)).collect() }
    }
}

fn trust() -> Trust {
    let terms = Terms {
        version: 1,
        origin: "pins.example".into(),
        epoch: 1,
        root: key(1).verifying(),
        former: Vec::new(),
        logs: vec![LogKey { key: key(2).verifying(), from: Timestamp::EPOCH, until: None }],
        heads: vec![HeadKey { key: key(3).verifying(), from: Timestamp::EPOCH }],
        head_lifetime: Span::hours(1),
        clock_skew: Span::minutes(5),
        witnesses: None,
    };
    terms.sign(&[&key(1)]).expect("signs")
}

/// From bytes to ready.
fn ready(trust: &Trust, published: &Published) -> PinSet {
    let head = verify::head(trust, &set_name(), None, &published.answer, now()).expect("verifies");
    let set = head.with_set(&published.set).expect("belongs");
    set.with_pins(|sha256| published.pins.get(sha256).cloned()).expect("belong")
}

/// What can't be spared: each byte is hashed once and read once by the strict parser.
fn bare(published: &Published) {
    for bytes in published.pins.values().chain([&published.set]) {
        black_box(canon::parse_up_to(bytes, usize::MAX).expect("JSON"));
        black_box(Sha256::of(bytes));
    }
}

/// The same with the parser that everybody has, into the structs.
fn bare_serde(published: &Published) {
    for bytes in published.pins.values() {
        black_box::<PinsDocument>(serde_json::from_slice(bytes).expect("JSON"));
        black_box(Sha256::of(bytes));
    }
}

fn verification(criterion: &mut Criterion) {
    let trust = trust();
    println!();
    for (aliases, each) in [(100, 100), (100, 1_000)] {
        let published = Registry::new().publish(1, (0..aliases).map(|alias| pins(alias, each, 0)).collect(), 0);
        let total = aliases * each;
        let mut group = criterion.benchmark_group(format!("{total} pins"));
        group.sample_size(10).warm_up_time(Duration::from_millis(200)).measurement_time(Duration::from_millis(800));
        group.bench_function("ready", |bench| bench.iter(|| ready(&trust, black_box(&published))));
        group.bench_function("parse and hash", |bench| bench.iter(|| bare(black_box(&published))));
        group.finish();
        let mut times = [vec![], vec![], vec![]];
        for _ in 0..9 {
            times[0].push(time(|| drop(black_box(ready(&trust, &published)))));
            times[1].push(time(|| bare(&published)));
            times[2].push(time(|| bare_serde(&published)));
        }
        let [ready, bare, serde] = times.map(median);
        let bytes: usize = published.pins.values().map(Vec::len).sum();
        println!(
            "{total} pins, {bytes} bytes: ready {ready:.1?}, parsed strictly and hashed {bare:.1?} = {:.2}; parsed by serde_json \
             and hashed {serde:.1?} = {:.2}",
            ready.as_secs_f64() / bare.as_secs_f64(),
            ready.as_secs_f64() / serde.as_secs_f64(),
        );
    }
}

/// What is served, by path, and how many bytes were fetched.
#[derive(Default)]
struct Desk {
    bodies: RwLock<BTreeMap<String, Vec<u8>>>,
    fetched: AtomicUsize,
    requests: AtomicUsize,
}

async fn answer(State(desk): State<Arc<Desk>>, OriginalUri(uri): OriginalUri) -> Response {
    let body = desk.bodies.read().expect("whole").get(uri.path()).cloned();
    let Some(body) = body else { return StatusCode::NOT_FOUND.into_response() };
    desk.fetched.fetch_add(body.len(), Ordering::Relaxed);
    desk.requests.fetch_add(1, Ordering::Relaxed);
    body.into_response()
}

impl Desk {
    fn serve(&self, published: &Published) {
        let mut bodies = self.bodies.write().expect("whole");
        bodies.insert("/v1/trust".to_owned(), trust().note().as_bytes().to_vec());
        bodies.insert("/v1/pinsets/default/head".to_owned(), published.answer.to_json().expect("JSON"));
        for bytes in published.pins.values().chain([&published.set]) {
            bodies.insert(format!("/v1/pinsets/default/sets/{}", Sha256::of(bytes)), bytes.clone());
        }
    }
}

fn one_changed_alias(_: &mut Criterion) {
    const ALIASES: usize = 1_000;
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let mut registry = Registry::new();
        let mut documents: Vec<Vec<u8>> = (0..ALIASES).map(|alias| pins(alias, 20, 0)).collect();
        let desk = Arc::new(Desk::default());
        desk.serve(&registry.publish(1, documents.clone(), 0));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("bound"));
        let router = Router::new().fallback(answer).with_state(Arc::clone(&desk));
        tokio::spawn(async move { axum::serve(listener, router).await });
        let folder = tempfile::tempdir().expect("a folder");
        let pull = async |version: u64| {
            let registry = client::Registry::new(&url, None).expect("an address");
            let (clock, state) = (ManualClock::at(now()), folder.path().join("state"));
            desk.fetched.store(0, Ordering::Relaxed);
            desk.requests.store(0, Ordering::Relaxed);
            let began = instant();
            let pulled = client::pull(&registry, &state, &set_name(), trust(), &clock).await.expect("pulls");
            assert_eq!(pulled.set.document().version, version);
            (began.elapsed(), desk.fetched.load(Ordering::Relaxed), desk.requests.load(Ordering::Relaxed))
        };
        let whole: usize = documents.iter().map(Vec::len).sum();
        let (took, bytes, requests) = pull(1).await;
        println!("\n1000 aliases of 20 pins, {whole} bytes of pins");
        println!("first pull: {requests} requests, {bytes} bytes, {took:.1?}");
        for version in 2..5_u64 {
            documents[500] = pins(500, 20, usize::try_from(version).expect("small"));
            let from = registry.edge.size();
            desk.serve(&registry.publish(version, documents.clone(), from));
            let (took, bytes, requests) = pull(version).await;
            println!(
                "one alias changed: {requests} requests, {bytes} bytes ({:.1} %), {took:.1?}",
                100.0 * bytes as f64 / whole as f64
            );
        }
    });
}

#[expect(clippy::disallowed_methods, reason = "a bench measures time")]
fn instant() -> Instant {
    Instant::now()
}

fn time(work: impl FnOnce()) -> Duration {
    let began = instant();
    work();
    began.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

criterion_group!(benches, verification, one_changed_alias);
criterion_main!(benches);
