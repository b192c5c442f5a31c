//! States, severities, evidence levels, actions and ballots, each as shape, glyph and word.
//!
//! The words are the contract's; the word is never left out. Green is for approved and verified alone.

use std::fmt;

use askama::filters::HtmlSafe;

use super::{
    html::{Html, display, html, number},
    symbol::icon,
};

/// A state that a descriptor or a list can be in: verdicts, reasons of candidates, states of decisions.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Sign {
    Changed,
    Downgrade,
    SignerChange,
    EndpointChange,
    Flagged,
    Renamed,
    Unknown,
    Expiring,
    Approved,
    Held,
    Rejected,
    Revoked,
    Expired,
    Stale,
    Incomplete,
    Ambiguous,
    Unpinnable,
}

impl Sign {
    /// All of them, in the order of the sheet.
    pub(crate) const ALL: [Self; 17] = [
        Self::Changed,
        Self::Downgrade,
        Self::SignerChange,
        Self::EndpointChange,
        Self::Flagged,
        Self::Renamed,
        Self::Unknown,
        Self::Expiring,
        Self::Approved,
        Self::Held,
        Self::Rejected,
        Self::Revoked,
        Self::Expired,
        Self::Stale,
        Self::Incomplete,
        Self::Ambiguous,
        Self::Unpinnable,
    ];

    /// The word, as the API writes it.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Changed => "changed",
            Self::Downgrade => "downgrade",
            Self::SignerChange => "signer-change",
            Self::EndpointChange => "endpoint-change",
            Self::Flagged => "flagged",
            Self::Renamed => "renamed",
            Self::Unknown => "unknown",
            Self::Expiring => "expiring",
            Self::Approved => "approved",
            Self::Held => "held",
            Self::Rejected => "rejected",
            Self::Revoked => "revoked",
            Self::Expired => "expired",
            Self::Stale => "stale",
            Self::Incomplete => "incomplete",
            Self::Ambiguous => "ambiguous",
            Self::Unpinnable => "unpinnable",
        }
    }

    /// The sign of a word, where a filter in the address names one.
    pub(crate) fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|sign| sign.word() == word)
    }

    /// What it means, in one sentence.
    pub(crate) const fn meaning(self) -> &'static str {
        match self {
            Self::Changed => "Another digest is approved under this name. A rug pull until someone says otherwise.",
            Self::Downgrade => "Same server, weaker evidence than what was approved.",
            Self::SignerChange => "Another key or identity signed.",
            Self::EndpointChange => "Another package or address stands behind it.",
            Self::Flagged => "A finding at or above the policy’s severity.",
            Self::Renamed => "A name vanished and a similar one came.",
            Self::Unknown => "No decision was ever made about it.",
            Self::Expiring => "Approved, and the approval ends within 14 days.",
            Self::Approved => "This digest is approved now.",
            Self::Held => "Approved once, stopped by a rule until reviewed.",
            Self::Rejected => "A reviewer said no. Gateways refuse it.",
            Self::Revoked => "Was approved; taken back. Gateways refuse it.",
            Self::Expired => "The approval ended. The tool is quarantined.",
            Self::Stale => "The signed head ran out. Nothing is allowed.",
            Self::Incomplete => "The list was not whole. Nothing can be said.",
            Self::Ambiguous => "One name, several descriptors. Refused.",
            Self::Unpinnable => "It breaks a rule that pins need. Attested and listed, never approved.",
        }
    }

    /// Symbol and colour class; their names differ from the word where that has a hyphen.
    pub(crate) const fn class(self) -> &'static str {
        match self {
            Self::SignerChange => "signer",
            Self::EndpointChange => "endpoint",
            other => other.word(),
        }
    }

    /// The small picture alone, in its colour; for places where the word stands beside it.
    pub(crate) fn picture(self) -> Html {
        super::symbol::coloured(self.class(), self.class())
    }
}

impl fmt::Display for Sign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut html = Html::new();
        html.tag("<span class=\"st ").tag(self.class()).tag("\">").html(&icon(self.class())).tag(self.word());
        html.tag("</span>");
        display(f, &html)
    }
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Severity {
    Info,
    Low,
    Medium,
    High,
    Critical,
}

impl Severity {
    /// All, worst first.
    pub(crate) const ALL: [Self; 5] = [Self::Critical, Self::High, Self::Medium, Self::Low, Self::Info];

    /// Class, letter and word.
    const fn parts(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Critical => ("sev sev-c", "C", "Critical"),
            Self::High => ("sev sev-h", "H", "High"),
            Self::Medium => ("sev sev-m", "M", "Medium"),
            Self::Low => ("sev sev-l", "L", "Low"),
            Self::Info => ("sev sev-i", "I", "Info"),
        }
    }

    /// What it means, in one sentence.
    pub(crate) const fn meaning(self) -> &'static str {
        match self {
            Self::Critical => "Someone is trying to deceive a model or a person.",
            Self::High => "The tool can do more, or say less, than before.",
            Self::Medium => "Often a mistake; look at it once.",
            Self::Low => "Untidy, harmless by itself.",
            Self::Info => "Good to know.",
        }
    }

    /// The word in running text.
    pub(crate) fn word(self) -> String {
        self.parts().2.to_lowercase()
    }

    /// The colour class of a card's edge.
    pub(crate) const fn edge(self) -> &'static str {
        match self {
            Self::Critical | Self::High => "",
            Self::Medium => "m",
            Self::Low | Self::Info => "l",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (class, letter, word) = self.parts();
        let mut html = Html::new();
        html.tag("<span class=\"").tag(class).tag("\"><b aria-hidden=\"true\">").tag(letter).tag("</b>").tag(word);
        html.tag("</span>");
        display(f, &html)
    }
}

/// How many findings there are of each severity: letter and count in tables, the word for screen readers.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Severities(pub(crate) Vec<(Severity, u64)>);

impl fmt::Display for Severities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut html = Html::new();
        if self.0.is_empty() {
            return f.write_str("<span class=\"mut none\">none</span>");
        }
        html.tag("<span class=\"sevs\">");
        for (severity, count) in &self.0 {
            let (class, letter, _) = severity.parts();
            html.tag("<span class=\"").tag(class).tag("\"><b aria-hidden=\"true\">").tag(letter).tag("</b>");
            html.text(&number(*count)).tag("<span class=\"vh\"> ").text(&severity.word()).tag("</span></span>");
        }
        html.tag("</span>");
        display(f, &html)
    }
}

/// What ties a release to somebody.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Level {
    Capture,
    Key,
    Sigstore,
}

impl Level {
    /// All, strongest first.
    pub(crate) const ALL: [Self; 3] = [Self::Sigstore, Self::Key, Self::Capture];

    /// As pages call it.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Sigstore => "Sigstore identity",
            Self::Key => "Publisher key",
            Self::Capture => "Capture",
        }
    }

    /// What it means, in one sentence.
    pub(crate) const fn meaning(self) -> &'static str {
        match self {
            Self::Sigstore => "A workflow or person known to an identity provider signed it; a public log says when.",
            Self::Key => "A key that may speak for the namespace signed it.",
            Self::Capture => "Your own team recorded what the server lists. The publisher signed nothing.",
        }
    }

    /// The bars alone, where the word stands beside them.
    pub(crate) fn picture(self) -> Html {
        super::symbol::coloured(self.symbol(), "mut")
    }

    /// Its symbol.
    const fn symbol(self) -> &'static str {
        match self {
            Self::Sigstore => "lv3",
            Self::Key => "lv2",
            Self::Capture => "lv1",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut html = Html::new();
        html.tag("<span class=\"lv\">").html(&icon(self.symbol())).tag(self.word()).tag("</span>");
        display(f, &html)
    }
}

/// What a gateway does.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Action {
    Allow,
    Quarantine,
    Block,
}

impl Action {
    /// The word, as the API writes it.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Quarantine => "quarantine",
            Self::Block => "block",
        }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut html = Html::new();
        html.tag("<b class=\"").tag(self.word()).tag("\">").tag(self.word()).tag("</b>");
        display(f, &html)
    }
}

/// Ballots in a table: a short rule for each that is needed, a blue × on each that was given.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Ballots {
    /// So many of so many.
    Counted {
        /// Ballots given.
        given: u32,
        /// Ballots needed.
        needed: u32,
    },
    /// The one reviewer there is decides alone.
    Solo {
        /// Whether the ballot was given.
        given: bool,
    },
    /// A sighting: nothing to approve.
    RejectOnly,
}

/// More rules than this are told by the number alone; a row has no room for them.
const MAX_DRAWN: u32 = 5;

impl Ballots {
    /// The words beside the drawing.
    pub(crate) fn words(self) -> String {
        match self {
            Self::Counted { given, needed } => format!("{given} of {needed}"),
            Self::Solo { given: false } => "0 of 1, solo".to_owned(),
            Self::Solo { given: true } => "solo".to_owned(),
            Self::RejectOnly => "reject only".to_owned(),
        }
    }
}

impl fmt::Display for Ballots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (given, needed) = match *self {
            Self::Counted { given, needed } => (given, needed),
            Self::Solo { given } => (u32::from(given), 1),
            Self::RejectOnly => (0, 0),
        };
        let mut html = Html::new();
        html.tag("<span class=\"nw\">");
        if (1..=MAX_DRAWN).contains(&needed) {
            let width = needed * 14 - 2;
            html.tag("<svg class=\"slots\" width=\"").show(width).tag("\" height=\"14\" viewBox=\"0 0 ").show(width);
            html.tag(" 14\" aria-hidden=\"true\">");
            for slot in 0..needed {
                let x = slot * 14;
                html.html(&html!("<path class=\"c-edge\" d=\"M", (x), " 13.25h12\"/>"));
                if slot < given {
                    html.tag("<path class=\"s-sign\" stroke-width=\"1.75\" stroke-linecap=\"round\" d=\"m");
                    html.show(x + 3).tag(" 3.5 6 6m0-6-6 6\"/>");
                }
            }
            html.tag("</svg>");
        }
        html.text(&self.words()).tag("</span>");
        display(f, &html)
    }
}

impl HtmlSafe for Sign {}
impl HtmlSafe for Severity {}
impl HtmlSafe for Severities {}
impl HtmlSafe for Level {}
impl HtmlSafe for Action {}
impl HtmlSafe for Ballots {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sign_has_a_drawing_and_says_its_word() {
        for sign in Sign::ALL {
            let shown = sign.to_string();
            assert!(shown.contains(sign.word()), "{shown}");
            assert!(super::super::symbol::sprite(&shown).as_str().contains("<symbol"), "{shown}");
            assert_eq!(Sign::from_word(sign.word()), Some(sign));
        }
    }

    #[test]
    fn ballots_show_a_rule_each_and_a_cross_on_those_given() {
        let shown = Ballots::Counted { given: 1, needed: 2 }.to_string();
        assert_eq!((shown.matches("c-edge").count(), shown.matches("s-sign").count()), (2, 1));
        assert!(shown.ends_with("1 of 2</span>"));
        assert!(!Ballots::Counted { given: 9, needed: 10 }.to_string().contains("<svg"));
        assert!(Ballots::Solo { given: true }.to_string().contains("solo"));
    }

    #[test]
    fn no_findings_are_none_and_never_a_tick() {
        assert_eq!(Severities::default().to_string(), "<span class=\"mut none\">none</span>");
    }
}
