//! The log: its entries, and one entry with its proof.

use askama::Template;

use super::{
    figure::{Count, Short},
    html::Html,
    piece::{Link, Note, Tab},
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
    pub(crate) rows: Vec<EntryRow>,
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
}

/// One entry in full.
#[derive(Template)]
#[template(path = "log-entry.html")]
pub(crate) struct LogEntryPage {
    pub(crate) index: Count,
    pub(crate) size: Count,
    pub(crate) at: When,
    pub(crate) kind: &'static str,
    pub(crate) what: Html,
    pub(crate) leaf_hash: Short,
    pub(crate) leaf_bytes: Count,
    /// The leaf's bytes.
    pub(crate) leaf: Html,
    /// The proof text, to be verified elsewhere.
    pub(crate) proof: String,
    pub(crate) previous: Option<Link>,
    pub(crate) next: Option<Link>,
}
