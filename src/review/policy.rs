//! The rules of one pin set, as an operator writes them in TOML.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    attest::Level,
    canon::{Sha256, to_jcs},
    clock::Span,
    scan::Severity,
};

/// How decisions are made in one pin set. Every member has a default; unknown members are refused.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Policy {
    /// Ballots that an approval needs.
    pub quorum: u32,
    /// Ballots that a risky approval needs: a finding high or above, level `capture`, or a capability that grew.
    pub quorum_risky: u32,
    /// Days from an approval until the pin expires.
    pub lifetime_days: u32,
    /// Hours that an older pin of the same name and variant stays beside a newer one.
    pub overlap_hours: u32,
    /// Levels of evidence that can be approved.
    pub levels: Vec<Level>,
    /// A finding of this severity or above flags a descriptor.
    pub flag_at: Severity,
    /// A retro-hunt hit of this severity or above holds a pin.
    pub hold_at: HoldAt,
    /// One person decides alone, own submissions too; every pin says so.
    pub solo: bool,
    /// Other severities for single rules.
    pub severities: BTreeMap<String, Severity>,
}

/// From which severity a retro-hunt hit holds a pin by itself.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum HoldAt {
    /// Hits reopen review and hold nothing.
    Never,
    /// Hits of this severity or above hold.
    At(Severity),
}

/// What makes an approval risky.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Risk {
    /// The gravest finding that isn't accepted.
    pub finding: Option<Severity>,
    /// The evidence is an operator's capture.
    pub captured: bool,
    /// The tool can do more than the approved one.
    pub grew: bool,
}

/// The text is no policy; the message names the member or the line.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct BadPolicy(pub String);

/// A team of reviewers larger than this decides by other means.
const MAX_QUORUM: u32 = 20;
/// Ten years: longer is "for ever", which a pin never is.
const MAX_LIFETIME_DAYS: u32 = 3_650;
/// Thirty days are enough to roll a fleet over.
const MAX_OVERLAP_HOURS: u32 = 720;
/// Overrides are for single rules, not for a pack.
const MAX_SEVERITIES: usize = 500;

impl Policy {
    /// Reads the TOML an operator wrote.
    ///
    /// # Errors
    /// [`BadPolicy`] for unknown members, wrong types and numbers out of range.
    pub fn from_toml(text: &str) -> Result<Self, BadPolicy> {
        let policy: Self = toml::from_str(text).map_err(|e| BadPolicy(e.to_string()))?;
        policy.checked()
    }

    /// Checks the ranges of a policy that came by another way than TOML.
    ///
    /// # Errors
    /// [`BadPolicy`] naming the member that is out of range.
    pub fn checked(self) -> Result<Self, BadPolicy> {
        let range = |name: &str, n: u32, least: u32, most: u32| {
            let fits = (least..=most).contains(&n);
            if fits { Ok(()) } else { Err(BadPolicy(format!("{name} = {n}: must be from {least} to {most}"))) }
        };
        range("quorum", self.quorum, 1, MAX_QUORUM)?;
        range("quorum_risky", self.quorum_risky, self.quorum, MAX_QUORUM)?;
        range("lifetime_days", self.lifetime_days, 1, MAX_LIFETIME_DAYS)?;
        range("overlap_hours", self.overlap_hours, 0, MAX_OVERLAP_HOURS)?;
        if self.levels.is_empty() {
            return Err(BadPolicy("levels = []: nothing could ever be approved".into()));
        }
        if self.solo && self.quorum_risky != 1 {
            return Err(BadPolicy("solo = true needs quorum = 1 and quorum_risky = 1".into()));
        }
        if self.severities.len() > MAX_SEVERITIES {
            return Err(BadPolicy(format!("severities: at most {MAX_SEVERITIES} rules")));
        }
        Ok(self)
    }

    /// What the set-up page writes for someone who reviews alone.
    pub fn solo() -> Self {
        Self { solo: true, quorum: 1, quorum_risky: 1, ..Self::default() }
    }

    /// The policy as its canonical document.
    pub fn to_jcs(&self) -> Vec<u8> {
        to_jcs(self)
    }

    /// The digest that sets, views and decisions name.
    pub fn sha256(&self) -> Sha256 {
        Sha256::of(&self.to_jcs())
    }

    /// How many ballots an approval of this risk needs.
    pub fn needed(&self, risk: Risk) -> u32 {
        let risky = risk.captured || risk.grew || risk.finding >= Some(Severity::High);
        match (self.solo, risky) {
            (true, _) => 1,
            (false, true) => self.quorum_risky,
            (false, false) => self.quorum,
        }
    }

    /// How long an approval lasts.
    pub const fn lifetime(&self) -> Span {
        Span::days(self.lifetime_days)
    }

    /// How long an older pin stays beside a newer one; nothing if it leaves at once.
    pub fn overlap(&self) -> Option<Span> {
        (self.overlap_hours > 0).then(|| Span::hours(self.overlap_hours))
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            quorum: 1,
            quorum_risky: 2,
            lifetime_days: 180,
            overlap_hours: 0,
            levels: vec![Level::Sigstore, Level::Key, Level::Capture],
            flag_at: Severity::Medium,
            hold_at: HoldAt::At(Severity::Critical),
            solo: false,
            severities: BTreeMap::new(),
        }
    }
}

impl Serialize for HoldAt {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Never => serializer.serialize_str("never"),
            Self::At(severity) => severity.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for HoldAt {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text == "never" {
            return Ok(Self::Never);
        }
        let severity: Result<Severity, serde::de::value::Error> =
            Severity::deserialize(serde::de::value::StrDeserializer::new(&text));
        severity.map(Self::At).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_file_is_the_default_policy() {
        let policy = Policy::from_toml("").expect("defaults");
        assert_eq!(policy, Policy::default());
        assert_eq!(
            String::from_utf8(policy.to_jcs()).expect("text"),
            r#"{"flag_at":"medium","hold_at":"critical","levels":["sigstore","key","capture"],"lifetime_days":180,"overlap_hours":0,"quorum":1,"quorum_risky":2,"severities":{},"solo":false}"#
        );
    }

    #[test]
    fn what_is_unknown_or_out_of_range_is_refused() {
        let rows = [
            ("qourum = 2", "unknown field `qourum`"),
            ("quorum = 0", "quorum = 0: must be from 1 to 20"),
            ("quorum = 21\nquorum_risky = 21", "quorum = 21: must be from 1 to 20"),
            ("quorum = 3", "quorum_risky = 2: must be from 3 to 20"),
            ("lifetime_days = 3651", "lifetime_days = 3651: must be from 1 to 3650"),
            ("overlap_hours = 721", "overlap_hours = 721: must be from 0 to 720"),
            ("levels = []", "levels = []: nothing could ever be approved"),
            ("solo = true", "solo = true needs quorum = 1 and quorum_risky = 1"),
            ("hold_at = \"often\"", "unknown variant `often`"),
        ];
        for (text, expected) in rows {
            let BadPolicy(message) = Policy::from_toml(text).expect_err(text);
            assert!(message.contains(expected), "{text}: {message}");
        }
        for text in
            ["quorum = 20\nquorum_risky = 20", "lifetime_days = 3650", "overlap_hours = 720", "hold_at = \"never\""]
        {
            assert!(Policy::from_toml(text).is_ok(), "{text}");
        }
    }

    #[test]
    fn risk_decides_how_many_ballots_are_needed() {
        let policy = Policy { quorum: 2, quorum_risky: 3, ..Policy::default() };
        let rows = [
            (Risk::default(), 2),
            (Risk { finding: Some(Severity::Medium), ..Risk::default() }, 2),
            (Risk { finding: Some(Severity::High), ..Risk::default() }, 3),
            (Risk { captured: true, ..Risk::default() }, 3),
            (Risk { grew: true, ..Risk::default() }, 3),
        ];
        for (risk, needed) in rows {
            assert_eq!(policy.needed(risk), needed, "{risk:?}");
            assert_eq!(Policy::solo().needed(risk), 1, "{risk:?}");
        }
    }
}
