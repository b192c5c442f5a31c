//! Why a candidate was opened, most urgent first.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// Why a digest needs a decision. The order is the urgency: the first is the most urgent.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// The name has a pin or a denial, and none has this digest: a rug pull until approved.
    Changed,
    /// The same digest with weaker evidence than its pin has.
    Downgrade,
    /// The same digest by another signer than its pin names.
    SignerChange,
    /// The same digest with other endpoints or artifacts than its pin names.
    EndpointChange,
    /// The scanner found something at or above the policy's severity.
    Flagged,
    /// A new name much like one that vanished from the release.
    Renamed,
    /// Nothing was ever decided about the name.
    Unknown,
    /// The pin ends within 14 days.
    Expiring,
}

impl Reason {
    /// All of them, most urgent first.
    pub const ALL: [Self; 8] = [
        Self::Changed,
        Self::Downgrade,
        Self::SignerChange,
        Self::EndpointChange,
        Self::Flagged,
        Self::Renamed,
        Self::Unknown,
        Self::Expiring,
    ];

    /// The word that documents and pages use, as `signer-change`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Changed => "changed",
            Self::Downgrade => "downgrade",
            Self::SignerChange => "signer-change",
            Self::EndpointChange => "endpoint-change",
            Self::Flagged => "flagged",
            Self::Renamed => "renamed",
            Self::Unknown => "unknown",
            Self::Expiring => "expiring",
        }
    }

    /// 0 for the most urgent; what queues are sorted by.
    pub const fn urgency(self) -> u8 {
        self as u8
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Reason {
    type Err = UnknownReason;

    fn from_str(text: &str) -> Result<Self, UnknownReason> {
        Self::ALL.into_iter().find(|r| r.as_str() == text).ok_or(UnknownReason)
    }
}

/// The text is no reason that this version knows.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("not a reason for review")]
pub struct UnknownReason;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_ordered_by_urgency_and_spelled_once() {
        for (i, reason) in Reason::ALL.into_iter().enumerate() {
            assert_eq!(usize::from(reason.urgency()), i);
            assert_eq!(reason.as_str().parse(), Ok(reason));
            assert_eq!(serde_json::to_string(&reason).expect("writes"), format!("\"{reason}\""));
        }
    }
}
