//! The log: its entries, and one entry with its proof and where it matters.

use askama::Template;

use super::{
    figure::{Count, Short},
    html::Html,
    piece::{Empty, Link, Note, Tab},
    sign::Sign,
    when::When,
};

/// Entries of the log, newest first.
#[derive(Template)]
#[template(path = "log.html")]
pub(crate) struct LogPage {
    pub(crate) lead: String,
    pub(crate) notes: Vec<Note>,
    pub(crate) origin: String,
    pub(crate) size: Count,
    pub(crate) root: Short,
    pub(crate) signed: When,
    pub(crate) anchor: String,
    pub(crate) anchor_note: String,
    pub(crate) types: Vec<Tab>,
    /// What was looked for, as it was typed.
    pub(crate) find: String,
    pub(crate) rows: Vec<EntryRow>,
    pub(crate) empty: Option<Empty>,
    /// How far back was looked, where that is not the whole log.
    pub(crate) looked: Option<String>,
    pub(crate) newer: Option<Link>,
    pub(crate) older: Option<Link>,
}

/// One entry.
pub(crate) struct EntryRow {
    pub(crate) index: Count,
    pub(crate) at: When,
    /// The event's type, as the leaf has it.
    pub(crate) kind: &'static str,
    /// The sign of what it did, where it has one.
    pub(crate) sign: Option<Sign>,
    pub(crate) what: Html,
    /// The entries and pages that it refers to.
    pub(crate) refers: Html,
}

/// One entry in full.
#[derive(Template)]
#[template(path = "log-entry.html")]
pub(crate) struct LogEntryPage {
    pub(crate) index: Count,
    pub(crate) at: When,
    pub(crate) kind: &'static str,
    pub(crate) what: Html,
    /// What it changed, and where that stands now.
    pub(crate) matters: Vec<(&'static str, Html)>,
    pub(crate) leaf_hash: Short,
    pub(crate) leaf_bytes: Count,
    /// The leaf's bytes.
    pub(crate) leaf: Html,
    /// The tree that the proof is for.
    pub(crate) size: Count,
    pub(crate) root: Short,
    /// Who signed its checkpoint.
    pub(crate) signed_by: Html,
    /// The way from the leaf to the root.
    pub(crate) path: Vec<PathRow>,
    /// The proof text, to be verified elsewhere.
    pub(crate) proof: String,
    /// Commands that keep it.
    pub(crate) commands: Vec<(&'static str, String)>,
    pub(crate) previous: Option<Link>,
    pub(crate) next: Option<Link>,
}

/// One step up the tree.
pub(crate) struct PathRow {
    pub(crate) level: u32,
    /// `left` or `right`: where the sibling stands.
    pub(crate) side: &'static str,
    pub(crate) sibling: Short,
    pub(crate) node: Short,
}
