//! Two strings compared by words, with all that is unchanged and long folded.

use std::ops::Range;

use similar::DiffOp;

use super::{
    super::{
        html::Html,
        text::{Escape, Legend, Lines, Outside},
    },
    align::align,
};
use crate::text::Reading;

/// The ranges of old and new text that differ.
#[derive(Debug, Default, Eq, PartialEq)]
pub(super) struct Words {
    pub(super) old: Vec<Range<usize>>,
    pub(super) new: Vec<Range<usize>>,
}

/// Compares by words.
pub(super) fn compare(old: &str, new: &str) -> Words {
    let (old_words, new_words) = (words(old), words(new));
    let mut out = Words::default();
    let (old_at, new_at) = (offsets(&old_words), offsets(&new_words));
    for op in align(&old_words, &new_words) {
        if let DiffOp::Equal { .. } = op {
            continue;
        }
        push(&mut out.old, &old_at, op.old_range());
        push(&mut out.new, &new_at, op.new_range());
    }
    out
}

/// Words, and each run of anything else, so that joining them gives the text again.
fn words(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let (mut from, mut inside) = (0, None);
    for (at, c) in text.char_indices() {
        let word = c.is_alphanumeric() || c == '_';
        // Every character between words stands for itself: a run of spaces may differ in one.
        if at > from && (inside != Some(word) || !word) {
            out.push(&text[from..at]);
            from = at;
        }
        inside = Some(word);
    }
    if from < text.len() {
        out.push(&text[from..]);
    }
    out
}

/// Where each word begins, and where the last one ends.
fn offsets(words: &[&str]) -> Vec<usize> {
    let mut at = 0;
    let mut out = vec![0];
    out.extend(words.iter().map(|word| {
        at += word.len();
        at
    }));
    out
}

fn push(out: &mut Vec<Range<usize>>, offsets: &[usize], words: Range<usize>) {
    let range = offsets[words.start]..offsets[words.end];
    match out.last_mut() {
        _ if range.is_empty() => {}
        Some(last) if last.end == range.start => last.end = range.end,
        _ => out.push(range),
    }
}

/// Writes `text` between quotation marks with its changed ranges in `del` or `ins`; unchanged stretches fold.
pub(super) fn write(html: &mut Html, text: &str, changed: &[Range<usize>], removed: bool, legend: &mut Legend) {
    /// How much of an unchanged stretch is shown beside a change.
    const AROUND: usize = 120;
    let outside = Outside::new(text, Reading::Prose, Escape::Json);
    html.tag("\"");
    let mut done = 0;
    let end = Range { start: text.len(), end: text.len() };
    for (i, range) in changed.iter().cloned().chain([end]).enumerate() {
        let before = if i == 0 { 0 } else { AROUND };
        let after = if range.start == text.len() && i > 0 { 0 } else { AROUND };
        fold(html, &outside, text, done..range.start, before, after, legend);
        if !range.is_empty() {
            html.tag(if removed { "<del>" } else { "<ins>" });
            outside.write_capped(html, range.clone(), legend);
            html.tag(if removed { "</del>" } else { "</ins>" });
        }
        done = range.end;
    }
    html.tag("\"");
}

/// An unchanged stretch: whole when short, else its edges with the middle counted.
fn fold(
    html: &mut Html,
    outside: &Outside<'_>,
    text: &str,
    range: Range<usize>,
    before: usize,
    after: usize,
    legend: &mut Legend,
) {
    if range.len() <= before + after + 160 {
        outside.write(html, range, Lines::Break, legend);
        return;
    }
    let from = super::super::text::floor(text, range.start + before);
    let to = super::super::text::floor(text, range.end - after).max(from);
    outside.write(html, range.start..from, Lines::Break, legend);
    outside.write_fold(html, from..to, legend);
    outside.write(html, to..range.end, Lines::Break, legend);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_the_words_that_differ_are_marked() {
        let (old, new) = ("Sends it to your folder.", "Sends it, with drafts, to any folder.");
        let words = compare(old, new);
        let parts = |text: &'static str, ranges: &[Range<usize>]| {
            ranges.iter().map(|range| &text[range.clone()]).collect::<Vec<_>>()
        };
        assert_eq!(parts(old, &words.old), ["your"]);
        assert_eq!(parts(new, &words.new), [", with drafts,", "any"]);
    }

    #[test]
    fn a_text_too_long_to_compare_is_replaced_as_a_whole() {
        let old = "a ".repeat(40_000);
        let new = "b ".repeat(40_000);
        let words = compare(&old, &new);
        assert_eq!((words.old.len(), words.new.len()), (1, 1));
    }

    proptest! {
        #[test]
        fn what_is_not_marked_is_the_same_in_both(old in "[a-c .\u{200b}]{0,40}", new in "[a-c .\u{200b}]{0,40}") {
            let words = compare(&old, &new);
            let kept = |text: &str, ranges: &[Range<usize>]| {
                let mut rest = String::new();
                let mut done = 0;
                for range in ranges {
                    rest.push_str(&text[done..range.start]);
                    done = range.end;
                }
                rest + &text[done..]
            };
            prop_assert_eq!(kept(&old, &words.old), kept(&new, &words.new));
            prop_assert_eq!(words == Words::default(), old == new);
        }
    }
}
