//! Answers that a client or cache may keep.

use axum::{
    body::Body,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse as _, Response},
};

use crate::{canon::Sha256, config::Readers, web::Web};

/// How long an answer may be kept.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Keep {
    /// It never changes.
    Forever,
    /// It never changes, but may be gone before long.
    Briefly,
    /// It may have changed at any time: ask again, with its tag.
    Ask,
}

/// An answer with a tag; 304 if the client has it already.
pub(super) fn tagged(
    web: &Web,
    asked: &HeaderMap,
    keep: Keep,
    media_type: &str,
    bytes: impl Into<Body> + AsRef<[u8]>,
) -> Response {
    let sha256 = Sha256::of(bytes.as_ref());
    tagged_as(web, asked, keep, media_type, bytes, &sha256)
}

/// The same, where the SHA-256 of the bytes is known.
pub(super) fn tagged_as(
    web: &Web,
    asked: &HeaderMap,
    keep: Keep,
    media_type: &str,
    bytes: impl Into<Body>,
    sha256: &Sha256,
) -> Response {
    let tag = format!("\"{:.32}\"", sha256.to_string());
    let headers = [(header::ETAG, tag.as_str()), (header::CACHE_CONTROL, keep.header(web.settings().readers))];
    if is_known(asked, &tag) {
        return (StatusCode::NOT_MODIFIED, headers).into_response();
    }
    (headers, [(header::CONTENT_TYPE, media_type)], bytes.into()).into_response()
}

impl Keep {
    /// What not everybody may read is kept by the reader alone.
    pub(super) const fn header(self, readers: Readers) -> &'static str {
        match (self, readers) {
            (Self::Forever, Readers::Anonymous) => "public, max-age=31536000, immutable",
            (Self::Forever, Readers::Token) => "private, max-age=31536000, immutable",
            (Self::Briefly, Readers::Anonymous) => "public, max-age=300",
            (Self::Briefly, Readers::Token) => "private, max-age=300",
            (Self::Ask, _) => "no-cache",
        }
    }
}

/// Weak comparison, as for GET: a proxy that compresses makes the tag weak.
fn is_known(asked: &HeaderMap, tag: &str) -> bool {
    let lines = asked.get_all(header::IF_NONE_MATCH).iter().filter_map(|line| line.to_str().ok());
    lines
        .flat_map(|line| line.split(','))
        .map(str::trim)
        .any(|known| known == "*" || known.strip_prefix("W/").unwrap_or(known) == tag)
}
