//! Whether the service lives, whether it should be sent requests, and what it measures.

use axum::{
    Json,
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use serde::Serialize;
use utoipa::ToSchema;

use super::schema::Problem as Refusal;
use crate::{service::ReadOnly, web::Web};

/// The process answers.
#[derive(Serialize, ToSchema)]
pub(super) struct Health {
    status: &'static str,
}

/// Whether the process answers.
#[utoipa::path(
    get, path = "/healthz", tag = "anyone", security(()),
    responses(
        (status = 200, body = Health),
        (status = "default", body = Refusal, content_type = "application/problem+json"),
    )
)]
pub(super) async fn healthz() -> Json<Health> {
    Json(Health { status: "ok" })
}

/// Whether requests should come here.
#[derive(Serialize)]
struct Ready {
    ready: bool,
    /// Why nothing may be written: a word; the whole reason is in the operator's log.
    read_only: Option<&'static str>,
    anchor: &'static str,
    log_size: u64,
}

/// 503 while nothing may be written; before set-up it is ready all the same.
pub(super) async fn readyz(State(web): State<Web>) -> Response {
    let app = web.app();
    let read_only = app.read_only();
    let ready = Ready {
        ready: read_only.is_none(),
        read_only: read_only.as_ref().map(word),
        anchor: if app.anchor_is_inside_data() {
            "inside the data directory: a restore of the whole directory is not noticed"
        } else {
            "outside the data directory"
        },
        log_size: app.moment().checkpoint.size,
    };
    let status = if ready.ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, Json(ready)).into_response()
}

pub(super) async fn metrics(State(web): State<Web>) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], web.measured())
}

/// Why nothing may be written, without what only the operator should know.
pub(super) const fn word(reason: &ReadOnly) -> &'static str {
    match reason {
        ReadOnly::NoAnchor => "no-anchor",
        ReadOnly::Behind { .. } => "behind",
        ReadOnly::Fork(_) => "fork",
        ReadOnly::Damaged(_) => "damaged",
        ReadOnly::Unusable(_) => "anchor-unusable",
    }
}
