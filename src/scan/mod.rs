//! Findings.

use serde::{Deserialize, Serialize};

/// How grave a finding is, least first.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Worth knowing.
    Info,
    /// Unusual.
    Low,
    /// Needs a look.
    Medium,
    /// Likely an attack.
    High,
    /// An attack.
    Critical,
}
