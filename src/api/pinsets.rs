//! Pin sets: what gateways pull, and what reviewers do to a set as a whole.

use axum::{
    Json,
    extract::State,
    http::{HeaderMap, StatusCode},
    response::{IntoResponse as _, Response},
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{
    candidates::{VoteAnswer, reason},
    page::Page,
    schema::{Logged, Problem as Refusal},
    tagged::{Keep, tagged, tagged_as},
};
use crate::{
    canon::{Digest, Sha256},
    name::{Alias, Kind, QualifiedName, ServerName, SetName},
    service::{
        KeptHead, Written,
        desk::{self, Revocation},
        distribute,
        govern::{self, Bind, Governor},
        trust,
    },
    web::{Body, Kind as Why, Path, Problem, Query, Reader, Reviewer, Web, json},
};

/// Which server an alias is to belong to, for good.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AliasBody {
    /// The alias.
    #[schema(value_type = String)]
    alias: Alias,
    /// The server.
    #[schema(value_type = String)]
    server: ServerName,
}

/// What came of binding.
#[derive(Serialize, ToSchema)]
pub(super) struct AliasAnswer {
    /// The pin set.
    #[schema(value_type = String)]
    pinset: SetName,
    /// The alias.
    #[schema(value_type = String)]
    alias: Alias,
    /// The server.
    #[schema(value_type = String)]
    server: ServerName,
    /// How many candidates it opened.
    opened: usize,
    /// Its leaf; absent if it was bound before.
    #[serde(skip_serializing_if = "Option::is_none")]
    log: Option<Logged>,
}

/// Bind an alias to a server for good.
#[utoipa::path(
    post, path = "/v1/pinsets/{set}/aliases", tag = "reviewer", security(("token" = []), ("session" = [])),
    params(("set" = String, Path, description = "The pin set")),
    request_body = AliasBody,
    responses(
        (status = 201, body = AliasAnswer),
        (status = 200, body = AliasAnswer, description = "Bound before"),
        (status = "default", body = Refusal, content_type = "application/problem+json"),
    )
)]
pub(super) async fn bind(
    State(web): State<Web>,
    reviewer: Reviewer,
    Path(set): Path<String>,
    Body(body): Body,
) -> Result<(StatusCode, Json<AliasAnswer>), Problem> {
    let pinset = named(&set)?;
    let AliasBody { alias, server } = json(&body)?;
    let by = Governor { by: reviewer.id, name: reviewer.account };
    let asked = Bind { pinset: pinset.clone(), alias: alias.clone(), server: server.clone(), by };
    let Written { done: opened, leaves, .. } = govern::bind(web.app(), asked).await?;
    if leaves.is_empty() {
        return Ok((StatusCode::OK, Json(AliasAnswer { pinset, alias, server, opened, log: None })));
    }
    let log = Some(Logged::at(web.app(), leaves.start).await?);
    Ok((StatusCode::CREATED, Json(AliasAnswer { pinset, alias, server, opened, log })))
}

/// Which pin is taken back.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RevocationBody {
    /// The qualified name.
    #[schema(value_type = String)]
    name: QualifiedName,
    /// The kind; `tool` unless stated.
    #[schema(value_type = Option<String>)]
    kind: Option<Kind>,
    /// The pinned digest.
    #[schema(value_type = String)]
    digest: Digest,
    /// Why: 1 to 2,000 characters.
    #[schema(min_length = 1, max_length = 2000)]
    reason: String,
}

/// Take a pin back. Its digest is denied from then on.
#[utoipa::path(
    post, path = "/v1/pinsets/{set}/revocations", tag = "reviewer", security(("token" = []), ("session" = [])),
    params(("set" = String, Path, description = "The pin set")),
    request_body = RevocationBody,
    responses(
        (status = 201, body = VoteAnswer),
        (status = 200, body = VoteAnswer, description = "The same was revoked before, by the same reviewer and reason"),
        (status = "default", body = Refusal, content_type = "application/problem+json"),
    )
)]
pub(super) async fn revoke(
    State(web): State<Web>,
    reviewer: Reviewer,
    Path(set): Path<String>,
    Body(body): Body,
) -> Result<(StatusCode, Json<VoteAnswer>), Problem> {
    let pinset = existing(&web, &set)?;
    let body: RevocationBody = json(&body)?;
    let revocation = Revocation {
        pinset,
        name: body.name,
        kind: body.kind.unwrap_or(Kind::Tool),
        digest: body.digest,
        reason: reason(&body.reason)?,
        reviewer: reviewer.id,
        account: reviewer.account,
    };
    let Written { done, .. } = desk::revoke(web.app(), revocation).await?;
    let status = if done.new { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, Json(VoteAnswer::new(&web, done).await?)))
}

/// Which pins.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct Wanted {
    /// The qualified name, as `notes.export`.
    name: String,
    /// `tool`, `prompt`, `resource`, `resource-template` or `instructions`; all kinds unless stated.
    #[param(value_type = Option<String>)]
    kind: Option<Kind>,
}

/// A pin with who vouches for it.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes what the service answers")]
pub(super) struct PinItem {
    /// The kind of descriptor.
    kind: String,
    /// Its qualified name.
    name: String,
    /// Its wire name; tools and prompts only.
    wire: Option<String>,
    /// The variant of the server's list; mostly empty.
    variant: String,
    /// SHA-256 of the attestation.
    evidence: String,
    /// The digest by both recipes; only `jcs-sha256` decides.
    #[schema(value_type = Object)]
    digests: serde_json::Value,
    /// Who approved it, when, and until when.
    #[schema(value_type = Object)]
    approval: serde_json::Value,
    /// The evidence: release, version, role, level, signer, endpoints and packages.
    #[schema(value_type = Object)]
    by: serde_json::Value,
    /// The server.
    server: String,
}

/// The pins of one qualified name, with evidence and approval.
#[utoipa::path(
    get, path = "/v1/pinsets/{set}/pins", tag = "reader", security((), ("token" = []), ("session" = [])),
    params(("set" = String, Path, description = "The pin set"), Wanted),
    responses(
        (status = 200, body = Page<PinItem>),
        (status = "default", body = Refusal, content_type = "application/problem+json"),
    )
)]
pub(super) async fn pins(
    State(web): State<Web>,
    Reader(_): Reader,
    Path(set): Path<String>,
    Query(wanted): Query<Wanted>,
) -> Result<Response, Problem> {
    let moment = web.app().moment();
    let found = distribute::pins(&moment, &named(&set)?, wanted.kind, &wanted.name);
    let pins = found.ok_or_else(|| Problem::new(Why::PinsetNotFound))?;
    Ok(Json(Page::whole(pins)).into_response())
}

/// The pins of a tool by its qualified name.
#[utoipa::path(
    get, path = "/v1/pinsets/{set}/pins/{name}", tag = "reader", security((), ("token" = []), ("session" = [])),
    params(
        ("set" = String, Path, description = "The pin set"),
        ("name" = String, Path, description = "The tool, as `notes.export`"),
    ),
    responses(
        (status = 200, body = Page<PinItem>),
        (status = "default", body = Refusal, content_type = "application/problem+json"),
    )
)]
pub(super) async fn tool(
    State(web): State<Web>,
    Reader(_): Reader,
    Path((set, name)): Path<(String, String)>,
) -> Result<Response, Problem> {
    let moment = web.app().moment();
    match distribute::pins(&moment, &named(&set)?, Some(Kind::Tool), &name) {
        None => Err(Problem::new(Why::PinsetNotFound)),
        Some(pins) if pins.is_empty() => Err(Problem::new(Why::PinNotFound)),
        Some(pins) => Ok(Json(Page::whole(pins)).into_response()),
    }
}

/// From which tree.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct Seen {
    /// How many leaves the caller has seen: the answer proves that this log continues that one.
    #[serde(default)]
    #[param(required = false)]
    tree_size: u64,
}

/// A head with its proofs.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes what `pinset::verify` reads and writes")]
pub(super) struct HeadAnswer {
    /// A DSSE envelope, as it was signed.
    #[schema(value_type = Object)]
    head: serde_json::Value,
    /// The leaf that published the version, in base64.
    leaf: String,
    /// Its inclusion proof (C2SP tlog-proof), with the checkpoint that the head was signed over.
    proof: String,
    /// Consistency from `tree_size` to that checkpoint, hashes in base64.
    consistency: Vec<String>,
}

/// The newest head of a pin set, with its proofs.
#[utoipa::path(
    get, path = "/v1/pinsets/{set}/head", tag = "reader", security((), ("token" = []), ("session" = [])),
    params(("set" = String, Path, description = "The pin set"), Seen),
    responses(
        (status = 200, body = HeadAnswer),
        (status = 304, description = "The answer with this tag is still current"),
        (status = "default", body = Refusal, content_type = "application/problem+json"),
    )
)]
pub(super) async fn head(
    State(web): State<Web>,
    Reader(_): Reader,
    Path(set): Path<String>,
    Query(seen): Query<Seen>,
    asked: HeaderMap,
) -> Result<Response, Problem> {
    let KeptHead { json, sha256 } = web.heads().head(web.app(), &named(&set)?, seen.tree_size).await?;
    Ok(tagged_as(&web, &asked, Keep::Ask, "application/json", json, &sha256))
}

/// A set document or a document of pins, byte for byte.
#[utoipa::path(
    get, path = "/v1/pinsets/{set}/sets/{sha256}", tag = "reader", security((), ("token" = []), ("session" = [])),
    params(
        ("set" = String, Path, description = "The pin set"),
        ("sha256" = String, Path, description = "The document's SHA-256"),
    ),
    responses(
        (status = 200, body = Object, content_type = "application/json"),
        (status = 304, description = "Known already"),
        (status = "default", body = Refusal, content_type = "application/problem+json"),
    )
)]
pub(super) async fn document(
    State(web): State<Web>,
    Reader(_): Reader,
    Path((set, sha256)): Path<(String, String)>,
    asked: HeaderMap,
) -> Result<Response, Problem> {
    let unknown = || Problem::new(Why::NotFound);
    let (set, sha256) = (named(&set)?, sha256.parse::<Sha256>().map_err(|_| unknown())?);
    let document = distribute::set_document(web.app(), &set, sha256).await?.ok_or_else(unknown)?;
    Ok(tagged(&web, &asked, Keep::Forever, "application/json", document))
}

/// The trust file: a note signed by the root key, which `countersign trust` shows the fingerprint of.
#[utoipa::path(
    get, path = "/v1/trust", tag = "reader", security((), ("token" = []), ("session" = [])),
    responses(
        (status = 200, body = String, content_type = "text/plain"),
        (status = 304, description = "The file with this tag is still current"),
        (status = "default", body = Refusal, content_type = "application/problem+json"),
    )
)]
pub(super) async fn newest_trust(State(web): State<Web>, Reader(_): Reader, asked: HeaderMap) -> Response {
    let note = web.app().moment().trust.note.clone();
    tagged(&web, &asked, Keep::Ask, "text/plain; charset=utf-8", note)
}

/// The trust file of one version, for gateways that missed a change of the root key.
#[utoipa::path(
    get, path = "/v1/trust/{version}", tag = "reader", security((), ("token" = []), ("session" = [])),
    params(("version" = String, Path, description = "The version, from 1")),
    responses(
        (status = 200, body = String, content_type = "text/plain"),
        (status = 304, description = "Known already"),
        (status = "default", body = Refusal, content_type = "application/problem+json"),
    )
)]
pub(super) async fn trust_version(
    State(web): State<Web>,
    Reader(_): Reader,
    Path(version): Path<String>,
    asked: HeaderMap,
) -> Result<Response, Problem> {
    let unknown = || Problem::new(Why::NotFound);
    let version: u64 = version.parse().map_err(|_| unknown())?;
    let note = trust::version(web.app(), version).await?.ok_or_else(unknown)?;
    Ok(tagged(&web, &asked, Keep::Forever, "text/plain; charset=utf-8", note))
}

fn named(set: &str) -> Result<SetName, Problem> {
    set.parse().map_err(|_| Problem::new(Why::PinsetNotFound))
}

fn existing(web: &Web, set: &str) -> Result<SetName, Problem> {
    let name = named(set)?;
    let known = web.app().moment().state.set(&name).is_some();
    if known { Ok(name) } else { Err(Problem::new(Why::PinsetNotFound)) }
}
