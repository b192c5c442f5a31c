//! Runs the rules over descriptors.

use std::collections::BTreeSet;

use super::{
    Finding, Report, Ruleset, Severity, Surface, View,
    check::{Check, Hit, spaced},
    clause,
    places::{self, Place},
    rule::{self, Matcher, Progress, Rule},
    view::{Survey, Text, decoded, folded, normal},
};
use crate::{canon::Value, descriptor::Descriptor};

/// A reviewer reads a dozen findings; a descriptor with hundreds is written to bury one.
const MAX_FINDINGS: usize = 200;

impl Ruleset {
    /// Scans one descriptor that came alone: every other tool's name is foreign to it.
    pub fn scan(&self, descriptor: &Descriptor) -> Report {
        self.scan_release(&[descriptor])
    }

    /// Scans descriptors that one server lists together.
    pub fn scan_release(&self, descriptors: &[&Descriptor]) -> Report {
        let mut report = Report { complete: true, ruleset: self.sha256(), findings: Vec::new() };
        let names: BTreeSet<String> = descriptors.iter().map(|d| d.listed_name().to_lowercase()).collect();
        for (index, descriptor) in descriptors.iter().enumerate() {
            let value = descriptor.value();
            let mut scan = Scan::new(self, descriptor, &value, &names);
            places::visit(&value, &mut |place| scan.string(place));
            scan.structure(&value, &descriptors[..index]);
            report.complete &= scan.complete;
            report.findings.append(&mut scan.sorted());
        }
        report
    }
}

/// The scan of one descriptor.
struct Scan<'s> {
    ruleset: &'s Ruleset,
    descriptor: &'s Descriptor,
    /// Names of everything that the server lists.
    names: &'s BTreeSet<String>,
    /// What the descriptor itself is made of; filled when a rule first asks.
    own: Option<BTreeSet<String>>,
    value: &'s Value<'s>,
    /// What it is called: name and title, in lower case.
    called: String,
    /// The same with the first clause of its description: what it says it is for.
    purpose: String,
    complete: bool,
    findings: Vec<Finding>,
    /// Where rules could match in the form at hand.
    places: Vec<(usize, usize)>,
    /// One a rule, for the form at hand.
    progress: Vec<Progress>,
}

/// One string while it is looked at in its forms: what was found in an earlier form isn't found again.
struct Found<'p> {
    place: Place<'p, 'p>,
    is_name: bool,
    /// Rule, span and whether it was excused.
    spans: Vec<(usize, (usize, usize), bool)>,
}

impl<'s> Scan<'s> {
    fn new(
        ruleset: &'s Ruleset,
        descriptor: &'s Descriptor,
        value: &'s Value<'s>,
        names: &'s BTreeSet<String>,
    ) -> Self {
        let text = |member| value.get(member).and_then(Value::as_str).unwrap_or_default();
        let called = format!("{} {}", spaced(descriptor.listed_name()), text("title")).to_lowercase();
        let description = text("description");
        let first = clause::around(description.as_bytes(), 0..0);
        let purpose = format!("{called}\n{}", description.get(first).unwrap_or_default().to_lowercase());
        let (own, findings, places, progress) = (None, Vec::new(), Vec::new(), Vec::new());
        Self { ruleset, descriptor, names, own, value, called, purpose, complete: true, findings, places, progress }
    }

    fn string(&mut self, place: Place<'_, '_>) {
        let survey = Survey::of(place.text);
        let mut found = Found { place, is_name: place.is_name, spans: Vec::new() };
        let source = Text::raw(place.text);
        self.forms(&mut found, &source, survey, View::Normal);
        if !survey.encoded {
            return;
        }
        let Some(once) = decoded(&source) else { return };
        for span in once.tokens {
            self.encoded(&mut found, span);
        }
        self.forms(&mut found, &once.form, Survey::of(&once.form.text), View::Decoded);
        if let Some(twice) = decoded(&once.form) {
            self.forms(&mut found, &twice.form, Survey::of(&twice.form.text), View::DecodedTwice);
        }
    }

    /// Looks at a text as it stands, in its normal form and folded.
    fn forms(&mut self, found: &mut Found<'_>, source: &Text<'_>, survey: Survey, view: View) {
        if survey.unusual {
            self.raw(found, source, if view == View::Normal { View::Raw } else { view });
        }
        self.places.clear();
        if !survey.unusual {
            // Letter case changes no offset, so that most strings are done with before anything is allocated.
            self.places.extend(self.ruleset.first_pass.places(&source.text));
            if self.places.is_empty() && !survey.foldable {
                return;
            }
        }
        let normal = normal(source, survey.unusual);
        if survey.unusual {
            self.places.extend(self.ruleset.first_pass.places(&normal.text));
        }
        self.search(found, &normal, view);
        if survey.foldable
            && let Some(folded) = folded(&normal)
        {
            self.places.clear();
            self.places.extend(self.ruleset.first_pass.places(&folded.text));
            self.search(found, &folded, if view == View::Normal { View::Folded } else { view });
        }
    }

    fn raw(&mut self, found: &mut Found<'_>, source: &Text<'_>, view: View) {
        for (index, rule) in self.ruleset.rules.iter().enumerate() {
            let Matcher::Raw(pattern) = &rule.matcher else { continue };
            if !rule.is_for(found.place.role) {
                continue;
            }
            // One finding a rule and string: a text full of invisible characters has one thing wrong with it.
            if let Some(hit) = pattern.find(source.text.as_bytes()) {
                self.report(found, index, source.origin(hit.start(), hit.end()), view, false);
            }
        }
    }

    /// Judges the places in [`Scan::places`], which are this form's.
    fn search(&mut self, found: &mut Found<'_>, form: &Text<'_>, view: View) {
        if self.places.is_empty() {
            return;
        }
        let text = form.text.as_bytes();
        let mut progress = std::mem::take(&mut self.progress);
        progress.clear();
        progress.resize(self.ruleset.rules.len(), Progress::default());
        // A description can't excuse what it says itself.
        let described = found.place.is_description();
        let purpose = std::mem::take(if described { &mut self.called } else { &mut self.purpose });
        let mut places = std::mem::take(&mut self.places);
        // They come by where they end; a rule judges them by where they begin.
        places.sort_unstable_by_key(|(_, at)| *at);
        for &(index, at) in &places {
            let rule = &self.ruleset.rules[index];
            if !rule.is_for(found.place.role) {
                continue;
            }
            let foreign = |words: &[u8]| self.names_foreign_tool(words);
            match rule.judge(text, at, &mut progress[index], &purpose, foreign) {
                rule::Found::Nothing => {}
                rule::Found::Match { span, excused } => {
                    self.report(found, index, form.origin(span.start, span.end), view, excused);
                }
                rule::Found::Cut => {
                    self.limit(found.place.path.pointer(), found.is_name, "one rule matched too often in this text");
                }
            }
        }
        *(if described { &mut self.called } else { &mut self.purpose }) = purpose;
        self.progress = progress;
        self.places = places;
    }

    /// Whether these words name something like a tool that neither the server lists nor the descriptor defines.
    fn names_foreign_tool(&mut self, words: &[u8]) -> bool {
        let (names, value) = (self.names, self.value);
        let own = self.own.get_or_insert_with(|| {
            let mut own = BTreeSet::new();
            places::visit(value, &mut |place| {
                if place.is_name || place.role == places::Role::Data {
                    own.insert(place.text.to_lowercase());
                }
            });
            own
        });
        self.ruleset.tool_names(words).any(|name| !names.contains(name) && !own.contains(name))
    }

    /// Runs the checks that look at structure instead of one string.
    fn structure(&mut self, value: &Value<'_>, earlier: &[&Descriptor]) {
        for rule in &self.ruleset.rules {
            let Matcher::Check(check) = rule.matcher else { continue };
            for Hit { pointer, in_name } in check.run(self.descriptor, value, earlier) {
                self.push(rule, false, pointer, in_name, (0, 0), View::Structure);
            }
        }
    }

    /// A token that was encoded text, if a rule wants to know.
    fn encoded(&mut self, found: &mut Found<'_>, span: (usize, usize)) {
        let wants = |rule: &Rule| matches!(rule.matcher, Matcher::Check(Check::EncodedText));
        if let Some(index) = self.ruleset.rules.iter().position(wants) {
            self.report(found, index, span, View::Raw, false);
        }
    }

    fn report(&mut self, found: &mut Found<'_>, index: usize, span: (usize, usize), view: View, excused: bool) {
        let known = |(rule, (start, end), was_excused): &(usize, (usize, usize), bool)| {
            let overlaps = *start < span.1.max(span.0 + 1) && span.0 < *end.max(&(start + 1));
            *rule == index && overlaps && (excused || !was_excused)
        };
        if found.spans.iter().any(known) {
            return;
        }
        found.spans.push((index, span, excused));
        let rule = &self.ruleset.rules[index];
        self.push(rule, excused, found.place.path.pointer(), found.is_name, span, view);
    }

    fn push(&mut self, rule: &Rule, excused: bool, pointer: String, in_name: bool, span: (usize, usize), view: View) {
        if self.findings.len() >= MAX_FINDINGS {
            self.limit(String::new(), false, "there is more to find than a scan reports");
            return;
        }
        let (severity, message) = rule.verdict(excused);
        self.add((&rule.id, severity, rule.surface, &message), pointer, in_name, span, view);
    }

    /// Something was not looked at to its end, and the report has to say so, once.
    fn limit(&mut self, pointer: String, in_name: bool, why: &str) {
        if std::mem::replace(&mut self.complete, false) {
            let message =
                format!("A limit ended the scan, so the report is incomplete: {why}. Read the descriptor yourself.");
            let rule = ("scan/limit", Severity::Medium, Surface::MetadataPoisoning, message.as_str());
            self.add(rule, pointer, in_name, (0, 0), View::Structure);
        }
    }

    fn add(
        &mut self,
        (rule, severity, surface, message): (&str, Severity, Surface, &str),
        pointer: String,
        in_name: bool,
        span: (usize, usize),
        view: View,
    ) {
        let id = Finding::id(rule, self.descriptor.digest(), &pointer, in_name, span, view);
        self.findings.push(Finding {
            id,
            rule: rule.to_owned(),
            severity,
            surface,
            kind: self.descriptor.kind(),
            name: self.descriptor.listed_name().to_owned(),
            pointer,
            in_name,
            span,
            view,
            message: message.to_owned(),
        });
    }

    fn sorted(mut self) -> Vec<Finding> {
        let key = |f: &Finding| (f.pointer.clone(), f.in_name, f.span, f.rule.clone(), f.view);
        self.findings.sort_by_cached_key(key);
        self.findings
    }
}
