//! Server doubles: MCP servers that answer from a script, over stdio and over HTTP.
//!
//! The client numbers its requests from 1, so a script is the list of its answers. An answer is written as it is, bytes
//! and all: it may be several messages, no message at all, or nothing.

use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    sync::{Arc, Mutex},
};

use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::{HeaderMap, Method, StatusCode},
    response::{IntoResponse, Response},
    routing::any,
};
use countersign::{env::ManualClock, mcp::Target};
use tempfile::TempDir;

/// What a program double does: for each line that is a request, print the next answer; end after the last.
const PROGRAM: &str = r#"
n=0
while IFS= read -r line; do
  printf '%s\n' "$line" >> "$1/requests"
  case $line in
    *'"id":'*'"method":'*) n=$((n + 1)); [ -e "$1/$n" ] || exit 0; cat "$1/$n" ;;
  esac
done
printf 'closed\n' >> "$1/requests"
"#;

/// A program that plays an MCP server.
pub(crate) struct Program {
    directory: TempDir,
}

impl Program {
    /// A program that gives these answers, in this order, and ends when it is asked for one more.
    pub(crate) fn new<A: AsRef<[u8]>>(answers: impl IntoIterator<Item = A>) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        fs::write(directory.path().join("program"), PROGRAM).expect("written");
        for (n, answer) in answers.into_iter().enumerate() {
            let mut answer = answer.as_ref().to_vec();
            if !answer.is_empty() {
                answer.push(b'\n');
            }
            fs::write(directory.path().join((n + 1).to_string()), answer).expect("written");
        }
        Self { directory }
    }

    /// How to start it.
    pub(crate) fn command(&self) -> [String; 3] {
        let path = |p: &Path| p.to_str().expect("text").to_owned();
        ["sh".to_owned(), path(&self.directory.path().join("program")), path(self.directory.path())]
    }

    pub(crate) fn target(&self) -> Target {
        let [command, args @ ..] = self.command();
        let vars = BTreeMap::from([("PATH".to_owned(), "/usr/bin:/bin".to_owned())]);
        Target::Stdio { command, args: args.to_vec(), vars, directory: None }
    }

    /// What it was sent, a line each; `closed` where its input was closed in the end.
    pub(crate) fn requests(&self) -> Vec<String> {
        let text = fs::read_to_string(self.directory.path().join("requests")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }
}

/// One answer of an HTTP double.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    /// A status, a content type (empty for none), a session id (empty for none) and a body.
    With(u16, &'static str, &'static str, String),
    /// Moves the clock on by a minute and never answers.
    Never,
}

/// An endpoint that plays an MCP server.
pub(crate) struct Endpoint {
    pub(crate) url: url::Url,
    seen: Arc<Mutex<Vec<(Method, HeaderMap, String)>>>,
}

struct Script {
    replies: Vec<Reply>,
    next: usize,
    seen: Arc<Mutex<Vec<(Method, HeaderMap, String)>>>,
    clock: ManualClock,
}

impl Endpoint {
    /// An endpoint that gives these replies to requests, in this order, and 202 to everything else.
    pub(crate) async fn new(clock: &ManualClock, replies: Vec<Reply>) -> Self {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let script = Script { replies, next: 0, seen: Arc::clone(&seen), clock: clock.clone() };
        let router = Router::new().route("/mcp", any(answer)).with_state(Arc::new(Mutex::new(script)));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}/mcp", listener.local_addr().expect("bound")).parse().expect("a URL");
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { url, seen }
    }

    pub(crate) fn target(&self) -> Target {
        Target::Http { url: self.url.clone(), headers: HeaderMap::new() }
    }

    /// What it was sent: method, headers, body.
    pub(crate) fn seen(&self) -> Vec<(Method, HeaderMap, String)> {
        self.seen.lock().expect("whole").clone()
    }
}

async fn answer(State(script): State<Arc<Mutex<Script>>>, method: Method, headers: HeaderMap, body: Bytes) -> Response {
    let text = String::from_utf8(body.to_vec()).expect("text");
    let asks = text.contains(r#""id":"#) && text.contains(r#""method":"#);
    let reply = {
        let mut script = script.lock().expect("whole");
        script.seen.lock().expect("whole").push((method, headers, text));
        if !asks {
            return StatusCode::ACCEPTED.into_response();
        }
        script.next += 1;
        let reply = script.replies.get(script.next - 1).cloned();
        if matches!(reply, Some(Reply::Never)) {
            script.clock.advance(countersign::clock::Span::minutes(3));
        }
        reply
    };
    match reply {
        Some(Reply::With(status, content_type, session, body)) => {
            let mut response = (StatusCode::from_u16(status).expect("a status"), body).into_response();
            let headers = response.headers_mut();
            headers.remove("content-type");
            if !content_type.is_empty() {
                headers.insert("content-type", content_type.parse().expect("a value"));
            }
            if !session.is_empty() {
                headers.insert("mcp-session-id", session.parse().expect("a value"));
            }
            if status == 307 {
                headers.insert("location", "/elsewhere".parse().expect("a value"));
            }
            response
        }
        Some(Reply::Never) => std::future::pending().await,
        None => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}
