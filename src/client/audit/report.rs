//! What an audit found, what it verified, and what it didn't.

use serde::Serialize;

use super::Blind;
use crate::canon::Sha256;

/// The outcome of an audit.
#[derive(Debug, Serialize)]
pub struct Report {
    /// The registry's name, from the trust file.
    pub registry: String,
    /// Its epoch.
    pub epoch: u64,
    /// The version of the trust file that was believed.
    pub trust_version: u64,
    /// Leaves under the checkpoint that the audit is about.
    pub size: u64,
    /// The root over them.
    pub root: Option<Sha256>,
    /// That checkpoint, a signed note.
    pub checkpoint: Option<String>,
    /// Whether the audit came to its end. Without that, nothing is said about the rest.
    pub complete: bool,
    /// Leaves that an earlier run verified: read, hashed and folded again, but neither tiles, checkpoints nor documents
    /// were compared again.
    pub resumed_at: u64,
    /// What was verified.
    pub verified: Verified,
    /// Documents of older versions that the registry doesn't keep any more: not there, so not compared.
    pub not_kept: u64,
    /// Pin sets whose stored head has run out.
    pub expired_heads: Vec<String>,
    /// Kept heads that could not be held to this log, and why.
    pub unusable_heads: Vec<String>,
    /// What contradicts.
    pub faults: Vec<Fault>,
    /// Why the audit could not go on.
    pub stopped: Option<String>,
    /// What this audit says nothing about.
    pub not_verified: Vec<String>,
    /// The reason behind `stopped`.
    #[serde(skip)]
    pub blind: Option<Blind>,
}

/// What was verified, in numbers.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
pub struct Verified {
    /// Entries that were hashed and folded.
    pub leaves: u64,
    /// Bundles of entries.
    pub bundles: u64,
    /// Tiles that are made of the entries.
    pub tiles: u64,
    /// Checkpoints whose signature and root hold, each of a longer log than the one before.
    pub checkpoints: u64,
    /// Versions of pin sets that follow from the entries.
    pub versions: u64,
    /// Documents that are there byte for byte.
    pub documents: u64,
    /// Heads that are served now and name the newest version.
    pub heads: u64,
    /// Kept heads that the log bears out.
    pub kept_heads: u64,
}

/// Something that contradicts what a registry signed, or what must follow from it.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Fault {
    /// Of which kind.
    pub kind: FaultKind,
    /// What contradicts what.
    pub what: String,
    /// What was signed, as it was signed: enough to convince somebody else.
    pub evidence: Vec<String>,
}

/// The kinds of fault.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FaultKind {
    /// The checkpoint is another log's.
    WrongLog,
    /// A checkpoint isn't signed by the log, or the list of them doesn't grow.
    Checkpoint,
    /// Two logs were signed under one name.
    Fork,
    /// The log is shorter than it was.
    Truncated,
    /// Entries are missing or broken.
    Bundle,
    /// A tile is missing or isn't made of the entries.
    Tile,
    /// An entry doesn't follow from those before it.
    Leaf,
    /// A document should be there and isn't.
    MissingDocument,
    /// A document has other bytes.
    Document,
    /// A head that is served now doesn't hold.
    Head,
    /// A kept head convicts the registry.
    KeptHead,
}

impl Report {
    /// Whether everything that was to be looked at was looked at and nothing contradicts.
    pub const fn is_clean(&self) -> bool {
        self.complete && self.faults.is_empty() && self.unusable_heads.is_empty()
    }
}

impl Fault {
    pub(super) fn new(kind: FaultKind, what: impl Into<String>) -> Self {
        Self { kind, what: what.into(), evidence: Vec::new() }
    }

    pub(super) fn with(mut self, evidence: impl IntoIterator<Item = String>) -> Self {
        self.evidence.extend(evidence);
        self
    }
}
