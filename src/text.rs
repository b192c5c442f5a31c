//! What the eye misses in a stranger's text: characters that can't be seen, that turn the reading direction, that steer
//! a terminal, and letters that pass for others.
//!
//! This module only says what is where; it changes no text and judges nothing. Pages and the command line put a mark in
//! place of what [`spots`] reports, and [`marked`] is the one form for terminals and logs. Classes follow the Unicode
//! Character Database as of the crates named in `Cargo.lock`; a code point that is younger than they are is
//! [`Class::Unassigned`], hence visible. Look-alikes follow UTS #39, and only where they can deceive: an honest text in
//! another script has none.

mod class;
mod hidden;
mod look_alike;

pub use class::{Class, class, describe, label};
pub use hidden::{Hidden, hidden};
pub use look_alike::script;

use std::{borrow::Cow, fmt, ops::Range};

/// As what a text is read, which decides where a foreign letter can deceive.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Reading {
    /// Sentences: foreign words are honest, a foreign letter inside a word isn't, nor is a host or path made of them.
    Prose,
    /// An identifier, where any letter that passes for an ASCII one deceives.
    Name,
}

/// A stretch of text that must not be shown as it is.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Spot {
    /// Where it is, in bytes.
    pub at: Range<usize>,
    /// What it is.
    pub what: What,
}

/// What stands at a [`Spot`].
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum What {
    /// One or more characters of one label in a row: `TAG×41`.
    Mark {
        /// Why the characters can't be shown.
        class: Class,
        /// Their common label, as `ZWSP` or `U+E000`.
        label: Cow<'static, str>,
        /// The first of them.
        first: char,
    },
    /// One letter that passes for an ASCII one.
    LookAlike {
        /// The letter.
        letter: char,
        /// What it passes for.
        like: char,
    },
    /// A line feed: a real break.
    LineFeed,
    /// A horizontal tab.
    Tab,
}

/// Combining marks above this many in a row pile up over the neighbouring lines; no orthography needs more.
const MAX_STACKED: usize = 3;

/// Everything in `text` that must be marked, in order and without overlap.
pub fn spots(text: &str, reading: Reading) -> Vec<Spot> {
    let mut found: Vec<Spot> = Vec::new();
    let mut alike = look_alike::find(text, reading).into_iter().peekable();
    let (mut before, mut stacked) = ('\0', 0);
    for (at, c) in text.char_indices() {
        let range = at..at + c.len_utf8();
        stacked = if class::combines(c) { stacked + 1 } else { 0 };
        let what = match c {
            '\n' => Some(What::LineFeed),
            '\t' => Some(What::Tab),
            ' '..='~' => None,
            _ if class::is_emoji_style(before, c) => None,
            _ => class(c).or((stacked > MAX_STACKED).then_some(Class::Stacked)).map(|class| What::Mark {
                class,
                label: label(c, class),
                first: c,
            }),
        };
        let what = match alike.next_if(|(place, _)| *place == at) {
            Some((_, like)) => Some(What::LookAlike { letter: c, like }),
            None => what,
        };
        before = c;
        match (what, found.last_mut()) {
            (None, _) => {}
            (Some(What::Mark { label, .. }), Some(Spot { at: last, what: What::Mark { label: same, .. } }))
                if *same == label && last.end == at =>
            {
                last.end = range.end;
            }
            (Some(what), _) => found.push(Spot { at: range, what }),
        }
    }
    found
}

/// `text` for a terminal or a log line: marks as `⟦ZWSP⟧`, `⟦TAG×41⟧` and `а⟦U+0430⟧`, a line feed as `⏎`, a tab as `→`.
///
/// The output holds no control, invisible or directional character and no line break, and no text can forge a mark: a
/// bracket of its own is written `⟦U+27E6⟧`.
pub const fn marked(text: &str, reading: Reading) -> Marked<'_> {
    Marked { text, reading }
}

/// The display of [`marked`].
#[derive(Clone, Copy, Debug)]
pub struct Marked<'a> {
    text: &'a str,
    reading: Reading,
}

impl fmt::Display for Marked<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut done = 0;
        for spot in spots(self.text, self.reading) {
            plain(f, &self.text[done..spot.at.start])?;
            done = spot.at.end;
            match spot.what {
                What::Mark { label, .. } => match self.text[spot.at].chars().count() {
                    1 => write!(f, "⟦{label}⟧")?,
                    n => write!(f, "⟦{label}×{n}⟧")?,
                },
                What::LookAlike { letter, .. } => write!(f, "{letter}⟦{}⟧", code_point(letter))?,
                What::LineFeed => f.write_str("⏎")?,
                What::Tab => f.write_str("→")?,
            }
        }
        plain(f, &self.text[done..])
    }
}

fn plain(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    for part in text.split_inclusive(['⟦', '⟧']) {
        match part.strip_suffix(['⟦', '⟧']) {
            Some(rest) => write!(f, "{rest}⟦{}⟧", if part.ends_with('⟦') { "U+27E6" } else { "U+27E7" })?,
            None => f.write_str(part)?,
        }
    }
    Ok(())
}

/// `U+0430`: at least four digits, as Unicode writes it.
pub fn code_point(c: char) -> String {
    format!("U+{:04X}", u32::from(c))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn each_family_of_hidden_characters_gets_its_mark() {
        let rows = [
            ("plain, with punctuation: a_b.c", "plain, with punctuation: a_b.c"),
            ("files\u{200b} in", "files⟦ZWSP⟧ in"),
            ("a\u{200b}\u{200b}\u{200b}b", "a⟦ZWSP×3⟧b"),
            ("\u{202e}txt.exe\u{202c}", "⟦RLO⟧txt.exe⟦PDF⟧"),
            ("\u{1b}[8m\u{7}\u{9b}2J", "⟦ESC⟧[8m⟦BEL⟧⟦CSI⟧2J"),
            ("one\r\ntwo\tthree", "one⟦CR⟧⏎two→three"),
            ("\u{e0072}\u{e0065}\u{e0061}\u{e0064}", "⟦TAG×4⟧"),
            ("a\u{a0}b\u{2003}c\u{3000}d", "a⟦NBSP⟧b⟦EMSP⟧c⟦IDSP⟧d"),
            ("\u{e000}\u{10fffe}\u{378}", "⟦U+E000⟧⟦U+10FFFE⟧⟦U+0378⟧"),
            ("a\u{fe0f} \u{2764}\u{fe0f}", "a⟦VS16⟧ \u{2764}\u{fe0f}"),
            ("\u{3164}\u{115f}\u{2800}", "⟦U+3164⟧⟦U+115F⟧⟦U+2800⟧"),
            ("e\u{301}", "e\u{301}"),
            ("Z\u{300}\u{301}\u{302}\u{303}\u{304}", "Z\u{300}\u{301}\u{302}⟦COMB×2⟧"),
            ("forged ⟦ZWSP⟧", "forged ⟦U+27E6⟧ZWSP⟦U+27E7⟧"),
        ];
        for (text, expected) in rows {
            assert_eq!(marked(text, Reading::Prose).to_string(), expected, "{text:?}");
        }
    }

    #[test]
    fn a_foreign_letter_is_marked_where_it_can_deceive_and_nowhere_else() {
        use Reading::{Name, Prose};
        let rows = [
            (Prose, "ex\u{430}mple.com", "ex\u{430}⟦U+0430⟧mple.com"),
            (Prose, "p\u{200b}\u{430}ypal", "p⟦ZWSP⟧\u{430}⟦U+0430⟧ypal"),
            (Prose, "Экспорт заметок и/или папок.", "Экспорт заметок и/или папок."),
            (Prose, "Он сам ест.", "Он сам ест."),
            // м passes for no ASCII letter, so the word as a whole passes for none.
            (Name, "сам", "сам"),
            (Name, "сор", "с⟦U+0441⟧о⟦U+043E⟧р⟦U+0440⟧"),
            (
                Prose,
                "https://\u{440}\u{430}\u{443}.com/x",
                "https://\u{440}⟦U+0440⟧\u{430}⟦U+0430⟧\u{443}⟦U+0443⟧.com/x",
            ),
            (Prose, "\u{1d5eb} \u{1d5c9}\u{1d5ba}", "\u{1d5eb}⟦U+1D5EB⟧ \u{1d5c9}⟦U+1D5C9⟧\u{1d5ba}⟦U+1D5BA⟧"),
            (Prose, "5 μs, naïve Straße, ışık", "5 μs, naïve Straße, ışık"),
            (Name, "f\u{131}le", "f\u{131}⟦U+0131⟧le"),
            (Prose, "日本語のメモ", "日本語のメモ"),
        ];
        for (reading, text, expected) in rows {
            assert_eq!(marked(text, reading).to_string(), expected, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn what_is_shown_holds_nothing_that_a_terminal_or_an_eye_would_not_show(text in "\\PC*|(?s).*") {
            let shown = marked(&text, Reading::Prose).to_string();
            let mut before = '\0';
            for c in shown.chars() {
                prop_assert!(class(c).is_none() || class::is_emoji_style(before, c), "{c:?} in {shown:?}");
                prop_assert!(!c.is_control());
                before = c;
            }
        }

        #[test]
        fn spots_cover_whole_characters_in_order(text in "(?s).*") {
            let mut done = 0;
            for spot in spots(&text, Reading::Name) {
                prop_assert!(spot.at.start >= done && spot.at.end > spot.at.start);
                prop_assert!(text.is_char_boundary(spot.at.start) && text.is_char_boundary(spot.at.end));
                done = spot.at.end;
            }
        }
    }
}
