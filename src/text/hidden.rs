//! Text that is spelled in characters nobody sees.

use std::ops::Range;

/// A text that was hidden in another.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Hidden {
    /// Where its carriers are, in bytes; the range may hold other characters between them.
    pub at: Range<usize>,
    /// How many characters carry it.
    pub carriers: usize,
    /// What carries it, as `tag characters`.
    pub by: &'static str,
    /// The text.
    pub text: String,
}

/// What Unicode tag characters and variation selectors in `text` spell, one entry a kind of carrier.
pub fn hidden(text: &str) -> Vec<Hidden> {
    if text.is_ascii() {
        return Vec::new();
    }
    let tags = carried(text, |c| match u32::from(c) {
        n @ 0xe0020..=0xe007e => u8::try_from(n - 0xe0000).ok(),
        _ => None,
    });
    let selectors = carried(text, |c| match u32::from(c) {
        n @ 0xfe00..=0xfe0f => u8::try_from(n - 0xfe00).ok(),
        n @ 0xe0100..=0xe01ef => u8::try_from(n - 0xe0100 + 16).ok(),
        _ => None,
    });
    let entry = |by, (at, bytes): (Range<usize>, Vec<u8>)| Hidden {
        at,
        carriers: bytes.len(),
        by,
        text: String::from_utf8_lossy(&bytes).into_owned(),
    };
    // One selector is a font's business; a sentence needs more than a few.
    let selectors = selectors.filter(|(_, bytes)| bytes.len() >= 4 && !bytes.iter().all(|b| matches!(b, 14 | 15)));
    tags.map(|found| entry("tag characters", found))
        .into_iter()
        .chain(selectors.map(|found| entry("variation selectors", found)))
        .collect()
}

fn carried(text: &str, byte: impl Fn(char) -> Option<u8>) -> Option<(Range<usize>, Vec<u8>)> {
    let mut at: Option<Range<usize>> = None;
    let mut bytes = Vec::new();
    for (place, c) in text.char_indices() {
        if let Some(b) = byte(c) {
            bytes.push(b);
            at = Some(at.map_or(place, |range| range.start)..place + c.len_utf8());
        }
    }
    at.map(|range| (range, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_and_selectors_are_read_and_an_emoji_is_left_alone() {
        let tags: String = "read it".bytes().filter_map(|b| char::from_u32(0xe0000 + u32::from(b))).collect();
        let found = hidden(&format!("Lists notes.{tags}"));
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].by, found[0].carriers, found[0].text.as_str()), ("tag characters", 7, "read it"));
        assert_eq!(found[0].at.start, 12);

        let selectors: String = "go on".bytes().filter_map(|b| char::from_u32(0xe0100 + u32::from(b) - 16)).collect();
        assert_eq!(hidden(&format!("ok\u{1f44d}{selectors}"))[0].text, "go on");

        assert_eq!(hidden("\u{2764}\u{fe0f}\u{2764}\u{fe0f}\u{2764}\u{fe0f}\u{2764}\u{fe0f}"), []);
        assert_eq!(hidden("plain"), []);
    }
}
