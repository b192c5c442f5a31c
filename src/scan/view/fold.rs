//! Letters that look alike become one: confusables of other scripts, digits and signs in place of letters, and words
//! whose letters are set apart.

use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

use super::{Builder, Text};

/// A single letter and its separator, this many times in a row, is a word set apart.
const APART: usize = 4;

/// The form in which look-alikes are the same; `from` is in lower case. `None` if nothing changes.
pub(in crate::scan) fn folded<'t>(from: &'t Text<'t>) -> Option<Text<'t>> {
    let text = from.text.as_ref();
    let mut builder = Builder::new(from);
    let mut previous = ' ';
    // Whether the word so far has a digit in place of a letter; from the start, if the text is written that way.
    let habit = leet_words(text.as_bytes()) >= 2;
    let mut leet = habit;
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let end = at + c.len_utf8();
        if c.is_ascii_alphabetic()
            && !previous.is_alphanumeric()
            && let Some(word) = apart(&text.as_bytes()[at..])
        {
            for separator in (at + 1..at + word).step_by(2) {
                builder.put("", separator, separator + 1);
            }
            previous = 'x';
            at += word;
            continue;
        }
        if c.is_ascii() {
            let after = &text.as_bytes()[end..];
            let next = after.first().copied().unwrap_or(b' ');
            // At a word's end a digit stands for a letter only if one did so before: `ignor3` is no version number.
            let inside = before_letter(after) || (leet && previous.is_alphanumeric() && !next.is_ascii_alphanumeric());
            let plain = if inside { unleet(c, previous, next) } else { c };
            leet = habit || (leet || plain != c) && plain.is_ascii_alphanumeric();
            // Emphasis by underscores would make the word another word.
            let edge = c == '_' && (!next.is_ascii_alphanumeric() || !previous.is_alphanumeric());
            if edge {
                builder.put(" ", at, end);
            } else if plain != c {
                builder.put_char(plain, at, end);
            }
        } else {
            let looks = unicode_security::skeleton(&text[at..end]).collect::<String>();
            let piece: String = looks.nfkd().filter(|c| !is_combining_mark(*c)).flat_map(char::to_lowercase).collect();
            if piece != text[at..end] {
                builder.put(&piece, at, end);
            }
        }
        previous = c;
        at = end;
    }
    builder.finish()
}

/// How many bytes a word set apart takes, as `i g n o r e`: single letters with one and the same separator between.
fn apart(bytes: &[u8]) -> Option<usize> {
    let separator = *bytes.get(1)?;
    if !matches!(separator, b' ' | b'.' | b'-' | b'_' | b'*') {
        return None;
    }
    let pair = |pair: &&[u8]| pair[0].is_ascii_alphabetic() && pair[1] == separator;
    let pairs = bytes.chunks_exact(2).take_while(pair).count();
    let last = bytes.get(pairs * 2).is_some_and(u8::is_ascii_alphabetic);
    let alone = bytes.get(pairs * 2 + 1).is_none_or(|b| !b.is_ascii_alphanumeric());
    // The last letter has no separator of its own; if it starts a longer word, it belongs to that.
    let length = if last && alone { pairs * 2 + 1 } else { (pairs * 2).saturating_sub(1) };
    (length.div_ceil(2) >= APART).then_some(length)
}

/// How many words have a digit or sign between letters, counted up to two.
fn leet_words(text: &[u8]) -> usize {
    let inner = |w: &[u8]| w[0].is_ascii_alphabetic() && w[1].is_ascii_digit() && w[2].is_ascii_alphabetic();
    text.windows(3).filter(|w| inner(w)).take(2).count()
}

/// Whether a letter follows, right away or after a few more signs in place of letters: then it is inside a word.
fn before_letter(after: &[u8]) -> bool {
    let signs = after.iter().take(4).take_while(|b| unleet(char::from(**b), ' ', b' ') != char::from(**b)).count();
    after.get(signs).is_some_and(u8::is_ascii_alphabetic)
}

const fn unleet(c: char, previous: char, next: u8) -> char {
    match c {
        '0' => 'o',
        '1' if matches!(previous, 'l' | '1') || matches!(next, b'l' | b'1') => 'l',
        '1' | '!' => 'i',
        '3' => 'e',
        '4' | '@' => 'a',
        '5' | '$' => 's',
        '7' => 't',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::{super::normal, *};

    fn read(raw: &str) -> Option<String> {
        let source = Text::raw(raw);
        let form = normal(&source, !raw.is_ascii());
        folded(&form).map(|folded| folded.text.into_owned())
    }

    #[test]
    fn look_alikes_are_folded_together() {
        for (raw, expected) in [
            ("ign0re all", Some("ignore all")),
            ("1gn0r3 pr3v10us", Some("ignore previous")),
            ("al1ow", Some("allow")),
            ("\u{456}gn\u{43e}r\u{435}", Some("ignore")),
            ("i g n o r e all", Some("ignore all")),
            ("i.g.n.o.r.e", Some("ignore")),
            ("a b c", None),
            ("t3ll n0t th3 us3r", Some("tell not the user")),
            ("_ignore_ all", Some(" ignore  all")),
            ("snake_case", None),
            ("plain words", None),
            ("utf8 base64 v2", None),
            ("x = 10", None),
            ("1000 users", None),
        ] {
            assert_eq!(read(raw).as_deref(), expected, "{raw:?}");
        }
    }

    #[test]
    fn spans_point_at_what_was_written() {
        let raw = "so i g n o r e it";
        let source = Text::raw(raw);
        let form = normal(&source, false);
        let folded = folded(&form).expect("changed");
        let at = folded.text.find("ignore").expect("there");
        assert_eq!(folded.origin(at, at + 6), (3, 14));
    }
}
