//! The API's description, made from the handlers themselves.

use std::sync::LazyLock;

use axum::{extract::State, http::HeaderMap, response::Response};
use utoipa::{
    OpenApi as _,
    openapi::{
        OpenApi, PathItem,
        security::{ApiKey, ApiKeyValue, Http, HttpAuthScheme, SecurityScheme},
    },
};

use super::{
    log,
    schema::Problem as Refusal,
    tagged::{Keep, tagged},
    urls,
};
use crate::web::Web;

#[derive(utoipa::OpenApi)]
#[openapi(
    info(
        title = "Countersign",
        description = "Registry and signing service for the descriptors that MCP servers advertise. \
            Errors are problem documents (RFC 9457) whose `type` is a stable slug."
    ),
    // Its route takes any number of path elements, which OpenAPI has no form for.
    paths(log::tile),
    components(schemas(Refusal)),
    tags(
        (name = "anyone", description = "No credentials"),
        (name = "reader", description = "Anyone, or a session or `pull:` token where the operator says so"),
        (name = "gateway", description = "A token `pull:SET`"),
        (name = "publisher", description = "A token `publish:NAMESPACE`"),
        (name = "reviewer", description = "A reviewer's session, or a token `review`"),
    )
)]
struct Frame;

/// One call, for a page that lists them.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Call {
    /// The method.
    pub method: &'static str,
    /// The path's pattern.
    pub path: String,
    /// Who may call it.
    pub who: String,
    /// What it does, in one line.
    pub what: String,
}

static DOCUMENT: LazyLock<Vec<u8>> =
    LazyLock::new(|| serde_json::to_vec(&urls::routes().into_openapi()).unwrap_or_default());

/// What the description holds besides the routes.
pub(super) fn frame() -> OpenApi {
    let mut frame = Frame::openapi();
    let components = frame.components.get_or_insert_default();
    components.add_security_scheme("token", SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer)));
    let cookie = ApiKeyValue::with_description("session", "`__Host-session` under https");
    components.add_security_scheme("session", SecurityScheme::ApiKey(ApiKey::Cookie(cookie)));
    frame
}

/// All calls, sorted by path.
pub fn calls() -> Vec<Call> {
    let api = urls::routes().into_openapi();
    api.paths.paths.into_iter().flat_map(|(path, item)| of_path(&path, item)).collect()
}

fn of_path(path: &str, item: PathItem) -> Vec<Call> {
    let methods = [("GET", item.get), ("POST", item.post), ("PUT", item.put), ("DELETE", item.delete)];
    let call = |(method, operation): (&'static str, Option<utoipa::openapi::path::Operation>)| {
        let operation = operation?;
        let who = operation.tags.unwrap_or_default().join(", ");
        Some(Call { method, path: path.to_owned(), who, what: operation.summary.unwrap_or_default() })
    };
    methods.into_iter().filter_map(call).collect()
}

/// This description.
#[utoipa::path(
    get, path = "/openapi.json", tag = "anyone", security(()),
    responses(
        (status = 200, body = Object, content_type = "application/json"),
        (status = 304, description = "Known already"),
        (status = "default", body = Refusal, content_type = "application/problem+json"),
    )
)]
pub(super) async fn document(State(web): State<Web>, asked: HeaderMap) -> Response {
    tagged(&web, &asked, Keep::Ask, "application/json", DOCUMENT.as_slice())
}
