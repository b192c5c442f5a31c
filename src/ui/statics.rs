//! The files that pages load: one style sheet, one script, one picture. Embedded, and named by what is in them.

use std::sync::LazyLock;

use crate::canon::Sha256;

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

/// What a page may load and do: our own files, nothing inline, no frames, forms to ourselves.
pub(crate) const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; \
    img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

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
