//! One version of a pin set with what it changed, and the list of all versions.

use askama::Template;

use super::{
    figure::{Count, Short},
    html::Html,
    piece::{Link, Note},
    when::When,
};

/// The versions of a set, newest first.
#[derive(Template)]
#[template(path = "versions.html")]
pub(crate) struct VersionsPage {
    pub(crate) set: String,
    pub(crate) lead: String,
    pub(crate) rows: Vec<VersionRow>,
    pub(crate) newer: Option<Link>,
    pub(crate) older: Option<Link>,
}

/// One of them.
pub(crate) struct VersionRow {
    pub(crate) version: Count,
    pub(crate) href: String,
    pub(crate) issued: When,
    /// "+2 pins, 1 revoked, alias notes bound".
    pub(crate) changed: Html,
    /// The entries that it was made of.
    pub(crate) entries: Html,
    pub(crate) digest: Short,
    pub(crate) log_index: Count,
}

/// A version.
#[derive(Template)]
#[template(path = "version.html")]
pub(crate) struct VersionPage {
    pub(crate) set: String,
    pub(crate) version: Count,
    pub(crate) lead: String,
    pub(crate) notes: Vec<Note>,
    pub(crate) digest: Short,
    pub(crate) issued: When,
    pub(crate) log_index: Count,
    /// None where the documents aren't kept.
    pub(crate) kept: Option<Kept>,
    pub(crate) document: Option<Link>,
    pub(crate) previous: Option<Link>,
    pub(crate) next: Option<Link>,
    pub(crate) differences: Differences,
}

/// What the documents of a version say.
pub(crate) struct Kept {
    pub(crate) policy: Short,
    pub(crate) ruleset: Short,
    pub(crate) aliases: Vec<AliasRow>,
    /// The document's bytes.
    pub(crate) bytes: Html,
}

/// An alias in it.
pub(crate) struct AliasRow {
    pub(crate) alias: String,
    pub(crate) server: Html,
    pub(crate) href: String,
    pub(crate) pins: Short,
    pub(crate) size: Count,
    /// Where it is kept.
    pub(crate) document: Option<Link>,
}

/// What is different from another version.
pub(crate) struct Differences {
    /// "since version 411", "from version 380 to version 412".
    pub(crate) against: Html,
    /// "+2 pins, 1 revoked"; why there is nothing to show, where there isn't.
    pub(crate) line: Html,
    pub(crate) groups: Vec<ChangeGroup>,
    pub(crate) more: Option<Link>,
    pub(crate) other: String,
    pub(crate) error: Option<String>,
}

/// Differences of the set itself, or of one alias.
pub(crate) struct ChangeGroup {
    pub(crate) title: Html,
    pub(crate) rows: Vec<ChangeRow>,
}

/// One difference.
pub(crate) struct ChangeRow {
    /// What kind it is, with its mark.
    pub(crate) sign: Html,
    pub(crate) what: Html,
    pub(crate) detail: Html,
    /// The decision and the log entry.
    pub(crate) links: Html,
}
