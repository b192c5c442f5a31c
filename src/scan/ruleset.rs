//! A set of packs, compiled, tested on its own examples and named by its digest.

use std::collections::{BTreeMap, BTreeSet};

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use regex::bytes::{Captures, Regex};
use serde::Serialize;

use super::{
    PackError,
    pack::{Pack, expand},
    rule::{Matcher, Rule},
};
use crate::{
    canon::{self, Sha256},
    descriptor::Descriptor,
    name::Kind,
};

/// The packs that come with this version, in the order in which they are read: word groups first.
const BUILTIN: &[(&str, &str)] = &[
    ("words", include_str!("packs/words.toml")),
    ("hidden", include_str!("packs/hidden.toml")),
    ("instructions", include_str!("packs/instructions.toml")),
    ("steering", include_str!("packs/steering.toml")),
    ("secrets", include_str!("packs/secrets.toml")),
    ("languages", include_str!("packs/languages.toml")),
    ("destinations", include_str!("packs/destinations.toml")),
    ("structure", include_str!("packs/structure.toml")),
];

/// Counts up when the engine itself reads text differently: the same packs then give other results.
const ENGINE: u32 = 1;

/// Compiled rules. Having one means that every rule did on its own examples what it says.
#[derive(Debug)]
pub struct Ruleset {
    pub(super) rules: Vec<Rule>,
    pub(super) first_pass: FirstPass,
    packs: Vec<(String, Vec<u8>, Sha256)>,
    document: Vec<u8>,
    sha256: Sha256,
    tool_name: Regex,
    no_tool: Regex,
}

/// One automaton over the beginnings of all patterns: it says which rules are worth running on a text.
#[derive(Debug)]
pub(super) struct FirstPass {
    automaton: AhoCorasick,
    /// For each literal, the index of its rule and whether it counts at a word's start only.
    rules: Vec<(usize, bool)>,
}

/// What a tool is called in running text: words joined by underscores, dots or hyphens, or a quoted word before "tool".
const TOOL_NAME: &str = r#"(?-u)[`'"]([a-z0-9_.-]+)[`'"](?:\(\))? (?:tool|function)\b|(?:^|[^a-z0-9_.@/~-])([a-z][a-z0-9]*(?:[_.][a-z][a-z0-9]*)+)(?:[^a-z0-9_@/-]|$)|\b(?:the|using|use|call|calling) ([a-z]+) tool\b"#;
/// Dotted words that name files, hosts and abbreviations rather than tools.
const NO_TOOL: &str = r"(?-u)\.(?:com|net|org|io|dev|ai|app|example|json|ya?ml|toml|md|txt|py|[jt]sx?|rs|go|env|log|cfg|conf|ini|sh|csv|html?|xml|pdf|docx?|xlsx?|png|jpe?g|svg|sql|db)$|^[a-z]\.[a-z]$|^(?:this|that|these|those|other|another|any|each|every|same|right|new|next|previous|single|following|appropriate|correct|specific|given|native|mcp|write|read|search|first|second|one)$";

impl Ruleset {
    /// The packs that come with this version.
    ///
    /// # Errors
    /// [`PackError`], if a pack is broken: then nothing is scanned, rather than with fewer rules.
    pub fn builtin() -> Result<Self, PackError> {
        Self::from_packs(BUILTIN)
    }

    /// Compiles these packs, name and text, and runs every example.
    ///
    /// # Errors
    /// [`PackError`], the first.
    pub fn from_packs(packs: &[(&str, &str)]) -> Result<Self, PackError> {
        let ruleset = Self::compile(packs)?;
        ruleset.self_test()?;
        Ok(ruleset)
    }

    fn compile(packs: &[(&str, &str)]) -> Result<Self, PackError> {
        let mut words = BTreeMap::new();
        let mut rules: Vec<Rule> = Vec::new();
        let mut ids = BTreeSet::new();
        for (name, text) in packs {
            let pack = Pack::parse(name, text)?;
            define(name, pack.words, &mut words)?;
            for source in pack.rule {
                let rule = Rule::compile(source, &words)?;
                if !ids.insert(rule.id.clone()) {
                    return Err(PackError::Rule { rule: rule.id, message: "another rule has the same id".to_owned() });
                }
                rules.push(rule);
            }
        }
        let packs: Vec<_> = packs
            .iter()
            .map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec(), Sha256::of(text.as_bytes())))
            .collect();
        let document = document(&packs);
        let first_pass = FirstPass::of(&rules)?;
        let own = |pattern| {
            Regex::new(pattern).map_err(|e| PackError::Rule { rule: "engine".to_owned(), message: e.to_string() })
        };
        let (tool_name, no_tool) = (own(TOOL_NAME)?, own(NO_TOOL)?);
        Ok(Self { rules, first_pass, packs, sha256: Sha256::of(&document), document, tool_name, no_tool })
    }

    /// The digest of [`Ruleset::document`], which names the set in reports and policies.
    pub const fn sha256(&self) -> Sha256 {
        self.sha256
    }

    /// Names the packs by their digests; canonical bytes.
    pub fn document(&self) -> &[u8] {
        &self.document
    }

    /// Name, bytes and digest of each pack, in the order in which they are read.
    pub fn packs(&self) -> &[(String, Vec<u8>, Sha256)] {
        &self.packs
    }

    /// What could be tools' names in a clause of lower-case text.
    pub(super) fn tool_names<'t>(&self, clause: &'t [u8]) -> impl Iterator<Item = &'t str> {
        let name = |found: Captures<'t>| found.iter().skip(1).flatten().next().map(|m| m.as_bytes());
        let names = self.tool_name.captures_iter(clause).filter_map(name);
        names.filter(|name| !self.no_tool.is_match(name)).filter_map(|name| std::str::from_utf8(name).ok())
    }

    /// Runs every rule on its own examples.
    ///
    /// # Errors
    /// [`PackError::Example`] for the first rule that doesn't do what it says.
    pub fn self_test(&self) -> Result<(), PackError> {
        self.broken_examples().next().map_or(Ok(()), Err)
    }

    fn broken_examples(&self) -> impl Iterator<Item = PackError> {
        self.rules.iter().flat_map(|rule| {
            let examples = rule.examples.iter().zip([true, false]);
            let examples = examples.flat_map(|(examples, expected)| examples.iter().map(move |e| (e, expected)));
            examples.filter_map(|(example, expected)| self.try_example(rule, example, expected).err())
        })
    }

    fn try_example(&self, rule: &Rule, example: &str, expected: bool) -> Result<(), PackError> {
        let descriptors = example_descriptors(example).map_err(|message| PackError::Rule {
            rule: rule.id.clone(),
            message: format!("{message} in {example:?}"),
        })?;
        let report = self.scan_release(&descriptors.iter().collect::<Vec<_>>());
        let found = report.findings.iter().any(|f| f.rule == rule.id && f.severity == rule.severity);
        if found == expected {
            Ok(())
        } else {
            Err(PackError::Example { rule: rule.id.clone(), example: example.to_owned(), found })
        }
    }
}

/// Adds a pack's word groups, which may use each other in any order but not in a circle.
fn define(pack: &str, own: BTreeMap<String, String>, words: &mut BTreeMap<String, String>) -> Result<(), PackError> {
    let wrong = |word: &str, message: String| PackError::Rule { rule: format!("words {word} of {pack}"), message };
    let mut left = own;
    while !left.is_empty() {
        let before = left.len();
        let (mut later, mut reason) = (BTreeMap::new(), None);
        for (word, pattern) in std::mem::take(&mut left) {
            if words.contains_key(&word) {
                return Err(wrong(&word, "there is a word group of this name already".to_owned()));
            }
            match expand(&pattern, words) {
                Ok(expanded) => {
                    words.insert(word, format!("(?:{expanded})"));
                }
                Err(message) => {
                    reason.get_or_insert_with(|| wrong(&word, message));
                    later.insert(word, pattern);
                }
            }
        }
        left = later;
        // A round in which nothing could be written out: a circle, or a group that is nowhere.
        if let Some(reason) = reason.filter(|_| left.len() == before) {
            return Err(reason);
        }
    }
    Ok(())
}

impl FirstPass {
    fn of(rules: &[Rule]) -> Result<Self, PackError> {
        let (mut literals, mut owners) = (Vec::new(), Vec::new());
        for (index, rule) in rules.iter().enumerate() {
            match &rule.matcher {
                Matcher::Clause { beginnings: own, .. } => {
                    owners.resize(owners.len() + own.literals.len(), (index, own.word));
                    literals.extend(own.literals.iter().cloned());
                }
                Matcher::Raw(_) | Matcher::Check(_) => {}
            }
        }
        let automaton = AhoCorasick::builder()
            .kind(Some(AhoCorasickKind::DFA))
            .ascii_case_insensitive(true)
            .build(&literals)
            .map_err(|e| PackError::Rule { rule: "all".to_owned(), message: e.to_string() })?;
        Ok(Self { automaton, rules: owners })
    }

    /// Each place where a rule's pattern could begin, with the rule's index, by where the beginning ends.
    pub(super) fn places(&self, text: &str) -> impl Iterator<Item = (usize, usize)> {
        let word = |at: usize| text.as_bytes().get(at).is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
        self.automaton.find_overlapping_iter(text).filter_map(move |found| {
            let (rule, starts_word) = self.rules[found.pattern().as_usize()];
            let at = found.start();
            let inside = starts_word && at > 0 && word(at) && word(at - 1);
            (!inside).then_some((rule, at))
        })
    }
}

fn document(packs: &[(String, Vec<u8>, Sha256)]) -> Vec<u8> {
    #[derive(Serialize)]
    struct Document<'a> {
        #[serde(rename = "type")]
        document_type: &'static str,
        engine: u32,
        packs: Vec<Named<'a>>,
    }
    #[derive(Serialize)]
    struct Named<'a> {
        name: &'a str,
        sha256: Sha256,
    }
    let packs = packs.iter().map(|(name, _, sha256)| Named { name, sha256: *sha256 }).collect();
    canon::to_jcs(&Document { document_type: "countersign/ruleset/v1", engine: ENGINE, packs })
}

/// The descriptors that an example stands for.
fn example_descriptors(example: &str) -> Result<Vec<Descriptor>, String> {
    let parse = |bytes: &[u8]| Descriptor::parse(Kind::Tool, bytes).map_err(|e| e.to_string());
    if example.starts_with('{') {
        return Ok(vec![parse(example.as_bytes())?]);
    }
    if example.starts_with('[') && example.ends_with(']') && example.contains('{') {
        let value = canon::parse(example.as_bytes()).map_err(|e| e.to_string())?;
        let items = value.as_array().ok_or("not an array")?;
        return items.iter().map(|item| parse(&item.to_jcs())).collect();
    }
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Tool<'a> {
        name: &'a str,
        description: &'a str,
        input_schema: BTreeMap<&'a str, &'a str>,
    }
    let input_schema = BTreeMap::from([("type", "object")]);
    Ok(vec![parse(&canon::to_jcs(&Tool { name: "example", description: example, input_schema }))?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_does_on_its_examples_what_it_says() {
        let ruleset = Ruleset::compile(BUILTIN).expect("compiles");
        let wrong: Vec<String> = ruleset.broken_examples().map(|e| e.to_string()).collect();
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    const RULE: &str = "[[rule]]\nid = 'own/rule'\nseverity = 'low'\nsurface = 'shadowing'\nmessage = 'x'\n";

    fn refused(rest: &str) -> String {
        let pack = format!("{RULE}{rest}");
        Ruleset::from_packs(&[("own", &pack)]).expect_err(rest).to_string()
    }

    #[test]
    fn a_set_that_fails_its_own_examples_scans_nothing() {
        for (rest, expected) in [
            ("find = 'berth'\nmatch = ['a quay']\nno_match = ['a crane']\n", "does not match its example \"a quay\""),
            ("find = 'berth'\nmatch = ['a berth']\nno_match = ['a berth']\n", "matches its example \"a berth\""),
            ("find = 'berth'\nmatch = ['a berth']\nno_match = []\n", "examples are missing"),
            ("find = '[a-z]+ x'\nmatch = ['a x']\nno_match = ['b']\n", "could begin with anything"),
            ("find = 'a('\nmatch = ['a']\nno_match = ['b']\n", "rule own/rule"),
            ("find = '{nothing}'\nmatch = ['a']\nno_match = ['b']\n", "no word group {nothing}"),
            ("match = ['a']\nno_match = ['b']\n", "either find or check"),
        ] {
            let message = refused(rest);
            assert!(message.contains(expected), "{rest}: {message}");
        }
        let circle = "[words]\na = '{b}'\nb = '{a}'\n";
        Ruleset::from_packs(&[("own", circle)]).expect_err("a circle");
    }

    #[test]
    fn a_set_is_named_by_its_packs() {
        let pack = format!("{RULE}find = 'berth'\nmatch = ['a berth']\nno_match = ['a crane']\n");
        let set = Ruleset::from_packs(&[("own", &pack)]).expect("a set");
        let expected = format!(
            r#"{{"engine":1,"packs":[{{"name":"own","sha256":"{}"}}],"type":"countersign/ruleset/v1"}}"#,
            Sha256::of(pack.as_bytes())
        );
        assert_eq!(String::from_utf8_lossy(set.document()), expected);
        assert_eq!(set.sha256(), Sha256::of(expected.as_bytes()));
        assert_eq!(set.packs()[0].1, pack.as_bytes());
    }
}
