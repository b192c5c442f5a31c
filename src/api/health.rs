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
use crate::{
    clock::Timestamp,
    service::{
        App, KeyKind, ReadOnly,
        trust::{KeyState, KeyStatus},
    },
    web::Web,
};

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
    /// Keys that count, or will, and are not here: each makes this process read-only once it is to sign.
    missing_keys: Vec<MissingKey>,
    /// Seconds until the next key begins to count, or one that signs along ends; absent if no change is announced.
    #[serde(skip_serializing_if = "Option::is_none")]
    keys_change_in: Option<i64>,
    /// Absent without witnesses.
    #[serde(skip_serializing_if = "Option::is_none")]
    quorum: Option<Quorum>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    witnesses: Vec<Witness>,
}

/// How the witness quorum is doing.
#[derive(Serialize)]
struct Quorum {
    /// Leaves under the newest checkpoint that has it.
    size: u64,
    /// Leaves that the log has beyond that.
    lag: u64,
    /// Whether the trust file asks gateways for it.
    in_trust: bool,
}

/// How a witness is doing.
#[derive(Serialize)]
struct Witness {
    name: String,
    size: u64,
    lag: u64,
    cosigned_at: Option<Timestamp>,
    /// What is wrong since then: a word.
    trouble: Option<&'static str>,
    trouble_at: Option<Timestamp>,
}

/// A key that isn't here.
#[derive(Serialize)]
struct MissingKey {
    signs: &'static str,
    id: String,
    from: Timestamp,
}

/// 503 while nothing may be written; before set-up it is ready all the same.
pub(super) async fn readyz(State(web): State<Web>) -> Response {
    let app = web.app();
    let (read_only, keys, now) = (app.read_only(), app.keys(), app.clock().now());
    let needed = |key: &KeyStatus| key.kind != KeyKind::Root && key.state != KeyState::Retired;
    let missing = |key: &KeyStatus| MissingKey { signs: key.kind.word(), id: key.id.to_string(), from: key.from };
    let ready = Ready {
        ready: read_only.is_none(),
        read_only: read_only.as_ref().map(word),
        anchor: if app.anchor_is_inside_data() {
            "inside the data directory: a restore of the whole directory is not noticed"
        } else {
            "outside the data directory"
        },
        log_size: app.moment().checkpoint.size,
        missing_keys: keys.iter().filter(|key| needed(key) && !key.here).map(missing).collect(),
        keys_change_in: keys
            .iter()
            .flat_map(|key| [Some(key.from), key.until])
            .flatten()
            .filter(|at| *at > now)
            .min()
            .map(|at| at.since(now).as_seconds()),
        quorum: quorum(app),
        witnesses: witnesses(app),
    };
    let status = if ready.ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, Json(ready)).into_response()
}

fn quorum(app: &App) -> Option<Quorum> {
    let quorum = app.quorum()?;
    let lag = app.moment().checkpoint.size.saturating_sub(quorum.cosigned);
    Some(Quorum { size: quorum.cosigned, lag, in_trust: quorum.in_trust })
}

fn witnesses(app: &App) -> Vec<Witness> {
    let shown = app.witnesses().into_iter().map(|witness| Witness {
        name: witness.name,
        size: witness.size,
        lag: witness.lag,
        cosigned_at: witness.cosigned_at,
        trouble: witness.trouble.map(|trouble| trouble.word()),
        trouble_at: witness.trouble_at,
    });
    shown.collect()
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
        ReadOnly::NoKey { .. } => "no-key",
        ReadOnly::Unusable(_) => "anchor-unusable",
    }
}
