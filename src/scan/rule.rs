//! A compiled rule.

use std::{collections::BTreeMap, ops::Range};

use regex::bytes::{Regex, RegexBuilder};
use regex_automata::{Anchored, Input, meta, util::syntax};
use regex_syntax::hir::literal::{ExtractKind, Extractor};

use super::{
    Severity, Surface,
    check::Check,
    clause,
    pack::{PackError, Source, expand},
    places::Role,
};

/// What to look for, ready to run.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) id: String,
    pub(super) severity: Severity,
    pub(super) surface: Surface,
    message: String,
    pub(super) matcher: Matcher,
    foreign_tool: bool,
    unless_purpose: Vec<Regex>,
    places: Vec<Role>,
    /// Examples that must match, and examples that must not.
    pub(super) examples: [Vec<String>; 2],
}

#[derive(Debug)]
pub(super) enum Matcher {
    /// A pattern over lower-case text with conditions on the clause around it.
    Clause { find: meta::Regex, beginnings: Beginnings, with: Vec<Regex>, without: Vec<Regex> },
    /// A pattern over the string as written.
    Raw(Regex),
    /// Code.
    Check(Check),
}

/// How a pattern can begin: with one of these texts, and only at a word's start if `word`.
#[derive(Debug)]
pub(super) struct Beginnings {
    pub(super) literals: Vec<Vec<u8>>,
    pub(super) word: bool,
}

/// A lazy automaton of this size holds any pattern here; a pattern that needs more doesn't compile.
const MAX_PATTERN: usize = 1 << 20;
/// More matches of one rule in one string than any text has that isn't written to tire a scanner out.
pub(super) const MAX_CLAUSES: usize = 256;

/// How far a rule has come in one text.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Progress {
    /// Places before this one are done with.
    judged: usize,
    matches: usize,
}

/// What a rule found at one place of a text.
#[derive(Debug)]
pub(super) enum Found {
    Nothing,
    /// `excused` says that only `without` or the descriptor's purpose speaks against it. Both are the publisher's own
    /// words, so an excuse lessens a finding and never silences it.
    Match {
        span: Range<usize>,
        excused: bool,
    },
    /// [`MAX_CLAUSES`] ended the search of this text.
    Cut,
}

impl Rule {
    pub(super) fn compile(source: Source, words: &BTreeMap<String, String>) -> Result<Self, PackError> {
        let wrong = |message: String| PackError::Rule { rule: source.id.clone(), message };
        let pattern = |text: &String| {
            let expanded = expand(text, words).map_err(&wrong)?;
            compile(&format!("(?s-u){expanded}")).map_err(&wrong)
        };
        let all = |list: &Vec<String>| list.iter().map(pattern).collect::<Result<Vec<_>, _>>();
        let (with, without) = (all(&source.with)?, all(&source.without)?);
        let unless_purpose = all(&source.unless_purpose)?;
        if source.matches.is_empty() || source.no_match.is_empty() {
            return Err(wrong("examples are missing: at least one that matches and one that doesn't".to_owned()));
        }
        if source.id.split('/').filter(|part| !part.is_empty()).count() != 2 {
            return Err(wrong("an id has the form family/rule".to_owned()));
        }
        let matcher = match (&source.find, source.check) {
            (Some(find), None) if source.raw => Matcher::Raw(compile(&format!("(?s){find}")).map_err(&wrong)?),
            (Some(text), None) => {
                let expanded = expand(text, words).map_err(&wrong)?;
                let beginnings = literals(&expanded);
                let literals = beginnings.ok_or_else(|| wrong("find could begin with anything".to_owned()))?;
                // An alternative further on may begin anywhere, so only a pattern that is one group counts.
                let word = expanded.starts_with(r"\b") && alternatives(&expanded) == 1;
                let beginnings = Beginnings { literals, word };
                Matcher::Clause { find: anchored(&expanded).map_err(&wrong)?, beginnings, with, without }
            }
            (None, Some(check)) => Matcher::Check(check),
            _ => return Err(wrong("either find or check".to_owned())),
        };
        Ok(Self {
            matcher,
            severity: source.severity,
            surface: source.surface,
            message: source.message,
            foreign_tool: source.foreign_tool,
            unless_purpose,
            places: source.places,
            examples: [source.matches, source.no_match],
            id: source.id,
        })
    }

    /// What a finding says, and how much it weighs.
    pub(super) fn verdict(&self, excused: bool) -> (Severity, String) {
        if excused {
            let message = format!("{} What stands around it, or what the tool is for, may excuse it.", self.message);
            (Severity::Info, message)
        } else {
            (self.severity, self.message.clone())
        }
    }

    /// Whether the rule is for strings of this role.
    pub(super) fn is_for(&self, role: Role) -> bool {
        let parameter = role == Role::RequiredParameter && self.places.contains(&Role::Parameter);
        self.places.is_empty() || self.places.contains(&role) || parameter
    }

    /// Whether what the rule looks for is what this descriptor says it is for.
    fn belongs(&self, purpose: &str) -> bool {
        self.unless_purpose.iter().any(|pattern| pattern.is_match(purpose.as_bytes()))
    }

    /// Judges the place `at`, where one of the pattern's beginnings stands. `foreign` judges the matched words, if the
    /// rule asks for a foreign tool; `purpose` is what the descriptor says it is for.
    ///
    /// Places come in order, and each clause is judged once. A pattern reaches a bounded number of words ahead, so the
    /// work over a whole text is a constant times its length.
    pub(super) fn judge(
        &self,
        text: &[u8],
        at: usize,
        progress: &mut Progress,
        purpose: &str,
        foreign: impl FnOnce(&[u8]) -> bool,
    ) -> Found {
        let Matcher::Clause { find, with, without, .. } = &self.matcher else { return Found::Nothing };
        if at < progress.judged || progress.matches > MAX_CLAUSES {
            return Found::Nothing;
        }
        // Several beginnings may stand at one place.
        progress.judged = at + 1;
        let Some(found) = find.search(&Input::new(text).range(at..).anchored(Anchored::Yes)) else {
            return Found::Nothing;
        };
        progress.matches += 1;
        if progress.matches > MAX_CLAUSES {
            return Found::Cut;
        }
        let clause = clause::around(text, found.range());
        let inside = &text[clause.clone()];
        let fits = with.iter().all(|p| p.is_match(inside)) && (!self.foreign_tool || foreign(&text[found.range()]));
        if !fits {
            return Found::Nothing;
        }
        let excused = without.iter().any(|p| p.is_match(inside)) || self.belongs(purpose);
        progress.judged = if excused { found.end() } else { clause.end };
        Found::Match { span: found.range(), excused }
    }
}

/// A pattern that is only ever tried at a known place.
fn anchored(pattern: &str) -> Result<meta::Regex, String> {
    let bytes = syntax::Config::new().unicode(false).utf8(false).dot_matches_new_line(true);
    let config = meta::Config::new().nfa_size_limit(Some(MAX_PATTERN)).auto_prefilter(false);
    meta::Regex::builder().syntax(bytes).configure(config).build(pattern).map_err(|e| format!("{e:?}"))
}

fn compile(pattern: &str) -> Result<Regex, String> {
    RegexBuilder::new(pattern).size_limit(MAX_PATTERN).build().map_err(|e| e.to_string())
}

/// Texts of which one must occur wherever the pattern matches: what the common first pass looks for. `None` if the
/// pattern could begin with anything.
fn literals(pattern: &str) -> Option<Vec<Vec<u8>>> {
    let parser = regex_syntax::ParserBuilder::new().utf8(false).unicode(false).build().parse(pattern);
    let mut extractor = Extractor::new();
    extractor.kind(ExtractKind::Prefix).limit_literal_len(8).limit_total(4_000).limit_class(12);
    let found = extractor.extract(&parser.ok()?);
    let mut literals: Vec<Vec<u8>> = found.literals()?.iter().map(|literal| literal.as_bytes().to_vec()).collect();
    literals.sort_unstable();
    // Sorted, a literal stands right before all that begin with it: they say nothing more.
    literals.dedup_by(|longer, shorter| longer.starts_with(shorter));
    let useful = !literals.is_empty() && literals.iter().all(|literal| literal.len() >= 2);
    useful.then_some(literals)
}

/// How many alternatives a pattern has at its top that don't begin at a word's start, and one for the first.
fn alternatives(pattern: &str) -> usize {
    let (mut depth, mut class, mut escaped, mut count) = (0_usize, false, false, 1);
    for (at, b) in pattern.bytes().enumerate() {
        match b {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'[' => class = true,
            b']' => class = false,
            b'(' if !class => depth += 1,
            b')' if !class => depth = depth.saturating_sub(1),
            b'|' if !class && depth == 0 && !pattern[at + 1..].starts_with(r"\b") => count += 1,
            _ => {}
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_begins_at_words_only_if_all_its_alternatives_do() {
        for (pattern, count) in [(r"\b(?:a|b)", 1), (r"\ba|\bb", 1), (r"\ba|b", 2), (r"\b[|]\|", 1)] {
            assert_eq!(alternatives(pattern), count, "{pattern}");
        }
    }

    #[test]
    fn a_patterns_first_letters_are_known() {
        let known = |pattern| {
            literals(pattern).map(|all| all.iter().map(|l| String::from_utf8_lossy(l).into_owned()).collect::<Vec<_>>())
        };
        assert_eq!(known(r"\b(?:ignore|disregard) all").expect("known"), ["disregar", "ignore a"]);
        assert_eq!(known(r"\b(?:do not|don'?t) x").expect("known"), ["do not x", "don't x", "dont x"]);
        assert_eq!(known("[a-z]+ x"), None);
    }
}
