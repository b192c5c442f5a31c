//! The log's files, after C2SP tlog-tiles, the list of all its checkpoints, and the place where anybody shows this registry a checkpoint that it signed.

use axum::{
    Json,
    extract::State,
    http::{HeaderMap, header},
    response::{IntoResponse as _, Response},
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{
    health::word,
    page::{Limit, Page, after},
    schema::Problem as Refusal,
    tagged::{Keep, tagged},
};
use crate::{
    log::{Bundle, Tile},
    store::SignedCheckpoint,
    web::{Body, Compressible, Kind, Path, Problem, Query, Reader, Web},
};

/// A checkpoint with the signatures of many witnesses is a few kilobytes.
const MAX_NOTE: usize = 64 << 10;

/// The newest checkpoint: a signed note. Where the registry has witnesses, the newest that their quorum has cosigned,
/// with their cosignatures.
#[utoipa::path(
    get, path = "/log/checkpoint", tag = "reader", security((), ("token" = []), ("session" = [])),
    responses(
        (status = 200, body = String, content_type = "text/plain"),
        (status = 304, description = "Still the newest"),
        (status = "default", body = Refusal, content_type = "application/problem+json"),
    )
)]
pub(super) async fn checkpoint(
    State(web): State<Web>,
    Reader(_): Reader,
    asked: HeaderMap,
) -> Result<Response, Problem> {
    let shown = web.app().moment().shown.clone().ok_or_else(|| Problem::new(Kind::Unwitnessed))?;
    Ok(tagged(&web, &asked, Keep::Ask, "text/plain; charset=utf-8", shown.to_string()))
}

/// Which piece.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct Piece {
    /// From `next_cursor` of the piece before.
    cursor: Option<String>,
    /// Items in a piece, 1 to 200.
    #[serde(default)]
    #[param(value_type = Option<Limit>, required = false)]
    limit: Limit,
}

/// A checkpoint that the log key signed.
#[derive(Serialize, ToSchema)]
pub(super) struct CheckpointItem {
    /// How many leaves it covers.
    size: u64,
    /// The signed note.
    note: String,
}

/// All checkpoints that were ever signed, the smallest first: each is a prefix of the next, and anyone can check that.
#[utoipa::path(
    get, path = "/v1/log/checkpoints", tag = "reader", security((), ("token" = []), ("session" = [])),
    params(Piece),
    responses(
        (status = 200, body = Page<CheckpointItem>),
        (status = "default", body = Refusal, content_type = "application/problem+json"),
    )
)]
pub(super) async fn checkpoints(
    State(web): State<Web>,
    Reader(_): Reader,
    Query(piece): Query<Piece>,
) -> Result<Json<Page<CheckpointItem>>, Problem> {
    let from = after(piece.cursor.as_deref(), 0)?;
    let found = web.app().checkpoints(from, piece.limit.rows()).await?;
    let item = |SignedCheckpoint { size, note }| CheckpointItem { size, note };
    Ok(Json(Page::of(found, piece.limit, |row| row.size, item)))
}

/// What a checkpoint that was shown says about this registry.
#[derive(Serialize, ToSchema)]
pub(super) struct ChallengeAnswer {
    /// Null if the log contains it; else why nothing is written here any more: `behind` or `fork`.
    read_only: Option<&'static str>,
}

/// Show this registry a checkpoint that its log key signed. If its log can't answer for it, it turns read-only.
#[utoipa::path(
    post, path = "/log/checkpoint", tag = "anyone", security(()),
    request_body(content = String, content_type = "text/plain"),
    responses(
        (status = 200, body = ChallengeAnswer),
        (status = "default", body = Refusal, content_type = "application/problem+json"),
    )
)]
pub(super) async fn challenge(State(web): State<Web>, Body(body): Body) -> Result<Json<ChallengeAnswer>, Problem> {
    if body.len() > MAX_NOTE {
        return Err(Problem::new(Kind::BodyTooLarge).with("limit", MAX_NOTE));
    }
    let note = std::str::from_utf8(&body).map_err(|_| Problem::new(Kind::CheckpointForeign))?;
    let convicted = web.app().challenge(note).await?;
    Ok(Json(ChallengeAnswer { read_only: convicted.as_ref().map(word) }))
}

/// A tile or a bundle of leaves.
#[utoipa::path(
    get, path = "/log/tile/{level}/{index}", tag = "reader", security((), ("token" = []), ("session" = [])),
    params(
        ("level" = String, Path, description = "0 to 7, or `entries` for bundles of leaves"),
        ("index" = String, Path, description = "As in C2SP tlog-tiles: `000`, `x001/234`, `000.p/7`; more path elements \
            where the number needs them"),
    ),
    responses(
        (status = 200, content_type = "application/octet-stream", description = "Its bytes"),
        (status = "default", body = Refusal, content_type = "application/problem+json"),
    )
)]
pub(super) async fn tile(
    State(web): State<Web>,
    Reader(_): Reader,
    Path(place): Path<String>,
) -> Result<Response, Problem> {
    let unknown = || Problem::new(Kind::NotInLog);
    let place = format!("tile/{place}");
    let (bytes, full, squeeze) = if let Ok(bundle) = place.parse::<Bundle>() {
        (web.app().bundle(bundle).await?, bundle.is_full(), true)
    } else {
        let tile: Tile = place.parse().map_err(|_| unknown())?;
        (web.app().tile(tile).await?, tile.is_full(), false)
    };
    // A partial one never changes either, but may be dropped once there is a full one: nobody should rely on it for long.
    let keep = if full { Keep::Forever } else { Keep::Briefly }.header(web.settings().readers);
    let headers = [(header::CONTENT_TYPE, "application/octet-stream"), (header::CACHE_CONTROL, keep)];
    let mut response = (headers, bytes.ok_or_else(unknown)?).into_response();
    if squeeze {
        // Leaves are text; hashes have nothing to squeeze out.
        response.extensions_mut().insert(Compressible);
    }
    Ok(response)
}
