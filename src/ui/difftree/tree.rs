//! From two documents to lines.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet, hash_map::Entry},
    ops::Range,
};

use super::{
    super::{
        html::Html,
        text::{Escape, Legend, Lines, Outside},
    },
    How, Input, Line, MAX_LINES, Node, View,
    array::{INLINE_CHARS, inline_length},
    known,
    order::child,
    words,
};
use crate::{name::Kind, text::Reading};

/// The lines so far, and what they are made from.
pub(super) struct Drawing<'i, 'l> {
    pub(super) input: &'i Input<'i>,
    pub(super) legend: &'l mut Legend,
    pub(super) lines: Vec<Line>,
    left_out: usize,
    changes: usize,
    labels: HashMap<&'i str, Vec<&'i str>>,
}

/// The tree's lines, and how many places differ.
pub(super) fn lines(
    input: &Input<'_>,
    old: Option<&Node<'_>>,
    new: &Node<'_>,
    legend: &mut Legend,
) -> (Vec<Line>, usize) {
    let mut labels: HashMap<&str, Vec<&str>> = HashMap::new();
    for label in input.labels {
        labels.entry(&label.pointer).or_default().push(&label.words);
    }
    let mut drawing = Drawing { input, legend, lines: Vec::new(), left_out: 0, changes: 0, labels };
    match old {
        None => drawing.whole(How::Same, 0, None, new, ""),
        Some(old) => drawing.value(0, None, old, new, ""),
    }
    if drawing.left_out > 0 {
        drawing.lines.push(Line::Rest { lines: drawing.left_out });
    }
    drawing.leftover_labels();
    (drawing.lines, drawing.changes)
}

impl<'i> Drawing<'i, '_> {
    /// A value that is on both sides.
    pub(super) fn value(&mut self, depth: usize, key: Option<&str>, old: &Node<'_>, new: &Node<'_>, pointer: &str) {
        if old == new {
            self.whole(How::Same, depth, key, new, pointer);
            return;
        }
        match (old, new) {
            (Node::Object(before), Node::Object(after)) if !old.is_leaf() && !new.is_leaf() => {
                self.open(How::Inside, depth, key, "{", pointer);
                self.members(depth + 1, before, after, pointer);
                self.close(How::Same, depth, "}", pointer);
            }
            (Node::Array(before), Node::Array(after)) if !old.is_leaf() && !new.is_leaf() => {
                self.array(depth, key, before, after, pointer);
            }
            (Node::Text(before), Node::Text(after)) => {
                let differ = words::compare(before, after);
                let change = self.change();
                self.text(How::Removed, depth, key, before, &differ.old, pointer, Some(change));
                self.text(How::Added, depth, key, after, &differ.new, pointer, None);
            }
            _ => {
                let change = self.change();
                self.replaced(How::Removed, depth, key, old, pointer, Some(change));
                self.replaced(How::Added, depth, key, new, pointer, None);
            }
        }
    }

    /// The members of an object on both sides: in the new one's order, a removed one where it stood.
    fn members(
        &mut self,
        depth: usize,
        old: &[(Cow<'_, str>, Node<'_>)],
        new: &[(Cow<'_, str>, Node<'_>)],
        pointer: &str,
    ) {
        let mut same: Vec<(&str, &Node<'_>)> = Vec::new();
        let mut at = 0;
        let places: HashMap<&str, usize> = old.iter().enumerate().map(|(i, (key, _))| (key.as_ref(), i)).collect();
        let names: HashSet<&str> = new.iter().map(|(key, _)| key.as_ref()).collect();
        let kept = |key: &str| names.contains(key);
        for (key, value) in new {
            let before = places.get(key.as_ref()).copied();
            if let Some(place) = before.filter(|place| *place >= at) {
                for (gone, value) in old[at..place].iter().filter(|(k, _)| !kept(k)) {
                    self.same(depth, &mut same, pointer);
                    self.one_sided(How::Removed, depth, gone, value, pointer);
                }
                at = place + 1;
            }
            match before.map(|place| &old[place].1) {
                Some(before) if before == value => same.push((key, value)),
                Some(before) => {
                    self.same(depth, &mut same, pointer);
                    self.value(depth, Some(key), before, value, &child(pointer, key));
                }
                None => {
                    self.same(depth, &mut same, pointer);
                    self.one_sided(How::Added, depth, key, value, pointer);
                }
            }
        }
        self.same(depth, &mut same, pointer);
        for (gone, value) in old[at..].iter().filter(|(k, _)| !kept(k)) {
            self.one_sided(How::Removed, depth, gone, value, pointer);
        }
    }

    /// Unchanged members in a row: folded unless the view, the query or a finding shows them.
    fn same(&mut self, depth: usize, members: &mut Vec<(&str, &Node<'_>)>, pointer: &str) {
        let mut folded: Vec<String> = Vec::new();
        let shown = self.input.view == View::Whole || self.input.unfold == Some(pointer);
        let mut unknown = false;
        for (key, value) in members.drain(..) {
            let place = child(pointer, key);
            if shown || self.is_about(&place) {
                self.fold(depth, &mut folded, &mut unknown, false, pointer);
                self.whole(How::Same, depth, Some(key), value, &place);
            } else {
                let odd = pointer.is_empty()
                    && self.input.kind != Kind::Instructions
                    && !known(self.input.kind).contains(&key);
                if odd != unknown {
                    self.fold(depth, &mut folded, &mut unknown, false, pointer);
                    unknown = odd;
                }
                folded.push(key.to_owned());
            }
        }
        self.fold(depth, &mut folded, &mut unknown, false, pointer);
    }

    pub(super) fn fold(
        &mut self,
        depth: usize,
        names: &mut Vec<String>,
        unknown: &mut bool,
        elements: bool,
        pointer: &str,
    ) {
        let (names, unknown) = (std::mem::take(names), std::mem::take(unknown));
        if !names.is_empty() {
            self.push(Line::Fold { depth, names, elements, unknown, pointer: pointer.to_owned() });
        }
    }

    /// Whether a finding lies at `pointer` or below.
    pub(super) fn is_about(&self, pointer: &str) -> bool {
        self.input
            .hits
            .iter()
            .any(|hit| hit.pointer.strip_prefix(pointer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
    }

    fn one_sided(&mut self, how: How, depth: usize, key: &str, value: &Node<'_>, pointer: &str) {
        let change = self.change();
        let place = child(pointer, key);
        let first = self.lines.len();
        self.whole(how, depth, Some(key), value, &place);
        self.number(first, change);
    }

    /// A value of one side, or of both alike, with everything in it.
    pub(super) fn whole(&mut self, how: How, depth: usize, key: Option<&str>, value: &Node<'_>, pointer: &str) {
        match value {
            Node::Object(members) if !members.is_empty() => {
                self.open(how, depth, key, "{", pointer);
                for (k, v) in members {
                    self.whole(how, depth + 1, Some(k), v, &child(pointer, k));
                }
                self.close(how, depth, "}", pointer);
            }
            Node::Array(items) if items.iter().all(Node::is_leaf) && inline_length(items) <= INLINE_CHARS => {
                let body = self.inline_array(key, items, &[], false);
                self.code(how, depth, body, pointer, None);
            }
            Node::Array(items) => {
                self.open(how, depth, key, "[", pointer);
                for (i, item) in items.iter().enumerate() {
                    self.whole(how, depth + 1, None, item, &format!("{pointer}/{i}"));
                }
                self.close(how, depth, "]", pointer);
            }
            Node::Text(text) => self.folded_text(how, depth, key, text, pointer),
            Node::Scalar(_) | Node::Object(_) => {
                let mut body = self.key(key);
                self.leaf(&mut body, value);
                self.code(how, depth, body, pointer, None);
            }
        }
    }

    /// One side of a value that became another: leaves are marked whole, the others drawn in full.
    fn replaced(
        &mut self,
        how: How,
        depth: usize,
        key: Option<&str>,
        value: &Node<'_>,
        pointer: &str,
        change: Option<usize>,
    ) {
        if value.is_leaf() {
            let mut body = self.key(key);
            body.tag(if how == How::Removed { "<del>" } else { "<ins>" });
            self.leaf(&mut body, value);
            body.tag(if how == How::Removed { "</del>" } else { "</ins>" });
            self.code(how, depth, body, pointer, change);
        } else {
            let first = self.lines.len();
            self.whole(how, depth, key, value, pointer);
            if let Some(change) = change {
                self.number(first, change);
            }
        }
    }

    #[expect(clippy::too_many_arguments, reason = "one call of a private function; a struct would only rename them")]
    fn text(
        &mut self,
        how: How,
        depth: usize,
        key: Option<&str>,
        text: &str,
        marked: &[Range<usize>],
        pointer: &str,
        change: Option<usize>,
    ) {
        let mut body = self.key(key);
        words::write(&mut body, text, marked, how == How::Removed, self.legend);
        self.code(how, depth, body, pointer, change);
    }

    /// An unchanged or one-sided string, folded where it is long.
    fn folded_text(&mut self, how: How, depth: usize, key: Option<&str>, text: &str, pointer: &str) {
        let mut body = self.key(key);
        body.tag("\"");
        let outside = Outside::new(text, Reading::Prose, Escape::Json);
        let left = outside.folded(&mut body, &[], self.legend);
        body.tag("\"");
        if left > 0 {
            body.tag(" <a href=\"").text(self.input.page).tag("?view=raw\">").show(left).tag(" more bytes</a>");
        }
        self.code(how, depth, body, pointer, None);
    }

    pub(super) fn leaf(&mut self, body: &mut Html, value: &Node<'_>) {
        match value {
            Node::Scalar(text) => {
                body.text(text);
            }
            Node::Text(text) => {
                body.tag("\"");
                let outside = Outside::new(text, Reading::Prose, Escape::Json);
                outside.folded(body, &[], self.legend);
                body.tag("\"");
            }
            Node::Array(_) => {
                body.tag("[]");
            }
            Node::Object(_) => {
                body.tag("{}");
            }
        }
    }

    pub(super) fn key(&mut self, key: Option<&str>) -> Html {
        let mut body = Html::new();
        if let Some(key) = key {
            body.tag("<span class=\"k\">");
            let outside = Outside::new(key, Reading::Name, Escape::Json);
            // A member's name in quotation marks where it isn't a plain word: it could hold any text.
            let plain =
                !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '$'));
            body.tag(if plain { "" } else { "\"" });
            outside.write(&mut body, 0..super::super::text::floor(key, 1_000), Lines::Join, self.legend);
            body.tag(if plain { "" } else { "\"" }).tag("</span>: ");
        }
        body
    }

    pub(super) fn open(&mut self, how: How, depth: usize, key: Option<&str>, bracket: &'static str, pointer: &str) {
        let mut body = self.key(key);
        body.tag(bracket);
        self.code(how, depth, body, pointer, None);
    }

    pub(super) fn close(&mut self, how: How, depth: usize, bracket: &'static str, pointer: &str) {
        let body = Html::from(bracket);
        // The closing line has no place of its own: findings and labels stand at the opening one.
        let closed = format!("{pointer}\u{0}");
        self.code(how, depth, body, &closed, None);
    }

    pub(super) fn code(&mut self, how: How, depth: usize, body: Html, pointer: &str, change: Option<usize>) {
        let tag = self.label(pointer);
        self.push(Line::Code { depth, how, body, pointer: pointer.to_owned(), tag, change });
    }

    /// The classifier's words for a place, given to the first line that is drawn for it.
    fn label(&mut self, pointer: &str) -> Option<String> {
        self.labels.remove(pointer).map(|words| words.join(", "))
    }

    /// Labels of places that no line was drawn for go to the nearest line above.
    fn leftover_labels(&mut self) {
        let mut homes: HashMap<&str, usize> = HashMap::new();
        for (i, line) in self.lines.iter().enumerate() {
            if let Line::Code { pointer, .. } = line
                && let Entry::Vacant(home) = homes.entry(pointer)
            {
                home.insert(i);
            }
        }
        let mut left: Vec<(usize, String)> = Vec::new();
        let mut rest: Vec<_> = std::mem::take(&mut self.labels).into_iter().collect();
        rest.sort_unstable();
        for (place, words) in rest {
            let above = std::iter::successors(Some(place), |at| at.rfind('/').map(|slash| &at[..slash]));
            if let Some((pointer, home)) = above.skip(1).find_map(|at| homes.get(at).map(|home| (at, *home))) {
                let place = crate::text::marked(&place[pointer.len() + 1..], Reading::Name);
                left.push((home, format!("{} at {place}", words.join(", "))));
            }
        }
        for (home, words) in left {
            if let Some(Line::Code { tag, .. }) = self.lines.get_mut(home) {
                *tag = Some(tag.take().map_or(words.clone(), |before| format!("{before}, {words}")));
            }
        }
    }

    pub(super) fn change(&mut self) -> usize {
        self.changes += 1;
        self.changes
    }

    pub(super) fn number(&mut self, line: usize, number: usize) {
        if let Some(Line::Code { change, .. }) = self.lines.get_mut(line) {
            *change = Some(number);
        }
    }

    fn push(&mut self, line: Line) {
        if self.lines.len() < MAX_LINES {
            self.lines.push(line);
        } else {
            self.left_out += 1;
        }
    }
}
