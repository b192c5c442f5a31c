//! Conversations over streams in memory, where time is moved by hand.

use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, duplex};

use super::{
    Options, Protocol, Run, Seen,
    lines::Lines,
    lists::Harvest,
    session::{self, Link},
};
use crate::{
    clock::{Span, Timestamp},
    env::ManualClock,
};

/// What a server does with a request: its answers as lines, after letting time pass.
type Play = Box<dyn FnMut(&str, u64) -> (Span, Vec<String>) + Send>;

/// Captures from a server that plays like this, and says how that ended and what was listed.
async fn captured(options: Options, play: Play) -> (Result<Option<Protocol>, String>, usize) {
    let clock = ManualClock::at(Timestamp::EPOCH);
    let (ours, theirs) = (duplex(1 << 16), duplex(1 << 16));
    let server = tokio::spawn(serve(ours.1, theirs.0, clock.clone(), play));
    let mut watch = |_: Seen<'_>| {};
    let mut run = Run::new(&clock, &options, &mut watch);
    let mut harvest = Harvest::default();
    let link = Link::Lines(Lines::new(Box::new(ours.0), Box::new(theirs.1), None));
    let outcome = session::over(link, &mut run, &mut harvest).await;
    server.abort();
    (outcome.map(|()| harvest.version).map_err(|fault| fault.to_string()), harvest.listed.len())
}

async fn serve(input: DuplexStream, mut output: DuplexStream, clock: ManualClock, mut play: Play) {
    let mut lines = BufReader::new(input).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let request: Value = serde_json::from_str(&line).expect("JSON");
        let Some(id) = request["id"].as_u64() else { continue };
        let (passes, answers) = play(request["method"].as_str().expect("text"), id);
        clock.advance(passes);
        for answer in answers {
            output.write_all(format!("{answer}\n").as_bytes()).await.expect("written");
        }
    }
}

fn result(id: u64, result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
}

const INITIALIZED: &str = r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}}}"#;
const DISCOVERED: &str = r#"{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}"#;
const TOOLS: &str = r#"{"tools":[{"name":"a"}]}"#;

fn silent() -> (Span, Vec<String>) {
    (Span::hours(1), vec![])
}

#[tokio::test]
async fn silence_ends_after_the_limit_of_what_was_asked() {
    let older = Options { protocol: Some(Protocol::V2025_11_25), ..Options::default() };
    let slow = |at: &'static str, passes: Span| -> Play {
        Box::new(move |method, id| match method {
            method if method == at => (passes, vec![]),
            "initialize" => (Span::ZERO, vec![result(id, INITIALIZED)]),
            _ => (Span::ZERO, vec![result(id, TOOLS)]),
        })
    };
    let cases = [
        ("initialize", Span::seconds(120), "no answer to initialize within 120 seconds"),
        ("tools/list", Span::seconds(30), "no answer to tools/list within 30 seconds"),
        ("tools/list", Span::minutes(5), "the capture took longer than 300 seconds"),
    ];
    for (at, passes, why) in cases {
        assert_eq!(captured(older, slow(at, passes)).await, (Err(why.to_owned()), 0), "{at}");
    }
}

#[tokio::test]
async fn a_server_that_ignores_what_it_does_not_know_gets_the_older_handshake() {
    let play: Play = Box::new(|method, id| match method {
        "server/discover" => (Span::seconds(10), vec![]),
        "initialize" => (Span::ZERO, vec![result(id, INITIALIZED)]),
        _ => (Span::ZERO, vec![result(id, TOOLS)]),
    });
    assert_eq!(captured(Options::default(), play).await, (Ok(Some(Protocol::V2025_11_25)), 1));
}

#[tokio::test]
async fn a_server_that_is_slow_to_start_is_spoken_to_as_it_answers() {
    // It reads both requests at once, when it is up.
    let older: Play = Box::new(|method, id| match method {
        "server/discover" => (Span::seconds(10), vec![]),
        "initialize" => {
            let refused = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}"#;
            (Span::ZERO, vec![refused.to_owned(), result(id, INITIALIZED)])
        }
        _ => (Span::ZERO, vec![result(id, TOOLS)]),
    });
    assert_eq!(captured(Options::default(), older).await, (Ok(Some(Protocol::V2025_11_25)), 1));
    let newer: Play = Box::new(|method, id| match method {
        "server/discover" => (Span::seconds(10), vec![]),
        "initialize" => {
            let refused = format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32601,"message":"no"}}}}"#);
            (Span::ZERO, vec![result(1, DISCOVERED), refused])
        }
        _ => (Span::ZERO, vec![result(id, TOOLS)]),
    });
    assert_eq!(captured(Options::default(), newer).await, (Ok(Some(Protocol::V2026_07_28)), 1));
}

#[tokio::test]
async fn a_server_that_answers_nothing_at_all_is_given_up() {
    let mut asked = 0;
    let play: Play = Box::new(move |_, _| {
        asked += 1;
        if asked == 1 { (Span::seconds(10), vec![]) } else { silent() }
    });
    let (outcome, listed) = captured(Options::default(), play).await;
    assert_eq!((outcome, listed), (Err("the capture took longer than 300 seconds".to_owned()), 0));
}

#[tokio::test]
async fn pages_without_end_are_given_up() {
    let older = Options { protocol: Some(Protocol::V2025_11_25), ..Options::default() };
    let play: Play = Box::new(|method, id| match method {
        "initialize" => (Span::ZERO, vec![result(id, INITIALIZED)]),
        _ => (Span::ZERO, vec![result(id, &format!(r#"{{"tools":[],"nextCursor":"{id}"}}"#))]),
    });
    assert_eq!(captured(older, play).await, (Err("tools have more than 2000 pages".to_owned()), 0));
}

#[tokio::test]
async fn a_banner_without_end_is_given_up() {
    let noise = |lines: usize| -> Play {
        Box::new(move |method, id| match method {
            "initialize" => {
                (Span::ZERO, vec!["hello".to_owned(); lines].into_iter().chain([result(id, INITIALIZED)]).collect())
            }
            _ => (Span::ZERO, vec![result(id, TOOLS)]),
        })
    };
    let older = Options { protocol: Some(Protocol::V2025_11_25), ..Options::default() };
    assert_eq!(captured(older, noise(100)).await, (Ok(Some(Protocol::V2025_11_25)), 1));
    let why = "the server writes more than 100 lines to its output that are not messages";
    assert_eq!(captured(older, noise(101)).await, (Err(why.to_owned()), 0));
}

#[tokio::test]
async fn a_flood_is_not_read_to_its_end() {
    let older = Options { protocol: Some(Protocol::V2025_11_25), ..Options::default() };
    let play: Play = Box::new(|method, id| match method {
        "initialize" => (Span::ZERO, vec![result(id, INITIALIZED)]),
        // Never a line's end.
        _ => (Span::ZERO, vec!["x".repeat((32 << 20) + 1)]),
    });
    let why = "the server sent more than 33554432 bytes";
    assert_eq!(captured(older, play).await, (Err(why.to_owned()), 0));
}
