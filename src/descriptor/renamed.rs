//! Which new descriptor is probably a vanished one under another name.
//!
//! A guess for a reviewer's eyes, made of names and words. It admits nothing and refuses nothing.

use std::cmp::Reverse;

use super::Descriptor;
use crate::canon::Value;

/// A vanished descriptor and the new one that resembles it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Rename {
    /// Index among the vanished.
    pub from: usize,
    /// Index among the new.
    pub to: usize,
    /// How alike the two are, up to 100: 100 is all the same but the name.
    pub likeness: u8,
}

/// Of all pairs of tools that a real server lists side by side, one or two in a hundred are as alike as this.
const LIKENESS: u8 = 75;
/// A list that changes in more pairs than this is a different list, and comparing words would take seconds.
const MAX_PAIRS: usize = 40_000;
/// Enough words to recognise a text by.
const MAX_WORDS: usize = 200;

/// Pairs each vanished descriptor with the new one of its kind that is most like it, best pairs first, each used once.
pub fn renamed(vanished: &[&Descriptor], new: &[&Descriptor]) -> Vec<Rename> {
    if vanished.len().saturating_mul(new.len()) > MAX_PAIRS {
        return Vec::new();
    }
    let old_looks: Vec<Look> = vanished.iter().map(|d| Look::of(d)).collect();
    let new_looks: Vec<Look> = new.iter().map(|d| Look::of(d)).collect();
    let mut pairs = Vec::new();
    for (from, old) in old_looks.iter().enumerate() {
        for (to, new_look) in new_looks.iter().enumerate() {
            let likeness = if vanished[from].kind() == new[to].kind() { old.likeness(new_look) } else { 0 };
            if likeness >= LIKENESS {
                pairs.push(Rename { from, to, likeness });
            }
        }
    }
    pairs.sort_by_key(|pair| (Reverse(pair.likeness), pair.from, pair.to));
    let mut chosen: Vec<Rename> = Vec::new();
    for pair in pairs {
        if !chosen.iter().any(|other| other.from == pair.from || other.to == pair.to) {
            chosen.push(pair);
        }
    }
    chosen
}

/// What is compared of a descriptor; made once for each.
struct Look {
    name: Vec<String>,
    /// Sorted words of all strings and member names outside the naming member.
    words: Vec<String>,
    /// Digest of everything but the name.
    rest: crate::canon::Sha256,
}

impl Look {
    fn of(descriptor: &Descriptor) -> Self {
        let mut value = descriptor.value();
        if let Value::Object(object) = &mut value {
            object.remove(super::listed::naming_member(descriptor.kind()));
        }
        let mut words = Vec::new();
        gather(&value, &mut words);
        words.sort();
        Self { name: pairs_of_letters(descriptor.listed_name()), words, rest: value.digest().sha256 }
    }

    fn likeness(&self, other: &Self) -> u8 {
        if self.rest == other.rest {
            return 100;
        }
        let percent = (2 * shared(&self.words, &other.words) + shared(&self.name, &other.name)) / 3;
        u8::try_from(percent.min(99)).unwrap_or(99)
    }
}

fn gather(value: &Value<'_>, words: &mut Vec<String>) {
    let mut add = |text: &str| {
        let parts = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        words.extend(parts.take(MAX_WORDS.saturating_sub(words.len())).map(str::to_lowercase));
    };
    match value {
        Value::String(text) => add(text),
        Value::Array(items) => items.iter().for_each(|item| gather(item, words)),
        Value::Object(object) => {
            for (name, value) in object.iter() {
                let parts = name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
                words.extend(parts.take(MAX_WORDS.saturating_sub(words.len())).map(str::to_lowercase));
                gather(value, words);
            }
        }
        _ => {}
    }
}

fn pairs_of_letters(name: &str) -> Vec<String> {
    let letters: Vec<char> = name.chars().take(MAX_WORDS).flat_map(char::to_lowercase).collect();
    let mut pairs: Vec<String> = letters.windows(2).map(String::from_iter).collect();
    pairs.sort();
    pairs
}

/// Twice the common share of two sorted lists over their lengths, in percent (Dice's coefficient).
fn shared(a: &[String], b: &[String]) -> usize {
    let (mut i, mut j, mut common) = (0, 0, 0);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        common += usize::from(x == y);
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
    200 * common / (a.len() + b.len()).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::name::Kind;

    fn tool(name: &str, description: &str, parameter: &str) -> Descriptor {
        let raw = format!(
            r#"{{"name":"{name}","description":"{description}","inputSchema":{{"type":"object","properties":{{"{parameter}":{{"type":"string"}}}}}}}}"#
        );
        Descriptor::parse(Kind::Tool, raw.as_bytes()).expect("strict JSON")
    }

    #[test]
    fn a_vanished_name_is_paired_with_the_new_one_that_says_the_same() {
        let export = tool("export_notes", "Writes all notes of a folder to one file", "folder");
        let wipe = tool("wipe_bin", "Deletes what is in the bin", "confirm");
        let renamed_export = tool("notes_dump", "Writes all notes of a folder to one file", "folder");
        let edited_wipe = tool("empty_bin", "Deletes what is in the bin now", "confirm");
        let weather = tool("forecast", "Tells tomorrow's temperature in a town", "town");
        assert_eq!(
            renamed(&[&export, &wipe], &[&weather, &edited_wipe, &renamed_export]),
            [Rename { from: 0, to: 2, likeness: 100 }, Rename { from: 1, to: 1, likeness: 77 },]
        );
        assert_eq!(renamed(&[&export, &wipe], &[&weather]), []);
        assert_eq!(renamed(&[], &[&weather]), []);
    }

    #[test]
    fn kinds_are_not_mixed() {
        let raw = br#"{"name":"a","description":"one two three"}"#;
        let tool = Descriptor::parse(Kind::Tool, raw).expect("strict JSON");
        let prompt = Descriptor::parse(Kind::Prompt, raw).expect("strict JSON");
        assert_eq!(renamed(&[&tool], &[&prompt]), []);
    }
}
