//! The API through its router, on both engines: what it answers, what it refuses, and that a refusal leaves no trace.

mod documents;
mod doors;
mod limits;
mod refused;
mod walk;
mod witnesses;

use std::{
    collections::BTreeSet,
    sync::{Arc, LazyLock},
};

use axum::{
    Router,
    body::{Body, to_bytes},
    http::{HeaderMap, Request},
};
use countersign::{
    api,
    attest::{Role as Speaks, Scope, Statement, dsse},
    canon::Sha256,
    clock::Span,
    config::{PublicUrl, Readers},
    descriptor::Release,
    env::{ManualClock, SeededRng},
    keys::SigningKey,
    review::ReviewerId,
    scan::Ruleset,
    service::{
        App, Opening,
        access::{AddAccount, AddToken, Principal},
        govern::{Governor, Grant, grant},
    },
    store::Role,
    web::{Pages, Settings, Web},
};
use serde_json::{Value, json};
use tower::ServiceExt as _;

use crate::{databases::Fresh, service::Bench, whole::EndsWhole};

pub(crate) use crate::in_memory::{EXPORT, EXPORT_2, SEARCH};

/// A registry with people, tokens and a publisher's key, and its router.
pub(crate) struct Site {
    pub(crate) app: App,
    pub(crate) clock: ManualClock,
    pub(crate) router: Router,
    /// `publish:com.example`
    pub(crate) publish: String,
    /// `pull:default`
    pub(crate) pull: String,
    /// `review`, of Ada, who administers too.
    pub(crate) ada: String,
    /// `review`, of Rex.
    pub(crate) rex: String,
    pub(crate) whole: EndsWhole,
}

/// What came back.
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

pub(crate) const PASSWORD: &str = "correct horse battery";
/// Rules of our own: with the built-in ones each of their improvements would move every digest in the snapshots.
const PACK: &str = r#"
[[rule]]
id = "own/private-key"
severity = "high"
surface = "metadata-poisoning"
message = "The text names a private key."
find = '\.ssh/id_rsa'
match = ["read ~/.ssh/id_rsa first"]
no_match = ["read the manual first"]
"#;
/// Longer than a head lives.
pub(crate) const LATER: Span = Span::minutes(61);

/// The key that speaks for `com.example`.
pub(crate) fn publisher() -> SigningKey {
    SigningKey::from_seed(&[9; 32])
}

impl Site {
    pub(crate) async fn new(fresh: &Fresh) -> Self {
        Self::with(fresh, Readers::Anonymous, 1_000_000).await
    }

    pub(crate) async fn with(fresh: &Fresh, readers: Readers, requests_per_minute: u32) -> Self {
        let bench = Bench::new(fresh);
        let mut settings = bench.settings();
        settings.limits.requests_per_minute = requests_per_minute;
        Self::of(&bench, &settings, readers).await
    }

    pub(crate) async fn of(bench: &Bench<'_>, settings: &countersign::config::Registry, readers: Readers) -> Self {
        static RULES: LazyLock<Arc<Ruleset>> =
            LazyLock::new(|| Arc::new(Ruleset::from_packs(&[("own", PACK)]).expect("it passes its own examples")));
        let opening = Opening { registry: settings, host: None, rules: Arc::clone(&RULES), create: true };
        let clock = bench.clock.clone();
        let app = App::open(opening, Arc::new(clock.clone()), Arc::new(SeededRng::new(7))).await.expect("opens");
        let public_url = PublicUrl::parse("https://pins.example").expect("legal");
        let settings = Settings { public_url, readers, trusted_proxy: vec![], admin_apart: false };
        let router = api::router(&Web::new(app.clone(), settings), Pages::none());
        account(&app, "ada", &[Role::Admin, Role::Reviewer]).await;
        account(&app, "rex", &[Role::Reviewer]).await;
        account(&app, "bot", &[]).await;
        let publish = token(&app, "publish:com.example", "bot").await;
        let pull = token(&app, "pull:default", "bot").await;
        let (ada, rex) = (token(&app, "review", "ada").await, token(&app, "review", "rex").await);
        authority(&app, "com.example", &publisher(), Speaks::Publisher).await;
        let whole = EndsWhole::new(app.clone());
        Self { app, clock, router, publish, pull, ada, rex, whole }
    }

    /// Serves it on a port of its own, as long as the test lasts.
    pub(crate) async fn serve(&self) -> String {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("bound"));
        let router = self.router.clone().into_make_service_with_connect_info::<std::net::SocketAddr>();
        tokio::spawn(async move { axum::serve(listener, router).await });
        url
    }

    pub(crate) async fn send(&self, request: Request<Body>) -> Reply {
        let response = self.router.clone().oneshot(request).await.expect("infallible");
        let (parts, body) = response.into_parts();
        let body = to_bytes(body, 64 << 20).await.expect("ends");
        Reply { status: parts.status.as_u16(), headers: parts.headers, body: body.to_vec() }
    }

    pub(crate) async fn get(&self, path: &str) -> Reply {
        self.send(Request::get(path).body(Body::empty()).expect("a request")).await
    }

    pub(crate) async fn get_as(&self, token: &str, path: &str) -> Reply {
        let request = Request::get(path).header("authorization", format!("Bearer {token}"));
        self.send(request.body(Body::empty()).expect("a request")).await
    }

    pub(crate) async fn post(&self, token: &str, path: &str, body: impl Into<Body>) -> Reply {
        let request = Request::post(path).header("authorization", format!("Bearer {token}"));
        self.send(request.body(body.into()).expect("a request")).await
    }

    pub(crate) async fn post_json(&self, token: &str, path: &str, body: &Value) -> Reply {
        self.post(token, path, body.to_string()).await
    }

    pub(crate) async fn submit(&self, release: &str) -> Reply {
        self.post(&self.publish, "/v1/releases", signed(release, &publisher(), Speaks::Publisher)).await
    }

    /// Publishes these tools of `com.example/notes`.
    pub(crate) async fn published(&self, version: &str, tools: &[&str]) -> Value {
        let reply = self.submit(&release("com.example/notes", version, tools)).await;
        assert_eq!(reply.status, 201, "{reply}");
        reply.json()
    }

    pub(crate) async fn bound(&self) {
        let body = json!({"alias": "notes", "server": "com.example/notes"});
        let reply = self.post_json(&self.ada, "/v1/pinsets/default/aliases", &body).await;
        assert_eq!(reply.status, 201, "{reply}");
    }

    /// What a reviewer is shown.
    pub(crate) async fn candidate(&self, id: &str) -> Value {
        let reply = self.get_as(&self.ada, &format!("/v1/candidates/{id}")).await;
        assert_eq!(reply.status, 200, "{reply}");
        reply.json()
    }

    /// Votes on what is shown now.
    pub(crate) async fn vote(&self, token: &str, id: &str, outcome: &str) -> Reply {
        let shown = self.candidate(id).await["shown"].clone();
        self.vote_on(token, id, outcome, &shown).await
    }

    pub(crate) async fn vote_on(&self, token: &str, id: &str, outcome: &str, shown: &Value) -> Reply {
        let body = json!({"outcome": outcome, "reason": "Read it.", "shown": shown, "accept_findings": []});
        self.post_json(token, &format!("/v1/candidates/{id}/decisions"), &body).await
    }

    /// Approves everything that the answer to a submission says is waiting.
    pub(crate) async fn approved(&self, published: &Value) {
        for candidate in published["candidates"].as_array().expect("a list") {
            let reply = self.vote(&self.ada, candidate["id"].as_str().expect("an id"), "approve").await;
            assert_eq!(reply.status, 201, "{reply}");
        }
    }

    pub(crate) async fn check(&self, body: &Value) -> Value {
        let reply = self.post_json(&self.pull, "/v1/pinsets/default/check", body).await;
        assert_eq!(reply.status, 200, "{reply}");
        reply.json()
    }

    pub(crate) fn size(&self) -> u64 {
        self.app.moment().checkpoint.size
    }
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|e| panic!("{e}: {self}"))
    }

    /// Status and slug of a problem.
    pub(crate) fn problem(&self) -> (u16, String) {
        assert_eq!(self.header("content-type"), "application/problem+json", "{self}");
        let json = self.json();
        assert_eq!(json["status"], self.status, "{self}");
        let slug = json["type"].as_str().and_then(|slug| slug.strip_prefix("/problems/"));
        (self.status, slug.unwrap_or_else(|| panic!("{self}")).to_owned())
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().expect("text"))
    }
}

impl std::fmt::Display for Reply {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {:.2000}", self.status, String::from_utf8_lossy(&self.body))
    }
}

pub(crate) async fn account(app: &App, name: &str, roles: &[Role]) {
    let password = app.hash_password(PASSWORD.parse().expect("long enough")).await.expect("hashed");
    let roles: BTreeSet<Role> = roles.iter().copied().collect();
    let account = AddAccount { name: name.parse().expect("legal"), password, roles, by: Principal::LocalOperator };
    app.write(account).await.expect("made");
}

pub(crate) async fn token(app: &App, scope: &str, account: &str) -> String {
    let asked = AddToken {
        scope: scope.parse().expect("a scope"),
        account: account.parse().expect("legal"),
        days: None,
        by: Principal::LocalOperator,
    };
    app.add_token(asked).await.expect("made").done.0.reveal().to_owned()
}

pub(crate) async fn authority(app: &App, scope: &str, key: &SigningKey, role: Speaks) -> String {
    let by = operator();
    let scope: Scope = scope.parse().expect("a scope");
    grant(app, Grant { scope, key: key.verifying(), role, holder: None, by, alone: true }).await.expect("granted").done
}

pub(crate) fn operator() -> Governor {
    Governor { by: ReviewerId::local_operator(), name: "local-operator".to_owned() }
}

/// The JSON of a release.
pub(crate) fn release(server: &str, version: &str, tools: &[&str]) -> String {
    let tools = tools.join(",");
    format!(
        r#"{{"server":{{"name":"{server}","version":"{version}"}},"capture":{{"complete":true,"tools":[{tools}]}}}}"#
    )
}

/// A submission: the release with an attestation of it.
pub(crate) fn signed(release: &str, key: &SigningKey, role: Speaks) -> String {
    attested(release, release, key, role)
}

/// A submission of one release with an attestation of another.
pub(crate) fn attested(release: &str, other: &str, key: &SigningKey, role: Speaks) -> String {
    let parsed = Release::parse(other.as_bytes()).expect("a release");
    let payload = Statement::for_release(&parsed, role).to_payload();
    with(release, &dsse::sign("application/vnd.in-toto+json", &payload, key))
}

/// A submission with whatever attestation.
pub(crate) fn with(release: &str, attestation: &[u8]) -> String {
    let attestation = String::from_utf8_lossy(attestation);
    format!("{},\"attestation\":{attestation}}}", release.strip_suffix('}').expect("an object"))
}

/// The log folds to exactly what is served and kept; see [`crate::service::check_log`].
pub(crate) async fn assert_fold_equals_store(site: &Site) {
    use countersign::pinset::PinsDocument;
    assert_eq!(crate::service::check_log(&site.app).await, site.size());
    let moment = site.app.moment();
    for set in moment.state.sets() {
        let document = set.document().expect("published");
        let path = |sha256: &Sha256| format!("/v1/pinsets/{}/sets/{sha256}", set.name());
        let served = site.get(&path(&Sha256::of(&document.to_bytes()))).await;
        assert_eq!(served.body, document.to_bytes(), "{served}");
        for (alias, entry) in &document.aliases {
            let served = site.get(&path(&entry.pins_sha256)).await;
            let folded: PinsDocument = moment.state.pins_document(set.name(), alias).expect("folds");
            assert_eq!(served.body, folded.to_bytes(), "{served}");
        }
    }
}
