//! The map of the pages: which address is which page, and what stands before all of them.

use axum::{
    Router,
    extract::DefaultBodyLimit,
    middleware,
    routing::{any, get, post},
};

use super::{answer, docs, refused, setup, signin, statics};
use crate::web::{Web, same_origin};

/// The longest form is a policy of 64 KiB, of which each byte may be escaped as three.
const MAX_FORM: usize = 256 << 10;

/// The pages, ready to be merged with the API: writes are refused unless they come from a page of ours, and whatever is
/// refused is shown as a page.
pub fn pages(web: &Web) -> Router<Web> {
    routes()
        .method_not_allowed_fallback(refused::wrong_method)
        .layer(middleware::from_fn_with_state(web.clone(), same_origin))
        // Below the API's addresses, too: there is no write that could come from elsewhere.
        .route("/{*nothing}", any(refused::nothing_here))
        .layer(middleware::from_fn_with_state(web.clone(), refused::as_page))
}

/// Every page by its address.
pub(crate) fn routes() -> Router<Web> {
    forms()
        .layer(DefaultBodyLimit::max(MAX_FORM))
        .route("/static/{name}", get(statics::serve))
        .route("/docs", get(docs::docs))
        .merge(answer::routes())
}

/// Pages with small forms.
fn forms() -> Router<Web> {
    Router::new()
        .route("/setup/{secret}", get(setup::show).post(setup::make))
        .route("/sign-in", get(signin::show).post(signin::sign_in))
        .route("/sign-out", post(signin::sign_out))
}
