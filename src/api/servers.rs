//! Servers that something was published for.

use axum::{Json, extract::State};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{
    page::{Limit, Page, after},
    releases::ReleaseItem,
    schema::Problem as Refusal,
};
use crate::{
    clock::Timestamp,
    name::{Alias, Namespace, ServerName, SetName},
    service::Moment,
    store,
    web::{Kind, Path, Problem, Query, Reader, Web},
};

/// A server.
#[derive(Serialize, ToSchema)]
pub(super) struct ServerItem {
    /// Its name.
    #[schema(value_type = String)]
    name: ServerName,
    /// The part before the slash.
    #[schema(value_type = String)]
    namespace: Namespace,
    /// When its first release came.
    #[schema(value_type = String)]
    first_at: Timestamp,
    /// When its last release came.
    #[schema(value_type = String)]
    last_at: Timestamp,
    /// How many releases there are.
    release_count: i64,
    /// Its aliases.
    aliases: Vec<AliasItem>,
}

/// What a server is called in a pin set.
#[derive(Serialize, ToSchema)]
pub(super) struct AliasItem {
    /// The pin set.
    #[schema(value_type = String)]
    pinset: SetName,
    /// The alias.
    #[schema(value_type = String)]
    alias: Alias,
}

/// A server with its releases, newest first.
#[derive(Serialize, ToSchema)]
pub(super) struct ServerAnswer {
    #[serde(flatten)]
    server: ServerItem,
    /// Its releases, in pieces.
    releases: Page<ReleaseItem>,
}

/// Where in a list.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct Piece {
    /// From `next_cursor` of the piece before.
    cursor: Option<String>,
    /// Items in a piece, 1 to 200.
    #[serde(default)]
    #[param(value_type = u32, minimum = 1, maximum = 200, required = false)]
    limit: Limit,
}

/// List servers by name.
#[utoipa::path(
    get, path = "/v1/servers", tag = "reader", security((), ("token" = []), ("session" = [])),
    params(Piece),
    responses(
        (status = 200, body = Page<ServerItem>),
        (status = "default", body = Refusal, content_type = "application/problem+json"),
    )
)]
pub(super) async fn list(
    State(web): State<Web>,
    Reader(_): Reader,
    Query(piece): Query<Piece>,
) -> Result<Json<Page<ServerItem>>, Problem> {
    let from: String = after(piece.cursor.as_deref(), String::new())?;
    let rows = web.app().reader().conn().await?.servers(&from, piece.limit.rows()).await?;
    let moment = web.app().moment();
    let key = |row: &store::Server| row.name.to_string();
    Ok(Json(Page::of(rows, piece.limit, key, |row| ServerItem::new(row, &moment))))
}

/// Read a server and its releases.
#[utoipa::path(
    get, path = "/v1/servers/{namespace}/{name}", tag = "reader", security((), ("token" = []), ("session" = [])),
    params(
        ("namespace" = String, Path, description = "The part before the slash"),
        ("name" = String, Path, description = "The part after it"),
        Piece,
    ),
    responses(
        (status = 200, body = ServerAnswer),
        (status = "default", body = Refusal, content_type = "application/problem+json"),
    )
)]
pub(super) async fn server(
    State(web): State<Web>,
    Reader(_): Reader,
    Path((namespace, name)): Path<(String, String)>,
    Query(piece): Query<Piece>,
) -> Result<Json<ServerAnswer>, Problem> {
    let unknown = || Problem::new(Kind::ServerNotFound);
    let name: ServerName = format!("{namespace}/{name}").parse().map_err(|_| unknown())?;
    let before: u64 = after(piece.cursor.as_deref(), u64::MAX)?;
    let mut conn = web.app().reader().conn().await?;
    let server = conn.server(&name).await?.ok_or_else(unknown)?;
    let rows = conn.releases(&server.name, before, piece.limit.rows()).await?;
    let releases = Page::of(rows, piece.limit, |row: &store::Release| row.log_index, ReleaseItem::from);
    Ok(Json(ServerAnswer { server: ServerItem::new(server, &web.app().moment()), releases }))
}

impl ServerItem {
    fn new(row: store::Server, moment: &Moment) -> Self {
        let alias = |set: &crate::pinset::SetState| {
            set.alias_of(&row.name).map(|alias| AliasItem { pinset: set.name().clone(), alias: alias.clone() })
        };
        Self {
            aliases: moment.state.sets().filter_map(alias).collect(),
            namespace: row.namespace,
            first_at: row.first_at,
            last_at: row.last_at,
            release_count: row.releases,
            name: row.name,
        }
    }
}
