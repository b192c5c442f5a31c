//! Server doubles: MCP servers that answer from a script, over stdio and over HTTP, and witnesses of a log.
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
    routing::{any, post},
};
use countersign::{
    clock::Span,
    env::{Clock as _, ManualClock},
    keys::SigningKey,
    log::{Checkpoint, empty_root, note, open_checkpoint_by, verify_consistency, witness::AddCheckpoint},
    mcp::Target,
};
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
            script.clock.advance(Span::minutes(3));
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

/// How a witness double answers.
#[derive(Clone, Debug)]
pub(crate) enum Mood {
    /// As the protocol says.
    Honest,
    /// This status and body, whatever it is asked.
    Says(u16, String),
    /// A cosignature with its key, over another text.
    OtherText,
    /// A cosignature in its name, with another key.
    OtherKey,
    /// An honest cosignature at a time that is so far ahead.
    Ahead(Span),
    /// The size that it has seen, whatever it is asked, one more each time.
    Runs(u64),
    /// Moves the clock on by a minute and never answers.
    Never,
    /// A body without end.
    Endless,
}

/// A witness that is reached over HTTP and keeps what it has seen of one log.
pub(crate) struct Witness {
    pub(crate) vkey: note::Verifier,
    pub(crate) url: String,
    name: String,
    desk: Arc<Mutex<WitnessDesk>>,
}

pub(crate) struct WitnessDesk {
    pub(crate) mood: Mood,
    /// The keys of the log that it knows; none if it knows none.
    pub(crate) logs: Vec<note::Verifier>,
    /// The last checkpoint that it cosigned.
    pub(crate) seen: Option<Checkpoint>,
    /// What it was asked.
    pub(crate) asked: Vec<AddCheckpoint>,
    name: String,
    key: SigningKey,
    clock: ManualClock,
}

impl Witness {
    /// An honest witness that has seen nothing yet; `n` tells witnesses apart.
    pub(crate) async fn new(clock: &ManualClock, n: u8) -> Self {
        let (name, key) = (format!("w{n}.example"), SigningKey::from_seed(&[100 + n; 32]));
        let vkey = note::Verifier::cosigner(&name, key.verifying()).expect("a name");
        let (mood, clock) = (Mood::Honest, clock.clone());
        let desk = WitnessDesk { mood, logs: vec![], seen: None, asked: vec![], name, key, clock };
        let desk = Arc::new(Mutex::new(desk));
        let router = Router::new().route("/prefix/add-checkpoint", post(add_checkpoint)).with_state(Arc::clone(&desk));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}/prefix", listener.local_addr().expect("bound"));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { vkey, url, name: format!("w{n}"), desk }
    }

    pub(crate) fn desk(&self) -> std::sync::MutexGuard<'_, WitnessDesk> {
        self.desk.lock().expect("whole")
    }

    pub(crate) fn is(&self, mood: Mood) {
        self.desk().mood = mood;
    }

    /// From which sizes it was asked, and for which, since this was called last.
    pub(crate) fn asked(&self) -> Vec<(u64, u64)> {
        let size = |asked: &AddCheckpoint| asked.checkpoint.lines().nth(1).and_then(|line| line.parse().ok());
        self.desk().asked.drain(..).map(|asked| (asked.old, size(&asked).expect("a size"))).collect()
    }

    /// A policy that asks for so many of these.
    pub(crate) fn policy(needs: usize, of: &[Self]) -> String {
        let line = |witness: &Self| format!("witness {} {} {}\n", witness.name, witness.vkey, witness.url);
        let names: Vec<&str> = of.iter().map(|witness| witness.name.as_str()).collect();
        let lines: String = of.iter().map(line).collect();
        format!("{lines}group enough {needs} {}\nquorum enough\n", names.join(" "))
    }
}

impl WitnessDesk {
    fn cosign(&self, text: &str, key: &SigningKey, ahead: Span) -> Response {
        note::cosign(text, &self.name, key, self.clock.now() + ahead).expect("cosigns").into_response()
    }

    fn size(&self, size: u64) -> Response {
        (StatusCode::CONFLICT, [("content-type", "text/x.tlog.size")], format!("{size}\n")).into_response()
    }

    fn honest(&mut self, asked: &AddCheckpoint, ahead: Span) -> Response {
        if self.logs.is_empty() {
            return StatusCode::NOT_FOUND.into_response();
        }
        let new = open_checkpoint_by(&asked.checkpoint, &self.logs);
        let Ok(new) = new else { return StatusCode::FORBIDDEN.into_response() };
        let (size, root) = self.seen.as_ref().map_or((0, empty_root()), |seen| (seen.size, seen.root));
        if asked.old > new.size {
            return StatusCode::BAD_REQUEST.into_response();
        }
        if asked.old != size || (size == new.size && root != new.root) {
            return self.size(size);
        }
        if verify_consistency(size, &root, new.size, &new.root, &asked.proof).is_err() {
            return StatusCode::UNPROCESSABLE_ENTITY.into_response();
        }
        let text = new.to_string();
        self.seen = Some(new);
        self.cosign(&text, &self.key, ahead)
    }
}

async fn add_checkpoint(State(desk): State<Arc<Mutex<WitnessDesk>>>, body: String) -> Response {
    let never = {
        let mut desk = desk.lock().expect("whole");
        let Ok(asked) = body.parse::<AddCheckpoint>() else { return StatusCode::BAD_REQUEST.into_response() };
        desk.asked.push(asked.clone());
        let text = asked.checkpoint.split_once("\n\n").map(|(text, _)| format!("{text}\n")).expect("a note");
        match desk.mood.clone() {
            Mood::Honest => return desk.honest(&asked, Span::ZERO),
            Mood::Says(status, body) => {
                return (StatusCode::from_u16(status).expect("a status"), body).into_response();
            }
            Mood::OtherText => return desk.cosign("pins.example\n0\n", &desk.key, Span::ZERO),
            Mood::OtherKey => return desk.cosign(&text, &SigningKey::from_seed(&[99; 32]), Span::ZERO),
            Mood::Ahead(span) => return desk.honest(&asked, span),
            Mood::Runs(size) => {
                desk.mood = Mood::Runs(size + 1);
                return desk.size(size);
            }
            Mood::Never => {
                desk.clock.advance(Span::minutes(1));
                true
            }
            Mood::Endless => false,
        }
    };
    if never {
        return std::future::pending().await;
    }
    let endless = tokio_util::io::ReaderStream::new(tokio::io::repeat(b'x'));
    (StatusCode::OK, axum::body::Body::from_stream(endless)).into_response()
}
