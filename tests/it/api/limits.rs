//! Every limit that the API enforces, at it and one past it.

use axum::body::Body;
use serde_json::json;

use super::{EXPORT, SEARCH, Site, publisher, release, signed};
use crate::databases::{Engine, Fresh, block_on};

const BODY: usize = 8 << 20;
const DESCRIPTOR: usize = 1 << 20;

/// A submission of exactly so many bytes, all of it legal.
fn padded(body: &str, bytes: usize) -> String {
    format!("{body}{}", " ".repeat(bytes - body.len()))
}

fn submission(version: &str, tools: &[&str]) -> String {
    signed(&release("com.example/notes", version, tools), &publisher(), countersign::attest::Role::Publisher)
}

/// A tool of exactly so many bytes.
fn tool_of(bytes: usize) -> String {
    let frame = r#"{"name":"large","inputSchema":{"type":"object"},"description":""}"#;
    frame.replace(r#""""#, &format!("\"{}\"", "a".repeat(bytes - frame.len())))
}

fn tool_of_depth(depth: usize) -> String {
    let (open, close) = ("[".repeat(depth - 1), "]".repeat(depth - 1));
    format!(r#"{{"name":"deep","inputSchema":{{"type":"object"}},"x":{open}{close}}}"#)
}

fn many(n: usize) -> Vec<String> {
    (0..n).map(|n| format!(r#"{{"name":"t{n}","inputSchema":{{"type":"object"}}}}"#)).collect()
}

#[test]
fn each_limit_holds_at_it_and_refuses_one_past_it() {
    // Limits are enforced before the database is asked, so one engine will do.
    block_on(async {
        let fresh = Fresh::new(Engine::Sqlite).await;
        let site = Site::new(&fresh).await;
        let published = site.published("1.0.0", &[EXPORT]).await;
        site.bound().await;
        let id = published["candidates"][0]["id"].as_str().expect("an id").to_owned();
        let shown = site.candidate(&id).await["shown"].clone();
        let lists = |tools: &[String]| format!(r#"{{"servers":[{{"complete":true,"tools":[{}]}}]}}"#, tools.join(","));
        let servers = |n: usize| json!({"servers": vec![json!({"complete": true}); n]}).to_string();
        let vote =
            |reason: usize| json!({"outcome": "reject", "reason": "é".repeat(reason), "shown": shown}).to_string();
        let refs = |tools: &[String]| submission("3.0.0", &tools.iter().map(String::as_str).collect::<Vec<_>>());
        let (releases, check) = ("/v1/releases", "/v1/pinsets/default/check");
        let decisions = format!("/v1/candidates/{id}/decisions");
        let small = submission("2.0.0", &[EXPORT, SEARCH]);
        let table: Vec<(&str, &str, &str, String, u16, &str)> = vec![
            ("a body", &site.publish, releases, padded(&small, BODY + 1), 413, "body-too-large"),
            ("a body", &site.publish, releases, padded(&small, BODY), 201, ""),
            (
                "a descriptor",
                &site.publish,
                releases,
                submission("2.1.0", &[&tool_of(DESCRIPTOR + 1)]),
                422,
                "too-large",
            ),
            ("a descriptor", &site.publish, releases, submission("2.1.0", &[&tool_of(DESCRIPTOR)]), 201, ""),
            ("depth", &site.publish, releases, submission("2.2.0", &[&tool_of_depth(101)]), 422, "too-deep"),
            ("depth", &site.publish, releases, submission("2.2.0", &[&tool_of_depth(100)]), 201, ""),
            ("descriptors of a release", &site.publish, releases, over(&many(2_001)), 422, "too-many-descriptors"),
            ("descriptors of a release", &site.publish, releases, refs(&many(2_000)), 201, ""),
            ("descriptors of a check", &site.pull, check, lists(&many(2_001)), 422, "too-many-descriptors"),
            ("descriptors of a check", &site.pull, check, lists(&many(2_000)), 200, ""),
            ("servers of a check", &site.pull, check, servers(1_001), 422, "too-many-descriptors"),
            ("servers of a check", &site.pull, check, servers(1_000), 200, ""),
            ("a reason", &site.ada, &decisions, vote(2_001), 422, "reason-malformed"),
            ("a reason", &site.ada, &decisions, vote(2_000), 201, ""),
            ("a shown checkpoint", "", "/log/checkpoint", " ".repeat((64 << 10) + 1), 413, "body-too-large"),
            ("a shown checkpoint", "", "/log/checkpoint", " ".repeat(64 << 10), 422, "checkpoint-foreign"),
        ];
        for (what, token, path, body, status, slug) in table {
            let (size, length) = (site.size(), body.len());
            let reply = match token {
                "" => {
                    let request = axum::http::Request::post(path).body(Body::from(body)).expect("a request");
                    site.send(request).await
                }
                token => site.post(token, path, body).await,
            };
            assert_eq!(reply.status, status, "{what} of {length} bytes: {reply}");
            if !slug.is_empty() {
                assert_eq!(reply.problem().1, slug, "{what}");
                assert_eq!(site.size(), size, "{what}");
            }
        }
        for (limit, status) in [(0, 400), (1, 200), (200, 200), (201, 400)] {
            assert_eq!(site.get(&format!("/v1/servers?limit={limit}")).await.status, status, "{limit}");
        }
        super::assert_fold_equals_store(&site).await;
    });
}

/// A submission of a list that is too long for any attestation of ours to be made of it.
fn over(tools: &[String]) -> String {
    let tools: Vec<&str> = tools.iter().map(String::as_str).collect();
    super::with(&release("com.example/notes", "3.0.0", &tools), b"{}")
}

#[test]
fn a_body_that_does_not_say_its_length_is_cut_off_at_the_limit() {
    block_on(async {
        let fresh = Fresh::new(Engine::Sqlite).await;
        let site = Site::new(&fresh).await;
        let body = submission("1.0.0", &[EXPORT]);
        // One that says it is longer isn't read at all.
        let claimed = axum::http::Request::post("/v1/releases")
            .header("authorization", format!("Bearer {}", site.publish))
            .header("content-length", (BODY + 1).to_string())
            .body(Body::from(body.clone()));
        let reply = site.send(claimed.expect("a request")).await;
        assert_eq!(reply.problem(), (413, "body-too-large".to_owned()));
        for (bytes, status) in [(BODY + 1, 413), (BODY, 201)] {
            let size = site.size();
            let text = std::io::Cursor::new(padded(&body, bytes));
            let streamed = Body::from_stream(tokio_util::io::ReaderStream::with_capacity(text, 1 << 20));
            let reply = site.post(&site.publish, "/v1/releases", streamed).await;
            assert_eq!(reply.status, status, "{bytes}: {reply}");
            assert_eq!(site.size() > size, status == 201);
        }
    });
}
