//! What surrounds a request from its first to its last moment: an id, a span in the log, a measure, and the form of
//! whatever went wrong.
//!
//! Nothing of the request that may be a secret is logged: not its query, not its headers, and of its path only the
//! pattern that matched.

use axum::{
    extract::{MatchedPath, Request, State},
    http::{HeaderMap, HeaderValue, Method, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use tracing::Instrument as _;

use super::{Asked, Problem, Shown, Web};

/// The request's id: what an operator finds it by. Ours, whatever the client sent.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RequestId(pub String);

/// What is logged and measured of a path that is none.
const UNMATCHED: &str = "unmatched";
/// The answer's header with the id.
const HEADER: &str = "x-request-id";

pub(super) async fn watch(State((web, shown)): State<(Web, Shown)>, mut request: Request, next: Next) -> Response {
    let id = web.next_id();
    request.extensions_mut().insert(RequestId(id.clone()));
    let asked = Asked { id: id.clone(), path: request.uri().path().to_owned(), page: takes_a_page(request.headers()) };
    let method = word(request.method());
    let path = request.extensions().get::<MatchedPath>().map_or(UNMATCHED, MatchedPath::as_str).to_owned();
    let span = tracing::info_span!("request", id, method, path);
    let began = web.app().clock().now();
    let answer = async {
        let response = finish(next.run(request).await, &asked, shown);
        tracing::debug!(status = response.status().as_u16(), "answered");
        response
    };
    let mut response = answer.instrument(span).await;
    let took = web.app().clock().now().since(began);
    web.metrics().request(method, &path, response.status().as_u16(), took);
    if let Ok(id) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(HEADER, id);
    }
    response
}

/// Logs what is ours to solve and gives it its id; shows whatever went wrong in the form that was asked for.
fn finish(mut response: Response, asked: &Asked, shown: Shown) -> Response {
    let Some(problem) = response.extensions_mut().remove::<Problem>() else { return response };
    let ours = problem.kind().status().is_server_error();
    if ours {
        let cause = problem.cause().unwrap_or_default();
        tracing::error!(problem = problem.kind().slug(), cause, "could not be answered");
    }
    match shown(&problem, asked) {
        Some(page) => page,
        None if ours => problem.render(Some(&asked.id)),
        None => response,
    }
}

/// Browsers name the type when they open a page or send a form; programs name another one, or take anything.
fn takes_a_page(headers: &HeaderMap) -> bool {
    let lines = headers.get_all(header::ACCEPT).iter().filter_map(|line| line.to_str().ok());
    let mut types = lines.flat_map(|line| line.split(',')).filter_map(|range| range.split(';').next());
    types.any(|range| range.trim().eq_ignore_ascii_case("text/html"))
}

/// What a handler that panicked answers. The panic itself was printed by the hook; a message of it may quote anything.
pub(super) fn panicked(_: Box<dyn std::any::Any + Send>) -> Response {
    Problem::internal("a handler panicked").into_response()
}

/// A method as a label: clients can make up any number of words.
fn word(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::DELETE => "DELETE",
        Method::PATCH => "PATCH",
        Method::OPTIONS => "OPTIONS",
        _ => "other",
    }
}
