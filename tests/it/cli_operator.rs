//! What an operator runs: serve, and admin beside it.

use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, chown},
    path::PathBuf,
};

use countersign::{
    cli::serve,
    clock::{Span, Timestamp},
    config::{self, Flags},
    env::ManualClock,
};
use insta::assert_snapshot;
use tempfile::TempDir;

use crate::{
    serve::Serving,
    terminal::{Desk, Ran},
};

/// A machine with a registry on it.
struct Machine {
    clock: ManualClock,
    folder: TempDir,
}

impl Machine {
    fn new() -> Self {
        let start: Timestamp = "2026-12-01T09:00:00.000000Z".parse().expect("a time");
        Self { clock: ManualClock::at(start), folder: tempfile::tempdir().expect("a folder") }
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    async fn serve(&self) -> Serving {
        let flags = Flags { listen: Some("127.0.0.1:0".to_owned()), ..Flags::default() };
        let desk = Desk::at(&self.clock);
        let settings = config::Serve::load(&self.data(), &flags, &desk.vars).expect("settings");
        Serving::new(serve::start(&settings, &desk.env()).await.expect("starts"))
    }

    async fn admin(&self, args: &[&str]) -> Ran {
        self.admin_with(args, b"").await
    }

    async fn admin_with(&self, args: &[&str], stdin: &[u8]) -> Ran {
        let data = self.data();
        let start = ["admin", "--data", data.to_str().expect("text")];
        // Another seed than the server's: two processes have no randomness in common.
        let desk = Desk { seed: 11, ..Desk::at(&self.clock) };
        desk.run_with(start.iter().chain(args), stdin).await
    }

    fn shown(&self, ran: &Ran) -> String {
        ran.in_folder(self.folder.path())
    }

    fn file(&self, name: &str, text: &str) -> String {
        let path = self.folder.path().join(name);
        fs::write(&path, text).expect("written");
        path.to_str().expect("text").to_owned()
    }

    /// Moves time on until `done`, a poll at a time.
    async fn until(&self, mut done: impl FnMut() -> bool) {
        for _ in 0..10_000 {
            if done() {
                return;
            }
            self.clock.advance(Span::millis(250));
            for _ in 0..100 {
                tokio::task::yield_now().await;
            }
            tokio::task::spawn_blocking(std::thread::yield_now).await.expect("ran");
        }
        panic!("it never came");
    }
}

const PASSWORD: &[u8] = b"correct horse battery staple\n";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_start_says_where_to_set_up_and_the_link_dies_with_the_first_administrator() {
    let machine = Machine::new();
    let running = machine.serve().await;
    let link = running.setup.clone().expect("nobody administers yet");
    assert!(link.starts_with(&format!("{}/setup/", running.url.as_str().trim_end_matches('/'))), "{link}");
    let kept = machine.data().join("setup-link");
    assert_eq!(fs::read_to_string(&kept).expect("kept"), format!("{link}\n"));
    assert_eq!(fs::metadata(&kept).expect("kept").permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::metadata(machine.data()).expect("made").permissions().mode() & 0o777, 0o700);
    running.stop().await.expect("stops");

    let running = machine.serve().await;
    let secret = |link: &str| link.rsplit('/').next().map(str::to_owned);
    assert_eq!(running.setup.as_deref().and_then(secret), secret(&link), "a restart keeps the secret");
    let ran = machine.admin_with(&["user", "add", "ada", "--role", "admin", "--password-stdin"], PASSWORD).await;
    assert_snapshot!("user_add", machine.shown(&ran));
    machine.until(|| !kept.exists()).await;
    running.stop().await.expect("stops");
    let running = machine.serve().await;
    assert_eq!(running.setup, None);
    running.stop().await.expect("stops");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_admin_does_is_seen_by_the_running_registry_at_its_next_poll() {
    let machine = Machine::new();
    let running = machine.serve().await;
    for (name, role) in [("ada", "admin"), ("rex", "reviewer")] {
        let ran = machine.admin_with(&["user", "add", name, "--role", role, "--password-stdin"], PASSWORD).await;
        assert_eq!(ran.exit, 0, "{ran}");
    }
    let key = machine.folder.path().join("key").to_str().expect("text").to_owned();
    Desk::at(&machine.clock).run(["keygen", "-o", &key]).await;
    let public = format!("{key}.pub");
    let granted = machine.admin(&["authority", "add", "com.example", "--key", &public, "--holder", "ada"]).await;
    assert_eq!(granted.exit, 0, "{granted}");
    assert!(granted.stdout.ends_with(" speaks for com.example as publisher\n"), "{granted}");
    let policy = machine.file("policy.toml", "solo = true\nquorum = 1\nquorum_risky = 1\n");
    let made = machine.admin(&["pinset", "add", "prod"]).await;
    assert_eq!((made.exit, made.stdout.as_str()), (0, "pin set prod: empty version 1\n"), "{made}");
    let set = machine.admin(&["policy", "set", "prod", &policy]).await;
    assert_eq!(set.exit, 0, "{set}");
    let app = running.app.clone();
    machine.until(|| app.moment().state.authorities().count() == 1 && app.access().user("rex").is_some()).await;
    let prod = "prod".parse().expect("legal");
    machine.until(|| app.moment().state.set(&prod).is_some()).await;

    let token =
        machine.admin(&["token", "add", "--scope", "publish:com.example", "--user", "ada", "--days", "90"]).await;
    assert_eq!((token.exit, token.stderr.as_str()), (0, ""), "{token}");
    let secret = token.stdout.trim_end();
    assert!(secret.starts_with("cs_") && token.stdout == format!("{secret}\n"), "alone on its line");
    let now = machine.clock.clone();
    let known = || {
        use countersign::env::Clock as _;
        app.access().token(secret, now.now()).is_some()
    };
    machine.until(known).await;
    let listed = machine.admin(&["token", "list", "--json"]).await;
    let listed: serde_json::Value = serde_json::from_str(&listed.stdout).expect("JSON");
    let id = listed[0]["id"].as_str().expect("text").to_owned();
    assert_eq!(machine.admin(&["token", "revoke", &id]).await.exit, 0);
    machine.until(|| !known()).await;
    running.stop().await.expect("stops");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_admin_refuses_has_its_reason_and_exit_code() {
    let machine = Machine::new();
    assert_snapshot!("admin_nothing_there", machine.shown(&machine.admin(&["user", "list"]).await));
    machine.serve().await.stop().await.expect("stops");
    let key = machine.folder.path().join("key").to_str().expect("text").to_owned();
    Desk::at(&machine.clock).run(["keygen", "-o", &key]).await;
    let public = format!("{key}.pub");
    let add = |name: &'static str| ["user", "add", name, "--role", "admin", "--password-stdin"];
    assert_eq!(machine.admin_with(&add("ada"), PASSWORD).await.exit, 0);
    let policy = machine.file("policy.toml", "quorom = 2\n");
    let cases: &[(&[&str], &[u8], u8, &str)] = &[
        (&add("ada"), PASSWORD, 1, "there is an account ada already"),
        (&add("bob"), b"short\n", 2, "password"),
        (&add("bob"), b"", 2, "password"),
        (&add("local-operator"), PASSWORD, 2, "account"),
        (&["user", "disable", "ada"], b"", 1, "this is the last administrator"),
        (&["token", "add", "--scope", "publish:com.example", "--user", "bob"], b"", 1, "there is no account bob"),
        (&["token", "add", "--scope", "everything", "--user", "ada"], b"", 2, "not a scope"),
        (&["token", "add", "--scope", "review", "--user", "ada", "--days", "0"], b"", 1, "1 to 3650 days"),
        (
            &["token", "add", "--scope", "pull:prod", "--user", "ada"],
            b"",
            1,
            "there is no pin set prod; there is default",
        ),
        (
            &["token", "add", "--scope", "report:prod", "--user", "ada"],
            b"",
            1,
            "there is no pin set prod; there is default",
        ),
        (&["authority", "add", "*", "--key", &public], b"", 2, "--capture only"),
        (&["authority", "add", "com.example", "--key", &key], b"", 2, "give the FILE.pub"),
        (&["authority", "add", "com.example", "--key", &public, "--holder", "bob"], b"", 1, "there is no account bob"),
        (&["authority", "revoke", "nope", "--reason", "x"], b"", 1, "there is no such authority"),
        (&["pinset", "add", "default"], b"", 1, "exists already"),
        (&["policy", "set", "default", &policy], b"", 1, "quorom"),
        (&["policy", "set", "none", "/dev/null"], b"", 1, "there is no pin set none"),
        (
            &["alias", "bind", "default", "notes", "com.example/notes"],
            b"",
            1,
            "no release of com.example/notes was published yet",
        ),
    ];
    for (args, stdin, exit, says) in cases {
        let ran = machine.admin_with(args, stdin).await;
        assert_eq!(ran.exit, *exit, "{args:?}: {ran}");
        assert!(ran.stderr.contains(says), "{args:?}: {ran}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_users_registry_is_not_touched() {
    let machine = Machine::new();
    machine.serve().await.stop().await.expect("stops");
    // Only root can give a folder away; elsewhere there is nothing to try this with.
    if chown(machine.data(), Some(1), Some(1)).is_err() {
        return;
    }
    let ran = machine.admin(&["user", "list"]).await;
    assert_eq!(ran.exit, 2, "{ran}");
    assert!(ran.stderr.contains("belongs to another user"), "{ran}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_anchor_is_adopted_by_hand_only() {
    let machine = Machine::new();
    machine.serve().await.stop().await.expect("stops");
    fs::remove_file(machine.data().join("anchor")).expect("there");
    let running = machine.serve().await;
    assert!(running.app.read_only().is_some());
    running.stop().await.expect("stops");
    let ran = machine.admin(&["pinset", "add", "prod"]).await;
    assert_eq!(ran.exit, 3, "{ran}");
    assert_eq!(machine.admin(&["anchor", "adopt"]).await.exit, 0);
    assert_eq!(machine.admin(&["pinset", "add", "prod"]).await.exit, 0);
}

#[tokio::test]
async fn the_help_of_admin_is_about_admin_and_takes_the_line_of_serve_all_the_same() {
    let help = Desk::new().run(["admin", "--help"]).await;
    for option in ["--listen", "--admin-listen", "--public-url", "--trusted-proxy"] {
        assert!(!help.stdout.contains(option), "{option}: {help}");
    }
    for option in ["--data", "--database-url", "--keys", "--anchor", "--origin"] {
        assert!(help.stdout.contains(option), "{option}: {help}");
    }
    assert!(Desk::new().run(["serve", "--help"]).await.stdout.contains("--trusted-proxy"));
    let machine = Machine::new();
    let line = ["admin", "--data", machine.folder.path().to_str().expect("text")];
    let rest = ["--listen", "[::]:80", "--admin-listen", "[::1]:81", "--public-url", "https://pins.example"];
    let end = ["--trusted-proxy", "10.0.0.0/8", "user", "list"];
    let ran = Desk::new().run(line.iter().chain(&rest).chain(&end)).await;
    assert!(ran.stderr.contains("there is no registry here"), "the options were taken: {ran}");
}
