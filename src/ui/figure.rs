//! Digests, key ids and sizes, in a short form that opens to the whole.

use std::fmt;

use askama::filters::HtmlSafe;

use super::html::{Html, display, number};
use crate::canon::{Digest, Sha256};

/// A hash with the recipe or kind that it was made by: first and last eight digits, which open to `recipe:64 hex`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Short {
    what: &'static str,
    recipe: &'static str,
    hash: Sha256,
}

impl Short {
    /// A descriptor's digest.
    pub(crate) const fn digest(digest: Digest) -> Self {
        Self { what: "digest", recipe: digest.recipe.as_str(), hash: digest.sha256 }
    }

    /// A hash of a document: a set, a policy, an attestation. `what` is its name for screen readers.
    pub(crate) const fn hash(what: &'static str, hash: Sha256) -> Self {
        Self { what, recipe: "sha256", hash }
    }

    /// A key id.
    pub(crate) const fn key(hash: Sha256) -> Self {
        Self { what: "key id", recipe: "spki-sha256", hash }
    }
}

impl fmt::Display for Short {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hex = self.hash.to_string();
        let mut html = Html::new();
        html.tag("<details class=\"dg\"><summary><span class=\"vh\">Show full ").tag(self.what).tag(": </span>");
        html.text(&hex[..8]).tag("<i>…</i>").text(&hex[56..]).tag("</summary><code>").tag(self.recipe).tag(":");
        html.text(&hex).tag("</code></details>");
        display(f, &html)
    }
}

impl HtmlSafe for Short {}

/// A number as people read it: `1,204`.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct Count(pub(crate) u64);

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&number(self.0))
    }
}

/// `1 tool`, `1,204 tools`: a count with its word.
pub(crate) fn count(n: u64, one: &str, many: &str) -> String {
    format!("{} {}", number(n), if n == 1 { one } else { many })
}
