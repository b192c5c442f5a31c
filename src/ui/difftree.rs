//! The diff of two descriptors as one tree, in the descriptor's own order.
//!
//! The tree is made from the two documents alone, so that it can't leave out what a classifier overlooks: whatever differs
//! is drawn as different. What the classifier says about a place ([`Label`]) and what the scanner found there
//! ([`Hit`]) are set beside the line that they are about, or beside the nearest line above it that is drawn.

mod align;
mod array;
mod order;
mod tree;
mod words;

pub(crate) use order::Node;

use std::{collections::HashMap, fmt};

use askama::filters::HtmlSafe;

use super::{
    figure::count,
    html::{Html, display, html, number},
    name::name,
    sign::Severity,
    symbol::icon,
    text::Legend,
};
use crate::name::Kind;

/// Which view of the descriptor is shown; kept in the address.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum View {
    /// What changed, with the rest folded.
    #[default]
    Changes,
    /// Every member.
    Whole,
    /// The bytes as they were received.
    Raw,
}

impl View {
    /// As the query says it.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Changes => "changes",
            Self::Whole => "whole",
            Self::Raw => "raw",
        }
    }

    /// Reads the query; anything else is the default.
    pub(crate) fn from_word(word: &str) -> Self {
        [Self::Whole, Self::Raw].into_iter().find(|view| view.word() == word).unwrap_or_default()
    }
}

/// What the classifier says about one place, in plain words: "hint flipped", "new member, looks like a destination".
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Label {
    /// JSON pointer of the place.
    pub(crate) pointer: String,
    /// The words.
    pub(crate) words: String,
}

/// A finding, as the tree shows it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Hit {
    /// Its number in the list below the tree.
    pub(crate) number: usize,
    /// How bad it is.
    pub(crate) severity: Severity,
    /// JSON pointer of the string or member it is about.
    pub(crate) pointer: String,
    /// One sentence of ours.
    pub(crate) message: String,
}

/// What the tree is made from.
#[derive(Clone, Debug)]
pub(crate) struct Input<'a> {
    /// Whose members count as known.
    pub(crate) kind: Kind,
    /// The approved descriptor's bytes; none for a first release.
    pub(crate) old: Option<&'a [u8]>,
    /// This descriptor's bytes.
    pub(crate) new: &'a [u8],
    /// What the classifier says.
    pub(crate) labels: &'a [Label],
    /// What the scanner found.
    pub(crate) hits: &'a [Hit],
    /// All members, or only what changed.
    pub(crate) view: View,
    /// JSON pointer of the object whose unchanged members are shown although the view folds them.
    pub(crate) unfold: Option<&'a str>,
    /// The address of the page, without a query, for the links that unfold.
    pub(crate) page: &'a str,
}

/// The drawn tree, with the row of top-level members above and the legend below.
#[derive(Clone, Debug)]
pub(crate) struct DiffTree {
    html: Html,
    changes: usize,
}

/// One line of the tree.
#[derive(Clone, Debug)]
pub(super) enum Line {
    /// A member, an element or a bracket.
    Code { depth: usize, how: How, body: Html, pointer: String, tag: Option<String>, change: Option<usize> },
    /// Unchanged members, folded into their names.
    Fold { depth: usize, names: Vec<String>, elements: bool, unknown: bool, pointer: String },
    /// What didn't fit.
    Rest { lines: usize },
}

/// How a line relates to the approved descriptor.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum How {
    Same,
    Inside,
    Added,
    Removed,
}

impl How {
    const fn parts(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Same => ("same", "", ""),
            Self::Inside => ("mod", "~", "changed inside: "),
            Self::Added => ("add", "+", "added: "),
            Self::Removed => ("del", "−", "removed: "),
        }
    }
}

/// The members that some MCP version defines, 2024-11-05 to 2026-07-28.
const fn known(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Tool => &[
            "name",
            "title",
            "description",
            "inputSchema",
            "outputSchema",
            "annotations",
            "execution",
            "icons",
            "_meta",
        ],
        Kind::Prompt => &["name", "title", "description", "arguments", "icons", "_meta"],
        Kind::Resource => &["uri", "name", "title", "description", "mimeType", "size", "annotations", "icons", "_meta"],
        Kind::ResourceTemplate => {
            &["uriTemplate", "name", "title", "description", "mimeType", "annotations", "icons", "_meta"]
        }
        Kind::Instructions => &[],
    }
}

/// The line that a browser shows without effort; what is beyond is in the raw view.
pub(super) const MAX_LINES: usize = 3_000;

impl DiffTree {
    /// Draws the tree.
    ///
    /// # Errors
    /// When the bytes are no JSON that the strict parser took; a descriptor of the registry always is.
    pub(crate) fn new(input: &Input<'_>) -> Result<Self, serde_json::Error> {
        let new: Node<'_> = serde_json::from_slice(input.new)?;
        let old: Option<Node<'_>> = input.old.map(serde_json::from_slice).transpose()?;
        let mut legend = Legend::default();
        let (lines, changes) = tree::lines(input, old.as_ref(), &new, &mut legend);
        let mut html = Html::new();
        if let (Node::Object(members), Some(Node::Object(before))) = (&new, &old) {
            html.html(&moved(members, before));
        }
        html.html(&draw(input, &lines));
        if !legend.is_empty() {
            html.tag("<div class=\"legend\">")
                .html(&legend.html())
                .tag("<span>Marks stand in place of the characters; the bytes are in <a href=\"");
            html.text(input.page).tag("?view=raw\">raw bytes</a>.</span></div>");
        }
        Ok(Self { html, changes })
    }

    /// How many places differ: what a reviewer says to have read.
    pub(crate) const fn changes(&self) -> usize {
        self.changes
    }
}

impl fmt::Display for DiffTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        display(f, &self.html)
    }
}

impl HtmlSafe for DiffTree {}

type Members<'a> = [(std::borrow::Cow<'a, str>, Node<'a>)];

/// All top-level members, `=` or `≠` each, so that "description: same" is seen and not inferred.
fn moved(new: &Members<'_>, old: &Members<'_>) -> Html {
    /// A row of more names than this says nothing; the tree below has them all.
    const MAX_NAMED: usize = 40;
    let before: HashMap<&str, &Node<'_>> = old.iter().map(|(k, v)| (k.as_ref(), v)).collect();
    let after: HashMap<&str, &Node<'_>> = new.iter().map(|(k, v)| (k.as_ref(), v)).collect();
    let mut rows: Vec<(&str, &'static str, &'static str)> = new
        .iter()
        .map(|(k, v)| match before.get(k.as_ref()) {
            Some(before) if *before == v => (k.as_ref(), "=", "same"),
            Some(_) => (k.as_ref(), "≠", "changed"),
            None => (k.as_ref(), "≠", "new"),
        })
        .collect();
    let gone = old.iter().filter(|(k, _)| !after.contains_key(k.as_ref()));
    rows.extend(gone.map(|(k, _)| (k.as_ref(), "≠", "gone")));
    let mut out = html!("<ul class=\"moved\" aria-label=\"Top-level members\">");
    for (key, sign, word) in rows.iter().take(MAX_NAMED) {
        out.tag(if *word == "same" { "<li>" } else { "<li class=\"d\">" });
        out.tag("<span aria-hidden=\"true\">")
            .tag(sign)
            .tag("</span> <span class=\"mono\">")
            .html(&name(key))
            .tag("</span>");
        out.tag(if matches!(*word, "same" | "changed") { "<span class=\"vh\"> " } else { "<span> " });
        out.tag(word).tag("</span></li>");
    }
    if rows.len() > MAX_NAMED {
        out.tag("<li>and ").text(&number((rows.len() - MAX_NAMED) as u64)).tag(" more</li>");
    }
    out.tag("</ul>");
    out
}

fn draw(input: &Input<'_>, lines: &[Line]) -> Html {
    let mut out = html!("<ol class=\"tree\" aria-label=\"");
    out.tag(if input.old.is_some() { "Changes as a tree\">" } else { "Descriptor as a tree\">" });
    let homes = homes(lines, input.hits);
    for (i, line) in lines.iter().enumerate() {
        draw_line(&mut out, input, line);
        for hit in input.hits.iter().zip(&homes).filter(|(_, home)| **home == Some(i)).map(|(hit, _)| hit) {
            out.tag("<li class=\"fin ").tag(hit.severity.edge()).tag("\"><div>").safe(&hit.severity);
            out.tag("<span>").text(&hit.message).tag("</span><a href=\"#f").show(hit.number).tag("\">Finding ");
            out.show(hit.number).tag("</a></div></li>");
        }
    }
    out.tag("</ol>");
    out
}

fn draw_line(out: &mut Html, input: &Input<'_>, line: &Line) {
    match line {
        Line::Code { depth, how, body, tag, change, .. } => {
            let (class, glyph, word) = how.parts();
            out.tag("<li class=\"").tag(class).tag(" ").tag(depth_class(*depth)).tag("\"");
            if let Some(change) = change {
                out.tag(" id=\"c").show(change).tag("\"");
            }
            out.tag("><span class=\"g\" aria-hidden=\"true\">").tag(glyph).tag("</span><div class=\"l\">");
            if !word.is_empty() {
                out.tag("<span class=\"vh\">").tag(word).tag("</span>");
            }
            out.html(body).tag("</div>");
            if let Some(tag) = tag {
                out.tag("<span class=\"tag\">").text(tag).tag("</span>");
            }
            out.tag("</li>");
        }
        Line::Fold { depth, names, elements, unknown, pointer } => {
            /// Names beyond these are counted.
            const MAX_NAMED: usize = 8;
            out.tag("<li class=\"fold ").tag(depth_class(*depth)).tag("\"><span class=\"g\"></span><div class=\"l\">");
            let n = names.len() as u64;
            if *elements {
                out.text(&count(n, "element", "elements")).tag(" unchanged");
            } else {
                out.text(&count(n, "member", "members")).tag(" unchanged: ");
                for (i, key) in names.iter().take(MAX_NAMED).enumerate() {
                    out.tag(if i > 0 { ", <span class=\"mono\">" } else { "<span class=\"mono\">" });
                    out.html(&name(key)).tag("</span>");
                }
                if names.len() > MAX_NAMED {
                    out.tag(" and ").text(&number((names.len() - MAX_NAMED) as u64)).tag(" more");
                }
            }
            out.tag(if *unknown { " (not in any MCP version)" } else { "" });
            out.tag(" <a href=\"")
                .text(input.page)
                .tag("?show=")
                .text(&query(pointer))
                .tag("#h-diff\">show<span class=\"vh\"> ");
            out.tag(if *elements { "elements of " } else { "members of " });
            out.text(if pointer.is_empty() { "the descriptor" } else { pointer }).tag("</span></a></div></li>");
        }
        Line::Rest { lines } => {
            out.tag("<li class=\"fold d0\"><span class=\"g\"></span><div class=\"l\">").html(&icon("info")).tag(" ");
            out.text(&count(*lines as u64, "more line is", "more lines are"))
                .tag(" only in the <a href=\"")
                .text(input.page);
            out.tag("?view=raw\">raw bytes</a>.</div></li>");
        }
    }
}

/// Percent-encodes what a query can't hold as it is.
pub(crate) fn query(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

/// The line each finding stands below: the last one drawn for its place, else for the nearest place above it.
fn homes(lines: &[Line], hits: &[Hit]) -> Vec<Option<usize>> {
    let at = |pointer: &str| {
        lines.iter().rposition(
            |line| matches!(line, Line::Code { pointer: p, how, .. } if p == pointer && *how != How::Removed),
        )
    };
    let home = |hit: &Hit| {
        let mut pointer = hit.pointer.as_str();
        loop {
            if let Some(line) = at(pointer) {
                return Some(line);
            }
            pointer = &pointer[..pointer.rfind('/')?];
        }
    };
    hits.iter().map(home).collect()
}

/// Guides are drawn to this depth; deeper lines keep its indent and say their place by their key.
const fn depth_class(depth: usize) -> &'static str {
    match depth {
        0 => "d0",
        1 => "d1",
        2 => "d2",
        3 => "d3",
        4 => "d4",
        5 => "d5",
        6 => "d6",
        7 => "d7",
        _ => "d8",
    }
}

#[cfg(test)]
mod tests;
