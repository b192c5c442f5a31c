//! What a scan found, as documents and the review page show it.

use serde::{Deserialize, Serialize};

use crate::{
    canon::{self, Digest, Sha256},
    name::Kind,
};

/// How much a finding should weigh; ordered, the heaviest last.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing.
    Info,
    /// Worth a look.
    Low,
    /// Seldom seen in honest descriptors.
    Medium,
    /// Reads like an attack.
    High,
    /// Has no honest use.
    Critical,
}

/// Which part of the trust between model, user and server a finding is about.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Surface {
    /// Text that speaks to the model instead of describing the tool.
    MetadataPoisoning,
    /// A descriptor that will change, or changed, after it was looked at.
    RugPull,
    /// A tool that stands before another tool, or speaks about it.
    Shadowing,
    /// A header and a body that can say different things.
    HeaderBodyConfusion,
    /// More power than the descriptor admits to.
    CapabilityEscalation,
    /// Persistent state, memory or configuration bent to somebody's purpose.
    StateTampering,
    /// Names and signs that make one thing look like another.
    IdentityConfusion,
}

/// In which form of a text a rule matched.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum View {
    /// As written.
    Raw,
    /// NFKC, invisible characters stripped, lower case.
    Normal,
    /// Confusable letters, digits in place of letters, and letters set apart folded together.
    Folded,
    /// After undoing base64, hex, percent, entities and tag characters.
    Decoded,
    /// After undoing them twice.
    DecodedTwice,
    /// The descriptor's structure rather than one text.
    Structure,
}

/// One hit of one rule. It is review evidence: something to look at, not a verdict.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Finding {
    /// Names the finding: equal for the same rule at the same place of the same descriptor.
    pub id: String,
    /// The rule, as `family/rule`.
    pub rule: String,
    /// How much it should weigh.
    pub severity: Severity,
    /// What it is about.
    pub surface: Surface,
    /// The descriptor's kind.
    pub kind: Kind,
    /// The descriptor's name as listed.
    pub name: String,
    /// JSON pointer to the string that matched, or whose member name matched.
    pub pointer: String,
    /// Whether it is the member's name that matched, not its value.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_name: bool,
    /// First byte and the byte after the last, in the string as the publisher wrote it (after JSON unescaping).
    pub span: (usize, usize),
    /// In which form of the string the rule matched.
    pub view: View,
    /// What a reviewer should know.
    pub message: String,
}

/// All that a scan of a descriptor, or of a whole release, found. An empty list of findings proves nothing.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Report {
    /// Whether every string was looked at in every view. If not, a finding says what stopped it.
    pub complete: bool,
    /// The digest of the rule set.
    pub ruleset: Sha256,
    /// Sorted by descriptor as given, then pointer, span and rule.
    pub findings: Vec<Finding>,
}

impl Report {
    /// SHA-256 of the report in canonical form.
    pub fn digest(&self) -> Sha256 {
        Sha256::of(&canon::to_jcs(self))
    }

    /// The heaviest severity found.
    pub fn worst(&self) -> Option<Severity> {
        self.findings.iter().map(|f| f.severity).max()
    }
}

impl Finding {
    /// The id of a finding at this place: 128 bits of the SHA-256 of what makes it this finding.
    pub(super) fn id(
        rule: &str,
        digest: Digest,
        pointer: &str,
        in_name: bool,
        span: (usize, usize),
        view: View,
    ) -> String {
        #[derive(Serialize)]
        struct Place<'a> {
            rule: &'a str,
            digest: Digest,
            pointer: &'a str,
            in_name: bool,
            span: (usize, usize),
            view: View,
        }
        Sha256::of(&canon::to_jcs(&Place { rule, digest, pointer, in_name, span, view })).id()
    }
}

impl Severity {
    /// As documents and policies write it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Critical => "critical",
        }
    }
}

impl std::fmt::Display for Severity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}
