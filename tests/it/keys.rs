//! Keys that change, copies that are restored, names that end: through the command line and HTTP, on both engines.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

use countersign::{
    cli::serve::{self, Running},
    clock::{Span, Timestamp},
    config::{self, Database, Flags},
    env::{Clock as _, ManualClock},
    log::{note::Verifier, open_checkpoint},
    pinset::{
        head::Head,
        trust::Trust,
        verify::{self, HeadAnswer},
    },
    service::ReadOnly,
};

use crate::{
    databases::{Elsewhere, Fresh, block_on, on_both},
    service::check_log,
    terminal::{Desk, Ran},
};

/// A registry's machine, a gateway's, and the operator at both.
struct House<'a> {
    fresh: &'a Fresh,
    clock: ManualClock,
    data: PathBuf,
    anchor: String,
}

const PASSWORD: &[u8] = b"correct horse battery staple\n";

impl<'a> House<'a> {
    fn new(fresh: &'a Fresh) -> Self {
        let start: Timestamp = "2026-12-01T09:00:00.000000Z".parse().expect("a time");
        let (clock, data) = (ManualClock::at(start), fresh.dir.path().join("data"));
        let anchor = fresh.dir.path().join("anchor").to_str().expect("text").to_owned();
        Self { fresh, clock, data, anchor }
    }

    fn path(&self, name: &str) -> String {
        self.fresh.dir.path().join(name).to_str().expect("text").to_owned()
    }

    /// The database in DIR for SQLite, so that a copy of DIR has it.
    fn database(&self) -> Option<String> {
        match &self.fresh.database {
            Database::Sqlite(_) => None,
            Database::Postgres(url) => Some(url.reveal().to_owned()),
        }
    }

    async fn serve(&self) -> Running {
        let flags = Flags {
            listen: Some("127.0.0.1:0".to_owned()),
            database_url: self.database().map(config::DatabaseText::new),
            anchor: Some(self.anchor.clone().into()),
            origin: Some("pins.example".to_owned()),
            ..Flags::default()
        };
        let desk = Desk::at(&self.clock);
        let settings = config::Serve::load(&self.data, &flags, &desk.vars).expect("settings");
        serve::start(&settings, &desk.env()).await.unwrap_or_else(|e| panic!("{}", e.what))
    }

    async fn admin(&self, args: &[&str]) -> Ran {
        self.admin_with(args, b"").await
    }

    async fn admin_with(&self, args: &[&str], stdin: &[u8]) -> Ran {
        let data = self.data.to_str().expect("text");
        let mut start = vec!["admin", "--data", data, "--anchor", &self.anchor];
        let database = self.database();
        if let Some(url) = &database {
            start.extend(["--database-url", url]);
        }
        // Two processes have no randomness in common.
        static SEED: AtomicU64 = AtomicU64::new(100);
        let desk = Desk { seed: SEED.fetch_add(1, Ordering::Relaxed), ..Desk::at(&self.clock) };
        desk.run_with(start.iter().chain(args), stdin).await
    }

    async fn done(&self, args: &[&str]) -> String {
        let ran = self.admin(args).await;
        assert_eq!(ran.exit, 0, "{args:?}: {ran}");
        ran.stdout
    }

    async fn run(&self, args: &[&str]) -> Ran {
        Desk::at(&self.clock).run(args).await
    }

    /// Takes over the trust file once.
    async fn trust(&self, running: &Running, file: &str) {
        let fingerprint = running.app.fingerprint().to_string();
        let ran =
            self.run(&["trust", running.url.as_str(), "-o", &self.path(file), "--fingerprint", &fingerprint]).await;
        assert_eq!(ran.exit, 0, "{ran}");
    }

    async fn pull(&self, running: &Running, trust: &str, state: &str) -> Ran {
        let (trust, state) = (self.path(trust), self.path(state));
        let url = running.url.as_str();
        self.run(&["pull", "--registry", url, "--pinset", "default", "--trust", &trust, "--state", &state]).await
    }

    /// Moves time on until `done`, a step at a time.
    async fn until(&self, step: Span, mut done: impl FnMut() -> bool) {
        // Far fewer steps than lie between the moments that these tests tell apart, however slow the machine is: time moves
        // on far less often than this looks.
        for n in 0..1_000_000 {
            if done() {
                return;
            }
            if n % 50 == 0 {
                self.clock.advance(step);
            }
            for _ in 0..100 {
                tokio::task::yield_now().await;
            }
            tokio::task::spawn_blocking(std::thread::yield_now).await.expect("ran");
        }
        panic!("it never came");
    }

    /// Moves time on to a moment, and until the heads are of then.
    async fn at(&self, running: &Running, hours: u32) {
        let start: Timestamp = "2026-12-01T09:00:00.000000Z".parse().expect("a time");
        let then = start + Span::hours(hours);
        self.until(Span::hours(1), || self.clock.now() >= then).await;
        let app = &running.app;
        self.until(Span::seconds(1), || app.moment().heads.values().all(|head| head.issued >= then)).await;
    }

    fn file(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect(name)
    }
}

async fn get(running: &Running, path: &str) -> (u16, String) {
    let url = format!("{}{path}", running.url.as_str().trim_end_matches('/'));
    let answer = reqwest::get(url).await.expect("answers");
    (answer.status().as_u16(), answer.text().await.expect("text"))
}

/// Shows the registry a checkpoint.
async fn show(running: &Running, note: String) -> reqwest::Response {
    let url = format!("{}/log/checkpoint", running.url.as_str().trim_end_matches('/'));
    reqwest::Client::builder().build().expect("a client").post(url).body(note).send().await.expect("answers")
}

fn head_keys(running: &Running) -> Vec<countersign::keys::KeyId> {
    let moment = running.app.moment();
    let trust = Trust::first(&moment.trust.note).expect("verifies");
    let by = |head: &std::sync::Arc<countersign::store::Head>| Head::open_by(&head.envelope, &trust.heads());
    moment.heads.values().flat_map(|head| by(head).expect("signed").1).collect()
}

/// Which of the keys of a trust file signed the newest checkpoint.
fn signers(running: &Running, logs: &[Verifier]) -> Vec<bool> {
    let note = running.app.moment().note.to_string();
    logs.iter().map(|log| open_checkpoint(&note, log).is_ok()).collect()
}

#[test]
fn a_new_head_key_signs_from_its_time_on_and_gateways_follow() {
    block_on(on_both(async |fresh| {
        let house = House::new(fresh);
        let running = house.serve().await;
        house.trust(&running, "trust.txt").await;
        assert_eq!(house.pull(&running, "trust.txt", "state").await.exit, 0);
        let first = head_keys(&running);
        let said = house.done(&["key", "rotate", "head", "--activates", "10d"]).await;
        assert_eq!(said, "trust file 2 is in force\n");
        let app = running.app.clone();
        house.until(Span::millis(250), || app.moment().trust.version == 2).await;
        let keys = house.done(&["key", "list"]).await;
        assert!(keys.contains("pending") && !keys.contains("retired"), "{keys}");
        assert!(get(&running, "/readyz").await.1.contains("\"keys_change_in\":86"), "in about ten days");

        // Not a head before its time, whenever they are signed anew.
        house.at(&running, 24).await;
        assert_eq!(head_keys(&running), first);
        house.at(&running, 264).await;
        let second = head_keys(&running);
        assert!(first != second, "the newest that counts");
        let trust = Trust::first(&running.app.moment().trust.note).expect("verifies");
        assert_eq!(trust.terms().heads.last().expect("two").key.id(), second[0]);

        // A gateway that slept through all of it follows, and one that still has the first file is not served by the new key.
        let ran = house.pull(&running, "trust.txt", "state").await;
        assert_eq!(ran.exit, 0, "{ran}");
        assert!(ran.stderr.contains("a newer trust file"), "{ran}");
        let old = Trust::first(&house.file("trust.txt")).expect("reads");
        let answer = HeadAnswer::parse(get(&running, "/v1/pinsets/default/head").await.1.as_bytes()).expect("reads");
        let default = "default".parse().expect("legal");
        assert!(verify::head(&old, &default, None, &answer, house.clock.now()).is_err());
        verify::head(&trust, &default, None, &answer, house.clock.now()).expect("by the new file");
        // A bundle is collected by the new one: all that is wrong is that nothing of this name is pinned.
        let (trust, out) = (house.path("trust.txt"), house.path("bundle.json"));
        let wanted = ["bundle", "notes.export", "--registry", running.url.as_str(), "--pinset", "default"];
        let ran = house.run(&[wanted.as_slice(), &["--trust", &trust, "-o", &out]].concat()).await;
        assert_eq!(ran.exit, 1, "{ran}");
        assert!(ran.stderr.contains("pins nothing"), "{ran}");
        check_log(&running.app).await;
        running.stop().await.expect("stops");
        house.serve().await.stop().await.expect("starts again with keys of both names");
    }));
}

#[test]
fn after_a_theft_a_key_that_counts_now_takes_the_place_of_one_that_was_announced() {
    block_on(on_both(async |fresh| {
        let house = House::new(fresh);
        let running = house.serve().await;
        let keys = || fs::read_dir(house.data.join("keys")).expect("keys").count();
        for kind in ["head", "log"] {
            house.done(&["key", "rotate", kind, "--activates", "20d"]).await;
            house.done(&["key", "rotate", kind, "--activates", "10d"]).await;
        }
        let app = running.app.clone();
        house.until(Span::millis(250), || app.moment().trust.version == 5).await;
        let announced = Trust::first(&app.moment().trust.note).expect("verifies");
        let terms = announced.terms();
        assert_eq!((terms.heads.len(), terms.logs.len()), (2, 2), "the later ones left");
        for (kind, id) in [("head", terms.heads[1].key.id()), ("log", terms.logs[1].key.id())] {
            house.clock.advance(Span::seconds(1));
            let said = house.done(&["key", "rotate", kind, "--activates", "now"]).await;
            assert!(said.ends_with(&format!("left out: key {id}, which was announced and never counted\n")), "{said}");
        }
        house.until(Span::millis(250), || app.moment().trust.version == 7).await;
        let trust = Trust::first(&app.moment().trust.note).expect("verifies");
        let terms = trust.terms();
        assert!(terms.heads.iter().all(|head| head.from <= house.clock.now()));
        assert_eq!(terms.logs[0].until, Some(terms.logs[1].from + Span::days(7)));
        house.until(Span::seconds(30), || head_keys(&running) == [terms.heads[1].key.id()]).await;

        // What is refused leaves no key behind, and what was announced can be taken back.
        let before = keys();
        house.clock.advance(Span::seconds(1));
        let far = house.admin(&["key", "rotate", "head", "--activates", "7d", "--draft", "/nowhere/draft"]).await;
        assert!(far.exit != 0 && keys() == before, "{far}");
        let none = house.admin(&["key", "cancel", "log"]).await;
        assert!(none.exit == 1 && none.stderr.contains("no log key waits for its time"), "{none}");
        house.done(&["key", "rotate", "log", "--activates", "7d"]).await;
        house.done(&["key", "cancel", "log"]).await;
        house.until(Span::millis(250), || app.moment().trust.version == 9).await;
        let trust = Trust::first(&app.moment().trust.note).expect("verifies");
        assert_eq!((trust.terms().logs.len(), trust.terms().logs[1].until), (2, None));
        check_log(&running.app).await;
        running.stop().await.expect("stops");
    }));
}

#[test]
fn both_log_keys_sign_during_the_overlap_so_that_old_and_new_gateways_verify() {
    block_on(on_both(async |fresh| {
        let house = House::new(fresh);
        let running = house.serve().await;
        house.trust(&running, "trust.txt").await;
        house.done(&["key", "rotate", "log", "--activates", "10d", "--overlap", "10d"]).await;
        let app = running.app.clone();
        house.until(Span::millis(250), || app.moment().trust.version == 2).await;
        let trust = Trust::first(&app.moment().trust.note).expect("verifies");
        let old = Trust::first(&house.file("trust.txt")).expect("reads");
        let logs = trust.logs().expect("names");
        assert_eq!(signers(&running, &logs), [true, false], "not before its time, though a leaf was added since");

        // The new key signs as soon as its time has come, whether or not anybody writes.
        let size = app.moment().checkpoint.size;
        house.at(&running, 240).await;
        house.until(Span::minutes(1), || signers(&running, &logs) == [true, true]).await;
        assert_eq!(app.moment().checkpoint.size, size + 1, "a leaf says so");
        house.at(&running, 300).await;
        let default = "default".parse().expect("legal");
        let answer =
            async || HeadAnswer::parse(get(&running, "/v1/pinsets/default/head").await.1.as_bytes()).expect("reads");
        for (whose, trust) in [("old", &old), ("new", &trust)] {
            verify::head(trust, &default, None, &answer().await, house.clock.now()).expect(whose);
        }
        house.at(&running, 500).await;
        house.done(&["pinset", "add", "prod"]).await;
        house.until(Span::millis(250), || app.moment().heads.len() == 2).await;
        assert_eq!(signers(&running, &logs), [false, true]);
        let by_old = verify::head(&old, &default, None, &answer().await, house.clock.now());
        assert!(
            by_old.is_ok(),
            "a head over the last checkpoint that both signed, until it is signed anew: {by_old:?}"
        );
        house.at(&running, 520).await;
        verify::head(&old, &default, None, &answer().await, house.clock.now()).expect_err("the old key is gone");
        verify::head(&trust, &default, None, &answer().await, house.clock.now()).expect("by the new file");
        let ran = house.pull(&running, "trust.txt", "state").await;
        assert_eq!(ran.exit, 0, "the old file leads to the new one: {ran}");
        check_log(&app).await;
        running.stop().await.expect("stops");
    }));
}

#[test]
fn the_root_key_changes_offline_and_a_gateway_follows_version_by_version() {
    block_on(on_both(async |fresh| {
        let house = House::new(fresh);
        let running = house.serve().await;
        house.trust(&running, "trust.txt").await;
        assert_eq!(house.pull(&running, "trust.txt", "state").await.exit, 0);
        // The root key lives elsewhere.
        let (root, keys) = (house.path("root.pem"), house.data.join("keys"));
        fs::rename(keys.join("root.pem"), &root).expect("moved");
        let alone = house.admin(&["key", "rotate", "head", "--activates", "1h"]).await;
        assert_eq!(alone.exit, 1, "{alone}");
        assert!(alone.stderr.contains("--draft FILE"), "{alone}");
        assert_eq!(fs::read_dir(&keys).expect("is there").count(), 2, "no key was made in vain");

        let mut olds = vec![root.clone()];
        for n in ["a", "b"] {
            let (new, draft, signed) =
                (house.path(&format!("root-{n}")), house.path("draft.txt"), house.path("signed.txt"));
            let desk = Desk { seed: 50 + u64::from(n.as_bytes()[0]), ..Desk::at(&house.clock) };
            assert_eq!(desk.run(["keygen", "-o", &new]).await.exit, 0);
            house.done(&["key", "rotate", "root", "--new", &format!("{new}.pub"), "--draft", &draft]).await;
            let old = olds.last().expect("one").clone();
            // The new root alone makes no successor; nor does the old one, which the draft doesn't name.
            assert_eq!(house.run(&["trust", "sign", &draft, "--key", &old, "-o", &signed]).await.exit, 1);
            assert_eq!(house.run(&["trust", "sign", &draft, "--key", &new, "-o", &signed]).await.exit, 0);
            let refused = house.admin(&["trust", "publish", &signed]).await;
            assert_eq!(refused.exit, 1, "{refused}");
            assert!(refused.stderr.contains("not signed by the root key you trust"), "{refused}");
            let both = house.run(&["trust", "sign", &draft, "--key", &new, "--key", &old, "-o", &signed]).await;
            assert_eq!(both.exit, 0, "{both}");
            house.done(&["trust", "publish", &signed]).await;
            olds.push(new);
        }
        let app = running.app.clone();
        house.until(Span::millis(250), || app.moment().trust.version == 3).await;
        let (status, second) = get(&running, "/v1/trust/2").await;
        assert_eq!((status, Trust::first(&second).expect("reads").terms().version), (200, 2));
        for missing in ["/v1/trust/0", "/v1/trust/4", "/v1/trust/x"] {
            assert_eq!(get(&running, missing).await.0, 404, "{missing}");
        }
        let ran = house.pull(&running, "trust.txt", "state").await;
        assert_eq!(ran.exit, 0, "{ran}");
        assert!(ran.stderr.contains("a newer trust file"), "two roots later: {ran}");
        assert_eq!(house.pull(&running, "trust.txt", "state").await.stderr, "", "nothing is left to follow");
        // So does an audit, over HTTP and in the database.
        let (trust, data, database) = (house.path("trust.txt"), house.data.to_str().expect("text"), house.database());
        let mut stored = vec![data];
        stored.extend(database.iter().flat_map(|url| ["--database-url", url.as_str()]));
        for from in [vec![running.url.as_str()], stored] {
            let ran = house.run(&[&["audit"], from.as_slice(), &["--trust", &trust, "--json"]].concat()).await;
            assert_eq!(ran.exit, 0, "{ran}");
            assert!(ran.stdout.contains("\"trust_version\":3") || ran.stdout.contains("\"trust_version\": 3"), "{ran}");
        }
        check_log(&app).await;
        running.stop().await.expect("stops");
    }));
}

/// What a registry says everywhere when it must not write.
async fn says_read_only(running: &Running, word: &str) {
    let (status, ready) = get(running, "/readyz").await;
    assert_eq!(status, 503, "{ready}");
    assert!(ready.contains(&format!("\"read_only\":\"{word}\"")), "{ready}");
    assert!(get(running, "/metrics").await.1.contains("countersign_read_only 1"));
    for page in ["/", "/log", "/pinsets", "/servers", "/check", "/docs", "/sign-in", "/nothing-here"] {
        let (_, page) = get(running, page).await;
        assert!(page.contains("This registry is read-only."), "{page}");
    }
}

async fn is_ready(running: &Running) {
    let (status, ready) = get(running, "/readyz").await;
    assert_eq!(status, 200, "{ready}");
    assert!(get(running, "/metrics").await.1.contains("countersign_read_only 0"));
    assert!(!get(running, "/").await.1.contains("This registry is read-only."));
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("made");
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry").path();
        let at = to.join(entry.file_name().expect("has one"));
        if entry.is_dir() { copy(&entry, &at) } else { fs::copy(&entry, &at).map(|_| ()).expect("copied") }
    }
}

/// Everything that an operator may lose or restore: DIR for SQLite, the database for PostgreSQL.
async fn backup(house: &House<'_>) {
    match house.database() {
        None => copy(&house.data, &house.fresh.dir.path().join("backup")),
        Some(_) => house.fresh.backup().await,
    }
}

async fn restore(house: &House<'_>) {
    match house.database() {
        None => {
            fs::remove_dir_all(&house.data).expect("lost");
            copy(&house.fresh.dir.path().join("backup"), &house.data);
        }
        Some(_) => house.fresh.restore().await,
    }
}

#[test]
fn a_restored_backup_is_read_only_and_goes_on_in_a_new_epoch_that_gateways_follow() {
    block_on(on_both(async |fresh| {
        let house = House::new(fresh);
        let running = house.serve().await;
        house.trust(&running, "trust.txt").await;
        house.done(&["pinset", "add", "prod"]).await;
        running.stop().await.expect("stops");
        backup(&house).await;

        // After the backup: a policy, which is version 2, and a gateway that has seen it.
        let running = house.serve().await;
        let policy = house.path("policy.toml");
        fs::write(&policy, "lifetime_days = 30\n").expect("written");
        house.done(&["policy", "set", "default", &policy]).await;
        house.done(&["pinset", "add", "late"]).await;
        let app = running.app.clone();
        house.until(Span::millis(250), || app.moment().heads.len() == 3).await;
        let ran = house.pull(&running, "trust.txt", "state").await;
        assert!(ran.stdout.contains("version 2 (first pull)"), "{ran}");
        let (lost, kept) = (running.app.moment().checkpoint.clone(), running.app.moment().note.to_string());
        running.stop().await.expect("stops");

        restore(&house).await;
        let running = house.serve().await;
        says_read_only(&running, "behind").await;
        assert_eq!(house.admin(&["pinset", "add", "more"]).await.exit, 3, "nothing is written");
        assert_eq!(house.admin(&["anchor", "adopt"]).await.exit, 1);
        let floor = house.pull(&running, "trust.txt", "state").await;
        assert_ne!(floor.exit, 0, "the gateway doesn't go back: {floor}");
        running.stop().await.expect("stops");

        let said = house.done(&["epoch", "new", "--origin", "pins.example/2"]).await;
        assert!(said.contains("pins.example is pins.example/2 from here on, in epoch 2"), "{said}");
        let running = house.serve().await;
        is_ready(&running).await;
        let moment = running.app.moment();
        let before = moment.state.registry().expect("is there").continues.clone();
        let tree = before[0].abandoned.expect("the copy lacked some");
        assert_eq!((before[0].origin.as_str(), tree.size, tree.root), ("pins.example", lost.size, lost.root));
        assert!(moment.state.set(&"prod".parse().expect("legal")).is_some(), "what the copy had is in force");
        assert!(moment.state.set(&"late".parse().expect("legal")).is_none(), "what it lacked is given up");
        check_log(&running.app).await;

        // The gateway follows the root key: its floor was of the epoch before, whose last word it keeps.
        let ran = house.pull(&running, "trust.txt", "state").await;
        assert_eq!(ran.exit, 0, "{ran}");
        assert!(ran.stderr.contains("began a new epoch"), "{ran}");
        assert!(ran.stdout.contains("default of pins.example/2: version 2 (first pull)"), "{ran}");
        let evidence = fs::read(house.path("state/evidence/epoch-1.json")).expect("kept");
        let last = HeadAnswer::parse(&evidence).expect("an answer").proof.checkpoint;
        assert!(last.starts_with("pins.example\n"), "{last}");
        assert_eq!(house.pull(&running, "trust.txt", "state").await.exit, 0, "and again");
        assert_eq!(house.pull(&running, "trust.txt", "fresh").await.exit, 0, "a new one with the first trust file too");
        house.done(&["pinset", "add", "more"]).await;

        // The old name is over: what was signed by it says nothing about this log any more.
        let shown = show(&running, kept).await;
        assert_eq!(shown.status().as_u16(), 422);
        is_ready(&running).await;
        running.stop().await.expect("stops");
        let running = house.serve().await;
        is_ready(&running).await;
        check_log(&running.app).await;
        running.stop().await.expect("stops");
    }));
}

#[test]
fn a_checkpoint_that_somebody_kept_convicts_a_restored_copy_whose_anchor_was_restored_too() {
    block_on(on_both(async |fresh| {
        let house = House::new(fresh);
        let running = house.serve().await;
        running.stop().await.expect("stops");
        backup(&house).await;
        let anchor = fs::read(&house.anchor).expect("is there");
        let running = house.serve().await;
        house.done(&["pinset", "add", "late"]).await;
        let app = running.app.clone();
        house.until(Span::millis(250), || app.moment().heads.len() == 2).await;
        let kept = running.app.moment().note.to_string();
        running.stop().await.expect("stops");
        restore(&house).await;
        fs::write(&house.anchor, anchor).expect("restored");
        let running = house.serve().await;
        is_ready(&running).await;
        let shown = show(&running, kept).await;
        assert_eq!(shown.text().await.expect("text"), r#"{"read_only":"behind"}"#);
        says_read_only(&running, "behind").await;
        running.stop().await.expect("stops");
        let running = house.serve().await;
        says_read_only(&running, "behind").await;
        running.stop().await.expect("stops");
    }));
}

#[test]
fn a_missing_anchor_is_read_only_until_it_is_adopted() {
    block_on(on_both(async |fresh| {
        let house = House::new(fresh);
        house.serve().await.stop().await.expect("stops");
        fs::remove_file(&house.anchor).expect("lost");
        let running = house.serve().await;
        says_read_only(&running, "no-anchor").await;
        house.done(&["anchor", "adopt"]).await;
        let app = running.app.clone();
        house.until(Span::millis(250), || app.read_only().is_none()).await;
        is_ready(&running).await;
        running.stop().await.expect("stops");
    }));
}

#[test]
fn an_empty_pod_on_a_restored_database_is_read_only() {
    block_on(async {
        let (fresh, elsewhere) = (Fresh::new(crate::databases::Engine::Postgres).await, Elsewhere::new().await);
        let mut house = House { anchor: elsewhere.url.clone(), ..House::new(&fresh) };
        house.serve().await.stop().await.expect("stops");
        fresh.backup().await;
        let running = house.serve().await;
        house.done(&["pinset", "add", "late"]).await;
        running.stop().await.expect("stops");
        fresh.restore().await;
        // A pod with nothing of its own but the way to both databases.
        let (full, empty) = (house.data.clone(), fresh.dir.path().join("pod"));
        house.data.clone_from(&empty);
        let running = house.serve().await;
        says_read_only(&running, "behind").await;
        running.stop().await.expect("stops");
        assert!(!empty.join("keys").exists(), "no key is made for a log that has leaves");
        // The same where the database is the newest but the keys are missing, and where the anchor is.
        elsewhere.execute("DELETE FROM countersign_anchor").await;
        let running = house.serve().await;
        says_read_only(&running, "no-anchor").await;
        running.stop().await.expect("stops");
        house.data = full;
        house.done(&["anchor", "adopt"]).await;
        house.data = empty;
        let running = house.serve().await;
        says_read_only(&running, "no-key").await;
        assert!(matches!(running.app.read_only(), Some(ReadOnly::NoKey { .. })));
        let ran = house.admin_with(&["user", "add", "ada", "--role", "admin", "--password-stdin"], PASSWORD).await;
        assert_eq!(ran.exit, 3, "{ran}");
        running.stop().await.expect("stops");
        elsewhere.drop_database().await;
        fresh.drop_schema().await;
    });
}
