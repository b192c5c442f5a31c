//! Letters that pass for others, after the confusables of UTS #39.

use unicode_script::{Script, UnicodeScript};

use super::{Reading, class};

/// The name of a letter's script, as `Cyrillic`.
pub fn script(letter: char) -> &'static str {
    letter.script().full_name()
}

/// Offsets of the letters that deceive, each with the ASCII character that it passes for.
///
/// A letter deceives where its word mixes scripts, where a name, host or path is spelled wholly in letters that pass for
/// ASCII, and always when it is no letter of any script (the mathematical alphabets).
pub(super) fn find(text: &str, reading: Reading) -> Vec<(usize, char)> {
    let mut found = Vec::new();
    if text.is_ascii() {
        return found;
    }
    for token in split(text, |c| c.is_whitespace()) {
        if token.text.is_ascii() {
            continue;
        }
        let named = reading == Reading::Name || names_something(token.text);
        for word in split(token.text, |c| !c.is_alphanumeric() && class(c).is_none() && !class::combines(c)) {
            let letters = || word.text.char_indices().filter(|(_, c)| c.is_alphanumeric());
            let latin = letters().any(|(_, c)| c.script() == Script::Latin);
            let foreign =
                letters().any(|(_, c)| !matches!(c.script(), Script::Latin | Script::Common | Script::Inherited));
            let passes = named && !latin && letters().all(|(_, c)| c.is_ascii_digit() || ascii_twin(c).is_some());
            for (at, c) in letters() {
                let deceives = match c.script() {
                    Script::Common | Script::Inherited => true,
                    Script::Latin => named,
                    _ => (latin && foreign) || passes,
                };
                if let Some(like) = ascii_twin(c).filter(|_| deceives) {
                    found.push((token.at + word.at + at, like));
                }
            }
        }
    }
    found
}

struct Part<'a> {
    at: usize,
    text: &'a str,
}

fn split(text: &str, edge: impl Fn(char) -> bool) -> impl Iterator<Item = Part<'_>> {
    let mut at = 0;
    text.split_inclusive(edge).map(move |part| {
        at += part.len();
        Part { at: at - part.len(), text: part }
    })
}

/// Whether a token is a host, a path, an address or an identifier rather than a word of a sentence.
fn names_something(token: &str) -> bool {
    let inner_dot = || {
        token.match_indices('.').any(|(at, _)| {
            let (before, after) = (&token[..at], &token[at + 1..]);
            before.ends_with(char::is_alphanumeric) && after.starts_with(char::is_alphanumeric)
        })
    };
    token.contains(['/', '\\', '_', '@']) || inner_dot()
}

/// The one ASCII letter or digit that a character is drawn like.
fn ascii_twin(c: char) -> Option<char> {
    if c.is_ascii() {
        return None;
    }
    let mut buffer = [0; 4];
    let mut skeleton = unicode_security::skeleton(c.encode_utf8(&mut buffer));
    match (skeleton.next(), skeleton.next()) {
        (Some(like), None) if like.is_ascii_alphanumeric() => Some(like),
        _ => None,
    }
}
