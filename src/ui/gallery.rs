//! All pages, drawn from fixtures of our own: snapshots, and files to look at.
//!
//! With `COUNTERSIGN_PAGES=DIR` in the environment each page is written there as HTML beside the static files.

mod around;
mod candidate;
mod clean;
mod hostile;
mod overview;
mod queue;
mod settings;

use std::{cell::RefCell, fmt::Write as _};

use askama::Template;

use super::{
    candidate::*,
    difftree::{self, DiffTree, Hit, Label, View},
    figure::{Count, Short},
    frame::{Frame, HeadLine, Keys, Section, Viewer},
    html::{Html, html},
    name::name,
    piece::{Empty, Link, Note, Tab, Tone},
    queue::*,
    sign::{Ballots, Level, Severities, Severity, Sign},
    statics, text,
    when::{self, When},
};
use crate::{
    canon::{Digest, Sha256},
    clock::Timestamp,
    name::Kind,
};

fn at(text: &str) -> Timestamp {
    format!("2026-{text}:00.000000Z").parse().expect("a time")
}

fn now() -> Timestamp {
    "2026-11-30T10:41:07.000000Z".parse().expect("a time")
}

fn minute(text: &str) -> When {
    when::minute(at(text), now())
}

fn date(text: &str) -> When {
    when::date(at(text), now())
}

fn age(text: &str) -> When {
    when::age(at(text), now())
}

fn year(text: &str) -> When {
    when::date(format!("{text}T00:00:00.000000Z").parse().expect("a day"), now())
}

fn digest(seed: &str) -> Short {
    Short::digest(Digest::jcs(Sha256::of(seed.as_bytes())))
}

fn link(href: &str, words: &str) -> Link {
    Link { href: href.to_owned(), words: words.to_owned() }
}

fn tab(href: &str, words: &str, sign: Option<Sign>, count: u64, current: bool) -> Tab {
    Tab { href: href.to_owned(), words: words.to_owned(), sign, count: Some(count), current }
}

fn mono(text: &str) -> Html {
    html!("<span class=\"mono\">", [name(text)], "</span>")
}

fn frame(title: &str, section: Section, keys: Keys) -> Frame {
    Frame {
        title: title.to_owned(),
        section: Some(section),
        viewer: Some(Viewer { name: "Mira Sandoval".to_owned(), reviews: true }),
        head: Some(HeadLine { set: "default".to_owned(), version: 412, good_for: Some("41 min".to_owned()) }),
        waiting: Some(Count(61)),
        notes: Vec::new(),
        keys,
    }
}

thread_local! {
    /// What was drawn on this thread, for the test that opens all pages in a browser.
    static DRAWN: RefCell<Vec<(&'static str, String)>> = const { RefCell::new(Vec::new()) };
}

/// Draws a page, checks what must hold for each, and writes it out where that was asked for.
fn page(file: &'static str, frame: &Frame, body: &impl Template) -> String {
    let html = frame.page(body).expect("the templates render").into_string();
    for inline in [" style=", "<style", "<script>", " onclick=", " onload=", "javascript:\"", "href=\"http"] {
        assert!(!html.contains(inline), "{file}: {inline}");
    }
    assert_eq!(html.matches("<script").count(), 1, "{file}: only our own script");
    assert_eq!(html.matches("<h1").count(), 1, "{file}: one heading of the first level");
    for used in html.split("<use href=\"#").skip(1).map(|rest| rest.split('"').next().unwrap_or("")) {
        assert!(html.contains(&format!("<symbol id=\"{used}\"")), "{file}: {used} is not drawn");
    }
    for paragraph in html.split("<p").skip(1).filter(|rest| rest.starts_with(['>', ' '])) {
        let inside = paragraph.split("</p>").next().unwrap_or("");
        for block in ["<details", "<div", "<ul", "<p>", "<table"] {
            assert!(!inside.contains(block), "{file}: {block} ends the paragraph {}", &inside[..inside.len().min(120)]);
        }
    }
    let mut ids: Vec<&str> = html.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    ids.sort_unstable();
    for pair in ids.windows(2) {
        assert_ne!(pair[0], pair[1], "{file}: an id twice");
    }
    DRAWN.with_borrow_mut(|drawn| drawn.push((file, html.clone())));
    #[expect(clippy::disallowed_methods, reason = "a switch of the person who looks at the pages, not of the product")]
    if let Some(folder) = std::env::var_os("COUNTERSIGN_PAGES") {
        let folder = std::path::Path::new(&folder);
        std::fs::create_dir_all(folder).expect("a folder to write to");
        for file in statics::FILES {
            std::fs::write(folder.join(file.name), file.bytes).expect("written");
        }
        std::fs::write(folder.join(format!("{file}.html")), html.replace("\"/static/", "\"./")).expect("written");
    }
    html
}

/// A page's words without its markup: what snapshots hold, so that a change of looks is none of words.
fn words(html: &str) -> String {
    let main = html.split_once("<main").and_then(|(_, rest)| rest.split_once("</main>")).expect("a main part").0;
    let mut out = String::new();
    for piece in main.split('<').skip(1) {
        let (tag, text) = piece.split_once('>').unwrap_or(("", piece));
        if matches!(
            tag.split(' ').next(),
            Some("p" | "li" | "tr" | "h1" | "h2" | "h3" | "h4" | "div" | "dt" | "button" | "form")
        ) {
            out.push('\n');
        }
        if matches!(tag.split(' ').next(), Some("td" | "th" | "dd" | "span" | "a" | "summary"))
            && !out.ends_with([' ', '\n'])
        {
            out.push(' ');
        }
        out.push_str(text.trim_matches('\n'));
    }
    let text = out
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&#39;", "'")
        .replace("&nbsp;", " ")
        .replace("&amp;", "&");
    let mut result = String::new();
    for line in
        text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).filter(|line| !line.is_empty())
    {
        let _ = writeln!(result, "{line}");
    }
    result
}
