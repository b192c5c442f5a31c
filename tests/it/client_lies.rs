//! A registry that lies, or somebody who answers in its place: what a gateway's pull says to each lie, and that its state
//! stays as it was, allows what it allowed until its head expires, and nothing afterwards.

use std::{fs, path::Path};

use countersign::{
    canon::Sha256,
    client::{self, PullError, Pulled},
    clock::{Span, Timestamp},
    env::ManualClock,
    log::{Checkpoint, Proof, note, open_checkpoint, sign_checkpoint},
    pinset::{
        head::Head,
        trust::{HeadKey, Trust},
        verify::HeadAnswer,
    },
    review::Policy,
};
use tempfile::TempDir;

use crate::{
    in_memory::{EXPORT, EXPORT_2, Registry, SEARCH, key},
    registry::Served,
    terminal::{Desk, Ran},
};

const HEAD: &str = "/v1/pinsets/default/head";

/// A registry that is about to lie, and a gateway that pulled version 3 while the log had 12 leaves, an hour before its head expires.
pub(crate) struct Liar {
    served: Served,
    clock: ManualClock,
    folder: TempDir,
    /// What it was answered.
    first: HeadAnswer,
}

/// A version in the log.
pub(crate) struct Published {
    pub(crate) version: u64,
    pub(crate) index: u64,
}

/// Version 3: both tools approved; then a release that waits.
fn registry(waiting: &[&str]) -> Registry {
    let mut registry = Registry::new(Policy::default());
    let release = registry.publish("1.0.0", &[EXPORT, SEARCH]);
    registry.approve(EXPORT, release);
    registry.approve(SEARCH, release);
    for version in waiting {
        registry.publish(version, &[EXPORT_2]);
    }
    registry
}

/// The same history up to the first approval: version 2.
fn before() -> Registry {
    let mut registry = Registry::new(Policy::default());
    let release = registry.publish("1.0.0", &[EXPORT, SEARCH]);
    registry.approve(EXPORT, release);
    registry
}

impl Liar {
    pub(crate) async fn new() -> Self {
        let registry = registry(&["1.1.0"]);
        let (clock, first) = (ManualClock::at(registry.now), registry.head(0));
        let served = Served::new(registry).await;
        let gateway = Self { served, clock, folder: tempfile::tempdir().expect("a folder"), first };
        let trust = gateway.served.desk().registry.trust().note().to_owned();
        fs::write(gateway.path("trust.txt"), trust).expect("written");
        gateway.pull().await.expect("an honest registry");
        gateway
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().expect("text").to_owned()
    }

    pub(crate) async fn pull(&self) -> Result<Pulled, PullError> {
        let registry = client::Registry::new(&self.served.url, None).expect("an address");
        let trust = Trust::first(&fs::read_to_string(self.path("trust.txt")).expect("there")).expect("signed");
        let (state, set) = (self.path("state"), "default".parse().expect("legal"));
        client::pull(&registry, Path::new(&state), &set, trust, &self.clock).await
    }

    async fn pull_by_command(&self) -> Ran {
        let (trust, state) = (self.path("trust.txt"), self.path("state"));
        let args =
            ["pull", "--registry", &self.served.url, "--pinset", "default", "--trust", &trust, "--state", &state];
        Desk::at(&self.clock).run(args).await
    }

    async fn check(&self) -> Ran {
        let list = format!(r#"{{"tools":[{EXPORT},{SEARCH}]}}"#);
        let args = ["check", "--state", &self.path("state"), "--alias", "notes", "-"];
        Desk::at(&self.clock).run_with(args, list.as_bytes()).await
    }

    /// Every file of the state but the lock and the evidence.
    fn files(&self) -> Vec<(String, Vec<u8>)> {
        let mut files = vec![];
        walk(Path::new(&self.path("state")), &mut files);
        files.retain(|(name, _)| !name.ends_with("/lock") && !name.contains("/evidence/"));
        files
    }

    pub(crate) fn state(&self) -> String {
        self.path("state")
    }

    /// Publishes another version, in which nothing changed.
    pub(crate) fn goes_on(&self) -> Published {
        let mut desk = self.served.desk();
        desk.registry.publish_again();
        let version = edited(&desk.registry.head(0), |_| {}).version;
        Published { version, index: desk.registry.size() - 1 }
    }

    /// Signs the version that the gateway has over the log as it is now, with proofs that hold.
    pub(crate) fn signs_the_old_version_over_the_new_log(&self) {
        let newest = self.honest();
        let leaf = self.first.proof.index;
        let head = edited(&self.first, |head| {
            let now = edited(&newest, |_| {});
            (head.checkpoint_size, head.checkpoint_root) = (now.checkpoint_size, now.checkpoint_root);
        });
        let hashes = self.served.desk().registry.inclusion(leaf);
        let proof = Proof { index: leaf, hashes, ..newest.proof };
        let (head, leaf) = (head.sign(&key(3)), self.first.leaf.clone());
        self.says(&HeadAnswer { head, leaf, proof, consistency: newest.consistency });
    }

    /// Answers with this from now on.
    fn says(&self, answer: &HeadAnswer) {
        self.served.instead(HEAD, 200, answer.to_json().expect("JSON"));
    }

    /// Answers with what this registry would, to somebody who has seen what the gateway has seen.
    fn says_as(&self, registry: &Registry) {
        self.says(&registry.head(self.seen().size.min(registry.size())));
    }

    /// The checkpoint that the gateway has seen.
    fn seen(&self) -> Checkpoint {
        open_checkpoint(&self.first.proof.checkpoint, log(2).verifier()).expect("the log's")
    }

    /// The first answer again, with another head, signed by the head key.
    fn says_head(&self, edit: impl FnOnce(&mut Head)) {
        self.says(&HeadAnswer { head: edited(&self.first, edit).sign(&key(3)), ..self.honest() });
    }

    /// An honest answer of now.
    fn honest(&self) -> HeadAnswer {
        let desk = self.served.desk();
        desk.registry.head(self.seen().size)
    }

    /// The registry goes on with time.
    fn pass(&self, span: Span) {
        self.clock.advance(span);
        let mut desk = self.served.desk();
        desk.registry.now = desk.registry.now + span;
    }
}

fn walk(folder: &Path, files: &mut Vec<(String, Vec<u8>)>) {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true => walk(&path, files),
            false => files.push((path.to_str().expect("text").to_owned(), fs::read(&path).expect("readable"))),
        }
    }
    files.sort();
}

fn log(seed: u8) -> note::Signer {
    note::Signer::new("pins.example", key(seed)).expect("legal")
}

fn edited(answer: &HeadAnswer, edit: impl FnOnce(&mut Head)) -> Head {
    let mut head = Head::open(&answer.head, &[(key(3).verifying().id(), key(3).verifying())].into()).expect("signed");
    edit(&mut head);
    head
}

const HOUR: Span = Span::hours(1);

/// What is told, and the variant by which it is refused.
type Lie = (&'static str, fn(&Liar), &'static str);

const LIES: &[Lie] = &[
    (
        "freeze: the same signed answer, over and over",
        |gateway| {
            gateway.says(&gateway.first);
            gateway.clock.advance(HOUR);
        },
        "Frozen(Timestamp(1796029200000000))",
    ),
    (
        "a 304 for ever",
        |gateway| {
            gateway.served.instead(HEAD, 304, "");
            gateway.clock.advance(HOUR);
        },
        "NotModified(Timestamp(1796029200000000))",
    ),
    (
        "a newer version whose head has expired on its way",
        |gateway| {
            gateway.served.desk().registry.publish_again();
            gateway.clock.advance(HOUR);
        },
        "Expired(Timestamp(1796029200000000))",
    ),
    ("rollback to an older version", |gateway| gateway.says_as(&before()), "Rollback { seen: 3, offered: 2 }"),
    (
        "rollback by a fresh head, when the one in hand has expired: it is a floor still",
        |gateway| {
            gateway.clock.advance(Span::hours(2));
            let mut old = before();
            old.now = old.now + Span::hours(2);
            gateway.says_as(&old);
        },
        "Rollback { seen: 3, offered: 2 }",
    ),
    (
        "the same version over a shorter log",
        |gateway| gateway.says_as(&registry(&[])),
        "ShorterLog { seen: 13, offered: 12 }",
    ),
    (
        "mix and match: a head with the leaf and proof of another version",
        |gateway| {
            gateway.served.desk().registry.publish_again();
            let newest = gateway.honest();
            let head = edited(&newest, |head| {
                head.checkpoint_size = 13;
                head.checkpoint_root = gateway.seen().root;
                head.version = 3;
                head.set_sha256 = edited(&gateway.first, |_| {}).set_sha256;
            });
            let mixed = HeadAnswer { head: head.sign(&key(3)), ..newest };
            gateway.says(&mixed);
        },
        "OtherCheckpoint",
    ),
    (
        "mix and match: a head whose version the leaf doesn't publish",
        |gateway| {
            gateway.served.desk().registry.publish_again();
            let newest = gateway.honest();
            let old = edited(&gateway.first, |_| {});
            let head = edited(&newest, |head| (head.version, head.set_sha256) = (old.version, old.set_sha256));
            gateway.says(&HeadAnswer { head: head.sign(&key(3)), ..newest });
        },
        "OtherLeaf",
    ),
    (
        "mix and match: the set document of another version",
        |gateway| {
            gateway.served.desk().registry.publish_again();
            let (old, new) = (edited(&gateway.first, |_| {}), edited(&gateway.honest(), |_| {}));
            let path = |sha256: &Sha256| format!("/v1/pinsets/default/sets/{sha256}");
            let desk = gateway.served.desk();
            let bytes = desk.registry.documents.iter().find(|(id, _)| *id == old.set_sha256).expect("kept").1.clone();
            drop(desk);
            gateway.served.instead(&path(&new.set_sha256), 200, bytes);
        },
        "Document(",
    ),
    (
        "the head of another set",
        |gateway| gateway.says_head(|head| head.name = "prod".parse().expect("legal")),
        "Elsewhere { expected: \"default of pins.example\", found: \"prod of pins.example\" }",
    ),
    (
        "the head of another registry",
        |gateway| gateway.says_head(|head| head.registry = "other.example".to_owned()),
        "Elsewhere { expected: \"default of pins.example\", found: \"default of other.example\" }",
    ),
    (
        "split view: another history of the same length",
        |gateway| gateway.says_as(&registry(&["6.6.6"])),
        "SplitView(13)",
    ),
    (
        "split view: another, longer history",
        |gateway| gateway.says_as(&registry(&["6.6.6", "6.6.7"])),
        "Fork(Mismatch)",
    ),
    (
        "two sets under one version",
        |gateway| {
            let mut other = before();
            let release = other.publish("1.1.0", &[EXPORT_2, SEARCH]);
            other.approve(SEARCH, release);
            gateway.says_as(&other);
        },
        "TwoSets(3)",
    ),
    (
        "a head by a key that nobody named",
        |gateway| gateway.says(&HeadAnswer { head: edited(&gateway.first, |_| {}).sign(&key(8)), ..gateway.honest() }),
        "Head(Envelope(UnknownKey))",
    ),
    (
        "a head with a flipped bit in its signature",
        |gateway| {
            let mut head = gateway.first.head.clone();
            let at = head.windows(7).position(|w| w == b"\"sig\":\"").expect("signed") + 20;
            head[at] = if head[at] == b'A' { b'B' } else { b'A' };
            gateway.says(&HeadAnswer { head, ..gateway.honest() });
        },
        "Head(Envelope(Signature))",
    ),
    (
        "a checkpoint by another key under the log's name",
        |gateway| {
            let mut answer = gateway.honest();
            answer.proof.checkpoint = sign_checkpoint(&gateway.seen(), &log(8)).expect("signs");
            gateway.says(&answer);
        },
        "Proof(Checkpoint(Note(",
    ),
    (
        "a proof from another log",
        |gateway| {
            let mut answer = gateway.honest();
            let other = note::Signer::new("other.example", key(2)).expect("legal");
            let checkpoint = Checkpoint { origin: "other.example".to_owned(), ..gateway.seen() };
            answer.proof.checkpoint = sign_checkpoint(&checkpoint, &other).expect("signs");
            gateway.says(&answer);
        },
        "Proof(Checkpoint(WrongLog { expected: \"pins.example\", found: \"other.example\" }))",
    ),
    (
        "a proof of another leaf",
        |gateway| {
            let mut answer = gateway.honest();
            answer.proof.index -= 1;
            gateway.says(&answer);
        },
        "Proof(Inclusion(",
    ),
    ("a foreign epoch", |gateway| gateway.says_head(|head| head.epoch = 2), "Epoch { trusted: 1, found: 2 }"),
    (
        "a head that lives longer than an hour",
        |gateway| gateway.says_head(|head| head.expires = head.expires + Span::micros(1)),
        "Lifetime {",
    ),
    ("a head that ends before it begins", |gateway| gateway.says_head(|head| head.expires = head.issued), "Times("),
    (
        "a head from the future",
        |gateway| {
            gateway.says_head(|head| {
                head.issued = head.issued + Span::minutes(5) + Span::micros(1);
                head.expires = head.issued + HOUR;
            });
        },
        "Future { issued: Timestamp(1796025900000001), now: Timestamp(1796025600000000) }",
    ),
    (
        "fast-forward: the highest version that JSON can say, by a stolen head key",
        |gateway| gateway.says_head(|head| head.version = (1 << 53) - 1),
        "FastForward { offered: 9007199254740991, most: 3, leaves: 13 }",
    ),
    (
        "fast-forward: one version more than the log grew by",
        |gateway| {
            gateway.served.desk().registry.publish_again();
            let newest = gateway.honest();
            gateway.says(&HeadAnswer { head: edited(&newest, |head| head.version += 1).sign(&key(3)), ..newest });
        },
        "FastForward { offered: 5, most: 4, leaves: 14 }",
    ),
];

fn refusal(error: &PullError) -> String {
    match error {
        PullError::Refused { why, .. } => format!("{why:?}"),
        other => format!("{other:?}"),
    }
}

#[tokio::test]
async fn each_lie_has_its_own_refusal_and_changes_nothing() {
    for (what, lie, expected) in LIES {
        let gateway = Liar::new().await;
        let kept = gateway.files();
        lie(&gateway);
        let error = gateway.pull().await.expect_err(what);
        assert!(refusal(&error).starts_with(expected), "{what}: {}", refusal(&error));
        let ran = gateway.pull_by_command().await;
        assert_eq!(ran.exit, 3, "{what}: {ran}");
        let message = ran.stderr.lines().next().expect("says why").to_owned();
        assert_eq!(message, format!("error: {error}"), "{what}");
        assert_eq!(gateway.files(), kept, "{what}: the state is as it was, byte for byte");
        let expired = gateway.clock_now() >= gateway.expires();
        assert_eq!(gateway.check().await.exit, if expired { 3 } else { 0 }, "{what}");
        gateway.clock.set(gateway.expires());
        let ran = gateway.check().await;
        assert_eq!(ran.exit, 3, "{what}: {ran}");
        assert!(ran.stdout.contains("0 allowed"), "{what}: {ran}");
        // The truth is taken again, when it is told again.
        gateway.served.desk().instead.clear();
        let now = gateway.clock_now();
        gateway.served.desk().registry.now = now;
        gateway.served.desk().registry.publish_again();
        gateway.pull().await.expect(what);
        assert_eq!(gateway.check().await.exit, 0, "{what}");
    }
}

impl Liar {
    fn clock_now(&self) -> Timestamp {
        use countersign::env::Clock as _;
        self.clock.now()
    }

    fn expires(&self) -> Timestamp {
        edited(&self.first, |_| {}).expires
    }
}

#[tokio::test]
async fn a_forked_log_is_kept_as_two_signed_notes_and_the_error_says_where() {
    let gateway = Liar::new().await;
    for (n, other) in [registry(&["6.6.6"]), registry(&["6.6.6", "6.6.7"])].iter().enumerate() {
        gateway.says_as(other);
        let error = gateway.pull().await.expect_err("refused");
        let PullError::Refused { evidence: Some(folder), .. } = &error else { panic!("{error}") };
        assert!(folder.starts_with(gateway.path("state")), "{folder:?}");
        let ran = gateway.pull_by_command().await;
        assert!(ran.stderr.contains(folder.to_str().expect("text")), "{ran}");
        // What convicts the log needs no word of the gateway's: both notes bear the log's signature.
        let note = |name: &str| fs::read_to_string(folder.join(name)).expect("kept");
        let open = |name: &str| open_checkpoint(&note(name), log(2).verifier()).expect("signed by the log");
        assert_eq!(note("accepted.note"), gateway.first.proof.checkpoint);
        assert_eq!(open("accepted.note"), gateway.seen());
        let offered = open("offered.note");
        assert_eq!(offered.size, 13 + n as u64);
        assert_ne!(offered.root, gateway.seen().root);
        let answer = |name: &str| HeadAnswer::parse(&fs::read(folder.join(name)).expect("kept")).expect("an answer");
        assert_eq!(answer("accepted.json").head, gateway.first.head);
        assert_eq!(answer("offered.json"), other.head(13));
    }
    let folders = fs::read_dir(Path::new(&gateway.path("state")).join("evidence")).expect("kept").count();
    assert_eq!(folders, 2, "a lie that is repeated is kept once");
}

#[tokio::test]
async fn a_registry_that_lies_anew_each_time_does_not_fill_the_disk() {
    let gateway = Liar::new().await;
    for n in 0..20 {
        gateway.says_as(&registry(&[&format!("6.6.{n}")]));
        let error = gateway.pull().await.expect_err("refused");
        assert!(matches!(&error, PullError::Refused { evidence: Some(_), .. }), "{error}");
    }
    let kept = fs::read_dir(Path::new(&gateway.path("state")).join("evidence")).expect("kept").count();
    assert_eq!(kept, 16);
}

#[tokio::test]
async fn a_clock_that_was_moved_back_makes_no_head_good_again() {
    let gateway = Liar::new().await;
    let kept = gateway.files();
    let issued = gateway.clock_now();
    gateway.clock.set(issued.minus(Span::minutes(5)));
    assert_eq!(gateway.check().await.exit, 0, "as far as clocks may be apart");
    gateway.clock.set(issued.minus(Span::minutes(5)).minus(Span::micros(1)));
    let ran = gateway.check().await;
    assert_eq!(ran.exit, 3, "{ran}");
    assert!(ran.stderr.contains("this machine's clock was moved back: it shows 2026-11-30T07:54:59.999999Z"), "{ran}");
    let error = gateway.pull().await.expect_err("refused");
    assert_eq!(
        format!("{error:?}"),
        "State(ClockBack { issued: Timestamp(1796025600000000), now: Timestamp(1796025299999999) })"
    );
    assert_eq!(gateway.pull_by_command().await.exit, 3);
    assert_eq!(gateway.files(), kept);
}

#[tokio::test]
async fn a_head_key_counts_from_its_activation_on_and_not_before() {
    let gateway = Liar::new().await;
    let now = gateway.clock_now();
    let mut terms = gateway.served.desk().registry.trust().terms().clone();
    terms.version = 2;
    terms.heads.push(HeadKey { key: key(4).verifying(), from: now + Span::minutes(30) });
    gateway.served.instead("/v1/trust", 200, terms.sign(&[&key(1)]).expect("signs").note());
    assert!(gateway.pull().await.expect("the old key counts still").new_trust);
    // The registry signs with the new key before gateways take it.
    let by_new_key = |gateway: &Liar| {
        let answer = gateway.honest();
        let head = edited(&answer, |_| {}).sign(&key(4));
        gateway.says(&HeadAnswer { head, ..answer });
    };
    gateway.pass(Span::minutes(24));
    by_new_key(&gateway);
    let error = gateway.pull().await.expect_err("pending");
    assert!(refusal(&error).starts_with("KeyTime { issued: "), "{error}");
    gateway.pass(Span::minutes(6));
    by_new_key(&gateway);
    gateway.pull().await.expect("active");
    gateway.served.desk().instead.remove(HEAD);
    gateway.pass(Span::minutes(1));
    gateway.pull().await.expect("both count while they overlap");
}
