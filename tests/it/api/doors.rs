//! Who is let in: tokens, sessions, origins, and how much at once.

use std::sync::Arc;

use axum::{Router, body::Body, http::Request, routing::get};
use countersign::{
    config::{PublicUrl, Readers},
    service::access::{AddToken, Principal, RevokeToken},
    web::{Pages, Settings, Web, layers},
};
use serde_json::json;
use tokio::sync::Notify;
use tower::ServiceExt as _;

use super::{EXPORT, PASSWORD, Reply, Site, token};
use crate::databases::{block_on, on_both};

const COOKIE: &str = "__Host-session";

async fn sign_in(site: &Site, account: &str) -> String {
    site.app.sign_in(account, PASSWORD, None).await.expect("signed in").secret.reveal().to_owned()
}

async fn send(site: &Site, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Reply {
    let mut request = Request::builder().method(method).uri(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    site.send(request.body(Body::from(body.to_owned())).expect("a request")).await
}

#[test]
fn each_call_takes_the_scope_of_its_row_and_no_other() {
    block_on(on_both(async |fresh| {
        let site = Site::with(fresh, Readers::Token, 1_000_000).await;
        site.app.write(crate::service::AddSet("prod".to_owned())).await.expect("made");
        let other_pull = token(&site.app, "pull:prod", "bot").await;
        let report = token(&site.app, "report:default", "bot").await;
        let unfit = token(&site.app, "review", "bot").await;
        let bearers = [
            ("nobody", None),
            ("publish", Some(&site.publish)),
            ("pull", Some(&site.pull)),
            ("pull of another set", Some(&other_pull)),
            ("report", Some(&report)),
            ("review", Some(&site.ada)),
            ("review of no reviewer", Some(&unfit)),
        ];
        // What each is answered, in the order of `bearers`. 400 and 404 mean that it was let in and found nothing.
        let id = "0".repeat(32);
        let (candidate, decisions) = (format!("/v1/candidates/{id}"), format!("/v1/candidates/{id}/decisions"));
        let content = format!("/v1/content/{}", "0".repeat(64));
        let table: Vec<(&str, &str, [u16; 7])> = vec![
            ("POST", "/v1/releases", [401, 400, 403, 403, 403, 403, 403]),
            ("GET", "/v1/servers", [401, 403, 200, 200, 403, 403, 403]),
            ("GET", "/v1/servers/com.example/notes", [401, 403, 404, 404, 403, 403, 403]),
            ("GET", "/v1/releases/x", [401, 403, 404, 404, 403, 403, 403]),
            ("GET", &content, [401, 403, 404, 404, 403, 403, 403]),
            ("GET", "/v1/trust", [401, 403, 200, 200, 403, 403, 403]),
            ("GET", "/v1/pinsets/default/head", [401, 403, 200, 200, 403, 403, 403]),
            ("GET", "/v1/pinsets/default/pins?name=a.b", [401, 403, 200, 200, 403, 403, 403]),
            ("GET", "/v1/pinsets/default/pins/a.b", [401, 403, 404, 404, 403, 403, 403]),
            ("GET", "/log/checkpoint", [401, 403, 200, 200, 403, 403, 403]),
            ("GET", "/log/tile/0/000", [401, 403, 404, 404, 403, 403, 403]),
            ("POST", "/v1/pinsets/default/check", [401, 403, 400, 403, 403, 403, 403]),
            ("GET", "/v1/candidates", [401, 403, 403, 403, 403, 200, 403]),
            ("GET", &candidate, [401, 403, 403, 403, 403, 404, 403]),
            ("POST", &decisions, [401, 403, 403, 403, 403, 400, 403]),
            ("POST", "/v1/pinsets/default/aliases", [401, 403, 403, 403, 403, 400, 403]),
            ("POST", "/v1/pinsets/default/revocations", [401, 403, 403, 403, 403, 400, 403]),
            ("POST", "/log/checkpoint", [422, 422, 422, 422, 422, 422, 422]),
            ("GET", "/healthz", [200, 200, 200, 200, 200, 200, 200]),
            ("GET", "/readyz", [200, 200, 200, 200, 200, 200, 200]),
            ("GET", "/metrics", [200, 200, 200, 200, 200, 200, 200]),
            ("GET", "/openapi.json", [200, 200, 200, 200, 200, 200, 200]),
        ];
        let size = site.size();
        for (method, path, expected) in table {
            for ((who, bearer), expected) in bearers.iter().zip(expected) {
                let line = bearer.map(|token| format!("Bearer {token}"));
                let headers: Vec<(&str, &str)> = line.iter().map(|line| ("authorization", line.as_str())).collect();
                let reply = send(&site, method, path, &headers, "").await;
                assert_eq!(reply.status, expected, "{who}: {method} {path}: {reply}");
                match expected {
                    401 => {
                        assert_eq!(reply.problem().1, "unauthenticated");
                        assert!(reply.header("www-authenticate").starts_with("Bearer"));
                    }
                    403 => assert_eq!(reply.problem().1, "forbidden"),
                    _ => {}
                }
            }
        }
        assert_eq!(site.size(), size);
    }));
}

#[test]
fn credentials_are_one_valid_token_or_one_session() {
    block_on(on_both(async |fresh| {
        let site = Site::new(fresh).await;
        let session = format!("{COOKIE}={}", sign_in(&site, "ada").await);
        let bearer = format!("Bearer {}", site.ada);
        let queue = "/v1/candidates";
        for (what, headers, status, slug) in [
            ("token", vec![("authorization", bearer.as_str())], 200, ""),
            ("session", vec![("cookie", session.as_str())], 200, ""),
            ("both", vec![("authorization", &bearer), ("cookie", &session)], 400, "two-credentials"),
            (
                "a token beside a dead session",
                vec![("authorization", &bearer), ("cookie", "__Host-session=x")],
                400,
                "two-credentials",
            ),
            ("another cookie", vec![("authorization", &bearer), ("cookie", "theme=dark")], 200, ""),
            ("a made-up token", vec![("authorization", "Bearer cs_x")], 401, "unauthenticated"),
            ("basic", vec![("authorization", "Basic YTpi")], 401, "unauthenticated"),
            ("a made-up session", vec![("cookie", "__Host-session=x")], 401, "unauthenticated"),
            ("the cookie's name on loopback", vec![("cookie", "session=x")], 401, "unauthenticated"),
        ] {
            let reply = send(&site, "GET", queue, &headers, "").await;
            assert_eq!(reply.status, status, "{what}: {reply}");
            if !slug.is_empty() {
                assert_eq!(reply.problem().1, slug, "{what}");
            }
        }
        // A made-up token is refused where nobody would need one, too.
        let reply = send(&site, "GET", "/v1/servers", &[("authorization", "Bearer cs_x")], "").await;
        assert_eq!(reply.problem(), (401, "unauthenticated".to_owned()));
    }));
}

#[test]
fn a_revoked_token_is_dead_at_once_here_and_at_the_next_poll_elsewhere() {
    block_on(on_both(async |fresh| {
        let site = Site::new(fresh).await;
        let elsewhere = crate::service::Bench::new(fresh).open().await;
        let tokens = site.app.reader().conn().await.expect("a connection").tokens().await.expect("reads");
        let token = tokens.into_iter().find(|token| token.account == "rex").expect("Rex has one");
        elsewhere.write(RevokeToken { id: token.id, by: Principal::LocalOperator }).await.expect("revoked");
        assert_eq!(site.get_as(&site.rex, "/v1/candidates").await.status, 200, "not looked yet");
        site.app.refresh().await.expect("looks");
        assert_eq!(site.get_as(&site.rex, "/v1/candidates").await.problem(), (401, "unauthenticated".to_owned()));
    }));
}

#[test]
fn a_token_that_was_made_elsewhere_a_moment_ago_is_good_at_once() {
    block_on(on_both(async |fresh| {
        let site = Site::new(fresh).await;
        let elsewhere = crate::service::Bench::new(fresh).open().await;
        let (account, scope) = ("rex".parse().expect("legal"), "review".parse().expect("a scope"));
        let asked = AddToken { scope, account, days: None, by: Principal::LocalOperator };
        let (secret, _) = elsewhere.add_token(asked).await.expect("made").done;
        assert_eq!(site.get_as(secret.reveal(), "/v1/candidates").await.status, 200);
        let unknown = site.get_as("cs_unknown", "/v1/candidates").await;
        assert_eq!(unknown.problem(), (401, "unauthenticated".to_owned()));
    }));
}

#[test]
fn a_write_by_session_comes_from_our_own_pages() {
    block_on(on_both(async |fresh| {
        let site = Site::new(fresh).await;
        site.published("1.0.0", &[EXPORT]).await;
        let session = format!("{COOKIE}={}", sign_in(&site, "ada").await);
        let body = json!({"alias": "notes", "server": "com.example/notes"}).to_string();
        let size = site.size();
        for (what, headers) in [
            ("neither header", vec![]),
            ("a foreign origin", vec![("origin", "https://evil.example")]),
            ("a sibling's origin", vec![("origin", "https://other.pins.example")]),
            ("a sibling by its site", vec![("sec-fetch-site", "same-site")]),
            ("plain http", vec![("origin", "http://pins.example")]),
            ("no origin to speak of", vec![("origin", "null"), ("sec-fetch-site", "same-origin")]),
        ] {
            let headers: Vec<_> = headers.into_iter().chain([("cookie", session.as_str())]).collect();
            let reply = send(&site, "POST", "/v1/pinsets/default/aliases", &headers, &body).await;
            assert_eq!(reply.problem(), (403, "foreign-origin".to_owned()), "{what}");
            assert_eq!(site.size(), size, "{what}");
        }
        let own = [("cookie", session.as_str()), ("origin", "https://pins.example")];
        assert_eq!(send(&site, "POST", "/v1/pinsets/default/aliases", &own, &body).await.status, 201);
    }));
}

#[test]
fn an_address_that_asks_too_often_is_told_when_to_come_back() {
    block_on(on_both(async |fresh| {
        let site = Site::with(fresh, Readers::Anonymous, 5).await;
        for n in 0..5 {
            assert_eq!(site.get("/v1/trust").await.status, 200, "{n}");
        }
        let reply = site.get("/v1/trust").await;
        assert_eq!(reply.problem(), (429, "rate-limited".to_owned()));
        assert_eq!(reply.header("retry-after"), "13");
        assert_eq!(site.get("/healthz").await.status, 200);
        site.clock.advance(countersign::clock::Span::seconds(12));
        assert_eq!(site.get("/v1/trust").await.status, 200);
    }));
}

#[test]
fn every_answer_has_its_headers_and_an_id_of_ours() {
    block_on(on_both(async |fresh| {
        let site = Site::new(fresh).await;
        let mut ids = std::collections::BTreeSet::new();
        for path in ["/healthz", "/v1/trust", "/nowhere", "/v1/candidates"] {
            let reply = send(&site, "GET", path, &[("x-request-id", "theirs")], "").await;
            assert_eq!(reply.header("x-content-type-options"), "nosniff", "{path}");
            assert_eq!(reply.header("referrer-policy"), "same-origin", "{path}");
            assert!(reply.header("content-security-policy").starts_with("default-src 'none'"), "{path}");
            assert!(!reply.header("cache-control").is_empty(), "{path}");
            assert_eq!(reply.header("x-request-id").len(), 16, "{path}");
            assert!(ids.insert(reply.header("x-request-id").to_owned()), "{path}");
        }
        assert_eq!(site.get("/nowhere").await.problem(), (404, "not-found".to_owned()));
        let wrong = send(&site, "DELETE", "/v1/servers", &[], "").await;
        assert_eq!(wrong.problem(), (405, "method-not-allowed".to_owned()));
    }));
}

#[test]
fn a_handler_that_panics_is_a_problem_with_an_id_and_no_more_requests_run_at_once_than_allowed() {
    block_on(on_both(async |fresh| {
        let bench = crate::service::Bench::new(fresh);
        let mut settings = bench.settings();
        settings.limits.requests_at_once = 1;
        let app = bench.open_with(&settings, true).await.expect("opens");
        let public_url = PublicUrl::parse("https://pins.example").expect("legal");
        let settings = Settings { public_url, readers: Readers::Anonymous, trusted_proxy: vec![], admin_apart: false };
        let web = Web::new(app.clone(), settings);
        let (entered, leave) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let slow = {
            let (entered, leave) = (Arc::clone(&entered), Arc::clone(&leave));
            async move || {
                entered.notify_one();
                leave.notified().await;
                "done"
            }
        };
        async fn broken() -> &'static str {
            panic!("the database password is hunter2")
        }
        let routes =
            Router::new().route("/slow", get(slow)).route("/broken", get(broken)).route("/healthz", get(async || "ok"));
        let router = layers(routes, &web, Pages::none().shown);
        let asked = async |path: &str| {
            let request = Request::get(path).body(Body::empty()).expect("a request");
            let response = router.clone().oneshot(request).await.expect("infallible");
            let status = response.status().as_u16();
            let body = axum::body::to_bytes(response.into_body(), 1 << 20).await.expect("ends");
            (status, String::from_utf8(body.to_vec()).expect("text"))
        };

        let (status, body) = asked("/broken").await;
        assert_eq!(status, 500, "{body}");
        assert!(body.contains("\"type\":\"/problems/internal\"") && !body.contains("hunter2"), "{body}");

        let waiting = async { asked("/slow").await };
        let others = async {
            entered.notified().await;
            let (status, body) = asked("/slow").await;
            assert_eq!(status, 503, "{body}");
            assert_eq!(asked("/healthz").await.0, 200, "whoever asks only whether it lives is let in");
            leave.notify_one();
        };
        let (first, ()) = tokio::join!(waiting, others);
        assert_eq!(first, (200, "done".to_owned()));
        app.close().await;
    }));
}
