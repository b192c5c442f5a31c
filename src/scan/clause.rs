//! Where a clause begins and ends: the unit in which a rule's conditions must come together.
//!
//! "Ignore" in one sentence and "rules" in the next say nothing; together in one they do. Text without sentences is cut
//! by length, so that nobody buys silence with a missing full stop and no clause costs more than a constant.

use std::ops::Range;

/// The longest sentence among 2,000 real tools has some 500 characters.
const MAX_SIDE: usize = 400;

/// The clause around a match, at most [`MAX_SIDE`] bytes to either side of it.
pub(super) fn around(text: &[u8], found: Range<usize>) -> Range<usize> {
    let low = found.start.saturating_sub(MAX_SIDE);
    let high = text.len().min(found.end + MAX_SIDE);
    let start = (low + 1..=found.start).rev().find(|at| boundary(text, *at)).unwrap_or(low);
    let end = (found.end..high).find(|at| boundary(text, *at)).unwrap_or(high);
    start..end
}

/// Whether a clause ends right before `at`.
fn boundary(text: &[u8], at: usize) -> bool {
    let Some(&before) = at.checked_sub(1).and_then(|i| text.get(i)) else { return true };
    let Some(&after) = text.get(at) else { return true };
    match before {
        b'.' | b'!' | b'?' => after.is_ascii_whitespace() && !abbreviation(&text[..at]),
        b';' => after.is_ascii_whitespace(),
        b'\n' => starts_item(&text[at..]),
        _ => false,
    }
}

fn abbreviation(before: &[u8]) -> bool {
    [&b"e.g."[..], b"i.e.", b"etc.", b"vs."].iter().any(|short| before.ends_with(short))
}

/// An empty line, a list item, a heading or a tag; anything else continues a wrapped line.
fn starts_item(after: &[u8]) -> bool {
    let indent = after.iter().take_while(|b| matches!(b, b' ' | b'\t' | b'\r')).count();
    match after.get(indent) {
        None | Some(b'\n' | b'#' | b'<' | b'[' | b'{' | b'`' | b'|') => true,
        Some(b'-' | b'*' | b'+') => after.get(indent + 1) == Some(&b' '),
        Some(digit) if digit.is_ascii_digit() => matches!(after.get(indent + 1), Some(b'.' | b')')),
        // A bullet, U+2022.
        Some(0xe2) => after.get(indent + 1..indent + 3) == Some(&[0x80, 0xa2]),
        Some(_) => label(&after[indent..]),
    }
}

/// `word:` or `some_word:` at the start of a line, as in a list of arguments.
fn label(line: &[u8]) -> bool {
    let word = line.iter().take(40).take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
    word > 0 && line.get(word) == Some(&b':')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clause_is_a_sentence_an_item_or_a_wrapped_line() {
        for (text, expected) in [
            ("First one. Then X here. Last.", "Then X here."),
            ("see e.g. the X file", "see e.g. the X file"),
            ("wrapped\nbefore X and\nafter", "wrapped\nbefore X and\nafter"),
            ("before\n\nthe X one\n\nafter", "the X one\n"),
            ("list:\n- one\n- the X\n- two", "- the X\n"),
            ("Args:\n  path: the X\n  name: other", "  path: the X\n"),
            ("version 1.X.2 stays", "version 1.X.2 stays"),
            ("X", "X"),
        ] {
            let at = text.find('X').expect("marked");
            let clause = around(text.as_bytes(), at..at + 1);
            assert_eq!(text[clause].trim_start(), expected.trim_start(), "{text:?}");
        }
    }

    #[test]
    fn a_text_without_sentences_is_cut_by_length() {
        let text = "a".repeat(2_000);
        assert_eq!(around(text.as_bytes(), 1_000..1_001), 600..1_401);
    }
}
