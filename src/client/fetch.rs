//! Requests to a registry: bounded in time and size, never redirected, with the token only where it belongs.

use reqwest::{
    Client, Method, RequestBuilder, Response, StatusCode,
    header::{AUTHORIZATION, CONTENT_TYPE, ETAG, HeaderValue, IF_NONE_MATCH},
    redirect::Policy,
};
use serde::Deserialize;
use url::Url;

use crate::{clock::Span, env::Clock};

/// A registry on the other side of the world answers in a second; one that doesn't in thirty won't.
const PATIENCE: Span = Span::seconds(30);
/// A submission is scanned before it is answered.
const PATIENCE_TO_PUBLISH: Span = Span::seconds(120);
/// Problem documents are a few hundred bytes.
const MAX_PROBLEM: usize = 64 << 10;
/// An entity tag that is sent back; ours have 66 characters.
const MAX_ETAG: usize = 256;

/// A registry at an address.
pub struct Registry {
    http: Client,
    base: Url,
    token: Option<HeaderValue>,
}

/// A body that came in whole.
#[derive(Clone, Debug)]
pub struct Body {
    /// The status, a success.
    pub status: u16,
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Its entity tag, if it has one.
    pub etag: Option<String>,
}

/// What a registry says about a refusal (RFC 9457). Text of the registry's: make it inert before showing it.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(default)]
pub struct Problem {
    /// The stable slug.
    pub r#type: String,
    /// What it means.
    pub title: String,
    /// What it means here.
    pub detail: Option<String>,
}

/// There is no usable answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The address can't be a registry's.
    #[error("{0} is not the http or https address of a registry")]
    Address(String),
    /// The token would cross the network in clear text.
    #[error("the token is sent over https or to this machine only, not to {0}")]
    InClear(String),
    /// The token isn't one.
    #[error("COUNTERSIGN_TOKEN holds no token")]
    Token,
    /// No answer.
    #[error("the registry was not reached: {0}")]
    Network(String),
    /// No answer in time.
    #[error("the registry did not answer within {} seconds", .0.as_seconds())]
    Timeout(Span),
    /// A longer answer than this can be.
    #[error("the registry's answer is longer than {0} bytes")]
    TooLarge(usize),
    /// A refusal.
    #[error("the registry answered {status}{}", shown(.problem.as_ref()))]
    Status {
        /// The status.
        status: u16,
        /// What it says about it.
        problem: Option<Problem>,
    },
}

impl Registry {
    /// The registry at this address, and the token to show it.
    ///
    /// # Errors
    /// [`Error::Address`], [`Error::InClear`] and [`Error::Token`].
    pub fn new(address: &str, token: Option<&str>) -> Result<Self, Error> {
        let bad = || Error::Address(address.to_owned());
        let mut base: Url = address.parse().map_err(|_| bad())?;
        let plain = !matches!(base.scheme(), "http" | "https")
            || base.host().is_none()
            || !base.username().is_empty()
            || base.password().is_some();
        if plain {
            return Err(bad());
        }
        base.set_query(None);
        base.set_fragment(None);
        let token = match token {
            Some(_) if base.scheme() == "http" && !is_here(&base) => return Err(Error::InClear(base.to_string())),
            Some(token) => {
                let mut value: HeaderValue = format!("Bearer {token}").parse().map_err(|_| Error::Token)?;
                value.set_sensitive(true);
                Some(value)
            }
            None => None,
        };
        // A redirect would hand the token, and the choice of what is fetched, to whoever answers.
        let http = Client::builder()
            .redirect(Policy::none())
            .user_agent(concat!("countersign/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|e| Error::Network(cause(&e)))?;
        Ok(Self { http, base, token })
    }

    /// The address.
    pub fn address(&self) -> &Url {
        &self.base
    }

    /// Fetches at most `max` bytes. `None` says that what has this entity tag is still current.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn get(
        &self,
        clock: &dyn Clock,
        path: &[&str],
        query: &[(&str, &str)],
        etag: Option<&str>,
        max: usize,
    ) -> Result<Option<Body>, Error> {
        let mut request = self.request(Method::GET, path, query);
        if let Some(etag) = etag {
            request = request.header(IF_NONE_MATCH, etag);
        }
        in_time(clock, PATIENCE, async {
            let response = request.send().await.map_err(|e| Error::Network(cause(&e)))?;
            if etag.is_some() && response.status() == StatusCode::NOT_MODIFIED {
                return Ok(None);
            }
            read(response, max).await.map(Some)
        })
        .await
    }

    /// Sends a JSON document and reads at most `max` bytes of answer.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn post(&self, clock: &dyn Clock, path: &[&str], json: Vec<u8>, max: usize) -> Result<Body, Error> {
        let request = self.request(Method::POST, path, &[]).header(CONTENT_TYPE, "application/json").body(json);
        in_time(clock, PATIENCE_TO_PUBLISH, async {
            read(request.send().await.map_err(|e| Error::Network(cause(&e)))?, max).await
        })
        .await
    }

    fn request(&self, method: Method, path: &[&str], query: &[(&str, &str)]) -> RequestBuilder {
        let mut url = self.base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path);
        }
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        let request = self.http.request(method, url);
        match &self.token {
            Some(token) => request.header(AUTHORIZATION, token.clone()),
            None => request,
        }
    }
}

async fn in_time<T>(clock: &dyn Clock, limit: Span, work: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    tokio::select! {
        done = work => done,
        () = clock.until(clock.now() + limit) => Err(Error::Timeout(limit)),
    }
}

async fn read(mut response: Response, max: usize) -> Result<Body, Error> {
    let status = response.status();
    let etag = response.headers().get(ETAG).and_then(|v| v.to_str().ok()).filter(|v| v.len() <= MAX_ETAG);
    let etag = etag.map(str::to_owned);
    if status.is_success() {
        let bytes = whole(&mut response, max).await?;
        return Ok(Body { status: status.as_u16(), bytes, etag });
    }
    let bytes = whole(&mut response, MAX_PROBLEM).await.unwrap_or_default();
    let problem = serde_json::from_slice(&bytes).ok().filter(|problem: &Problem| *problem != Problem::default());
    Err(Error::Status { status: status.as_u16(), problem })
}

async fn whole(response: &mut Response, max: usize) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|e| Error::Network(cause(&e)))? {
        if bytes.len() + chunk.len() > max {
            return Err(Error::TooLarge(max));
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

fn is_here(url: &Url) -> bool {
    match url.host() {
        Some(url::Host::Domain(name)) => name == "localhost",
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

fn shown(problem: Option<&Problem>) -> String {
    let Some(problem) = problem else { return String::new() };
    let cut = |text: &str| text.chars().take(400).collect::<String>();
    let slug = cut(problem.r#type.rsplit('/').next().unwrap_or_default());
    let text = cut(problem.detail.as_deref().unwrap_or(&problem.title));
    match (slug.is_empty(), text.is_empty()) {
        (true, true) => String::new(),
        (true, false) => format!(": {text}"),
        (false, true) => format!(" ({slug})"),
        (false, false) => format!(" ({slug}): {text}"),
    }
}

/// The innermost reason: reqwest's own text is a chain that begins with the URL.
fn cause(error: &reqwest::Error) -> String {
    let mut innermost: &dyn std::error::Error = error;
    while let Some(next) = innermost.source() {
        innermost = next;
    }
    innermost.to_string().chars().take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_goes_over_https_or_to_this_machine_only() {
        for (address, ok) in [
            ("https://pins.example", true),
            ("https://pins.example/registry/?q#f", true),
            ("http://127.0.0.1:8080", true),
            ("http://[::1]:8080", true),
            ("http://localhost:8080", true),
            ("http://pins.example", false),
            ("http://localhost.example", false),
            ("http://127.0.0.1.example", false),
            ("ftp://localhost", false),
            ("https://user@pins.example", false),
            ("pins.example", false),
            ("", false),
        ] {
            assert_eq!(Registry::new(address, Some("cs_x")).is_ok(), ok, "{address}");
        }
        assert!(Registry::new("http://pins.example", None).is_ok());
        assert!(matches!(Registry::new("https://pins.example", Some("a\nb")), Err(Error::Token)));
    }

    #[test]
    fn names_stay_inside_their_path_segment() {
        let registry = Registry::new("https://pins.example/base/", None).expect("an address");
        let request = registry.request(Method::GET, &["v1", "pinsets", "../../x?y"], &[("tree_size", "7")]);
        let url = request.build().expect("a request").url().to_string();
        assert_eq!(url, "https://pins.example/base/v1/pinsets/..%2F..%2Fx%3Fy?tree_size=7");
    }
}
