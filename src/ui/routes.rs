//! The map of the pages: which address is which page, and what stands before all of them.

use axum::{
    Router,
    extract::DefaultBodyLimit,
    middleware,
    routing::{any, get, post},
};

use super::{answer, docs, publishers, refused, settings, setup, signin, statics};
use crate::web::{Pages, Web, same_origin};

/// The longest form is a policy of 64 KiB, of which each byte may be escaped as three.
const MAX_FORM: usize = 256 << 10;

/// The pages, ready to be merged with the API: writes are refused unless they come from a page of ours, and whatever is
/// refused is shown as a page.
pub fn pages(web: &Web) -> Pages {
    let routes = routes()
        .method_not_allowed_fallback(refused::wrong_method)
        .layer(middleware::from_fn_with_state(web.clone(), same_origin))
        // Below the API's addresses, too: there is no write that could come from elsewhere.
        .route("/{*nothing}", any(refused::nothing_here))
        .layer(middleware::from_fn_with_state(web.clone(), refused::as_page));
    Pages { routes, shown: refused::in_layers }
}

/// Every page by its address.
pub(crate) fn routes() -> Router<Web> {
    forms()
        .merge(answer::routes())
        .layer(DefaultBodyLimit::max(MAX_FORM))
        .route("/static/{name}", get(statics::serve))
        .route("/docs", get(docs::docs))
        .route("/publishers", get(publishers::publishers))
        .merge(answer::check())
}

/// Pages with small forms.
fn forms() -> Router<Web> {
    Router::new()
        .route("/setup/{secret}", get(setup::show).post(setup::make))
        .route("/sign-in", get(signin::show).post(signin::sign_in))
        .route("/sign-out", post(signin::sign_out))
        .route("/settings", get(settings::you::show))
        .route("/settings/password", post(settings::you::change_password))
        .route("/settings/users", get(settings::users::list).post(settings::users::add))
        .route("/settings/users/{name}", get(settings::user::show))
        .route("/settings/users/{name}/roles", post(settings::user::set_roles))
        .route("/settings/users/{name}/password", post(settings::user::set_password))
        .route("/settings/users/{name}/access", post(settings::user::set_access))
        .route("/settings/tokens", get(settings::tokens::list).post(settings::tokens::make))
        .route("/settings/tokens/revoke", post(settings::tokens::revoke))
        .route("/settings/authorities", get(settings::authorities::list).post(settings::authorities::grant))
        .route("/settings/authorities/{id}", get(settings::withdrawal::show).post(settings::withdrawal::revoke))
        .route("/settings/policy", get(settings::policy::show).post(settings::policy::set))
        .route("/settings/keys", get(settings::keys::show))
        .route("/settings/registry", get(settings::registry::show))
}
