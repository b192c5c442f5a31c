//! The figures that the script replaces in place: how many candidates wait, and how long the log is.

use axum::{Json, extract::State};
use serde::Serialize;

use crate::{
    store::Stage,
    web::{Problem, Reader, Web},
};

/// What changes while somebody looks at a page.
#[derive(Debug, Serialize)]
pub(super) struct Counts {
    /// Only for those who see the queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    waiting: Option<u64>,
    size: u64,
}

pub(super) async fn show(State(web): State<Web>, Reader(who): Reader) -> Result<Json<Counts>, Problem> {
    let waiting = if who.may_see_reviews() {
        let counts = web.app().reader().conn().await?.candidate_counts().await?;
        let pending = counts.iter().filter(|count| count.state == Stage::Pending);
        Some(pending.map(|count| u64::try_from(count.n).unwrap_or(0)).sum())
    } else {
        None
    };
    Ok(Json(Counts { waiting, size: web.app().moment().checkpoint.size }))
}
