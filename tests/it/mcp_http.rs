//! Captures over Streamable HTTP, from endpoints that behave and from endpoints that don't.

use countersign::{
    clock::Timestamp,
    descriptor::Capture,
    env::ManualClock,
    mcp::{self, Options, Seen, Target},
};

use crate::doubles::{Endpoint, Reply};

const NO_DISCOVER: &str = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}"#;
const INITIALIZED: &str =
    r#"{"jsonrpc":"2.0","id":2,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}}}}"#;
const DISCOVERED: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","supportedVersions":["2025-11-25","2026-07-28"],"capabilities":{"tools":{}},"instructions":"x"}}"#;
const TOOLS: &str = r#"{"jsonrpc":"2.0","id":3,"result":{"tools":[{"name":"a"}]}}"#;

fn json(body: &str) -> Reply {
    Reply::With(200, "application/json; charset=utf-8", "", body.to_owned())
}

fn events(body: &str) -> Reply {
    Reply::With(200, "text/event-stream", "", body.to_owned())
}

async fn captured(replies: Vec<Reply>) -> (Capture, Endpoint) {
    let clock = ManualClock::at(Timestamp::EPOCH);
    let endpoint = Endpoint::new(&clock, replies).await;
    let capture = mcp::capture(&endpoint.target(), &Options::default(), &clock, &mut |_: Seen<'_>| {}).await;
    (capture, endpoint)
}

fn header<'a>(headers: &'a axum::http::HeaderMap, name: &str) -> &'a str {
    headers.get(name).map_or("-", |value| value.to_str().expect("text"))
}

#[tokio::test]
async fn a_session_of_the_older_era_is_opened_kept_and_ended() {
    let (capture, endpoint) = captured(vec![
        Reply::With(400, "text/plain", "", "Bad Request: no session".to_owned()),
        Reply::With(200, "application/json", "s-1", INITIALIZED.to_owned()),
        events(&format!(": hi\n\nid: 1\nevent: message\ndata: {{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}}\n\ndata: {TOOLS}\n\n")),
    ])
    .await;
    assert_eq!(capture.why_incomplete, None);
    assert_eq!(capture.listed.len(), 1);
    assert_eq!(capture.taken.as_ref().and_then(|t| t.endpoint.as_deref()), Some(endpoint.url.as_str()));
    let seen = endpoint.seen().into_iter().map(|(method, headers, body)| {
        let called =
            body.split("\"method\":\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap_or("-").to_owned();
        let [session, version, mirrored] =
            ["mcp-session-id", "mcp-protocol-version", "mcp-method"].map(|n| header(&headers, n));
        format!("{method} {called} session={session} version={version} method={mirrored}")
    });
    assert_eq!(
        seen.collect::<Vec<_>>(),
        [
            "POST server/discover session=- version=2026-07-28 method=server/discover",
            "POST initialize session=- version=- method=-",
            "POST notifications/initialized session=s-1 version=2025-06-18 method=-",
            "POST tools/list session=s-1 version=2025-06-18 method=-",
            "DELETE - session=s-1 version=- method=-",
        ]
    );
}

#[tokio::test]
async fn an_endpoint_of_the_newer_era_needs_no_session() {
    let tools = TOOLS.replace("\"id\":3", "\"id\":2");
    let (capture, endpoint) = captured(vec![json(DISCOVERED), events(&format!("data: {tools}\n\n"))]).await;
    assert_eq!(capture.why_incomplete, None);
    assert_eq!(capture.protocol_version.as_deref(), Some("2026-07-28"));
    assert_eq!(capture.listed.len(), 2);
    for (_, headers, _) in endpoint.seen() {
        assert_eq!(header(&headers, "accept"), "application/json, text/event-stream");
        assert_eq!(header(&headers, "mcp-protocol-version"), "2026-07-28");
    }
}

#[tokio::test]
async fn what_is_not_a_whole_answer_makes_the_capture_incomplete_with_its_reason() {
    let cases: Vec<(&str, Reply, &str)> = vec![
        (
            "a redirect",
            Reply::With(307, "", "", String::new()),
            "the endpoint answered tools/list with HTTP status 307; redirects are not followed, give the address it points to",
        ),
        (
            "no permission",
            Reply::With(401, "text/html", "", "<script>".to_owned()),
            "the endpoint answered tools/list with HTTP status 401; pass credentials with --header",
        ),
        (
            "a broken server",
            Reply::With(500, "", "", "x".to_owned()),
            "the endpoint answered tools/list with HTTP status 500",
        ),
        (
            "an error with a status",
            Reply::With(
                404,
                "application/json",
                "",
                r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32601,"message":"gone"}}"#.to_owned(),
            ),
            r#"the server answered tools/list with error -32601: "gone""#,
        ),
        (
            "another content type",
            Reply::With(200, "text/html", "", TOOLS.to_owned()),
            r#"the endpoint answered tools/list with content type "text/html""#,
        ),
        (
            "no body",
            Reply::With(202, "", "", String::new()),
            r#"the endpoint answered tools/list with content type """#,
        ),
        (
            "a stream that ends",
            events("data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}\n\n"),
            "the server ended before it answered tools/list",
        ),
        (
            "a stream cut inside an event",
            events(&format!("data: {TOOLS}")),
            "the server ended before it answered tools/list",
        ),
        (
            "an answer to another request",
            json(&TOOLS.replace("\"id\":3", "\"id\":2")),
            "the server answered a request that was not waiting for an answer (id 2)",
        ),
        (
            "a notification as the body",
            json(r#"{"jsonrpc":"2.0","method":"x"}"#),
            "the server sent something that is not a JSON-RPC message: the body is not an answer",
        ),
        ("silence", Reply::Never, "no answer to tools/list within 30 seconds"),
    ];
    for (name, reply, why) in cases {
        let (capture, _) = captured(vec![json(NO_DISCOVER), json(INITIALIZED), reply]).await;
        assert_eq!(capture.why_incomplete.as_deref(), Some(why), "{name}");
    }
}

#[tokio::test]
async fn a_change_that_is_told_on_a_stream_starts_the_lists_again() {
    let changed =
        format!("data: {{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}}\n\ndata: {TOOLS}\n\n");
    let again = r#"{"jsonrpc":"2.0","id":4,"result":{"tools":[]}}"#;
    let (capture, _) = captured(vec![json(NO_DISCOVER), json(INITIALIZED), events(&changed), json(again)]).await;
    assert_eq!((capture.complete, capture.listed.len()), (true, 0));
}

#[tokio::test]
async fn an_endpoint_that_is_not_there_says_so() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/", listener.local_addr().expect("bound")).parse().expect("a URL");
    drop(listener);
    let clock = ManualClock::at(Timestamp::EPOCH);
    let target = Target::Http { url, headers: Default::default() };
    let capture = mcp::capture(&target, &Options::default(), &clock, &mut |_: Seen<'_>| {}).await;
    let why = "the endpoint was not reached: Connection refused (os error 111)";
    assert_eq!(capture.why_incomplete.as_deref(), Some(why));
}

#[test]
fn headers_of_the_transport_are_not_for_the_caller() {
    assert!(mcp::header("Authorization: Bearer x").is_ok());
    assert!(mcp::header("X-Key:y").is_ok_and(|(name, value)| name == "x-key" && value == "y" && value.is_sensitive()));
    for bad in ["", "Authorization", ": x", "Mcp-Session-Id: 1", "mcp-method: x", "Host: evil", "A b: c", "X: a\nb"] {
        assert!(mcp::header(bad).is_err(), "{bad:?}");
    }
}
