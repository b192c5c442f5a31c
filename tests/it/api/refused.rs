//! Every refusal has its own slug, and nothing of what was refused is kept.

use countersign::{
    attest::{Role, Statement, dsse},
    descriptor::Release,
    keys::SigningKey,
    review::ReasonText,
    service::govern::{Withdraw, withdraw},
};
use serde_json::json;

use super::{
    EXPORT, EXPORT_2, SEARCH, Site, assert_fold_equals_store, attested, authority, operator, publisher, release,
    signed, token, with,
};
use crate::databases::{block_on, on_both};

const NOTES: &str = "com.example/notes";

/// Log size, releases and candidates: what a refusal must leave as it is.
async fn traces(site: &Site) -> (u64, String, String) {
    let servers = site.get("/v1/servers").await;
    let notes = site.get("/v1/servers/com.example/notes").await;
    let candidates = site.get_as(&site.ada, "/v1/candidates").await;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (site.size(), text(&servers.body) + &text(&notes.body), text(&candidates.body))
}

/// What `tools` of the release is, said of one that is strange in one place.
fn strange(tool: &str) -> String {
    signed(&release(NOTES, "9.0.0", &[SEARCH, tool]), &publisher(), Role::Publisher)
}

fn tool_of_depth(depth: usize) -> String {
    // The descriptor itself is the first level.
    let (open, close) = ("[".repeat(depth - 1), "]".repeat(depth - 1));
    format!(r#"{{"name":"deep","inputSchema":{{"type":"object"}},"x":{open}{close}}}"#)
}

#[test]
fn each_submission_that_does_not_hold_is_refused_by_its_own_slug_and_leaves_no_trace() {
    block_on(on_both(async |fresh| {
        let site = Site::new(fresh).await;
        site.published("1.0.0", &[EXPORT, SEARCH]).await;
        let capture_key = SigningKey::from_seed(&[8; 32]);
        authority(&site.app, "com.example", &capture_key, Role::Capture).await;
        let revoked_key = SigningKey::from_seed(&[7; 32]);
        let id = authority(&site.app, "com.example", &revoked_key, Role::Publisher).await;
        let reason: ReasonText = "The laptop was stolen.".parse().expect("short");
        withdraw(&site.app, Withdraw { authority: id, since: None, reason, by: operator() }).await.expect("withdrawn");
        let elsewhere = SigningKey::from_seed(&[6; 32]);
        authority(&site.app, "org.example", &elsewhere, Role::Publisher).await;
        let stranger = SigningKey::from_seed(&[5; 32]);

        let good = release(NOTES, "9.0.0", &[EXPORT, SEARCH]);
        let by = |key: &SigningKey| signed(&good, key, Role::Publisher);
        let of = |other: &str| attested(&good, other, &publisher(), Role::Publisher);
        let variant = good.replace(r#""version":"9.0.0""#, r#""version":"9.0.0","variant":"pro""#);
        let tampered = by(&publisher()).replace("\"sig\":\"", "\"sig\":\"AAAA");
        let statement = Statement::for_release(&Release::parse(good.as_bytes()).expect("a release"), Role::Publisher);
        let statement = String::from_utf8(statement.to_payload()).expect("text");
        let payload =
            |text: String| with(&good, &dsse::sign("application/vnd.in-toto+json", text.as_bytes(), &publisher()));
        let table: Vec<(&str, String, u16, &str)> = vec![
            ("duplicate members", strange(r#"{"name":"x","a":1,"a":2}"#), 422, "duplicate-key"),
            ("an unsafe integer", strange(r#"{"name":"x","a":9007199254740992}"#), 422, "integer-unsafe"),
            ("a lone surrogate", strange(r#"{"name":"x","a":"\ud800"}"#), 422, "lone-surrogate"),
            ("a number beyond doubles", strange(r#"{"name":"x","a":1e999}"#), 422, "number-overflow"),
            ("depth 101", strange(&tool_of_depth(101)), 422, "too-deep"),
            ("depth 5000", strange(&tool_of_depth(5_000)), 422, "too-deep"),
            ("a missing subject", of(&release(NOTES, "9.0.0", &[EXPORT])), 422, "attestation-subject-missing"),
            (
                "an extra subject",
                attested(&release(NOTES, "9.0.0", &[EXPORT]), &good, &publisher(), Role::Publisher),
                422,
                "attestation-subject-extra",
            ),
            ("another digest", of(&release(NOTES, "9.0.0", &[EXPORT_2, SEARCH])), 422, "attestation-subject-digest"),
            ("another server", of(&good.replace(NOTES, "com.example/other")), 422, "attestation-server"),
            ("another version", of(&good.replace("9.0.0", "9.0.1")), 422, "attestation-version"),
            ("another variant", of(&variant), 422, "attestation-variant"),
            ("another role", signed(&good, &publisher(), Role::Capture), 403, "attestation-role"),
            ("another role still", by(&capture_key), 403, "attestation-role"),
            ("a key that nobody knows", by(&stranger), 403, "attestation-unknown-key"),
            ("a key of another namespace", by(&elsewhere), 403, "attestation-no-authority"),
            ("a revoked authority", by(&revoked_key), 403, "attestation-authority-revoked"),
            ("a forged signature", tampered, 422, "attestation-malformed"),
            (
                "a signature over something else",
                by(&publisher()).replacen(
                    &statement_base64(&statement),
                    &statement_base64(&statement.replace("9.0.0", "9.0.1")),
                    1,
                ),
                422,
                "attestation-signature-invalid",
            ),
            ("no envelope", with(&good, b"{}"), 422, "attestation-malformed"),
            (
                "an unknown predicate member",
                payload(statement.replace(r#""predicate":{"#, r#""predicate":{"aaa":1,"#)),
                422,
                "attestation-unknown-member",
            ),
            (
                "another recipe",
                payload(statement.replace(r#""canonicalization":"jcs-sha256""#, r#""canonicalization":"none""#)),
                422,
                "attestation-canonicalization",
            ),
            (
                "an incomplete capture",
                signed(&good.replace(r#""complete":true"#, r#""complete":false"#), &publisher(), Role::Publisher),
                422,
                "capture-incomplete",
            ),
            (
                "an unknown member beside the lists",
                by(&publisher()).replace(r#""complete":true"#, r#""complete":true,"extra":1"#),
                422,
                "capture-malformed",
            ),
            (
                "an unknown protocol version",
                by(&publisher()).replace(r#""complete":true"#, r#""complete":true,"protocolVersion":"1999-01-01""#),
                422,
                "protocol-version",
            ),
            ("an unknown member", by(&publisher()).replacen('{', r#"{"extra":1,"#, 1), 400, "body-malformed"),
            ("a repeated member", by(&publisher()).replacen('{', r#"{"capture":{},"#, 1), 400, "body-malformed"),
            ("no JSON", "release please".to_owned(), 400, "body-malformed"),
            ("nothing", String::new(), 400, "body-malformed"),
            (
                "the version with other descriptors",
                signed(&release(NOTES, "1.0.0", &[EXPORT_2, SEARCH]), &publisher(), Role::Publisher),
                409,
                "release-differs",
            ),
            (
                "the name in other letters",
                signed(&release("com.example/Notes", "1.0.0", &[EXPORT]), &publisher(), Role::Publisher),
                409,
                "name-taken",
            ),
            (
                "another namespace than the token's",
                signed(&release("org.example/notes", "1.0.0", &[EXPORT]), &elsewhere, Role::Publisher),
                403,
                "forbidden",
            ),
        ];
        let before = traces(&site).await;
        for (what, body, status, slug) in table {
            let reply = site.post(&site.publish, "/v1/releases", body).await;
            assert_eq!(reply.problem(), (status, slug.to_owned()), "{what}: {reply}");
            assert_eq!(traces(&site).await, before, "{what}");
        }
        assert_fold_equals_store(&site).await;
    }));
}

fn statement_base64(statement: &str) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(statement)
}

#[test]
fn a_refused_descriptor_is_named_by_its_place_and_pointer() {
    block_on(on_both(async |fresh| {
        let site = Site::new(fresh).await;
        let tool = r#"{"name":"x","inputSchema":{"type":"object","properties":{"n":{"default":9007199254740993}}}}"#;
        let reply = site.post(&site.publish, "/v1/releases", strange(tool)).await.json();
        let expected = json!({
            "type": "/problems/integer-unsafe",
            "title": "The document is not strict JSON",
            "status": 422,
            "detail": "item 1 of the capture is refused: integer-unsafe at \"/inputSchema/properties/n/default\", byte 72",
            "index": 1,
            "pointer": "/inputSchema/properties/n/default",
            "offset": 72,
        });
        assert_eq!(reply, expected);
        // Larger than any descriptor may be, inside a body that is not too large.
        let large = format!(r#"{{"name":"x","description":"{}"}}"#, "a".repeat(1 << 20));
        let reply = site.post(&site.publish, "/v1/releases", strange(&large)).await;
        assert_eq!(reply.problem(), (422, "too-large".to_owned()));
        assert_eq!((&reply.json()["pointer"], &reply.json()["index"]), (&json!(""), &json!(1)), "{reply}");
    }));
}

#[test]
fn a_repeated_submission_is_the_first_release_again() {
    block_on(on_both(async |fresh| {
        let site = Site::new(fresh).await;
        let first = site.published("1.0.0", &[EXPORT, SEARCH]).await;
        let size = site.size();
        let again = site.submit(&release(NOTES, "1.0.0", &[EXPORT, SEARCH])).await;
        assert_eq!((again.status, site.size()), (200, size), "{again}");
        let again = again.json();
        for member in ["release", "level", "unpinnable", "findings", "candidates"] {
            assert_eq!(again[member], first[member], "{member}");
        }
        assert_eq!(again["log"]["index"], first["log"]["index"]);
        // The order of a list is no part of a descriptor, nor is the space between members of the body.
        let reordered = site.submit(&release(NOTES, "1.0.0", &[SEARCH, EXPORT])).await;
        assert_eq!((reordered.status, site.size()), (200, size), "{reordered}");
        // A captured copy of the envelope doesn't serve for anything else.
        let other = attested(
            &release(NOTES, "2.0.0", &[EXPORT, SEARCH]),
            &release(NOTES, "1.0.0", &[EXPORT, SEARCH]),
            &publisher(),
            Role::Publisher,
        );
        let replayed = site.post(&site.publish, "/v1/releases", other).await;
        assert_eq!(replayed.problem(), (422, "attestation-version".to_owned()));
        assert_eq!(site.size(), size);
        assert_fold_equals_store(&site).await;
    }));
}

#[test]
fn an_unpinnable_tool_is_accepted_listed_and_cannot_be_approved() {
    block_on(on_both(async |fresh| {
        let site = Site::new(fresh).await;
        let published = site.published("1.0.0", &[SEARCH, r#"{"name":"no schema"}"#]).await;
        let unpinnable = published["unpinnable"].as_array().expect("a list");
        assert_eq!(unpinnable.len(), 1, "{published}");
        assert_eq!(unpinnable[0]["name"], "no schema");
        site.bound().await;
        let candidates = published["candidates"].as_array().expect("a list");
        let id = candidates.iter().find(|c| c["name"] != "search").expect("it waits")["id"].as_str().expect("an id");
        let size = site.size();
        let reply = site.vote(&site.ada, id, "approve").await;
        assert_eq!(reply.problem(), (409, "unpinnable".to_owned()));
        assert_eq!(site.size(), size);
        assert_eq!(site.vote(&site.ada, id, "reject").await.status, 201);
        assert_fold_equals_store(&site).await;
    }));
}

#[test]
fn each_vote_that_does_not_hold_is_refused_by_its_own_slug_and_leaves_no_trace() {
    block_on(on_both(async |fresh| {
        let site = Site::new(fresh).await;
        let published = site.published("1.0.0", &[EXPORT]).await;
        let id = published["candidates"][0]["id"].as_str().expect("an id").to_owned();
        let unbound = site.candidate(&id).await["shown"].clone();
        assert_eq!(
            site.vote_on(&site.ada, &id, "approve", &unbound).await.problem(),
            (409, "alias-unbound".to_owned())
        );
        site.bound().await;
        let shown = site.candidate(&id).await["shown"].clone();
        assert_ne!(unbound["view"], shown["view"], "the alias is part of the view");
        let before = traces(&site).await;
        let path = format!("/v1/candidates/{id}/decisions");
        let nobody = format!("/v1/candidates/{}/decisions", "0".repeat(32));
        let vote = |shown: &serde_json::Value| json!({"outcome": "approve", "reason": "Read it.", "shown": shown});
        let and = |name: &str, value: serde_json::Value| {
            let mut body = vote(&shown);
            body[name] = value;
            body
        };
        let table = [
            ("a stale view", &path, vote(&unbound), 409, "view-changed"),
            ("no candidate", &nobody, vote(&shown), 404, "candidate-not-found"),
            ("an id that is none", &"/v1/candidates/x/decisions".to_owned(), vote(&shown), 404, "candidate-not-found"),
            ("no reason", &path, and("reason", json!(" ")), 422, "reason-malformed"),
            ("a long reason", &path, and("reason", json!("a".repeat(2_001))), 422, "reason-malformed"),
            ("a finding that is none", &path, and("accept_findings", json!(["x"])), 422, "finding-unknown"),
            ("revoke by vote", &path, and("outcome", json!("revoke")), 400, "body-malformed"),
            ("reopen what is open", &path, and("outcome", json!("reopen")), 409, "transition-refused"),
            ("an unknown member", &path, and("force", json!(true)), 400, "body-malformed"),
            ("nothing shown", &path, and("shown", json!(null)), 400, "body-malformed"),
        ];
        for (what, path, body, status, slug) in table {
            let reply = site.post_json(&site.rex, path, &body).await;
            assert_eq!(reply.problem(), (status, slug.to_owned()), "{what}: {reply}");
            assert_eq!(traces(&site).await, before, "{what}");
        }
        let stale = site.vote_on(&site.ada, &id, "approve", &unbound).await.json();
        assert_eq!(stale["shown"], shown, "the problem says what is there now");
        assert_fold_equals_store(&site).await;
    }));
}

#[test]
fn nobody_decides_on_what_they_submitted() {
    block_on(on_both(async |fresh| {
        let site = Site::new(fresh).await;
        let own = token(&site.app, "publish:com.example", "ada").await;
        let body = signed(&release(NOTES, "1.0.0", &[EXPORT]), &publisher(), Role::Publisher);
        let published = site.post(&own, "/v1/releases", body).await.json();
        site.bound().await;
        let id = published["candidates"][0]["id"].as_str().expect("an id");
        let size = site.size();
        assert_eq!(site.vote(&site.ada, id, "approve").await.problem(), (403, "own-submission".to_owned()));
        assert_eq!(site.size(), size);
        assert_eq!(site.vote(&site.rex, id, "approve").await.status, 201);
    }));
}

#[test]
fn aliases_and_revocations_are_refused_by_their_own_slugs() {
    block_on(on_both(async |fresh| {
        let site = Site::new(fresh).await;
        site.published("1.0.0", &[EXPORT]).await;
        let other = release("com.example/other", "1.0.0", &[EXPORT]);
        assert_eq!(site.submit(&other).await.status, 201);
        site.bound().await;
        let alias = |alias: &str, server: &str| json!({"alias": alias, "server": server});
        let digest = format!("jcs-sha256:{}", "0".repeat(64));
        let revoke = |name: &str, reason: &str| json!({"name": name, "digest": digest, "reason": reason});
        let (aliases, revocations) = ("/v1/pinsets/default/aliases", "/v1/pinsets/default/revocations");
        let size = site.size();
        for (path, body, status, slug) in [
            (aliases, alias("notes", "com.example/other"), 409, "alias-bound"),
            (aliases, alias("memo", NOTES), 409, "alias-bound"),
            (aliases, alias("memo", "com.example/none"), 404, "server-not-found"),
            (aliases, alias("Memo", "com.example/other"), 400, "body-malformed"),
            (aliases, alias("me--mo", "com.example/other"), 400, "body-malformed"),
            ("/v1/pinsets/none/aliases", alias("memo", "com.example/other"), 404, "pinset-not-found"),
            ("/v1/pinsets/No%2Fne/aliases", alias("memo", "com.example/other"), 404, "pinset-not-found"),
            (revocations, revoke("notes.export", "x"), 404, "pin-not-found"),
            (revocations, revoke("notes.export", ""), 422, "reason-malformed"),
            ("/v1/pinsets/none/revocations", revoke("notes.export", "x"), 404, "pinset-not-found"),
        ] {
            let reply = site.post_json(&site.ada, path, &body).await;
            assert_eq!(reply.problem(), (status, slug.to_owned()), "{path} {body}: {reply}");
            assert_eq!(site.size(), size, "{path} {body}");
        }
    }));
}
