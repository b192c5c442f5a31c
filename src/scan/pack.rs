//! Rule packs: TOML files that say what to look for, in words that a reviewer can read.
//!
//! A pack holds `[words]`, named parts of patterns, and `[[rule]]` tables. A pattern is a regular expression over
//! lower-case text with three additions: `{name}` is a word group, a space is any run of white space and light
//! punctuation, and `…` is a gap of up to six words. A rule matches where `find` matches and the clause around it
//! matches all of `with`; where the clause matches `without` as well, the finding is excused and weighs as info. Rules
//! about structure name a `check` of the engine instead.
//!
//! Parsing is strict: unknown members are errors, and so are a rule without examples both ways and a name used twice.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{Severity, Surface, places::Role};

/// A parsed pack. Its patterns are compiled by [`super::Ruleset`], since word groups are shared among packs.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Pack {
    #[serde(default)]
    pub(super) words: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) rule: Vec<Source>,
}

/// One rule as a pack writes it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Source {
    /// `family/rule`.
    pub(super) id: String,
    pub(super) severity: Severity,
    pub(super) surface: Surface,
    /// What a reviewer should know when it matches.
    pub(super) message: String,
    /// The pattern that is searched for; its match is the finding's span.
    pub(super) find: Option<String>,
    /// A check of the engine, for what no pattern over one string can see.
    pub(super) check: Option<super::check::Check>,
    /// Patterns that the clause must contain as well.
    #[serde(default)]
    pub(super) with: Vec<String>,
    /// Patterns in the clause that excuse a match: it is then reported as info.
    #[serde(default)]
    pub(super) without: Vec<String>,
    /// Patterns in the descriptor's name, title or first sentence that excuse a match: it belongs to the purpose there.
    #[serde(default)]
    pub(super) unless_purpose: Vec<String>,
    /// The clause must name a tool that this server doesn't list.
    #[serde(default)]
    pub(super) foreign_tool: bool,
    /// For which strings; all, if empty.
    #[serde(default)]
    pub(super) places: Vec<Role>,
    /// Whether `find` reads the string as written, Unicode classes included. Such a rule sees only strings with
    /// something else in them than printable ASCII, tabs and line ends.
    #[serde(default)]
    pub(super) raw: bool,
    /// Texts (as a tool's description), descriptors (starting with `{`) or releases (starting with `[`) that match.
    #[serde(rename = "match")]
    pub(super) matches: Vec<String>,
    /// The same for what must not match.
    pub(super) no_match: Vec<String>,
}

/// Why a pack, or a set of packs, can't be used.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum PackError {
    /// Not TOML, or not a pack's TOML; the message has line and column.
    #[error("pack {pack}: {message}")]
    Syntax {
        /// The pack's name.
        pack: String,
        /// What the parser says.
        message: String,
    },
    /// A rule contradicts itself or another one.
    #[error("rule {rule}: {message}")]
    Rule {
        /// The rule's id.
        rule: String,
        /// What is wrong with it.
        message: String,
    },
    /// A rule doesn't do on its own examples what it says.
    #[error("rule {rule} {} its example {example:?}", if *.found { "matches" } else { "does not match" })]
    Example {
        /// The rule's id.
        rule: String,
        /// The example.
        example: String,
        /// Whether it matched.
        found: bool,
    },
}

impl Pack {
    /// Reads a pack.
    pub(super) fn parse(name: &str, text: &str) -> Result<Self, PackError> {
        toml::from_str(text)
            .map_err(|e| PackError::Syntax { pack: name.to_owned(), message: e.to_string().trim_end().to_owned() })
    }
}

/// White space and the punctuation that people put between the words of one phrase, quotation marks included.
const GAP: &str = r#"(?:(?:[\s"'*_,:`~()\[\]-]|\xe2\x80[\x93-\x9d])+)"#;
/// A word of a gap, with its own punctuation.
const WORD: &str = r"[^\s.;!?]+";

/// Writes a pattern out: word groups, spaces and gaps.
pub(super) fn expand(pattern: &str, words: &BTreeMap<String, String>) -> Result<String, String> {
    let mut out = String::with_capacity(pattern.len() * 4);
    let mut rest = pattern;
    while let Some(at) = rest.find([' ', '…', '{', '\\', '[']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(after) = rest.strip_prefix('\\') {
            // An escape stands for itself, `\ ` for one plain space.
            let length = after.chars().next().map_or(0, char::len_utf8);
            out.push_str(&rest[..1 + length]);
            rest = &after[length..];
        } else if rest.starts_with('[') {
            let class = class_length(rest);
            out.push_str(&rest[..class]);
            rest = &rest[class..];
        } else if let Some(after) = rest.strip_prefix(" … ") {
            out.push_str(&format!("(?:{GAP}{WORD}){{0,6}}{GAP}"));
            rest = after;
        } else if let Some(after) = rest.strip_prefix(' ') {
            out.push_str(GAP);
            rest = after;
        } else if let Some(name) = group(rest) {
            let words = words.get(name).ok_or_else(|| format!("no word group {{{name}}}"))?;
            out.push_str(words);
            rest = &rest[name.len() + 2..];
        } else if let Some(after) = rest.strip_prefix("… ") {
            out.push_str(&format!("(?:{WORD}{GAP}){{0,6}}"));
            rest = after;
        } else if let Some(after) = rest.strip_prefix('…') {
            return Err(format!("… needs a space after it, before {after:?}"));
        } else {
            out.push('{');
            rest = &rest[1..];
        }
    }
    out.push_str(rest);
    Ok(out)
}

/// The length of the character class that the text starts with: in one, a space is a space.
fn class_length(text: &str) -> usize {
    let mut escaped = false;
    for (at, b) in text.bytes().enumerate().skip(1) {
        match b {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b']' if at > 1 && &text[1..at] != "^" => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// The name in `{name}`; `{0,4}` and `{e0000}` of a regular expression are none.
fn group(text: &str) -> Option<&str> {
    let name = text.strip_prefix('{')?.split_once('}')?.0;
    let legal =
        name.starts_with(|c: char| c.is_ascii_lowercase()) && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'-');
    legal.then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, text: &str) -> bool {
        let words = BTreeMap::from([("secret".to_owned(), "(?:password|token)s?".to_owned())]);
        let expanded = expand(pattern, &words).expect("expands");
        regex::bytes::Regex::new(&format!("(?-u){expanded}")).expect("a pattern").is_match(text.as_bytes())
    }

    #[test]
    fn spaces_gaps_and_groups_are_written_out() {
        for (pattern, text, expected) in [
            ("ignore all", "ignore all", true),
            ("ignore all", "ignore,\n  *all*", true),
            ("ignore all", "ignoreall", false),
            ("ignore all", "ignore. all", false),
            ("ignore … rules", "ignore rules", true),
            ("ignore … rules", "ignore each and every one of these rules", true),
            ("ignore … rules", "ignore it. these rules", false),
            ("ignore … rules", "ignore a b c d e f g rules", false),
            ("{secret} x{2}", "tokens xx", true),
            (r"a\ b", "a  b", false),
            ("api[ _-]?key", "api key", true),
            ("api[ _-]?key", "api  key", false),
            (r"a[^\] ]b", "a b", false),
            ("x ?y", "xy", true),
            ("\u{201c}ignore all", "\u{201c}ignore \u{201c}all", true),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
        assert_eq!(expand("{nothing}", &BTreeMap::new()), Err("no word group {nothing}".to_owned()));
        expand("a …b", &BTreeMap::new()).unwrap_err();
    }

    #[test]
    fn a_pack_says_where_it_is_wrong() {
        for (text, expected) in [
            ("[[rule]]\nid = 1\n", "line 2"),
            ("[[rule]]\nid = 'a/b'\ncolour = 'red'\n", "unknown field `colour`"),
            ("[words]\na = 'x'\na = 'y'\n", "line 3"),
        ] {
            let error = Pack::parse("own", text).expect_err(expected).to_string();
            assert!(error.starts_with("pack own: ") && error.contains(expected), "{error}");
        }
    }
}
