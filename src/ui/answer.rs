//! What stands behind the pages: a request comes, facts are fetched through the service, a page is drawn.
//!
//! Nothing here decides: what a form asks for goes to the service function that the API calls too, and what that refuses
//! comes back as the page with its reason and everything that was typed.

mod bind;
mod candidate;
mod changes;
mod check;
mod counts;
mod dashboard;
mod decide;
mod decision;
mod entry;
mod form;
mod label;
mod log;
mod neighbours;
mod people;
mod pinned;
mod pinset;
mod pinsets;
mod queue;
mod release;
mod revoke;
mod server;
mod servers;
mod signs;
mod standing;
mod version;
mod versions;
mod words;

use axum::{
    Router,
    routing::{get, post},
};

use crate::web::Web;

/// The pages about what is reviewed and trusted.
pub(super) fn routes() -> Router<Web> {
    Router::new()
        .route("/", get(dashboard::show))
        .route("/counts", get(counts::show))
        .route("/queue", get(queue::show))
        .route("/candidates/{id}", get(candidate::show))
        .route("/candidates/{id}/decisions", post(decide::vote))
        .route("/decisions/{sha256}", get(decision::show))
        .route("/servers", get(servers::show))
        .route("/servers/{namespace}/{name}", get(server::show))
        .route("/servers/{namespace}/{name}/aliases", post(bind::bind))
        .route("/releases/{release}", get(release::show))
        .route("/pinsets", get(pinsets::show))
        .route("/pinsets/{set}", get(pinset::show))
        .route("/pinsets/{set}/versions", get(versions::show))
        .route("/pinsets/{set}/versions/{sha256}", get(version::show))
        .route("/pinsets/{set}/revocations", post(revoke::revoke))
        .route("/log", get(log::show))
        .route("/log/entries/{index}", get(entry::show))
        .route("/log/entries/{index}/leaf", get(entry::leaf))
        .route("/log/entries/{index}/proof", get(entry::proof))
}

/// The check, whose form takes a list of any size that the API takes.
pub(super) fn check() -> Router<Web> {
    Router::new().route("/check", get(check::form).post(check::check))
}
