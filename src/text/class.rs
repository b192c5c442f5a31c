//! Which characters can't be shown as they are, and what their marks say.

use std::borrow::Cow;

use unicode_properties::{GeneralCategory, UnicodeEmoji, UnicodeGeneralCategory};

use super::code_point;

/// Why a character can't be shown as it is.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Class {
    /// No width and no ink: zero-width spaces and joiners, fillers, soft hyphens, invisible operators.
    Invisible,
    /// Turns the direction in which neighbours are read.
    Direction,
    /// C0, C1 or DEL: moves a cursor, rings, starts an escape sequence.
    Control,
    /// A Unicode tag character: a whole ASCII text that no screen shows.
    Tag,
    /// A variation selector where no emoji asks for one; 256 of them carry any byte.
    Variation,
    /// A space or line break other than U+0020 and U+000A.
    Space,
    /// Whatever some font makes of it.
    PrivateUse,
    /// No character yet, in the version of Unicode that this build knows.
    Unassigned,
    /// Never a character.
    Noncharacter,
    /// One of many combining marks piled up on one letter.
    Stacked,
}

/// The class of a character that must be marked wherever it stands; a line feed and a tab have none.
///
/// A variation selector after an emoji and the fourth combining mark in a row depend on their neighbours: see
/// [`spots`](super::spots).
pub fn class(c: char) -> Option<Class> {
    use GeneralCategory as G;
    Some(match u32::from(c) {
        0x0a | 0x09 | 0x20..=0x7e => return None,
        0x00..=0x1f | 0x7f..=0x9f => Class::Control,
        0x061c | 0x200e | 0x200f | 0x202a..=0x202e | 0x2066..=0x2069 => Class::Direction,
        0xe0000..=0xe007f => Class::Tag,
        0xfe00..=0xfe0f | 0xe0100..=0xe01ef => Class::Variation,
        0x034f | 0x115f | 0x1160 | 0x17b4 | 0x17b5 | 0x180b..=0x180f | 0x2800 | 0x3164 | 0xffa0 => Class::Invisible,
        n if n & 0xfffe == 0xfffe || (0xfdd0..=0xfdef).contains(&n) => Class::Noncharacter,
        _ => match c.general_category() {
            G::Format => Class::Invisible,
            G::SpaceSeparator | G::LineSeparator | G::ParagraphSeparator => Class::Space,
            G::PrivateUse => Class::PrivateUse,
            G::Unassigned | G::Surrogate => Class::Unassigned,
            _ => return None,
        },
    })
}

/// Abbreviation and name of what has a common one.
const NAMED: &[(char, &str, &str)] = &[
    ('\u{0}', "NUL", "null"),
    ('\u{7}', "BEL", "bell"),
    ('\u{8}', "BS", "backspace"),
    ('\u{b}', "VT", "vertical tab"),
    ('\u{c}', "FF", "form feed"),
    ('\u{d}', "CR", "carriage return"),
    ('\u{1b}', "ESC", "escape"),
    ('\u{7f}', "DEL", "delete"),
    ('\u{85}', "NEL", "next line"),
    ('\u{90}', "DCS", "device control string"),
    ('\u{9b}', "CSI", "control sequence introducer"),
    ('\u{9d}', "OSC", "operating system command"),
    ('\u{a0}', "NBSP", "no-break space"),
    ('\u{ad}', "SHY", "soft hyphen"),
    ('\u{34f}', "CGJ", "combining grapheme joiner"),
    ('\u{61c}', "ALM", "Arabic letter mark"),
    ('\u{2002}', "ENSP", "en space"),
    ('\u{2003}', "EMSP", "em space"),
    ('\u{2007}', "FIGSP", "figure space"),
    ('\u{2009}', "THSP", "thin space"),
    ('\u{200a}', "HSP", "hair space"),
    ('\u{200b}', "ZWSP", "zero width space"),
    ('\u{200c}', "ZWNJ", "zero width non-joiner"),
    ('\u{200d}', "ZWJ", "zero width joiner"),
    ('\u{200e}', "LRM", "left-to-right mark"),
    ('\u{200f}', "RLM", "right-to-left mark"),
    ('\u{2028}', "LSEP", "line separator"),
    ('\u{2029}', "PSEP", "paragraph separator"),
    ('\u{202a}', "LRE", "left-to-right embedding"),
    ('\u{202b}', "RLE", "right-to-left embedding"),
    ('\u{202c}', "PDF", "pop directional formatting"),
    ('\u{202d}', "LRO", "left-to-right override"),
    ('\u{202e}', "RLO", "right-to-left override"),
    ('\u{202f}', "NNBSP", "narrow no-break space"),
    ('\u{2060}', "WJ", "word joiner"),
    ('\u{2066}', "LRI", "left-to-right isolate"),
    ('\u{2067}', "RLI", "right-to-left isolate"),
    ('\u{2068}', "FSI", "first strong isolate"),
    ('\u{2069}', "PDI", "pop directional isolate"),
    ('\u{3000}', "IDSP", "ideographic space"),
    ('\u{feff}', "BOM", "zero width no-break space (byte order mark)"),
];

/// The short text of a character's mark: an abbreviation where there is a common one, else its code point.
///
/// Characters that carry text together share a label (`TAG`, `VS`), so that a run of them is one counted mark.
pub fn label(c: char, class: Class) -> Cow<'static, str> {
    match class {
        Class::Tag => "TAG".into(),
        Class::Stacked => "COMB".into(),
        Class::Variation => match u32::from(c) {
            0xfe0e => "VS15".into(),
            0xfe0f => "VS16".into(),
            _ => "VS".into(),
        },
        _ => named(c).map_or_else(|| code_point(c).into(), |(label, _)| label.into()),
    }
}

/// What the character is, in words: `zero width space`, `Unicode tag character`, `private use character`.
pub fn describe(c: char, class: Class) -> &'static str {
    match class {
        Class::Tag => "Unicode tag character",
        Class::Variation => "variation selector",
        Class::Stacked => "combining mark, piled up",
        _ => match (named(c), class) {
            (Some((_, name)), _) => name,
            (None, Class::Control) => "control character",
            (None, Class::Direction) => "direction control",
            (None, Class::Space) => "space of another width",
            (None, Class::PrivateUse) => "private use character",
            (None, Class::Unassigned) => "unassigned code point",
            (None, Class::Noncharacter) => "noncharacter",
            (None, _) => "invisible character",
        },
    }
}

fn named(c: char) -> Option<(&'static str, &'static str)> {
    NAMED.iter().find(|row| row.0 == c).map(|row| (row.1, row.2))
}

/// Whether `c` is a variation selector that an emoji before it asks for.
pub(super) fn is_emoji_style(before: char, c: char) -> bool {
    matches!(c, '\u{fe0e}' | '\u{fe0f}') && before.is_emoji_char() && !before.is_ascii()
}

/// Whether `c` is drawn over the character before it.
pub(super) fn combines(c: char) -> bool {
    !c.is_ascii() && matches!(c.general_category(), GeneralCategory::NonspacingMark | GeneralCategory::EnclosingMark)
}
