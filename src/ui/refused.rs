//! What went wrong as a page: for whoever looks at pages, a problem is one, too.

use axum::{
    extract::{FromRequestParts as _, Request, State},
    http::{HeaderMap, HeaderValue, Method, header},
    middleware::Next,
    response::{IntoResponse as _, Response},
};

use super::{
    around::{frame_apart, page_as, see},
    frame::Frame,
    html::Html,
    piece::{Link, Tone},
    problem::ProblemPage,
    signin,
};
use crate::{
    service::access::Principal,
    web::{Asked, Kind, Problem, RequestId, Web, Who},
};

/// Below this path programs ask, and get their problems as JSON.
const API: &str = "/v1/";

/// Around all pages: turns the problem of a handler into a page, and a missing session into the way to sign in.
pub(super) async fn as_page(State(web): State<Web>, request: Request, next: Next) -> Response {
    let (method, uri, headers) = (request.method().clone(), request.uri().clone(), request.headers().clone());
    let id = request.extensions().get::<RequestId>().cloned();
    let mut response = next.run(request).await;
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    if path.starts_with(API) {
        return response;
    }
    let Some(problem) = response.extensions_mut().remove::<Problem>() else { return response };
    if problem.kind() == Kind::Unauthenticated {
        let next = if method == Method::GET { path } else { "/" };
        return see(&signin::sign_in_path(next));
    }
    log(&problem);
    let frame = frame_of(&web, headers, problem.kind().title()).await;
    let signed_in = frame.viewer.is_some();
    match page_as(problem.kind().status(), frame, body(&problem, id, signed_in)) {
        Ok(page) => with_retry(page, response.headers()),
        Err(problem) => problem.into_response(),
    }
}

/// What a layer refused or cut short before a page was reached, for whoever asked for one. Nothing is looked up for it:
/// the layers refuse because there is too much to do.
pub(super) fn in_layers(problem: &Problem, asked: &Asked) -> Option<Response> {
    if !asked.page || asked.path.starts_with(API) {
        return None;
    }
    let frame = Frame::bare(problem.kind().title());
    let page = page_as(
        problem.kind().status(),
        frame,
        body(problem, Some(RequestId(asked.id.clone())), problem.kind() != Kind::Unauthenticated),
    )
    .ok()?;
    Some(with_retry(page, problem.render(None).headers()))
}

/// No page of ours is there.
pub(super) async fn nothing_here() -> Problem {
    Problem::new(Kind::NotFound)
}

/// The page is there, but takes no form, or nothing else.
pub(super) async fn wrong_method() -> Problem {
    Problem::new(Kind::MethodNotAllowed)
}

/// What is ours to solve is logged here: the page that leaves carries no problem any more.
fn log(problem: &Problem) {
    if problem.kind().status().is_server_error() {
        let cause = problem.cause().unwrap_or_default();
        tracing::error!(problem = problem.kind().slug(), cause, "could not be answered");
    }
}

/// A frame that never fails: the page about a database that doesn't answer needs none.
async fn frame_of(web: &Web, headers: HeaderMap, title: &str) -> Frame {
    let (mut parts, ()) = axum::http::Request::new(()).into_parts();
    parts.headers = headers;
    let who = Who::from_request_parts(&mut parts, web).await.map_or(Principal::Anonymous, |who| who.0);
    frame_apart(web, &who, title).await.unwrap_or_else(|_| Frame::bare(title))
}

fn body(problem: &Problem, id: Option<RequestId>, signed_in: bool) -> ProblemPage {
    let (kind, ours) = (problem.kind(), problem.kind().status().is_server_error());
    let mut next = vec![Link { href: "/".to_owned(), words: "Dashboard".to_owned() }];
    if !signed_in {
        next.push(Link { href: "/sign-in".to_owned(), words: "Sign in".to_owned() });
    }
    ProblemPage {
        status: kind.status().as_u16(),
        headline: kind.title().to_owned(),
        detail: detail(problem),
        tone: if ours { Tone::Bad } else { Tone::Plain },
        slug: Some(kind.slug()),
        request: id.map(|RequestId(id)| id).filter(|_| ours),
        next,
    }
}

/// What happened is in the headline; what was not done and what to do next is here.
fn detail(problem: &Problem) -> Html {
    let own = match problem.kind() {
        Kind::NotFound => "Nothing that you may read is at this address.",
        Kind::Forbidden => "Nothing was shown or done. An administrator gives roles, under Settings.",
        Kind::ForeignOrigin => {
            "Nothing was done. The request came from another site, or from a browser or proxy that hides where \
             requests come from. Open the page here and send the form again."
        }
        Kind::SetupOver => "Set-up is over, or this is an older link. Sign in with the account that was made.",
        Kind::NeedsQuorum => {
            "Nothing was changed. An operator can do it with `countersign admin`, beside the database."
        }
        Kind::ReadOnly => "Nothing was recorded. What was signed before still counts.",
        Kind::Timeout => "It may have been recorded all the same: look before you try again.",
        kind if kind.status().is_server_error() => "Nothing was recorded. Try again in a minute.",
        _ => "Nothing was done.",
    };
    let mut html = Html::new();
    if let Some(says) = problem.says() {
        html.html(&super::text::inline(says, MAX_SAYS)).tag(". ");
    }
    html.text(own);
    html
}

/// A sentence or two, which may quote a name from the address.
const MAX_SAYS: usize = 400;

fn with_retry(mut page: Response, from: &HeaderMap) -> Response {
    if let Some(when) = from.get(header::RETRY_AFTER) {
        page.headers_mut().insert(header::RETRY_AFTER, HeaderValue::clone(when));
    }
    page
}
