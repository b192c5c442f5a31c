//! Releases: submitting one, and reading what one lists and who attested it.

use axum::{Json, extract::State, http::StatusCode};
use serde::Serialize;
use utoipa::ToSchema;

use super::schema::{CandidateItem, Logged, Problem as Refusal};
use crate::{
    attest::{Level, Role},
    canon::{Digest, Sha256},
    clock::Timestamp,
    name::{Kind, ServerName, Variant, Version},
    service::{
        Written,
        publish::{self, Published, Submission, UnpinnableItem},
    },
    store,
    web::{Body, Kind as Why, Path, Problem, Publisher, Reader, Web},
};

/// What came of a submission.
#[derive(Serialize, ToSchema)]
pub(super) struct PublishAnswer {
    /// The release's id.
    release: String,
    /// What the evidence is worth: `capture`, `key` or `sigstore`.
    #[schema(value_type = String)]
    level: Level,
    /// What waits for a decision now.
    candidates: Vec<CandidateItem>,
    /// How many descriptors need no decision.
    unchanged: usize,
    /// Descriptors that can't be approved.
    #[schema(value_type = Vec<Unpinnable>)]
    unpinnable: Vec<UnpinnableItem>,
    /// How many findings the scanner has.
    findings: usize,
    /// Where the evidence is logged.
    log: Logged,
}

/// A descriptor that can't be approved.
#[derive(Serialize, ToSchema)]
pub(super) struct Unpinnable {
    /// Its kind.
    kind: String,
    /// Its name as listed.
    name: String,
    /// The stable code.
    code: String,
    /// Where.
    pointer: String,
}

/// Submit an attested release.
///
/// The body is `{"server": {"name", "version", "variant"?}, "capture": {"complete", "tools", …}, "attestation": DSSE
/// envelope}`. The same again answers 200 with the first release.
#[utoipa::path(
    post, path = "/v1/releases", tag = "publisher", security(("token" = [])),
    request_body(content = Object, content_type = "application/json"),
    responses(
        (status = 201, body = PublishAnswer),
        (status = 200, body = PublishAnswer, description = "Known already"),
        (status = "default", body = Refusal, content_type = "application/problem+json"),
    )
)]
pub(super) async fn publish(
    State(web): State<Web>,
    publisher: Publisher,
    Body(body): Body,
) -> Result<(StatusCode, Json<PublishAnswer>), Problem> {
    let parsed = tokio::task::spawn_blocking(move || Submission::parse(&body)).await;
    let submission = parsed.map_err(Problem::internal)??;
    if !publisher.principal.may_publish(&submission.server().namespace()) {
        return Err(Problem::new(Why::Forbidden).detail("the token is for another namespace"));
    }
    let Written { done, .. } = publish::publish(web.app(), Some(publisher.account), submission).await?;
    let status = if done.new { StatusCode::CREATED } else { StatusCode::OK };
    let log = Logged::at(web.app(), done.log_index).await?;
    Ok((status, Json(PublishAnswer::new(done, log))))
}

impl PublishAnswer {
    fn new(done: Published, log: Logged) -> Self {
        Self {
            release: done.release,
            level: done.level,
            candidates: done.candidates.into_iter().map(CandidateItem::from).collect(),
            unchanged: done.unchanged,
            unpinnable: done.unpinnable,
            findings: done.findings,
            log,
        }
    }
}

/// A release.
#[derive(Serialize, ToSchema)]
pub(super) struct ReleaseAnswer {
    #[serde(flatten)]
    release: ReleaseItem,
    /// What it lists.
    descriptors: Vec<DescriptorItem>,
    /// Who attested it.
    attestations: Vec<AttestationItem>,
}

/// A release as lists show it.
#[derive(Serialize, ToSchema)]
pub(super) struct ReleaseItem {
    /// Its id.
    release: String,
    /// Its server.
    #[schema(value_type = String)]
    server: ServerName,
    /// Its version.
    #[schema(value_type = String)]
    version: Version,
    /// Its variant; mostly empty.
    #[schema(value_type = String)]
    variant: Variant,
    /// `publisher` or `capture`.
    #[schema(value_type = String)]
    role: Role,
    /// SHA-256 of the release as submitted, a document.
    #[schema(value_type = String)]
    document: Sha256,
    /// SHA-256 of its list of subjects.
    #[schema(value_type = String)]
    subjects: Sha256,
    /// How many descriptors it lists.
    count: i64,
    /// When it was received.
    #[schema(value_type = String)]
    received_at: Timestamp,
    /// Its leaf.
    log_index: u64,
}

/// One entry of a release.
#[derive(Serialize, ToSchema)]
pub(super) struct DescriptorItem {
    /// Its kind.
    #[schema(value_type = String)]
    kind: Kind,
    /// Its name; one that is no legal name is shown escaped, after a space.
    name: String,
    /// By the deciding recipe.
    #[schema(value_type = String)]
    digest: Digest,
    /// SHA-256 of its bytes as received, a document.
    #[schema(value_type = String)]
    raw: Sha256,
    /// Why it can't be approved, if it can't.
    unpinnable: Option<String>,
    /// Where in it the reason is.
    pointer: Option<String>,
}

/// A verified attestation over a release.
#[derive(Serialize, ToSchema)]
pub(super) struct AttestationItem {
    /// SHA-256 of its bytes as received, a document.
    #[schema(value_type = String)]
    sha256: Sha256,
    /// What it is worth.
    #[schema(value_type = String)]
    level: Level,
    /// Who signed.
    signer: String,
    /// By which authority.
    authority: String,
    /// The leaf that granted it; absent while this replica hasn't read that far.
    #[serde(skip_serializing_if = "Option::is_none")]
    authority_log_index: Option<u64>,
    /// When it was received.
    #[schema(value_type = String)]
    received_at: Timestamp,
    /// Its leaf.
    log_index: u64,
}

/// Read a release.
#[utoipa::path(
    get, path = "/v1/releases/{release}", tag = "reader", security((), ("token" = []), ("session" = [])),
    params(("release" = String, Path, description = "Its id")),
    responses(
        (status = 200, body = ReleaseAnswer),
        (status = "default", body = Refusal, content_type = "application/problem+json"),
    )
)]
pub(super) async fn release(
    State(web): State<Web>,
    Reader(_): Reader,
    Path(id): Path<String>,
) -> Result<Json<ReleaseAnswer>, Problem> {
    let mut conn = web.app().reader().conn().await?;
    let release = conn.release(&id).await?.ok_or_else(|| Problem::new(Why::ReleaseNotFound))?;
    let descriptors = conn.descriptors(&id).await?.into_iter().map(DescriptorItem::from).collect();
    let state = &web.app().moment().state;
    let granted = |row: &store::Attestation| state.authority(&row.authority).map(|authority| authority.log_index);
    let attestations = conn.attestations(&id).await?.into_iter();
    let attestations = attestations.map(|row| AttestationItem::new(granted(&row), row)).collect();
    Ok(Json(ReleaseAnswer { release: release.into(), descriptors, attestations }))
}

impl From<store::Release> for ReleaseItem {
    fn from(row: store::Release) -> Self {
        Self {
            release: row.id,
            server: row.server,
            version: row.version,
            variant: row.variant,
            role: row.role,
            document: row.document,
            subjects: row.subjects,
            count: row.count,
            received_at: row.received_at,
            log_index: row.log_index,
        }
    }
}

impl From<store::Descriptor> for DescriptorItem {
    fn from(row: store::Descriptor) -> Self {
        let digest = Digest::jcs(row.digest);
        Self { kind: row.kind, name: row.name, digest, raw: row.raw, unpinnable: row.unpinnable, pointer: row.pointer }
    }
}

impl AttestationItem {
    fn new(authority_log_index: Option<u64>, row: store::Attestation) -> Self {
        Self {
            sha256: row.sha256,
            level: row.level,
            signer: row.signer,
            authority: row.authority,
            authority_log_index,
            received_at: row.received_at,
            log_index: row.log_index,
        }
    }
}
