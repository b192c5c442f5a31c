//! Streamable HTTP: one POST a message, answered by a JSON body or by a stream of events.

use reqwest::{
    Client, Response, StatusCode,
    header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue},
    redirect::Policy,
};

use crate::clock::Span;

use super::{
    Fault, Protocol, Run,
    fault::quote,
    message::{self, Answer, Message, Request},
    sse::Events,
};

/// Further headers of each request.
pub type Headers = HeaderMap;

/// A body that is no answer is read this far, to find the error message in it.
const MAX_ERROR_BODY: usize = 64 << 10;
/// How long the end of a session may take; nobody waits for what it answers.
const GOODBYE: Span = Span::seconds(2);
/// The longest session id that is sent back: a few of them fit the usual 8 KiB of headers.
const MAX_SESSION_ID: usize = 1024;

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");

/// The text is no header that may be added.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("not a header of the form Name: value, or one that the protocol sets itself")]
pub struct BadHeader;

/// Reads `Name: value` for [`Target::Http`](super::Target::Http).
///
/// # Errors
/// [`BadHeader`], also for headers that the transport sets itself.
pub fn header(text: &str) -> Result<(HeaderName, HeaderValue), BadHeader> {
    let (name, value) = text.split_once(':').ok_or(BadHeader)?;
    let name: HeaderName = name.trim().parse().map_err(|_| BadHeader)?;
    if [ACCEPT, CONTENT_TYPE, SESSION, VERSION, METHOD, reqwest::header::HOST].contains(&name) {
        return Err(BadHeader);
    }
    let mut value: HeaderValue = value.trim().parse().map_err(|_| BadHeader)?;
    value.set_sensitive(true);
    Ok((name, value))
}

/// The way to an endpoint.
pub(super) struct Http {
    client: Client,
    url: url::Url,
    headers: Headers,
    session: Option<HeaderValue>,
    next_id: u64,
    /// The version that was agreed on; the newer era states it with each request.
    pub(super) version: Option<Protocol>,
}

impl Http {
    pub(super) fn new(url: url::Url, headers: Headers) -> Result<Self, Fault> {
        // Redirects would send the caller's headers to whom the server names, and record an endpoint that isn't asked.
        let client = Client::builder()
            .redirect(Policy::none())
            .user_agent(concat!("countersign/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|e| Fault::Network(cause(&e)))?;
        Ok(Self { client, url, headers, session: None, next_id: 1, version: None })
    }

    /// Sends a request and waits for its answer.
    pub(super) async fn call(&mut self, run: &mut Run<'_>, request: Request<'_>) -> Result<Answer, Fault> {
        let (method, limit) = (request.method(), run.patience());
        let id = self.next_id;
        self.next_id += 1;
        let ends = (run.clock.now() + limit).min(run.ends);
        let clock = run.clock;
        let outcome = tokio::select! {
            outcome = self.exchange(run, method, id, request.into_line(Some(id))) => Some(outcome),
            () = clock.until(ends) => None,
        };
        let (answer, session) = outcome.unwrap_or_else(|| Err(run.too_late(method, limit)))?;
        if method == "initialize" {
            self.session = session;
        }
        Ok(answer)
    }

    /// Sends a notification.
    pub(super) async fn notify(&self, run: &Run<'_>, notification: Request<'_>) -> Result<(), Fault> {
        let method = notification.method();
        let limit = run.options.request;
        let status = tokio::select! {
            sent = self.post(method, notification.into_line(None)) => sent?.status(),
            () = run.clock.until((run.clock.now() + limit).min(run.ends)) => return Err(run.too_late(method, limit)),
        };
        if status.is_success() { Ok(()) } else { Err(Fault::Status { method, status: status.as_u16() }) }
    }

    /// Ends the session, if the server opened one.
    pub(super) async fn close(&mut self, run: &Run<'_>) {
        let Some(session) = self.session.take() else { return };
        let request = self.client.delete(self.url.clone()).headers(self.headers.clone()).header(SESSION, session);
        tokio::select! {
            _ = request.send() => {}
            () = run.clock.until(run.clock.now() + GOODBYE) => {}
        }
    }

    async fn post(&self, method: &'static str, body: Vec<u8>) -> Result<Response, Fault> {
        let mut request = self
            .client
            .post(self.url.clone())
            .headers(self.headers.clone())
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "application/json, text/event-stream");
        let newer = method == "server/discover" || self.version.is_some_and(Protocol::is_sessionless);
        if newer {
            request = request.header(METHOD, method).header(VERSION, Protocol::V2026_07_28.as_str());
        } else if let Some(version) = self.version {
            request = request.header(VERSION, version.as_str());
        }
        if let Some(session) = &self.session {
            request = request.header(SESSION, session.clone());
        }
        request.body(body).send().await.map_err(|e| Fault::Network(cause(&e)))
    }

    async fn exchange(
        &self,
        run: &mut Run<'_>,
        method: &'static str,
        id: u64,
        body: Vec<u8>,
    ) -> Result<(Answer, Option<HeaderValue>), Fault> {
        let mut response = self.post(method, body).await?;
        let status = response.status();
        if !status.is_success() {
            return self.refusal(run, method, id, status, response).await.map(|answer| (answer, None));
        }
        let content_type = response.headers().get(CONTENT_TYPE).and_then(|v| v.to_str().ok()).unwrap_or("");
        let essence = content_type.split(';').next().unwrap_or("").trim().to_ascii_lowercase();
        let session = response.headers().get(SESSION).cloned();
        let session = session.filter(|s| s.len() <= MAX_SESSION_ID && s.as_bytes().iter().all(u8::is_ascii_graphic));
        match essence.as_str() {
            "application/json" => {
                let body = whole(run, &mut response, usize::MAX).await?;
                match self.take(run, &body, method, id).await? {
                    Some(answer) => Ok((answer, session)),
                    None => Err(Fault::NotAMessage("the body is not an answer".to_owned())),
                }
            }
            "text/event-stream" => {
                let mut events = Events::default();
                while let Some(chunk) = response.chunk().await.map_err(|e| Fault::Network(cause(&e)))? {
                    run.receive(chunk.len())?;
                    events.push(&chunk);
                    while let Some(data) = events.next() {
                        if data.is_empty() {
                            continue;
                        }
                        if let Some(answer) = self.take(run, &data, method, id).await? {
                            return Ok((answer, session));
                        }
                    }
                }
                Err(Fault::Ended(method))
            }
            _ => Err(Fault::ContentType { method, content_type: quote(content_type) }),
        }
    }

    /// Takes in one message; gives the answer if it is the one to `id`.
    async fn take(
        &self,
        run: &mut Run<'_>,
        bytes: &[u8],
        method: &'static str,
        id: u64,
    ) -> Result<Option<Answer>, Fault> {
        let text = std::str::from_utf8(bytes).map_err(|_| Fault::NotUtf8)?;
        match Message::parse(text)? {
            Message::Answer { id: Some(of), answer } if of.parse() == Ok(id) => Ok(Some(answer)),
            Message::Answer { id: Some(of), .. } => Err(Fault::UnknownId(quote(of))),
            Message::Answer { id: None, answer: Err(error) } => Err(error.fault(method)),
            Message::Answer { id: None, answer: Ok(_) } => Err(Fault::UnknownId("none".to_owned())),
            Message::Request { method: asked, .. } if self.version.is_some_and(Protocol::is_sessionless) => {
                Err(Fault::Asked(quote(&asked)))
            }
            Message::Request { id, method: asked } => {
                self.post(method, message::reply(id, &asked)).await?;
                Ok(None)
            }
            Message::Notification { method } => {
                run.changed |= message::says_changed(&method);
                Ok(None)
            }
        }
    }

    /// Reads a refusal: the error in its body, or else its status.
    async fn refusal(
        &self,
        run: &mut Run<'_>,
        method: &'static str,
        id: u64,
        status: StatusCode,
        mut response: Response,
    ) -> Result<Answer, Fault> {
        let bare = Fault::Status { method, status: status.as_u16() };
        if status.is_redirection() {
            return Err(bare);
        }
        let Ok(body) = whole(run, &mut response, MAX_ERROR_BODY).await else { return Err(bare) };
        let id = id.to_string();
        match std::str::from_utf8(&body).ok().and_then(|text| Message::parse(text).ok()) {
            Some(Message::Answer { id: of, answer: Err(error) }) if of.is_none_or(|of| of == id) => Ok(Err(error)),
            _ => Err(bare),
        }
    }
}

async fn whole(run: &mut Run<'_>, response: &mut Response, max: usize) -> Result<Vec<u8>, Fault> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|e| Fault::Network(cause(&e)))? {
        run.receive(chunk.len())?;
        if body.len() + chunk.len() > max {
            return Err(Fault::Flood(max));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// The innermost reason: reqwest's own text is a chain that begins with the URL.
fn cause(error: &reqwest::Error) -> String {
    let mut innermost: &dyn std::error::Error = error;
    while let Some(next) = innermost.source() {
        innermost = next;
    }
    quote(&innermost.to_string())
}
