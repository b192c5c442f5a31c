//! The registry as `serve` runs it: its whole stack of layers, its listeners, its log.

use std::{
    io::{self, Write},
    ops::Deref,
    sync::{Arc, Mutex},
};

use axum::{
    Router,
    body::Body,
    http::{Request, header},
    routing::get,
};
use countersign::{
    api,
    cli::{
        journal,
        serve::{self, Running},
    },
    clock::{Span, Timestamp},
    config::{self, Flags, Log, LogForm, PublicUrl, Readers},
    env::ManualClock,
    ui,
    web::{CONTENT_SECURITY_POLICY, Kind, Problem, Settings, Web, layers},
};
use tempfile::TempDir;
use tokio::io::AsyncWriteExt as _;
use tower::ServiceExt as _;

use crate::{
    databases::{Engine, Fresh, block_on},
    service::Bench,
    terminal::Desk,
    whole::EndsWhole,
};

/// A registry that serves; what it kept is checked when it stops, and when nobody stops it.
pub(crate) struct Serving {
    running: Running,
    whole: EndsWhole,
}

impl Serving {
    pub(crate) fn new(running: Running) -> Self {
        let whole = EndsWhole::new(running.app.clone());
        Self { running, whole }
    }

    pub(crate) async fn stop(self) -> Result<(), countersign::cli::Failure> {
        drop(self.whole);
        self.running.stop().await
    }
}

impl Deref for Serving {
    type Target = Running;

    fn deref(&self) -> &Running {
        &self.running
    }
}

/// Starts a registry on loopback with these flags and this `countersign.toml`.
async fn started(flags: Flags, file: &str) -> (Serving, ManualClock, TempDir) {
    let start: Timestamp = "2026-12-01T09:00:00.000000Z".parse().expect("a time");
    let (clock, folder) = (ManualClock::at(start), tempfile::tempdir().expect("a folder"));
    let data = folder.path().join("data");
    std::fs::create_dir(&data).expect("made");
    std::fs::write(data.join("countersign.toml"), file).expect("written");
    let desk = Desk::at(&clock);
    let flags = Flags { listen: Some("127.0.0.1:0".to_owned()), ..flags };
    let settings = config::Serve::load(&data, &flags, &desk.vars).expect("settings");
    let running = serve::start(&settings, &desk.env()).await.expect("starts");
    (Serving::new(running), clock, folder)
}

fn client() -> reqwest::Client {
    reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none()).build().expect("a client")
}

const BROWSER: (&str, &str) = ("accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8");

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_forwarded_address_counts_from_a_trusted_proxy_and_from_nobody_else() {
    for (trusted, one_by_one) in [("127.0.0.0/8", true), ("192.0.2.0/24", false)] {
        let flags = Flags { trusted_proxy: vec![trusted.to_owned()], ..Flags::default() };
        let (running, _, _folder) = started(flags, "[limits]\nrequests_per_minute = 2\n").await;
        let client = client();
        let asked = async |from: &str| {
            let request = client.get(format!("{}v1/trust", slashed(&running))).header("x-forwarded-for", from);
            request.send().await.expect("answers").status().as_u16()
        };
        assert_eq!([asked("203.0.113.7").await, asked("203.0.113.7").await], [200, 200], "{trusted}");
        let third = if one_by_one { 200 } else { 429 };
        assert_eq!(asked("203.0.113.8").await, third, "{trusted}: another client has a rate of its own, if it is one");
        assert_eq!(asked("203.0.113.7").await, 429, "{trusted}");
        // What a client wrote into the header itself stands before what the proxy saw.
        assert_eq!(asked("198.51.100.1, 203.0.113.7").await, 429, "{trusted}");
        running.stop().await.expect("stops");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scheme_and_host_are_those_of_the_public_url_whatever_a_proxy_forwards() {
    let flags = Flags {
        trusted_proxy: vec!["127.0.0.0/8".to_owned()],
        public_url: Some("https://pins.example".to_owned()),
        ..Flags::default()
    };
    let (running, _, _folder) = started(flags, "readers = \"token\"\n").await;
    assert!(running.setup.as_deref().is_some_and(|link| link.starts_with("https://pins.example/setup/")));
    let path = running.setup.as_deref().and_then(|link| link.strip_prefix("https://pins.example")).expect("ours");
    let url = format!("http://{}{path}", running.address);
    let fields = "name=ada&password=correct+horse+battery&again=correct+horse+battery&who=team";
    let sent = async |origin: &str| {
        let request = client().post(&url).header("origin", origin).header("x-forwarded-proto", "http");
        let request = request.header("x-forwarded-host", "evil.example").header("content-type", FORM).body(fields);
        request.send().await.expect("answers")
    };
    for origin in ["http://evil.example", "https://evil.example", &format!("http://{}", running.address)] {
        assert_eq!(sent(origin).await.status().as_u16(), 403, "{origin}");
    }
    let made = sent("https://pins.example").await;
    assert_eq!(made.status().as_u16(), 303);
    let cookie = made.headers()["set-cookie"].to_str().expect("text");
    assert!(cookie.starts_with("__Host-session=") && cookie.contains("Secure"), "{cookie}");
    running.stop().await.expect("stops");
}

const FORM: &str = "application/x-www-form-urlencoded";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_address_of_its_own_for_operators_takes_what_is_theirs_off_the_public_one() {
    let flags = Flags { admin_listen: Some("127.0.0.1:0".to_owned()), ..Flags::default() };
    let (running, _, _folder) = started(flags, "").await;
    let (public, admin) = (running.address, running.admin_address.expect("asked for"));
    assert_ne!(public, admin);
    let client = client();
    let asked = async |at: std::net::SocketAddr, path: &str| {
        let answer = client.get(format!("http://{at}{path}")).send().await.expect("answers");
        (answer.status().as_u16(), answer.text().await.expect("text"))
    };
    for path in ["/metrics", "/readyz"] {
        let (status, body) = asked(admin, path).await;
        assert_eq!(status, 200, "{path}: {body}");
        assert_eq!(asked(public, path).await.0, 404, "{path}");
    }
    assert_eq!(asked(public, "/healthz").await.0, 200);
    for path in ["/", "/v1/trust", "/log/checkpoint", "/sign-in"] {
        assert_eq!(asked(admin, path).await.0, 404, "{path}: nothing else is there");
    }
    let (_, metrics) = asked(admin, "/metrics").await;
    assert!(metrics.contains("path=\"/healthz\""), "it measures what the public address answers: {metrics}");
    running.stop().await.expect("stops");

    let (running, _, _folder) = started(Flags::default(), "").await;
    for path in ["/metrics", "/readyz"] {
        assert_eq!(asked(running.address, path).await.0, 200, "{path}");
    }
    running.stop().await.expect("stops");
}

fn slashed(running: &Running) -> String {
    format!("{}/", running.url.as_str().trim_end_matches('/'))
}

/// A registry's router in process, with its pages, and what a test adds.
async fn with_pages<'a>(bench: &Bench<'a>, at_once: usize, per_minute: u32) -> Web {
    let mut settings = bench.settings();
    settings.limits.requests_at_once = at_once;
    settings.limits.requests_per_minute = per_minute;
    let app = bench.open_with(&settings, true).await.expect("opens");
    let public_url = PublicUrl::parse("https://pins.example").expect("legal");
    Web::new(app, Settings { public_url, readers: Readers::Anonymous, trusted_proxy: vec![], admin_apart: false })
}

async fn asked(router: &Router, request: Request<Body>) -> (u16, axum::http::HeaderMap, String) {
    let response = router.clone().oneshot(request).await.expect("infallible");
    let (parts, body) = response.into_parts();
    let body = axum::body::to_bytes(body, 1 << 20).await.expect("ends");
    (parts.status.as_u16(), parts.headers, String::from_utf8(body.to_vec()).expect("text"))
}

/// A request whose body never ends, and what keeps it so.
async fn endless(path: &str, accept: (&str, &str)) -> (Request<Body>, tokio::io::DuplexStream) {
    let (kept, read) = tokio::io::duplex(1);
    let body = Body::from_stream(tokio_util::io::ReaderStream::new(read));
    let request = Request::post(path)
        .header("origin", "https://pins.example")
        .header(header::CONTENT_TYPE, FORM)
        .header(accept.0, accept.1);
    (request.body(body).expect("a request"), kept)
}

#[test]
fn a_request_is_answered_within_a_minute_or_told_that_it_took_too_long() {
    block_on(async {
        let fresh = Fresh::new(Engine::Sqlite).await;
        let bench = Bench::new(&fresh);
        let web = with_pages(&bench, 64, 600).await;
        let router = api::router(&web, ui::pages(&web));
        for accept in [BROWSER, ("accept", "application/json")] {
            let (request, mut kept) = endless("/sign-in", accept).await;
            let answer = asked(&router, request);
            tokio::pin!(answer);
            let entered = async {
                // The pipe holds one byte: the handler has read the first when the second fits.
                kept.write_all(b"na").await.expect("read");
            };
            tokio::select! {
                biased;
                (status, ..) = &mut answer => panic!("answered {status} before its time"),
                () = entered => {}
            }
            bench.pass(Span::micros(59_999_999));
            for _ in 0..100 {
                let early =
                    std::future::poll_fn(|cx| std::task::Poll::Ready(answer.as_mut().poll(cx).is_ready())).await;
                assert!(!early, "a microsecond before the minute is over");
                tokio::task::yield_now().await;
            }
            bench.pass(Span::micros(1));
            let (status, headers, body) = answer.await;
            assert_eq!(status, 503, "{body}");
            if accept == BROWSER {
                is_page(&headers, &body, "timeout");
                assert!(body.contains("It may have been recorded all the same"), "{body}");
            } else {
                assert!(body.starts_with("{\"type\":\"/problems/timeout\""), "{body}");
            }
        }
        web.app().close().await;
    });
}

fn is_page(headers: &axum::http::HeaderMap, body: &str, slug: &str) {
    assert_eq!(headers["content-type"], "text/html; charset=utf-8", "{body}");
    assert_eq!(headers["content-security-policy"], CONTENT_SECURITY_POLICY);
    assert_eq!(headers["cache-control"], "no-store");
    assert_eq!(headers["x-content-type-options"], "nosniff");
    assert!(body.contains(&format!("<code>{slug}</code>")) && body.contains("id=\"main\""), "{body}");
    let id = headers["x-request-id"].to_str().expect("text");
    assert_eq!(body.contains(id), !matches!(slug, "rate-limited"), "a fault of ours names its request: {body}");
}

#[test]
fn what_the_layers_refuse_is_a_page_for_a_browser_and_a_problem_for_a_program() {
    block_on(async {
        let fresh = Fresh::new(Engine::Sqlite).await;
        let bench = Bench::new(&fresh);
        let from = |path: &str, accept: (&str, &str)| {
            Request::get(path).header(accept.0, accept.1).body(Body::empty()).expect("a request")
        };
        let web = with_pages(&bench, 64, 4).await;
        let router = api::router(&web, ui::pages(&web));
        for _ in 0..4 {
            assert_eq!(asked(&router, from("/docs", BROWSER)).await.0, 200);
        }
        let (status, headers, body) = asked(&router, from("/docs", BROWSER)).await;
        assert_eq!((status, headers["retry-after"].to_str().expect("text")), (429, "16"));
        is_page(&headers, &body, "rate-limited");
        for (path, accept) in
            [("/docs", ("accept", "*/*")), ("/v1/trust", BROWSER), ("/docs", ("accept", "text/htmlx"))]
        {
            let (status, headers, body) = asked(&router, from(path, accept)).await;
            assert_eq!((status, headers["content-type"].to_str().expect("text")), (429, PROBLEM), "{path}: {body}");
            assert_eq!(headers["retry-after"], "16");
        }

        async fn broken() -> &'static str {
            panic!("the database password is hunter2")
        }
        let web = with_pages(&bench, 1, 600).await;
        let pages = ui::pages(&web);
        let router = layers(pages.routes.route("/broken", get(broken)), &web, pages.shown);
        let (status, headers, body) = asked(&router, from("/broken", BROWSER)).await;
        assert_eq!(status, 500);
        is_page(&headers, &body, "internal");
        assert!(!body.contains("hunter2"));

        let (request, mut kept) = endless("/sign-in", BROWSER).await;
        let waiting = asked(&router, request);
        tokio::pin!(waiting);
        tokio::select! {
            biased;
            (status, ..) = &mut waiting => panic!("answered {status}"),
            written = kept.write_all(b"na") => written.expect("read"),
        }
        let (status, headers, body) = asked(&router, from("/docs", BROWSER)).await;
        assert_eq!(status, 503);
        is_page(&headers, &body, "busy");
        web.app().close().await;
    });
}

const PROBLEM: &str = "application/problem+json";

/// Keeps what is logged.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<u8>>>);

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("whole").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What would end a line, steer a terminal, turn the reading direction or hide.
const HOSTILE: &str = "x\n2026-12-01T08:00:00Z  INFO forged\r\u{1b}[2J\u{1b}]0;owned\u{7}\u{9b}31m\u{202e}evil\u{2066}\
                       \u{200b}\u{e0041}\u{2028}\u{feff}\u{7f}\u{85}end";

fn assert_inert(log: &str) {
    for c in log.chars() {
        assert!(c == '\n' || (countersign::text::class(c).is_none() && !c.is_control()), "{c:?} in {log:?}");
    }
}

/// Runs `work` while everything it logs on this thread is kept.
fn logged(form: LogForm, clock: &ManualClock, work: impl AsyncFnOnce()) -> String {
    let kept = Kept::default();
    let log = Log { filter: "debug,sqlx=off".to_owned(), form };
    let subscriber = journal::subscriber(&log, Arc::new(clock.clone()), Box::new(kept.clone()));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    tracing::subscriber::with_default(subscriber, || runtime.block_on(work()));
    String::from_utf8(kept.0.lock().expect("whole").clone()).expect("text")
}

#[test]
fn strangers_text_is_inert_in_the_log_in_either_form() {
    async fn failing() -> Problem {
        Problem::internal(HOSTILE)
    }
    async fn late() -> Problem {
        Problem::new(Kind::Unavailable).caused(format_args!("column {HOSTILE}"))
    }
    for form in [LogForm::Text, LogForm::Json] {
        let (fresh, clock) = block_on(async {
            let fresh = Fresh::new(Engine::Sqlite).await;
            let clock = Bench::new(&fresh).clock.clone();
            (fresh, clock)
        });
        let log = logged(form, &clock, async || {
            let bench = Bench::new(&fresh);
            bench.spoiled();
            let web = with_pages(&bench, 64, 600).await;
            let pages = ui::pages(&web);
            let routes = pages.routes.route("/failing", get(failing)).route("/late/{name}", get(late));
            let router = layers(routes, &web, pages.shown);
            let path: String = HOSTILE.bytes().map(|byte| format!("%{byte:02X}")).collect();
            for path in ["/failing".to_owned(), format!("/late/{path}"), format!("/nothing/{path}?{path}")] {
                let request = Request::get(path).header("user-agent", "x").header("x-request-id", "forged");
                asked(&router, request.body(Body::empty()).expect("a request")).await;
            }
            tracing::warn!(error = %HOSTILE, name = HOSTILE, "{HOSTILE}");
            web.app().close().await;
        });
        assert_inert(&log);
        let lines: Vec<&str> = log.lines().filter(|line| line.contains("evil")).collect();
        assert_eq!(lines.len(), 3, "one line an event, and none for what a client wrote into an address: {log}");
        assert!(log.contains("/late/{name}") && !log.contains("%1B") && !log.contains("forged\"}"), "{log}");
        for line in log.lines() {
            match form {
                LogForm::Text => assert!(line.starts_with("2026-11-30T"), "{line}"),
                LogForm::Json => {
                    let event: serde_json::Value = serde_json::from_str(line).expect(line);
                    assert!(event["timestamp"].as_str().is_some_and(|at| at.starts_with("2026-11-30T")), "{line}");
                    if line.contains("forged") && event["level"] == "WARN" {
                        assert_eq!(event["fields"]["error"], HOSTILE, "a reader of JSON has it whole");
                    }
                }
            }
        }
    }
}

#[test]
fn a_panic_is_an_event_of_the_log_and_its_message_is_inert() {
    for form in [LogForm::Text, LogForm::Json] {
        let clock = ManualClock::at("2026-12-01T09:00:00.000000Z".parse().expect("a time"));
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(journal::panicked));
        let log = logged(form, &clock, async || {
            let broke = std::panic::catch_unwind(|| panic!("{HOSTILE}"));
            assert!(broke.is_err());
        });
        std::panic::set_hook(before);
        assert_inert(&log);
        assert_eq!(log.lines().count(), 1, "{log}");
        assert!(log.contains("panicked") && log.contains("evil") && log.contains("tests/it/serve.rs"), "{log}");
    }
}
