//! The whole walk of a newcomer, in a real Chromium and on a command line, against one registry: set-up, keys, a captured
//! server, review, a pulled set, a rug pull that is noticed. Every page on the way is clean.

use std::path::PathBuf;

use countersign::{
    cli::serve,
    clock::{Span, Timestamp},
    config::{self, Flags},
    env::ManualClock,
};
use fantoccini::Locator;
use tempfile::TempDir;

use crate::{
    browser::{Browser, Look},
    doubles::{Endpoint, Program, Reply},
    in_memory::{EXPORT, EXPORT_2, SEARCH},
    serve::Serving,
    terminal::{Desk, Ran},
};

const PASSWORD: &str = "correct horse battery";

/// A newcomer: a browser, a terminal, and a folder with everything in it.
struct Newcomer {
    browser: Browser,
    clock: ManualClock,
    folder: TempDir,
    running: Serving,
    /// Whether scripts run; axe-core is one.
    scripts: bool,
    /// What was wrong with the pages so far.
    wrong: Vec<String>,
}

impl Newcomer {
    async fn new(browser: Browser) -> Self {
        let start: Timestamp = "2026-12-01T09:00:00.000000Z".parse().expect("a time");
        let (clock, folder) = (ManualClock::at(start), tempfile::tempdir().expect("a folder"));
        let flags = Flags { listen: Some("127.0.0.1:0".to_owned()), ..Flags::default() };
        let desk = Desk::at(&clock);
        let settings = config::Serve::load(&folder.path().join("data"), &flags, &desk.vars).expect("settings");
        let running = Serving::new(serve::start(&settings, &desk.env()).await.expect("starts"));
        Self { browser, clock, folder, running, scripts: true, wrong: Vec::new() }
    }

    fn url(&self) -> String {
        self.running.url.as_str().to_owned()
    }

    fn path(&self, name: &str) -> String {
        let path: PathBuf = self.folder.path().join(name);
        path.to_str().expect("text").to_owned()
    }

    /// Runs a command that must end with this code; its output.
    async fn run(&self, args: &[&str], exit: u8) -> String {
        self.ended(Desk::at(&self.clock).run(args).await, args, exit)
    }

    fn ended(&self, ran: Ran, args: &[&str], exit: u8) -> String {
        assert_eq!(ran.exit, exit, "{args:?}: {ran}");
        ran.stdout
    }

    /// Runs `admin` beside the running server, and waits until the server has noticed.
    async fn admin(&self, args: &[&str]) -> String {
        let data = self.path("data");
        let args: Vec<&str> = ["admin", "--data", &data].into_iter().chain(args.iter().copied()).collect();
        let desk = Desk { seed: 11, ..Desk::at(&self.clock) };
        let out = self.ended(desk.run(&args).await, &args, 0);
        self.running.app.refresh().await.expect("looks");
        out
    }

    async fn look(&mut self, width: u32, dark: bool, scripts: bool) {
        self.browser.look(Look { width, dark, scripts }).await;
        self.scripts = scripts;
    }

    /// Opens a page and looks for whatever may be wrong with it.
    async fn open(&mut self, path: &str) {
        let url = format!("{}{path}", self.url());
        self.browser.open(&url).await;
        self.look_around(path).await;
    }

    async fn look_around(&mut self, place: &str) {
        if self.scripts {
            self.axe(place).await;
        }
        self.wrong.extend(self.browser.console().await.into_iter().map(|line| format!("{place}: {line}")));
        let overflow = self.browser.overflow().await;
        if overflow > 0 {
            self.wrong.push(format!("{place}: {overflow} pixels too wide"));
        }
        // The clock of rate limits stands still unless somebody moves it.
        self.clock.advance(Span::seconds(1));
    }

    async fn axe(&mut self, place: &str) {
        self.wrong.extend(self.browser.axe().await.into_iter().map(|found| format!("{place}: {found}")));
    }

    /// Clicks what leads to another page, and waits for that page.
    async fn click(&mut self, selector: &str) {
        const MARK: &str = "document.documentElement.dataset.left = 'yes'";
        const ARRIVED: &str = "return !document.documentElement.dataset.left && document.readyState === 'complete'";
        self.browser.client.execute(MARK, Vec::new()).await.expect("marks the page");
        self.tick(selector).await;
        let arriving = async {
            // Between two pages there is no document to ask.
            while !matches!(self.browser.client.execute(ARRIVED, Vec::new()).await, Ok(serde_json::Value::Bool(true))) {
            }
        };
        tokio::time::timeout(std::time::Duration::from_secs(30), arriving).await.expect(selector);
        self.look_around(selector).await;
    }

    /// Clicks what stays on the page.
    async fn tick(&self, selector: &str) {
        let found = self.browser.client.find(Locator::Css(selector)).await;
        let found = found.unwrap_or_else(|e| panic!("{selector}: {e}"));
        found.click().await.unwrap_or_else(|e| panic!("{selector}: {e}"));
    }

    async fn fill(&self, selector: &str, text: &str) {
        let field = self.browser.client.find(Locator::Css(selector)).await;
        let field = field.unwrap_or_else(|e| panic!("{selector}: {e}"));
        field.clear().await.expect("empties");
        field.send_keys(text).await.expect("types");
    }

    /// The words of the page.
    async fn words(&self) -> String {
        self.browser.client.find(Locator::Css("main")).await.expect("a page").text().await.expect("text")
    }

    async fn says(&self, words: &[&str]) {
        let page = self.words().await;
        for expected in words {
            assert!(page.contains(expected), "{expected}: {page}");
        }
    }

    /// Attests what was captured, and publishes it.
    async fn publish(&self, release: &str, token: &str) {
        let (release, key, attestation) = (self.path(release), self.path("key"), self.path("attestation.json"));
        self.run(&["attest", &release, "--key", &key, "-o", &attestation], 0).await;
        let args = ["publish", &release, "--attestation", &attestation, "--registry", &self.url()];
        self.ended(Desk::at(&self.clock).var("COUNTERSIGN_TOKEN", token).run(args).await, &args, 0);
    }

    async fn pull(&self) {
        let (trust, state) = (self.path("trust.txt"), self.path("state"));
        let args = ["pull", "--registry", &self.url(), "--pinset", "default", "--trust", &trust, "--state", &state];
        self.run(&args, 0).await;
    }

    async fn check(&self, tools: &[&str], exit: u8) -> String {
        let list = format!("{{\"tools\":[{}]}}", tools.join(","));
        let args = ["check", "--state", &self.path("state"), "--alias", "notes", "-"];
        self.ended(Desk::at(&self.clock).run_with(args, list.as_bytes()).await, &args, exit)
    }

    /// Decides on the candidate whose page is open.
    async fn approve(&mut self, reason: &str) {
        self.fill("textarea[name=reason]", reason).await;
        // The box opens when everything was on screen.
        let scroll = "const done = arguments[0]; const all = document.querySelectorAll('.tree > li[id], [data-end]');
            const each = all.length ? [...all] : [document.querySelector('.tree').lastElementChild];
            (async () => { for (const e of each) { e.scrollIntoView();
                await new Promise((next) => requestAnimationFrame(() => requestAnimationFrame(next))); }
                done(); })()";
        self.browser.client.execute_async(scroll, Vec::new()).await.expect("scrolls");
        self.tick("input[data-read]").await;
        self.click("button[value=approve]").await;
    }
}

fn list(tools: &[&str]) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":3,"result":{{"tools":[{}]}}}}"#, tools.join(","))
}

const OLDER: &str = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","id":2,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"Notes","version":"1.0.0"}}}"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_newcomer_walks_from_nothing_to_a_rug_pull_that_is_noticed() {
    let Some(browser) = Browser::start().await else { return };
    browser.look(Look { width: 1280, dark: false, scripts: true }).await;
    let mut walk = Newcomer::new(browser).await;

    // The set-up link makes the first administrator, who decides alone for now.
    let setup = walk.running.setup.clone().expect("a link");
    let setup = setup.strip_prefix(&walk.url()).expect("one of ours").to_owned();
    walk.open(&setup).await;
    walk.fill("input[name=name]", "ada").await;
    walk.fill("input[name=password]", PASSWORD).await;
    walk.fill("input[name=again]", PASSWORD).await;
    walk.tick("input[value=solo]").await;
    walk.click("form.panel button.go").await;
    walk.says(&["Let a key speak for a namespace", "Publish a first release"]).await;
    for page in ["/queue", "/servers", "/pinsets", "/pinsets/default", "/log", "/check", "/docs", "/publishers"] {
        walk.open(page).await;
    }
    for page in ["", "/registry", "/users", "/tokens", "/authorities", "/policy", "/keys"] {
        walk.open(&format!("/settings{page}")).await;
    }

    // A key, its authority and a token, beside the running server; then a real capture over stdio.
    let (key, release) = (walk.path("key"), walk.path("release.json"));
    walk.run(&["keygen", "-o", &key], 0).await;
    walk.admin(&["authority", "add", "com.example", "--key", &format!("{key}.pub")]).await;
    let token = walk.admin(&["token", "add", "--scope", "publish:com.example", "--user", "ada"]).await;
    let program = Program::new([OLDER.to_owned(), INITIALIZED.to_owned(), list(&[EXPORT, SEARCH])]);
    let command = program.command();
    let start = ["capture", "--server", "com.example/notes", "--version", "1.0.0", "-o", &release, "--"];
    let args: Vec<&str> = start.into_iter().chain(command.iter().map(String::as_str)).collect();
    walk.ended(Desk::new().in_real_time().run(&args).await, &args, 0);
    walk.publish("release.json", token.trim()).await;

    // Review: the queue, the alias, both candidates; the second without scripts.
    walk.open("/queue").await;
    walk.says(&["2 candidates wait", "Exports the notes."]).await;
    walk.click("tr[data-row] a.name").await;
    walk.says(&["Bind an alias before approving.", "opened as unknown"]).await;
    walk.fill("input[name=alias]", "notes").await;
    walk.click("form.line-form button.go").await;
    walk.open("/queue").await;
    walk.click("tr[data-row] a.name").await;
    walk.says(&["notes__", "solo, so you decide all the same", "Approving will", "strict Ed25519 signature"]).await;
    walk.approve("Needed by the support team; read in full.").await;
    walk.says(&["Approved.", "This is the next one."]).await;
    walk.look(390, true, false).await;
    walk.open("/queue").await;
    walk.click("tr[data-row] a.name").await;
    walk.says(&["Continue to the decision"]).await;
    walk.click(".after a.button, aside a.button").await;
    walk.fill("textarea[name=reason]", "Needed as well; read without scripts.").await;
    walk.tick("input[name=read]").await;
    walk.click("button[value=approve]").await;
    walk.says(&["Approved."]).await;
    for page in ["/", "/queue"] {
        walk.open(page).await;
    }
    walk.look(390, true, true).await;
    for page in ["/", "/queue", "/servers", "/servers/com.example/notes", "/pinsets/default", "/log", "/check"] {
        walk.open(page).await;
    }
    walk.look(1280, false, true).await;

    // A gateway: trust, pull, check.
    let (fingerprint, trust) = (walk.running.app.fingerprint().to_string(), walk.path("trust.txt"));
    walk.run(&["trust", &walk.url(), "-o", &trust, "--fingerprint", &fingerprint], 0).await;
    walk.pull().await;
    walk.check(&[EXPORT, SEARCH], 0).await;
    let changed = walk.check(&[EXPORT_2, SEARCH], 1).await;
    assert!(changed.contains("changed"), "{changed}");

    // The page says the same, of the same list.
    walk.open("/check").await;
    walk.fill("textarea[name=list]", &format!("[{EXPORT_2},{SEARCH}]")).await;
    walk.fill("input[name=alias]", "notes").await;
    walk.click(".opts button.go").await;
    walk.says(&["2 descriptors: 1 quarantined, 1 allowed", "changed", "exit code 1"]).await;

    // The changed release, over HTTP: the page names what grew, and the old pin stays until somebody decides.
    let json = |body: &str| Reply::With(200, "application/json", "", body.to_owned());
    let endpoint = Endpoint::new(
        &walk.clock,
        vec![
            Reply::With(400, "text/plain", "", "Bad Request: no session".to_owned()),
            Reply::With(200, "application/json", "s-1", INITIALIZED.to_owned()),
            json(&list(&[EXPORT_2, SEARCH])),
        ],
    )
    .await;
    let second = walk.path("second.json");
    let url = endpoint.url.to_string();
    let args = ["capture", "--server", "com.example/notes", "--version", "1.1.0", "-o", &second, "--url", &url];
    walk.ended(Desk::new().in_real_time().run(args).await, &args, 0);
    walk.publish("second.json", token.trim()).await;
    walk.open("/").await;
    walk.says(&["1 thing needs someone now", "changed"]).await;
    walk.open("/queue?reason=changed").await;
    walk.click("tr[data-row] a.name").await;
    walk.says(&[
        "The description is the same, word for word. What the tool can do is not.",
        "Its capability grew",
        "hint flipped",
    ])
    .await;
    walk.pull().await;
    walk.check(&[EXPORT, SEARCH], 0).await;
    walk.check(&[EXPORT_2, SEARCH], 1).await;
    walk.approve("Announced by the publisher, and wanted.").await;
    walk.pull().await;
    walk.check(&[EXPORT_2, SEARCH], 0).await;

    // And back: the decision's own page revokes.
    walk.open("/pinsets/default").await;
    walk.click("tr[data-row] a.name").await;
    walk.says(&["Signed by", "The record"]).await;
    walk.tick("summary.deny-link").await;
    walk.fill("textarea[name=reason]", "The publisher's key is in doubt.").await;
    walk.click("button.deny").await;
    walk.says(&["Revoked."]).await;
    walk.pull().await;
    let revoked = walk.check(&[EXPORT_2, SEARCH], 1).await;
    assert!(revoked.contains("revoked"), "{revoked}");
    let size = walk.running.app.moment().checkpoint.size;
    for page in ["/queue?state=approved", "/servers/com.example/notes", "/log?type=decision"] {
        walk.open(page).await;
    }
    walk.open(&format!("/log/entries/{}", size - 1)).await;
    walk.click(".facts a, p a").await;

    // Looking back: an entry by its number, a version with what it changed, any other against it; narrow, dark and without
    // scripts, too.
    for (width, dark, scripts) in [(1280, false, true), (390, true, true), (390, false, false)] {
        walk.look(width, dark, scripts).await;
        walk.open("/log?type=keys").await;
        walk.open("/log").await;
        walk.fill("input[name=find]", &(size - 2).to_string()).await;
        walk.click("form.search button").await;
        walk.says(&["Where it matters", "The way to the root", "Keep the proof"]).await;
        walk.open("/pinsets/default").await;
        walk.click("a.button[href$=versions]").await;
        walk.says(&["1 revoked", "alias notes bound", "the first: nothing before it"]).await;
        walk.click("tr[data-row] a.name").await;
        walk.says(&["1 revoked", "notes.export"]).await;
        walk.fill("input[name=against]", "1").await;
        walk.click("form.search button").await;
        walk.says(&["from version 1 to this one", "bound"]).await;
        walk.open("/settings/registry").await;
        walk.says(&["Anchor", "Heads", "Keys", "Stored entries", "Database"]).await;
    }

    assert!(walk.wrong.is_empty(), "{}", walk.wrong.join("\n"));
    let Newcomer { browser, running, clock, .. } = walk;
    browser.close().await;
    let stopped = running.stop();
    clock.advance(Span::seconds(31));
    stopped.await.expect("stops");
}
