//! Names of others and values of ours in the pieces that sentences are made of.

use crate::{
    canon::Sha256,
    name::Kind,
    text::Reading,
    ui::{
        html::{Html, html},
        name::name,
        text,
    },
};

/// No legal name is longer than a resource's URI after an alias; this much of an illegal one tells it apart.
const MAX_NAME: usize = 200;

/// A name as it was listed, legal or not: marked, and cut where it would fill the page.
pub(super) fn listed(text: &str) -> Html {
    match text.char_indices().nth(MAX_NAME) {
        None if text.is_empty() => html!("<span class=\"mut\">no name</span>"),
        None => name(text),
        Some((cut, _)) => {
            let mut html = name(&text[..cut]);
            html.tag("<span class=\"mut\">…</span>");
            html
        }
    }
}

/// A name in mono, inside a sentence.
pub(super) fn mono(text: &str) -> Html {
    html!("<span class=\"mono\">", [listed(text)], "</span>")
}

/// A link with one of our addresses and its words.
pub(super) fn link(href: &str, words: &str) -> Html {
    html!("<a href=\"", (href), "\">", (words), "</a>")
}

/// A link to an entry of the log.
pub(super) fn entry(index: u64) -> Html {
    html!("<a href=\"/log/entries/", (index), "\">entry ", (crate::ui::figure::Count(index)), "</a>")
}

/// First and last eight digits, for a sentence beside which the whole stands somewhere.
pub(super) fn short(hash: Sha256) -> String {
    let hex = hash.to_string();
    format!("{}…{}", &hex[..8], &hex[56..])
}

/// The kind as pages call it.
pub(super) const fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Tool => "tool",
        Kind::Prompt => "prompt",
        Kind::Resource => "resource",
        Kind::ResourceTemplate => "resource template",
        Kind::Instructions => "instructions",
    }
}

/// The kind where it isn't the usual one.
pub(super) const fn unusual(of: Kind) -> Option<&'static str> {
    match of {
        Kind::Tool => None,
        other => Some(kind(other)),
    }
}

/// A version, and the variant if there is one: both a publisher's own words.
pub(super) fn version(version: &str, variant: &str) -> Html {
    let mut html = html!("<bdi>");
    text::emit(&mut html, version, Reading::Name);
    html.tag("</bdi>");
    if !variant.is_empty() {
        html.tag(", variant <bdi>");
        text::emit(&mut html, variant, Reading::Name);
        html.tag("</bdi>");
    }
    html
}
