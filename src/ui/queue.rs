//! The review queue: what waits, most urgent first, grouped by server and release.

use askama::Template;

use super::{
    html::Html,
    piece::{Empty, Link, Note, Tab},
    sign::{Ballots, Level, Severities, Sign},
    when::When,
};

/// The queue.
#[derive(Template)]
#[template(path = "queue.html")]
pub(crate) struct QueuePage {
    /// One sentence with what it means now.
    pub(crate) lead: String,
    pub(crate) notes: Vec<Note>,
    /// What waits, and what was decided.
    pub(crate) states: Vec<Tab>,
    /// Filters by reason, with counts.
    pub(crate) reasons: Vec<Tab>,
    /// Filters by pin set; empty when there is one.
    pub(crate) sets: Vec<Tab>,
    /// The other filters, which a search keeps.
    pub(crate) kept: Vec<(&'static str, String)>,
    /// What was searched for.
    pub(crate) search: String,
    pub(crate) groups: Vec<Group>,
    /// Instead of groups, when there are none.
    pub(crate) empty: Option<Empty>,
    /// The next page of the list.
    pub(crate) more: Option<Link>,
    /// When the counts were right.
    pub(crate) as_of: When,
}

/// The candidates of one release in one pin set.
pub(crate) struct Group {
    pub(crate) server: Html,
    pub(crate) href: String,
    /// Version and variant, or "no release".
    pub(crate) version: Html,
    /// What is common to all of them.
    pub(crate) about: Html,
    pub(crate) received: Option<When>,
    pub(crate) next: Option<Link>,
    pub(crate) rows: Vec<Row>,
}

/// One candidate.
pub(crate) struct Row {
    pub(crate) sign: Sign,
    /// What else applies: "also flagged".
    pub(crate) also: Option<String>,
    pub(crate) name: Html,
    /// Its page with the diff alone, which ends in the link to the decision.
    pub(crate) href: String,
    /// Its kind, where it isn't a tool.
    pub(crate) kind: Option<&'static str>,
    /// What is new, in one line.
    pub(crate) what: Html,
    pub(crate) findings: Severities,
    /// None for a sighting.
    pub(crate) level: Option<Level>,
    pub(crate) ballots: Ballots,
    pub(crate) waits: When,
}
