//! Documents by their SHA-256, byte for byte.

use axum::{
    extract::State,
    http::{HeaderMap, HeaderValue, header},
    response::Response,
};

use super::{
    schema::Problem as Refusal,
    tagged::{Keep, tagged},
};
use crate::{
    canon::Sha256,
    service::distribute,
    web::{Kind, Path, Problem, Reader, Web},
};

/// What a browser that is led to a document may do with it: nothing.
const NOTHING: HeaderValue = HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'; sandbox");

/// A document: a descriptor, an attestation, a release, a set, pins, a decision, a policy, the scanner's rules.
#[utoipa::path(
    get, path = "/v1/content/{sha256}", tag = "reader", security((), ("token" = []), ("session" = [])),
    params(("sha256" = String, Path, description = "Its SHA-256")),
    responses(
        (status = 200, content_type = "application/octet-stream", description = "Its bytes"),
        (status = 304, description = "Known already"),
        (status = "default", body = Refusal, content_type = "application/problem+json"),
    )
)]
pub(super) async fn document(
    State(web): State<Web>,
    Reader(reader): Reader,
    Path(sha256): Path<String>,
    asked: HeaderMap,
) -> Result<Response, Problem> {
    let unknown = || Problem::new(Kind::NotFound);
    let sha256: Sha256 = sha256.parse().map_err(|_| unknown())?;
    let found = distribute::content(web.app(), sha256, reader.may_see_reviews()).await?;
    let document = found.ok_or_else(unknown)?;
    let mut response = tagged(&web, &asked, Keep::Forever, &document.media_type, document.bytes);
    let headers = response.headers_mut();
    if let Ok(name) = format!("attachment; filename=\"{sha256}\"").parse() {
        headers.insert(header::CONTENT_DISPOSITION, name);
    }
    headers.insert(header::CONTENT_SECURITY_POLICY, NOTHING);
    if !document.readable {
        // What only reviewers may see isn't left in a cache that others share.
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    Ok(response)
}
