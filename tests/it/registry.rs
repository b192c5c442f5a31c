//! A registry double: serves what the in-memory registry has, over HTTP, and whatever else a test wants it to say.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard},
};

use axum::{
    Router,
    body::Bytes,
    extract::{OriginalUri, State},
    http::{HeaderMap, Method, StatusCode},
    response::{IntoResponse, Response},
};
use countersign::canon::Sha256;

use crate::in_memory::Registry;

/// A registry that is reached over HTTP.
pub(crate) struct Served {
    pub(crate) url: String,
    desk: Arc<Mutex<Desk>>,
}

/// What it has, what it says instead, and what it was asked.
pub(crate) struct Desk {
    pub(crate) registry: Registry,
    /// Paths that are answered with this status and body, whatever the registry has.
    pub(crate) instead: BTreeMap<String, (u16, Vec<u8>)>,
    /// Method, path and query, token, body.
    pub(crate) asked: Vec<(String, String, String, Vec<u8>)>,
}

impl Served {
    pub(crate) async fn new(registry: Registry) -> Self {
        let desk = Arc::new(Mutex::new(Desk { registry, instead: BTreeMap::new(), asked: Vec::new() }));
        let router = Router::new().fallback(answer).with_state(Arc::clone(&desk));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("bound"));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { url, desk }
    }

    pub(crate) fn desk(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().expect("whole")
    }

    /// Answers this path with this from now on.
    pub(crate) fn instead(&self, path: &str, status: u16, body: impl Into<Vec<u8>>) {
        self.desk().instead.insert(path.to_owned(), (status, body.into()));
    }
}

async fn answer(
    State(desk): State<Arc<Mutex<Desk>>>,
    method: Method,
    OriginalUri(uri): OriginalUri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let mut desk = desk.lock().expect("whole");
    let text = |name: &str| headers.get(name).and_then(|v| v.to_str().ok()).unwrap_or("").to_owned();
    desk.asked.push((method.to_string(), uri.to_string(), text("authorization"), body.to_vec()));
    if let Some((status, body)) = desk.instead.get(uri.path()) {
        return (StatusCode::from_u16(*status).expect("a status"), body.clone()).into_response();
    }
    let registry = &desk.registry;
    match uri.path().split('/').skip(1).collect::<Vec<_>>().as_slice() {
        ["v1", "trust"] => registry.trust().note().to_owned().into_response(),
        ["v1", "pinsets", "default", "head"] => {
            let size = uri.query().and_then(|query| query.strip_prefix("tree_size=")).unwrap_or("0");
            let answer = registry.head(size.parse().expect("a number")).to_json().expect("JSON");
            // A tag of the version alone, as a cache would have it that forgets what else is in the answer.
            let tag = format!("\"{}\"", registry.documents.len());
            if text("if-none-match") == tag {
                return StatusCode::NOT_MODIFIED.into_response();
            }
            ([("etag", tag)], answer).into_response()
        }
        ["v1", "pinsets", "default", "sets", sha256] => {
            let sha256: Sha256 = sha256.parse().expect("hex");
            match registry.documents.iter().find(|(id, _)| *id == sha256) {
                Some((_, bytes)) => bytes.clone().into_response(),
                None => StatusCode::NOT_FOUND.into_response(),
            }
        }
        _ => StatusCode::NOT_FOUND.into_response(),
    }
}
