//! The layers around every request, outermost first: what is secret is marked, answers are compressed and get their
//! headers, the request is watched, a panic becomes a problem, and only then is it admitted, timed and routed.

use axum::{
    Router,
    extract::{DefaultBodyLimit, Request, State},
    http::{HeaderName, HeaderValue, header},
    middleware::{self, Next},
    response::{IntoResponse as _, Response},
};
use tower::ServiceBuilder;
use tower_http::{
    catch_panic::CatchPanicLayer,
    compression::{
        CompressionLayer, Predicate,
        predicate::{NotForContentType, SizeAbove},
    },
    sensitive_headers::{SetSensitiveRequestHeadersLayer, SetSensitiveResponseHeadersLayer},
    set_header::SetResponseHeaderLayer,
};

use super::{Kind, MAX_BODY, Problem, Web, admission, watch};
use crate::clock::Span;

/// What a page may load and do: our own files, nothing inline, no frames, forms to ourselves. An answer of the API that
/// somebody opens in a browser may do no more.
pub const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; \
    connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// The largest release takes a few seconds on a slow machine. What takes longer is stuck, or is sent on purpose a byte
/// at a time.
const PATIENCE: Span = Span::seconds(60);
/// Below this a compressed answer isn't smaller than the packet that carries it.
const WORTH_COMPRESSING: u64 = 1_024;

/// Headers that every answer has unless its handler chose another value.
const HEADERS: [(HeaderName, &str); 6] = [
    (header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    // Not `no-referrer`: with that, browsers send `Origin: null` with our own forms.
    (header::REFERRER_POLICY, "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    // Whoever may read it is decided anew each time; what may be kept says so itself.
    (header::CACHE_CONTROL, "no-store"),
];

/// How a problem looks to whoever asked for a page, where it arose outside of all pages; none if a program asked.
pub type Shown = fn(&Problem, &Asked) -> Option<Response>;

/// What decides how a problem is shown.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The request's id.
    pub id: String,
    /// The path that was asked for.
    pub path: String,
    /// Whether the client says that it takes a page.
    pub page: bool,
}

/// Routes of pages, and how a problem looks there.
#[derive(Clone, Debug)]
pub struct Pages {
    /// The routes.
    pub routes: Router<Web>,
    /// What a problem of the layers is shown as.
    pub shown: Shown,
}

impl Pages {
    /// No pages: every problem is a document for programs.
    pub fn none() -> Self {
        Self { routes: Router::new(), shown: |_, _| None }
    }
}

/// Puts the layers around a router and gives it its state.
pub fn layers(router: Router<Web>, web: &Web, shown: Shown) -> Router {
    let mut router = router
        .method_not_allowed_fallback(async || Problem::new(Kind::MethodNotAllowed))
        .fallback(async || Problem::new(Kind::NotFound))
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .layer(middleware::from_fn_with_state(web.clone(), in_time))
        .layer(middleware::from_fn_with_state(web.clone(), admission::admit))
        .layer(CatchPanicLayer::custom(watch::panicked))
        .layer(middleware::from_fn_with_state((web.clone(), shown), watch::watch));
    for (name, value) in HEADERS {
        router = router.layer(SetResponseHeaderLayer::if_not_present(name, HeaderValue::from_static(value)));
    }
    let by_type = NotForContentType::IMAGES.and(NotForContentType::const_new("application/octet-stream"));
    let compressed = SizeAbove::new(WORTH_COMPRESSING).and(Worth(by_type));
    let secret = [header::AUTHORIZATION, header::COOKIE];
    router
        .layer(
            ServiceBuilder::new()
                .layer(SetSensitiveRequestHeadersLayer::new(secret))
                .layer(SetSensitiveResponseHeadersLayer::new([header::SET_COOKIE]))
                .layer(CompressionLayer::new().compress_when(compressed)),
        )
        .with_state(web.clone())
}

/// Marks an answer whose type says nothing about its bytes, as one that compressing makes smaller.
#[derive(Clone, Copy, Debug)]
pub struct Compressible;

/// Compresses what is marked, and what its type recommends.
#[derive(Clone)]
struct Worth<P>(P);

impl<P: Predicate> Predicate for Worth<P> {
    fn should_compress<B: axum::body::HttpBody>(&self, response: &axum::http::Response<B>) -> bool {
        response.extensions().get::<Compressible>().is_some() || self.0.should_compress(response)
    }
}

/// Time is the registry's clock, as everywhere: a test moves it on.
async fn in_time(State(web): State<Web>, request: Request, next: Next) -> Response {
    let clock = web.app().clock();
    let ends = clock.now() + PATIENCE;
    tokio::select! {
        biased;
        answered = next.run(request) => answered,
        () = clock.until(ends) => Problem::new(Kind::Timeout).caused("no answer in time").into_response(),
    }
}
