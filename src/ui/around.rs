//! What every handler of a page does around its own facts: the frame, filled from this moment, and the answer.
//!
//! Pages are never kept by a browser or a proxy: the layers say `no-store` wherever a handler says nothing else.

use askama::Template;
use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Response},
};

use super::{
    figure::Count,
    frame::{Frame, HeadLine, Keys, Section, Viewer},
    html::Html,
    piece::{Note, Tone},
    when,
};
use crate::{
    name::SetName,
    service::access::Principal,
    store::Stage,
    web::{Problem, Web},
};

/// The pin set whose head stands in the bar.
const DEFAULT_SET: &str = "default";

/// The frame of a page in a section: head, counts, account, and what concerns everybody.
///
/// # Errors
/// [`Problem`] if the database doesn't answer.
pub(crate) async fn frame(
    web: &Web,
    who: &Principal,
    title: &str,
    section: Section,
    keys: Keys,
) -> Result<Frame, Problem> {
    let frame = frame_apart(web, who, title).await?;
    Ok(Frame { section: Some(section), keys, ..frame })
}

/// The frame of a page that is in no section.
///
/// # Errors
/// [`Problem`] if the database doesn't answer.
pub(crate) async fn frame_apart(web: &Web, who: &Principal, title: &str) -> Result<Frame, Problem> {
    let viewer = who.user().map(|user| Viewer { name: user.account.clone(), reviews: who.may_see_reviews() });
    let waiting = match &viewer {
        Some(Viewer { reviews: true, .. }) => Some(waiting(web).await?),
        _ => None,
    };
    Ok(Frame { viewer, waiting, head: head(web), notes: notes(web, who.may_administer()), ..Frame::bare(title) })
}

/// The frame of a page before sign-in: what concerns everybody stands there too.
pub(crate) fn frame_before_sign_in(web: &Web, title: &str) -> Frame {
    Frame { notes: notes(web, false), ..Frame::bare(title) }
}

/// The page, as an answer.
///
/// # Errors
/// [`Problem`] if a template of ours failed.
pub(crate) fn page(frame: Frame, body: impl Template) -> Result<Response, Problem> {
    page_as(StatusCode::OK, frame, body)
}

/// The page with another status than 200: a form that comes back, a secret just made.
///
/// # Errors
/// [`Problem`] if a template of ours failed.
#[expect(clippy::needless_pass_by_value, reason = "a handler has no more use for what it answers")]
pub(crate) fn page_as(status: StatusCode, frame: Frame, body: impl Template) -> Result<Response, Problem> {
    let html = frame.page(&body).map_err(Problem::internal)?;
    const HTML: HeaderValue = HeaderValue::from_static("text/html; charset=utf-8");
    Ok((status, [(header::CONTENT_TYPE, HTML)], html.into_string()).into_response())
}

/// To another page after a form was done, so that a reload doesn't send it again.
pub(crate) fn see(path: &str) -> Response {
    let Ok(path) = HeaderValue::from_str(path) else {
        return Problem::internal("an address of ours is none").into_response();
    };
    (StatusCode::SEE_OTHER, [(header::LOCATION, path)]).into_response()
}

async fn waiting(web: &Web) -> Result<Count, Problem> {
    let counts = web.app().reader().conn().await?.candidate_counts().await?;
    let pending = counts.iter().filter(|count| count.state == Stage::Pending);
    Ok(Count(pending.map(|count| u64::try_from(count.n).unwrap_or_default()).sum()))
}

fn head(web: &Web) -> Option<HeadLine> {
    let set: SetName = DEFAULT_SET.parse().ok()?;
    let moment = web.app().moment();
    let head = moment.released.get(&set)?;
    let left = head.expires.since(web.app().clock().now());
    let good_for = (left.as_seconds() > 0).then(|| when::length(left));
    Some(HeadLine { set: set.to_string(), version: head.version, good_for })
}

/// Why nothing can be written is an administrator's to read; that nothing can be, everybody's.
fn notes(web: &Web, administers: bool) -> Vec<Note> {
    let Some(reason) = web.app().read_only() else { return Vec::new() };
    let detail = if administers {
        Html::from(format!("Nothing is recorded until this is solved: {reason}.").as_str())
    } else {
        "Nothing is recorded until an operator has looked. What was signed before still counts.".into()
    };
    let headline = "This registry is read-only.".to_owned();
    vec![Note { tone: Tone::Bad, symbol: "rejected", headline, detail, link: None, alert: false }]
}
