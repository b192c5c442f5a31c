//! The files that pages load: one style sheet, one script, one picture. Embedded, and named by what is in them.

use std::sync::LazyLock;

use axum::{
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use serde::Deserialize;

use crate::{
    canon::Sha256,
    web::{Kind, Path, Problem, Query},
};

/// A file of ours, as it is served.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Static {
    /// Its name below `/static/`.
    pub(crate) name: &'static str,
    /// Its media type.
    pub(crate) media_type: &'static str,
    /// Its bytes.
    pub(crate) bytes: &'static [u8],
}

/// All of them.
pub(crate) const FILES: [Static; 3] = [
    Static {
        name: "style.css",
        media_type: "text/css; charset=utf-8",
        bytes: include_bytes!("../../static/style.css"),
    },
    Static {
        name: "countersign.js",
        media_type: "text/javascript; charset=utf-8",
        bytes: include_bytes!("../../static/countersign.js"),
    },
    Static { name: "favicon.svg", media_type: "image/svg+xml", bytes: include_bytes!("../../static/favicon.svg") },
];

/// Which version of a file is asked for.
#[derive(Deserialize)]
pub(super) struct Asked {
    #[serde(default)]
    v: String,
}

static VERSION: LazyLock<String> = LazyLock::new(|| {
    let all: Vec<u8> = FILES.iter().flat_map(|file| file.bytes).copied().collect();
    Sha256::of(&all).to_string()[..12].to_owned()
});

/// The address of a file, with the version that lets a browser keep it for good.
pub(crate) fn address(name: &str) -> String {
    format!("/static/{name}?v={}", *VERSION)
}

/// The file of this name.
pub(crate) fn file(name: &str) -> Option<Static> {
    FILES.into_iter().find(|file| file.name == name)
}

/// `GET /static/{name}?v=…`: to be kept for good under this version, to be asked again under any other.
pub(super) async fn serve(
    Path(name): Path<String>,
    Query(Asked { v }): Query<Asked>,
    asked: HeaderMap,
) -> Result<Response, Problem> {
    let file = file(&name).ok_or_else(|| Problem::new(Kind::NotFound))?;
    let keep = if v == *VERSION { "public, max-age=31536000, immutable" } else { "no-cache" };
    let tag = format!("\"{}\"", *VERSION);
    let known = asked.get(header::IF_NONE_MATCH).is_some_and(|known| known.as_bytes() == tag.as_bytes());
    let etag = HeaderValue::from_str(&tag).map_err(Problem::internal)?;
    let headers = [(header::CACHE_CONTROL, HeaderValue::from_static(keep)), (header::ETAG, etag)];
    if known {
        return Ok((StatusCode::NOT_MODIFIED, headers).into_response());
    }
    let media_type = [(header::CONTENT_TYPE, HeaderValue::from_static(file.media_type))];
    Ok((headers, media_type, file.bytes).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_ours_loads_from_elsewhere() {
        for file in FILES {
            let text = std::str::from_utf8(file.bytes).expect("text");
            for foreign in ["http://", "https://", "@import", "url("] {
                let allowed = text.replace("http://www.w3.org/2000/svg", "");
                assert!(!allowed.contains(foreign), "{}: {foreign}", file.name);
            }
        }
        assert!(file("style.css").is_some() && file("../Cargo.toml").is_none());
    }
}
