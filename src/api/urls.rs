//! The URL map.

use axum::{Router, routing::get};
use utoipa_axum::{router::OpenApiRouter, routes};

use super::{candidates, check, content, health, log, openapi, pinsets, releases, servers};
use crate::web::{Pages, Web, layers};

/// Everything under one address: the API, and `pages`, which see to it themselves that writes come from pages of this
/// registry: their refusal is a page, too.
pub fn router(web: &Web, pages: Pages) -> Router {
    let (mut api, _) = routes().split_for_parts();
    if !web.settings().admin_apart {
        api = api.merge(watched());
    }
    layers(api.merge(pages.routes), web, pages.shown)
}

/// What an operator's own tools ask for, at an address of its own.
pub fn admin_router(web: &Web) -> Router {
    layers(watched(), web, Pages::none().shown)
}

fn watched() -> Router<Web> {
    Router::new().route("/metrics", get(health::metrics)).route("/readyz", get(health::readyz))
}

pub(super) fn routes() -> OpenApiRouter<Web> {
    OpenApiRouter::with_openapi(openapi::frame())
        .routes(routes!(releases::publish))
        .routes(routes!(releases::release))
        .routes(routes!(servers::list))
        .routes(routes!(servers::server))
        .routes(routes!(content::document))
        .routes(routes!(candidates::list))
        .routes(routes!(candidates::candidate))
        .routes(routes!(candidates::decide))
        .routes(routes!(pinsets::bind))
        .routes(routes!(pinsets::revoke))
        .routes(routes!(pinsets::pins))
        .routes(routes!(pinsets::tool))
        .routes(routes!(pinsets::head))
        .routes(routes!(pinsets::document))
        .routes(routes!(pinsets::newest_trust))
        .routes(routes!(pinsets::trust_version))
        .routes(routes!(check::check))
        .routes(routes!(log::checkpoint, log::challenge))
        .routes(routes!(log::checkpoints))
        // The number of a tile or bundle has as many path elements as it needs.
        .route("/log/tile/{*place}", get(log::tile))
        .routes(routes!(health::healthz))
        .routes(routes!(openapi::document))
}
