//! A stranger's text, inert and with nothing hidden.
//!
//! A character that the eye would miss is never sent to the browser: its mark stands in its place. What is long is folded,
//! but what holds a mark, a change or a hit never is. [`person`] is the one exception: the text as a client would draw it,
//! to be set beside the marked one.

use std::{collections::BTreeMap, ops::Range};

use super::html::{Html, html, number};
use crate::text::{Class, Reading, Spot, What, class, code_point, describe, script, spots};

/// A text with all its spots, of which parts can be written.
pub(crate) struct Outside<'a> {
    text: &'a str,
    spots: Vec<Spot>,
    escape: Escape,
}

/// Whether quotation marks of the text could be taken for ours.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Escape {
    /// The text stands alone.
    Plain,
    /// The text stands between quotation marks as a JSON string: `"` and `\` are written as JSON does.
    Json,
}

/// What to do with line feeds.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Lines {
    /// A grey sign and a real break.
    Break,
    /// A grey sign alone, for one line.
    Join,
}

/// The marks that a box used, each with its name and how often: printed below it, where keyboards and phones find it.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Legend(BTreeMap<String, Entry>);

#[derive(Clone, Debug, Eq, PartialEq)]
struct Entry {
    what: String,
    letter: Option<char>,
    count: u64,
}

/// A paragraph's worth is shown at once.
const SHOWN_CHARS: usize = 600;
/// Twelve lines fill a box; more push the next thing off the screen.
const SHOWN_LINES: usize = 12;
/// How much is shown around a mark or hit inside a folded text.
const AROUND: usize = 80;
/// A fold that would hide less than this costs more than it saves.
const MIN_FOLD: usize = 160;
/// What one text may put on a page, folded parts included: 64 KiB. The rest is in the raw view, in pages.
const MAX_BYTES: usize = 64 << 10;
/// Marks that one text may put on a page; a screen full of them says enough, and each is a hundred bytes of markup.
const MAX_MARKS: usize = 400;

impl<'a> Outside<'a> {
    /// Reads `text` as prose or as a name.
    pub(crate) fn new(text: &'a str, reading: Reading, escape: Escape) -> Self {
        Self { text, spots: spots(text, reading), escape }
    }

    /// Writes the part in `range`, which must lie on character boundaries.
    pub(crate) fn write(&self, html: &mut Html, range: Range<usize>, lines: Lines, legend: &mut Legend) {
        let first = self.spots.partition_point(|spot| spot.at.end <= range.start);
        let mut done = range.start;
        for spot in &self.spots[first..] {
            if spot.at.start >= range.end {
                break;
            }
            let at = spot.at.start.max(range.start)..spot.at.end.min(range.end);
            self.plain(html, done..at.start);
            done = at.end;
            match &spot.what {
                What::Mark { class, label, first } => {
                    let count = self.text[at].chars().count();
                    mark(html, label, *first, *class, count);
                    legend.mark(label, *first, *class, count);
                }
                What::LookAlike { letter, like } => {
                    look_alike(html, *letter, *like);
                    legend.look_alike(*letter, *like);
                }
                What::LineFeed => {
                    html.tag("<span class=\"ws\">⏎</span>");
                    if lines == Lines::Break {
                        html.tag("<br>");
                    }
                }
                What::Tab => {
                    html.tag("<span class=\"ws\">→</span>\u{2009}");
                }
            }
        }
        self.plain(html, done..range.end);
    }

    /// Writes the whole text, folding what is long; `keep` are ranges that stay visible, besides all marks.
    ///
    /// Returns how many bytes at the end were left out altogether, for the raw view.
    pub(crate) fn folded(&self, html: &mut Html, keep: &[Range<usize>], legend: &mut Legend) -> usize {
        let cut = self.cut();
        let folds = self.folds(keep, cut);
        let mut done = 0;
        let whole = self.text.chars().count();
        for fold in &folds {
            self.write(html, done..fold.start, Lines::Break, legend);
            let hidden = self.text[fold.clone()].chars().count();
            let what = if fold.end == self.text.len() && folds.len() == 1 { "Show the other " } else { "Show " };
            html.tag("<span class=\"mut\">…</span><details class=\"more\"><summary>").tag(what);
            html.text(&number(hidden as u64)).tag(" of ").text(&number(whole as u64));
            html.tag(" characters</summary><div class=\"folded\">");
            self.write(html, fold.clone(), Lines::Break, legend);
            html.tag("</div></details>");
            done = fold.end;
        }
        self.write(html, done..cut, Lines::Break, legend);
        self.text.len() - cut
    }

    /// Writes an unchanged stretch folded behind its length.
    pub(crate) fn write_fold(&self, html: &mut Html, range: Range<usize>, legend: &mut Legend) {
        let hidden = self.text[range.clone()].chars().count();
        html.tag("<span class=\"mut\">…</span><details class=\"more\"><summary>Show ").text(&number(hidden as u64));
        html.tag(" unchanged characters</summary><div class=\"folded\">");
        self.write_capped(html, range, legend);
        html.tag("</div></details>");
    }

    /// Writes a stretch of any length, up to what one text may put on a page, and says what was left out.
    pub(crate) fn write_capped(&self, html: &mut Html, range: Range<usize>, legend: &mut Legend) {
        let first = self.spots.partition_point(|spot| spot.at.end <= range.start);
        let by_marks = self.spots.get(first + MAX_MARKS).map_or(range.end, |spot| spot.at.start);
        let end = floor(self.text, by_marks.min(range.start + MAX_BYTES).min(range.end)).max(range.start);
        self.write(html, range.start..end, Lines::Break, legend);
        if end < range.end {
            html.tag("<span class=\"mut\">… ").text(&number((range.end - end) as u64));
            html.tag(" more bytes in the raw view</span>");
        }
    }

    /// Where the page stops showing this text: by size or by number of marks.
    fn cut(&self) -> usize {
        let by_marks = self.spots.get(MAX_MARKS).map_or(self.text.len(), |spot| spot.at.start);
        floor(self.text, by_marks.min(MAX_BYTES).min(self.text.len()))
    }

    fn folds(&self, keep: &[Range<usize>], cut: usize) -> Vec<Range<usize>> {
        let head = self.head();
        let notable = |spot: &&Spot| !matches!(spot.what, What::LineFeed | What::Tab);
        let mut kept: Vec<Range<usize>> = self.spots.iter().filter(notable).map(|spot| spot.at.clone()).collect();
        kept.extend(keep.iter().cloned());
        kept.sort_by_key(|range| range.start);
        let mut folds = Vec::new();
        let mut done = head;
        let end = Range { start: cut + AROUND, end: cut + AROUND };
        for range in kept.into_iter().chain([end]) {
            let from = floor(self.text, range.start.saturating_sub(AROUND).min(cut));
            if from > done + MIN_FOLD {
                folds.push(done..from);
            }
            done = done.max(floor(self.text, (range.end + AROUND).min(cut)));
        }
        folds
    }

    /// Where the first paragraph's worth ends.
    fn head(&self) -> usize {
        let chars = self.text.char_indices().nth(SHOWN_CHARS).map_or(self.text.len(), |(at, _)| at);
        let lines = self.text.match_indices('\n').nth(SHOWN_LINES - 1).map_or(self.text.len(), |(at, _)| at + 1);
        chars.min(lines)
    }

    fn plain(&self, html: &mut Html, range: Range<usize>) {
        let text = &self.text[range];
        match self.escape {
            Escape::Plain => html.text(text),
            Escape::Json => html.text(&text.replace('\\', "\\\\").replace('"', "\\\"")),
        };
    }
}

/// The nearest character boundary at or before `at`.
pub(crate) fn floor(text: &str, at: usize) -> usize {
    text.floor_char_boundary(at.min(text.len()))
}

fn mark(html: &mut Html, label: &str, first: char, class: Class, count: usize) {
    html.tag("<span class=\"cp\" title=\"");
    match count {
        1 => html.text(&code_point(first)).tag(" ").tag(describe(first, class)),
        n => html.show(n).tag(" times ").tag(describe(first, class)).tag(", from ").text(&code_point(first)),
    };
    html.tag("\">").text(label);
    if count > 1 {
        html.tag("×").show(count);
    }
    html.tag("</span>");
}

fn look_alike(html: &mut Html, letter: char, like: char) {
    html.tag("<span class=\"la\">").show(letter).tag("</span><span class=\"cp\" title=\"");
    html.tag(script(letter))
        .tag(" letter that looks like ")
        .show(like)
        .tag("\">")
        .text(&code_point(letter))
        .tag("</span>");
}

impl Legend {
    fn mark(&mut self, label: &str, first: char, class: Class, count: usize) {
        let new = || Entry { what: describe(first, class).to_owned(), letter: None, count: 0 };
        self.0.entry(label.to_owned()).or_insert_with(new).count += count as u64;
    }

    fn look_alike(&mut self, letter: char, like: char) {
        let new = || Entry {
            what: format!("{} letter that looks like {like}", script(letter)),
            letter: Some(letter),
            count: 0,
        };
        self.0.entry(code_point(letter)).or_insert_with(new).count += 1;
    }

    /// Whether nothing was marked.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The line below the box; nothing when nothing was marked.
    pub(crate) fn html(&self) -> Html {
        /// A hostile text can use thousands of different marks; the legend names the first of them.
        const MAX_NAMED: usize = 24;
        let mut html = Html::new();
        for (label, entry) in self.0.iter().take(MAX_NAMED) {
            html.tag("<span>");
            if let Some(letter) = entry.letter {
                html.tag("<span class=\"la\">").show(letter).tag("</span>");
            }
            html.tag("<span class=\"cp\">").text(label).tag("</span> ").text(&entry.what).tag(", ");
            html.text(&number(entry.count)).tag("</span>");
        }
        if self.0.len() > MAX_NAMED {
            html.tag("<span>and ").text(&number((self.0.len() - MAX_NAMED) as u64)).tag(" other marks</span>");
        }
        html
    }
}

/// Appends `text` on one line with all marks; for names and table cells.
pub(crate) fn emit(html: &mut Html, text: &str, reading: Reading) {
    let outside = Outside::new(text, reading, Escape::Plain);
    outside.write(html, 0..outside.cut(), Lines::Join, &mut Legend::default());
}

/// A sentence's worth of a stranger's text inside a sentence of ours: isolated, on one line, cut to `max` characters.
pub(crate) fn inline(text: &str, max: usize) -> Html {
    let mut html = html!("<bdi>");
    match text.char_indices().nth(max) {
        None => emit(&mut html, text, Reading::Prose),
        Some((cut, _)) => {
            emit(&mut html, &text[..cut], Reading::Prose);
            html.tag("…");
        }
    }
    html.tag("</bdi>");
    html
}

/// `“…”` after words such as "says of itself".
pub(crate) fn said(text: &str, max: usize) -> Html {
    html!("<span class=\"said\">", [inline(text, max)], "</span>")
}

/// One excerpt around a hit, for a table cell: mono, with what comes before and after left out.
pub(crate) fn excerpt(text: &str, hit: Range<usize>) -> Html {
    let outside = Outside::new(text, Reading::Prose, Escape::Plain);
    let hit = floor(text, hit.start)..floor(text, hit.end).max(floor(text, hit.start));
    let from = floor(text, hit.start.saturating_sub(AROUND / 2));
    let to = floor(text, hit.end.min(hit.start + 2 * AROUND) + AROUND / 2);
    let mut html = html!("<bdi class=\"mono\">");
    html.tag(if from > 0 { "…" } else { "" });
    outside.write(&mut html, from..to, Lines::Join, &mut Legend::default());
    html.tag(if to < text.len() { "…" } else { "" }).tag("</bdi>");
    html
}

/// A text in a box of its own: folded, with its legend, what decodes decoded, and its length.
pub(crate) fn block(text: &str, keep: &[Range<usize>]) -> Html {
    let outside = Outside::new(text, Reading::Prose, Escape::Plain);
    let mut legend = Legend::default();
    let mut html = html!("<div class=\"raw\"><bdi>");
    let left = outside.folded(&mut html, keep, &mut legend);
    html.tag("</bdi></div>");
    if left > 0 {
        html.tag("<p class=\"mut\">").text(&number(left as u64)).tag(" more bytes are in the raw view.</p>");
    }
    html.html(&super::decoded::boxes(text));
    if !legend.is_empty() {
        html.tag("<div class=\"legend\">").html(&legend.html()).tag("</div>");
    }
    html
}

/// The text as a client draws it: nothing invisible, look-alikes as they are. The one place without marks, and only
/// beside the marked form.
pub(crate) fn person(text: &str) -> Html {
    let mut html = html!("<bdi>");
    let cut = floor(text, MAX_BYTES / 16);
    for (i, line) in text[..cut].split('\n').enumerate() {
        if i > 0 {
            html.tag("<br>");
        }
        let drawn: String = line
            .chars()
            .filter_map(|c| match class(c) {
                None | Some(Class::Stacked) => Some(c),
                Some(Class::Space) => Some(' '),
                Some(_) => None,
            })
            .collect();
        html.text(&drawn);
    }
    html.tag(if cut < text.len() { "…</bdi>" } else { "</bdi>" });
    html
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(text: &str) -> String {
        block(text, &[]).into_string()
    }

    #[test]
    fn markup_links_and_escapes_of_a_publisher_are_text() {
        let html = shown("<script>alert(1)</script> <a href=\"javascript:x\">go</a> \u{1b}[31m");
        assert!(html.contains("&lt;script&gt;alert(1)&lt;/script&gt;"), "{html}");
        assert!(!html.contains("<a "), "{html}");
        assert!(html.contains("<span class=\"cp\" title=\"U+001B escape\">ESC</span>[31m"), "{html}");
    }

    #[test]
    fn a_long_text_is_folded_and_says_how_long_it_is() {
        let html = shown(&"word ".repeat(462));
        assert!(html.contains("Show the other 1,710 of 2,310 characters"), "{html}");
        assert!(!shown(&"word ".repeat(120)).contains("<details"));
        assert!(shown(&"line\n".repeat(60)).contains("Show the other 240 of 300 characters"));
    }

    #[test]
    fn what_holds_a_mark_or_a_hit_is_never_folded() {
        let text = format!("{}\u{200b}hidden here{}", "word ".repeat(400), " more".repeat(400));
        let html = shown(&text);
        let visible =
            html.split("<details").map(|part| part.split("</details>").last().unwrap_or("")).collect::<String>();
        assert!(visible.contains("ZWSP"), "{visible}");
        assert!(visible.contains("hidden here"), "{visible}");
        assert_eq!(html.matches("<details").count(), 2);

        let hit = block(&"word ".repeat(800), std::slice::from_ref(&(2_500..2_504)));
        assert_eq!(hit.as_str().matches("<details").count(), 2);
    }

    #[test]
    fn a_mebibyte_of_anything_stays_a_page() {
        for text in
            ["x".repeat(1 << 20), "a\u{200b}".repeat(1 << 18), "\u{202e}\u{200b}".repeat(1 << 17), "\n".repeat(1 << 20)]
        {
            let html = shown(&text);
            assert!(html.len() < 700_000, "{} bytes for {:?}", html.len(), &text[..8]);
            assert!(html.contains("more bytes are in the raw view"), "{}", &html[html.len() - 200..]);
        }
    }

    #[test]
    fn a_json_string_can_not_close_its_own_quotation_marks() {
        let outside = Outside::new("a\", evil: \"b\\", Reading::Prose, Escape::Json);
        let mut html = Html::new();
        outside.write(&mut html, 0..13, Lines::Break, &mut Legend::default());
        assert_eq!(html.as_str(), "a\\&quot;, evil: \\&quot;b\\\\");
    }

    #[test]
    fn a_person_sees_no_mark_and_nothing_hidden() {
        assert_eq!(person("a\u{200b}b\u{202e}\u{e0041}c\u{a0}d\ne").as_str(), "<bdi>abc d<br>e</bdi>");
    }

    proptest! {
        #[test]
        fn no_hidden_character_and_no_foreign_tag_reaches_the_page(text in "(?s).*|[<>\"'&\u{200b}\u{202e}\u{1b}a-c ]*") {
            let html = shown(&text);
            let mut before = '\0';
            for c in html.chars() {
                prop_assert!(
                    class(c).is_none() || c == '\u{2009}' || matches!(c, '\u{fe0e}' | '\u{fe0f}') && !before.is_ascii(),
                    "{:?} in {}", c, html
                );
                before = c;
            }
            for tag in html.split('<').skip(1) {
                let name = tag.split([' ', '>']).next().unwrap_or("");
                prop_assert!(
                    ["div", "/div", "bdi", "/bdi", "span", "/span", "br", "p", "/p", "details", "/details", "summary",
                     "/summary", "b", "/b", "wbr"].contains(&name),
                    "<{} in {}", name, html
                );
            }
        }
    }
}
