//! The order in which RFC 8785 writes members.

use std::cmp::Ordering;

/// Compares by UTF-16 code units (RFC 8785, section 3.2.3).
///
/// UTF-8 bytes give the same order but for one case: a character beyond U+FFFF is a pair of surrogates in UTF-16, which
/// sort before U+E000 to U+FFFF, while its lead byte (0xF0 and up) sorts after theirs (0xEE, 0xEF). Two strings that
/// differ first in a continuation byte share the lead byte, so both characters are on one side of that line.
pub(super) fn utf16_order(a: &str, b: &str) -> Ordering {
    const FIRST_AFTER_SURROGATES: u8 = 0xee;
    const FIRST_ASTRAL: u8 = 0xf0;
    let differing = a.bytes().zip(b.bytes()).find(|(x, y)| x != y);
    match differing {
        None => a.len().cmp(&b.len()),
        Some((x, y)) if x >= FIRST_AFTER_SURROGATES && y >= FIRST_AFTER_SURROGATES => {
            (x < FIRST_ASTRAL).cmp(&(y < FIRST_ASTRAL)).then(x.cmp(&y))
        }
        Some((x, y)) => x.cmp(&y),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_emoji_sorts_before_a_presentation_form_and_after_it_by_code_point() {
        for late in ["\u{fb33}", "\u{ff20}", "\u{e000}", "\u{fffd}"] {
            assert_eq!(utf16_order("\u{1f600}", late), Ordering::Less);
            assert_eq!(utf16_order(&format!("zk{late}"), "zk\u{1f600}"), Ordering::Greater);
            assert_eq!("\u{1f600}".cmp(late), Ordering::Greater, "the two orders disagree here");
        }
        assert_eq!(utf16_order("\u{1f600}", "\u{d7ff}"), Ordering::Greater);
        assert_eq!(utf16_order("a", "ab"), Ordering::Less);
    }

    proptest! {
        #[test]
        fn the_order_is_that_of_the_code_units(a in "[ab\u{7f}é\u{d7ff}\u{e000}\u{ffff}\u{10000}😀]{0,4}",
                                              b in "[ab\u{7f}é\u{d7ff}\u{e000}\u{ffff}\u{10000}😀]{0,4}") {
            prop_assert_eq!(utf16_order(&a, &b), a.encode_utf16().cmp(b.encode_utf16()));
        }
    }
}
