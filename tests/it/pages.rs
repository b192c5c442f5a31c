//! The pages through the router in process, as a browser sends forms and keeps a cookie.

use std::sync::{Arc, LazyLock};

use axum::{
    Router,
    body::Body,
    http::{Method, Request, StatusCode, header},
};
use countersign::{
    api,
    clock::Span,
    config::{PublicUrl, Readers, Registry, Witnesses},
    env::{ManualClock, SeededRng},
    pinset::trust::Trust,
    scan::Ruleset,
    service::{
        App, Opening,
        access::{AddAccount, Principal},
    },
    store::Role,
    ui,
    web::{Settings, Web},
};
use tower::ServiceExt as _;

use crate::{
    databases::{Engine, Fresh},
    doubles::Witness,
    service::Bench,
    whole::EndsWhole,
};

pub(crate) const URL: &str = "https://pins.example";
pub(crate) const PASSWORD: &str = "correct horse battery";

static RULES: LazyLock<Arc<Ruleset>> =
    LazyLock::new(|| Arc::new(Ruleset::builtin().expect("it passes its own examples")));

/// A registry with its pages.
pub(crate) struct Site {
    pub(crate) app: App,
    clock: ManualClock,
    router: Router,
    _whole: EndsWhole,
    fresh: Arc<Fresh>,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: axum::http::HeaderMap,
    pub(crate) body: String,
}

/// Somebody's browser: it sends the cookie it was given, and says where its forms come from.
pub(crate) struct Browser<'a> {
    site: &'a Site,
    pub(crate) cookie: Option<String>,
}

impl Site {
    pub(crate) async fn new() -> Self {
        Self::at(URL).await
    }

    pub(crate) async fn at(url: &str) -> Self {
        Self::open(Arc::new(Fresh::new(Engine::Sqlite).await), url, None).await
    }

    /// With three witnesses that know its log, of which two must cosign.
    pub(crate) async fn watched() -> (Self, Vec<Witness>) {
        let fresh = Arc::new(Fresh::new(Engine::Sqlite).await);
        let mut witnesses = Vec::new();
        for n in 1..=3 {
            witnesses.push(Witness::new(&Bench::new(&fresh).clock, n).await);
        }
        let policy = Witnesses::parse(&Witness::policy(2, &witnesses)).expect("a policy");
        let site = Self::open(fresh, URL, Some(policy)).await;
        let logs = Trust::first(&site.app.moment().trust.note).expect("signed").logs().expect("keys");
        witnesses.iter().for_each(|witness| witness.desk().logs.clone_from(&logs));
        (site, witnesses)
    }

    /// The same registry after its anchor was lost: it opens, read-only.
    pub(crate) async fn without_anchor(self) -> Self {
        self.app.close().await;
        std::fs::remove_file(self.fresh.dir.path().join("data/anchor")).expect("is there");
        Self::open(Arc::clone(&self.fresh), URL, None).await
    }

    async fn open(fresh: Arc<Fresh>, url: &str, witnesses: Option<Witnesses>) -> Self {
        // The same keys and secrets however many sites were made before: pages are compared word for word.
        let (registry, clock) = {
            let bench = Bench::new(&fresh);
            (Registry { witnesses, ..bench.settings() }, bench.clock.clone())
        };
        let opening = Opening { registry: &registry, host: None, rules: Arc::clone(&RULES), create: true };
        let app = App::open(opening, Arc::new(clock.clone()), Arc::new(SeededRng::new(1))).await.expect("opens");
        let public_url = PublicUrl::parse(url).expect("usable");
        let settings = Settings { public_url, readers: Readers::Token, trusted_proxy: Vec::new(), admin_apart: false };
        let web = Web::new(app.clone(), settings);
        let router = api::router(&web, ui::pages(&web));
        let _whole = EndsWhole::new(app.clone());
        Self { app, clock, router, _whole, fresh }
    }

    /// With an account of each role, named after it.
    pub(crate) async fn staffed() -> Self {
        let site = Self::new().await;
        for (name, roles) in [
            ("admin", &[Role::Admin, Role::Reviewer][..]),
            ("reviewer", &[Role::Reviewer]),
            ("auditor", &[Role::Auditor]),
        ] {
            site.add(name, roles).await;
        }
        site
    }

    pub(crate) async fn add(&self, name: &str, roles: &[Role]) {
        let password = self.app.hash_password(PASSWORD.parse().expect("long enough")).await.expect("hashed");
        let roles = roles.iter().copied().collect();
        let name = name.parse().expect("legal");
        self.app.write(AddAccount { name, password, roles, by: Principal::LocalOperator }).await.expect("made");
    }

    pub(crate) fn pass(&self, span: Span) {
        self.clock.advance(span);
    }

    pub(crate) fn nobody(&self) -> Browser<'_> {
        Browser { site: self, cookie: None }
    }

    /// Somebody who has signed in.
    pub(crate) async fn signed_in(&self, name: &str) -> Browser<'_> {
        let mut browser = self.nobody();
        let answer = browser.post("/sign-in", &[("name", name), ("password", PASSWORD)]).await;
        assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.body);
        browser.keep(&answer);
        browser
    }

    pub(crate) async fn send(&self, request: Request<Body>) -> Answer {
        let response = self.router.clone().oneshot(request).await.expect("answers");
        let (status, headers) = (response.status(), response.headers().clone());
        let body = axum::body::to_bytes(response.into_body(), 16 << 20).await.expect("whole");
        Answer { status, headers, body: String::from_utf8(body.to_vec()).expect("text") }
    }
}

impl Browser<'_> {
    pub(crate) async fn get(&self, path: &str) -> Answer {
        let request = self.request(Method::GET, path).body(Body::empty()).expect("a request");
        self.site.send(request).await
    }

    pub(crate) async fn post(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        self.post_from(path, fields, &[("origin", URL), ("sec-fetch-site", "same-origin")]).await
    }

    pub(crate) async fn post_from(&self, path: &str, fields: &[(&str, &str)], from: &[(&str, &str)]) -> Answer {
        let mut request = self.request(Method::POST, path);
        for (name, value) in from {
            request = request.header(*name, *value);
        }
        let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        let request = request.header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
        self.site.send(request.body(Body::from(body)).expect("a request")).await
    }

    /// Takes the cookie of an answer.
    pub(crate) fn keep(&mut self, answer: &Answer) {
        let cookie = answer.header("set-cookie").split(';').next().expect("has a name");
        self.cookie = Some(cookie.to_owned());
    }

    fn request(&self, method: Method, path: &str) -> axum::http::request::Builder {
        let request = Request::builder().method(method).uri(path);
        match &self.cookie {
            Some(cookie) => request.header(header::COOKIE, cookie),
            None => request,
        }
    }
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().expect("text"))
    }

    /// Asserts that it is a page with this status, and gives its words without the frame's.
    pub(crate) fn page(&self, status: u16) -> String {
        assert_eq!(self.status.as_u16(), status, "{}", self.body);
        assert_eq!(self.header("content-type"), "text/html; charset=utf-8");
        assert_eq!(self.header("cache-control"), "no-store");
        inert(&self.body);
        let main = self.body.split_once("id=\"main\">").expect("has a main part").1;
        words(main.split_once("</main>").expect("ends").0)
    }

    /// Asserts that it leads elsewhere.
    pub(crate) fn leads_to(&self, path: &str) {
        assert_eq!((self.status.as_u16(), self.header("location")), (303, path), "{}", self.body);
    }
}

/// No page has a script or a style of its own, or loads from elsewhere: the policy would stop it, so it would be broken.
fn inert(html: &str) {
    for bad in [" style=", "<style", " onclick=", " onload=", " onerror=", "javascript:", "src=\"http", "href=\"//"] {
        assert!(!html.contains(bad), "{bad}: {html}");
    }
    for script in html.split("<script").skip(1) {
        assert!(script.starts_with(" src=\"/static/"), "{script}");
    }
}

/// The text of a page, an element a line where it is one of its own.
pub(crate) fn words(html: &str) -> String {
    let mut text = String::new();
    let mut rest = html;
    while let Some((before, tag)) = rest.split_once('<') {
        text.push_str(before);
        let (tag, after) = tag.split_once('>').expect("a tag ends");
        let name = tag.trim_start_matches('/').split([' ', '/']).next().expect("has a name");
        if matches!(
            name,
            "h1" | "h2"
                | "h3"
                | "p"
                | "tr"
                | "form"
                | "li"
                | "label"
                | "legend"
                | "button"
                | "section"
                | "option"
                | "pre"
        ) {
            text.push('\n');
        } else if matches!(name, "td" | "th" | "a" | "span" | "summary" | "code" | "textarea") {
            text.push(' ');
        }
        rest = after;
    }
    let lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    let text: Vec<String> = lines.filter(|line| !line.is_empty()).collect();
    let escapes = [
        ("&#39;", "'"),
        ("&#34;", "\""),
        ("&quot;", "\""),
        ("&#60;", "<"),
        ("&lt;", "<"),
        ("&#62;", ">"),
        ("&gt;", ">"),
    ];
    escapes.iter().fold(text.join("\n"), |text, (escape, letter)| text.replace(escape, letter))
}
