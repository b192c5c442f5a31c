//! `countersign audit` against a registry that tells the truth, and against ones that don't; on both engines.

mod kept;
mod lies;
mod resume;
mod stored;

use std::{
    collections::BTreeMap,
    fs,
    sync::{Arc, Mutex},
};

use axum::{
    Router,
    body::{Body, to_bytes},
    extract::{Request, State},
    http::{StatusCode, header},
    response::{IntoResponse as _, Response},
};
use countersign::{
    canon::Sha256,
    event::{Event, ReviewerSet},
    keys::SigningKey,
    pinset::trust::Trust,
    review::ReviewerId,
    service::{Step, Stop, Work},
};
use serde_json::Value;
use tower::ServiceExt as _;

use crate::{
    api::{EXPORT, SEARCH, Site},
    databases::Fresh,
    terminal::{Desk, Ran},
};

/// What stands between a registry and whoever asks it.
type Warp = Box<dyn Fn(Vec<u8>) -> (u16, Vec<u8>) + Send>;

/// A registry with a log of some bundles, reached over HTTP through somebody who may change its answers.
pub(crate) struct Court<'a> {
    pub(crate) site: Site,
    pub(crate) fresh: &'a Fresh,
    url: String,
    between: Arc<Between>,
}

struct Between {
    router: Router,
    warps: Mutex<BTreeMap<String, Warp>>,
    asked: Mutex<Vec<String>>,
}

/// The outcome of an audit.
pub(crate) struct Verdict {
    pub(crate) exit: u8,
    pub(crate) report: Value,
    pub(crate) stderr: String,
}

/// Fills the log: so many events that no pin set is changed by.
struct Fill(u8);

impl Step for Fill {
    type Done = ();
    type Refused = ();

    async fn run(&self, work: &mut Work) -> Result<(), Stop<()>> {
        for n in 0..=255 {
            let mut id = [n; 16];
            id[0] = self.0;
            let (reviewer, by) = (ReviewerId::random(id), ReviewerId::local_operator());
            work.append(Event::ReviewerSet(ReviewerSet { reviewer, active: n % 2 == 0, by }))?;
        }
        Ok(())
    }
}

impl<'a> Court<'a> {
    /// Two pin sets, a pinned tool, two full bundles and a partial one, and changes in between.
    pub(crate) async fn of(fresh: &'a Fresh) -> Self {
        let site = Site::new(fresh).await;
        let published = site.published("1.0.0", &[EXPORT]).await;
        site.bound().await;
        let id = published["candidates"][0]["id"].as_str().expect("an id").to_owned();
        for token in [&site.ada, &site.rex] {
            let voted = site.vote(token, &id, "approve").await;
            assert!([201, 409].contains(&voted.status), "{voted}");
        }
        site.app.write(Fill(1)).await.expect("written");
        site.app.write(crate::service::AddSet("prod".to_owned())).await.expect("made");
        site.app.write(Fill(2)).await.expect("written");
        site.published("1.1.0", &[EXPORT, SEARCH]).await;
        assert!(site.size() > 512 && site.size() < 700, "{}", site.size());
        let between =
            Arc::new(Between { router: site.router.clone(), warps: Mutex::default(), asked: Mutex::default() });
        let router = Router::new().fallback(answer).with_state(Arc::clone(&between));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("bound"));
        tokio::spawn(async move { axum::serve(listener, router).await });
        let court = Self { site, fresh, url, between };
        fs::write(court.file("trust.txt"), &court.site.app.moment().trust.note).expect("written");
        court
    }

    pub(crate) fn file(&self, name: &str) -> String {
        self.fresh.dir.path().join(name).to_str().expect("text").to_owned()
    }

    /// Changes the answers at a path.
    pub(crate) fn warp(&self, path: &str, warp: impl Fn(Vec<u8>) -> (u16, Vec<u8>) + Send + 'static) {
        self.between.warps.lock().expect("whole").insert(path.to_owned(), Box::new(warp));
    }

    /// The truth again.
    pub(crate) fn straighten(&self) {
        self.between.warps.lock().expect("whole").clear();
    }

    /// Paths that were asked for since this was asked last.
    pub(crate) fn asked(&self) -> Vec<String> {
        std::mem::take(&mut self.between.asked.lock().expect("whole"))
    }

    pub(crate) async fn run(&self, args: &[&str]) -> Ran {
        Desk::at(&self.site.clock).run(["audit"].iter().chain(args)).await
    }

    /// Audits over HTTP.
    pub(crate) async fn audit(&self, more: &[&str]) -> Verdict {
        let trust = self.file("trust.txt");
        let args: Vec<&str> =
            [self.url.as_str(), "--trust", &trust, "--json"].into_iter().chain(more.iter().copied()).collect();
        Verdict::of(self.run(&args).await)
    }

    /// Audits the database.
    pub(crate) async fn audit_stored(&self, more: &[&str]) -> Verdict {
        let (trust, data) = (self.file("trust.txt"), self.file("data"));
        let mut args = vec![data.as_str(), "--trust", &trust, "--json"];
        let beside = self.fresh.dir.path().join("data/registry.db");
        let url = match &self.fresh.database {
            countersign::config::Database::Postgres(url) => url.reveal().to_owned(),
            countersign::config::Database::Sqlite(path) => {
                if !beside.exists() {
                    std::os::unix::fs::symlink(path, &beside).expect("linked");
                }
                String::new()
            }
        };
        if !url.is_empty() {
            args.extend(["--database-url", &url]);
        }
        args.extend(more);
        Verdict::of(self.run(&args).await)
    }

    pub(crate) fn key(&self, name: &str) -> SigningKey {
        let path = self.fresh.dir.path().join("data/keys").join(name);
        SigningKey::from_pem(&fs::read_to_string(path).expect("there")).expect("a key")
    }

    pub(crate) fn trust(&self) -> Trust {
        Trust::first(&self.site.app.moment().trust.note).expect("signed")
    }

    /// The path of the newest document of `default`: the set, or the pins of `notes`.
    pub(crate) fn document(&self, alias: Option<&str>) -> String {
        let moment = self.site.app.moment();
        let document = moment.state.set_document(&"default".parse().expect("legal")).expect("published");
        let sha256 = match alias {
            Some(alias) => document.aliases[&alias.parse().expect("legal")].pins_sha256,
            None => Sha256::of(&document.to_bytes()),
        };
        format!("/v1/pinsets/default/sets/{sha256}")
    }
}

impl Verdict {
    fn of(ran: Ran) -> Self {
        let report = serde_json::from_str(&ran.stdout).unwrap_or(Value::Null);
        Self { exit: ran.exit, report, stderr: ran.stderr }
    }

    /// Kinds of the faults.
    pub(crate) fn kinds(&self) -> Vec<&str> {
        let faults = self.report["faults"].as_array().into_iter().flatten();
        faults.map(|fault| fault["kind"].as_str().expect("a kind")).collect()
    }

    pub(crate) fn evidence(&self) -> Vec<&str> {
        let evidence = self.report["faults"][0]["evidence"].as_array().into_iter().flatten();
        evidence.map(|text| text.as_str().expect("text")).collect()
    }

    pub(crate) fn count(&self, what: &str) -> u64 {
        self.report["verified"][what].as_u64().unwrap_or_else(|| panic!("{what}: {self}"))
    }
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "exit {}: {} {}", self.exit, self.report, self.stderr)
    }
}

async fn answer(State(between): State<Arc<Between>>, mut request: Request) -> Response {
    let path = request.uri().path().to_owned();
    between.asked.lock().expect("whole").push(path.clone());
    request.headers_mut().remove(header::ACCEPT_ENCODING);
    let response = between.router.clone().oneshot(request).await.expect("infallible");
    let (parts, body) = response.into_parts();
    let body = to_bytes(body, 64 << 20).await.expect("ends").to_vec();
    match between.warps.lock().expect("whole").get(&path) {
        Some(warp) => {
            let (status, body) = warp(body);
            (StatusCode::from_u16(status).expect("a status"), body).into_response()
        }
        None => (parts.status, Body::from(body)).into_response(),
    }
}

/// One bit of a byte, the rest as it was.
pub(crate) fn flipped(at: usize) -> impl Fn(Vec<u8>) -> (u16, Vec<u8>) + Send + 'static {
    move |mut bytes| {
        bytes[at] ^= 1;
        (200, bytes)
    }
}

/// Nothing is there.
pub(crate) fn gone(_: Vec<u8>) -> (u16, Vec<u8>) {
    (404, b"{}".to_vec())
}

/// Nobody looks.
pub(crate) fn down(_: Vec<u8>) -> (u16, Vec<u8>) {
    (503, b"{}".to_vec())
}
