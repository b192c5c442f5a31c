//! The review queue, a candidate with everything that a decision rests on, and the decision.

use axum::{Json, extract::State, http::StatusCode};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::{IntoParams, ToSchema};

use super::{
    page::{Limit, Page, after},
    schema::{CandidateItem, Logged, Problem as Refusal},
};
use crate::{
    canon::Sha256,
    clock::Timestamp,
    descriptor::{Descriptor, diff},
    name::SetName,
    review::{Ballot, CandidateId, Outcome, ReasonText, Shown, View},
    scan::Finding,
    service::{
        Written,
        desk::{self, Desk, Vote, Voted},
    },
    store::{self, QueueKey, Stage},
    web::{Body, Kind, Path, Problem, Query, ReviewReader, Reviewer, Web, json},
};

/// Which candidates.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct Filter {
    /// `pending` unless stated; or `approved`, `rejected`, `revoked`, `held`.
    #[param(value_type = Option<String>)]
    state: Option<Stage>,
    /// Of this pin set only.
    #[param(value_type = Option<String>)]
    pinset: Option<SetName>,
    /// From `next_cursor` of the piece before.
    cursor: Option<String>,
    /// Items in a piece, 1 to 200.
    #[serde(default)]
    #[param(value_type = u32, minimum = 1, maximum = 200, required = false)]
    limit: Limit,
}

/// List candidates, the most urgent first.
#[utoipa::path(
    get, path = "/v1/candidates", tag = "reviewer", security(("token" = []), ("session" = [])),
    params(Filter),
    responses(
        (status = 200, body = Page<CandidateItem>),
        (status = "default", body = Refusal, content_type = "application/problem+json"),
    )
)]
pub(super) async fn list(
    State(web): State<Web>,
    ReviewReader(_): ReviewReader,
    Query(filter): Query<Filter>,
) -> Result<Json<Page<CandidateItem>>, Problem> {
    let from = after(filter.cursor.as_deref(), QueueKey::START)?;
    let (state, rows) = (filter.state.unwrap_or(Stage::Pending), filter.limit.rows());
    let mut conn = web.app().reader().conn().await?;
    let rows = match &filter.pinset {
        Some(set) => conn.queue_of(set, state, &from, rows).await?,
        None => conn.queue(state, &from, rows).await?,
    };
    Ok(Json(Page::of(rows, filter.limit, store::Candidate::key, CandidateItem::from)))
}

/// A candidate with everything that a decision rests on.
#[derive(Serialize, ToSchema)]
pub(super) struct CandidateAnswer {
    #[serde(flatten)]
    item: CandidateItem,
    /// What a decision must send back: that this is what was looked at.
    #[schema(value_type = Object)]
    shown: Shown,
    /// The document that `shown.view` is the SHA-256 of, with the evidence.
    #[schema(value_type = Object)]
    view: View,
    /// The descriptor as the publisher wrote it.
    #[schema(value_type = Object)]
    descriptor: Box<RawValue>,
    /// What is pinned under the name now, if something is.
    #[schema(value_type = Option<Object>)]
    base: Option<Box<RawValue>>,
    /// What changed from that.
    #[schema(value_type = Option<Object>)]
    diff: Option<diff::Diff>,
    /// What the scanner found. An empty list proves nothing.
    #[schema(value_type = Vec<Object>)]
    findings: Vec<Finding>,
    /// Whether the scanner looked at everything.
    scan_complete: bool,
    /// The ballots that count so far.
    #[schema(value_type = Vec<Object>)]
    ballots: Vec<Ballot>,
    /// Ballots that an approval needs.
    needed: u32,
    /// Whether fewer people may vote than must agree.
    out_of_reach: bool,
    /// What was decided so far, oldest first.
    decisions: Vec<DecisionItem>,
}

/// A decision that was made.
#[derive(Serialize, ToSchema)]
pub(super) struct DecisionItem {
    /// `approve`, `reject`, `revoke` or `reopen`.
    #[schema(value_type = String)]
    outcome: Outcome,
    /// SHA-256 of its leaf.
    #[schema(value_type = String)]
    decision: Sha256,
    /// Its leaf.
    log_index: u64,
    /// `solo`, or how many of how many.
    mode: String,
    /// When.
    #[schema(value_type = String)]
    at: Timestamp,
    /// Why.
    reason: Option<String>,
}

/// Read a candidate.
#[utoipa::path(
    get, path = "/v1/candidates/{id}", tag = "reviewer", security(("token" = []), ("session" = [])),
    params(("id" = String, Path, description = "The candidate")),
    responses(
        (status = 200, body = CandidateAnswer),
        (status = "default", body = Refusal, content_type = "application/problem+json"),
    )
)]
pub(super) async fn candidate(
    State(web): State<Web>,
    ReviewReader(_): ReviewReader,
    Path(id): Path<String>,
) -> Result<Json<CandidateAnswer>, Problem> {
    let desk = desk::desk(web.app(), &known(&id)?).await?;
    let desk = desk.ok_or_else(|| Problem::new(Kind::CandidateNotFound))?;
    let answer = tokio::task::spawn_blocking(move || CandidateAnswer::new(desk)).await;
    Ok(Json(answer.map_err(Problem::internal)??))
}

impl CandidateAnswer {
    fn new(desk: Desk) -> Result<Self, Problem> {
        let diff = desk.base.as_ref().map(|base| diff::diff(&base.value(), &desk.descriptor.value()));
        Ok(Self {
            shown: desk.view.shown(),
            needed: desk.view.needed,
            view: desk.view,
            descriptor: raw(&desk.descriptor)?,
            base: desk.base.as_ref().map(raw).transpose()?,
            diff,
            findings: desk.report.findings,
            scan_complete: desk.report.complete,
            ballots: desk.ballots,
            out_of_reach: desk.out_of_reach,
            decisions: desk.decisions.into_iter().map(DecisionItem::from).collect(),
            item: desk.candidate.into(),
        })
    }
}

impl From<(store::Decided, Option<String>)> for DecisionItem {
    fn from((row, reason): (store::Decided, Option<String>)) -> Self {
        let store::Decided { outcome, log_index, mode, at, sha256: decision, .. } = row;
        Self { outcome, decision, log_index, mode, at, reason }
    }
}

/// The publisher's bytes, as one value in ours.
fn raw(descriptor: &Descriptor) -> Result<Box<RawValue>, Problem> {
    let text = std::str::from_utf8(descriptor.raw()).map_err(Problem::internal)?;
    RawValue::from_string(text.to_owned()).map_err(Problem::internal)
}

/// A vote.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DecisionBody {
    outcome: Wanted,
    /// Why: 1 to 2,000 characters.
    #[schema(min_length = 1, max_length = 2000)]
    reason: String,
    /// From the candidate, as it was.
    #[schema(value_type = Object)]
    shown: Shown,
    /// Ids of findings that the reviewer accepts.
    #[serde(default)]
    accept_findings: Vec<String>,
}

/// What a reviewer wants.
#[derive(Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Wanted {
    /// Pin it.
    Approve,
    /// Refuse it.
    Reject,
    /// Decide again.
    Reopen,
}

/// Where a candidate stands after a vote.
#[derive(Serialize, ToSchema)]
pub(super) struct VoteAnswer {
    /// Its state now.
    #[schema(value_type = String)]
    state: Stage,
    /// Ballots that count.
    ballots: u32,
    /// Ballots that an approval needs.
    needed: u32,
    /// SHA-256 of the decision's leaf, if the vote decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    decision: Option<Sha256>,
    /// That leaf.
    #[serde(skip_serializing_if = "Option::is_none")]
    log: Option<Logged>,
}

/// Vote on a candidate exactly as it was shown.
#[utoipa::path(
    post, path = "/v1/candidates/{id}/decisions", tag = "reviewer", security(("token" = []), ("session" = [])),
    params(("id" = String, Path, description = "The candidate")),
    request_body = DecisionBody,
    responses(
        (status = 201, body = VoteAnswer),
        (status = 200, body = VoteAnswer, description = "The same vote was counted before"),
        (status = "default", body = Refusal, content_type = "application/problem+json"),
    )
)]
pub(super) async fn decide(
    State(web): State<Web>,
    reviewer: Reviewer,
    Path(id): Path<String>,
    Body(body): Body,
) -> Result<(StatusCode, Json<VoteAnswer>), Problem> {
    let candidate = known(&id)?;
    let body: DecisionBody = json(&body)?;
    let vote = Vote {
        candidate,
        outcome: body.outcome.into(),
        reason: reason(&body.reason)?,
        shown: body.shown,
        accepts: body.accept_findings,
        reviewer: reviewer.id,
        account: reviewer.account,
    };
    let Written { done, .. } = desk::vote(web.app(), vote).await?;
    let status = if done.new { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, Json(VoteAnswer::new(&web, done).await?)))
}

impl VoteAnswer {
    pub(super) async fn new(web: &Web, done: Voted) -> Result<Self, Problem> {
        let log = match done.log_index {
            Some(index) => Some(Logged::at(web.app(), index).await?),
            None => None,
        };
        let Voted { state, ballots, needed, decision, .. } = done;
        Ok(Self { state, ballots, needed, decision, log })
    }
}

impl From<Wanted> for Outcome {
    fn from(wanted: Wanted) -> Self {
        match wanted {
            Wanted::Approve => Self::Approve,
            Wanted::Reject => Self::Reject,
            Wanted::Reopen => Self::Reopen,
        }
    }
}

/// A reason, which goes with everything that reviewers decide.
pub(super) fn reason(text: &str) -> Result<ReasonText, Problem> {
    text.parse().map_err(|e| Problem::new(Kind::ReasonMalformed).detail(e))
}

fn known(id: &str) -> Result<CandidateId, Problem> {
    id.parse().map_err(|_| Problem::new(Kind::CandidateNotFound))
}
