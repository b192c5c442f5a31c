//! A server with its releases and descriptors, and the list of all servers.

use askama::Template;

use super::{
    figure::{Count, Short},
    html::Html,
    piece::{Empty, Link, Note, Tab},
    sign::{Level, Severities, Sign},
    when::When,
};

/// All servers.
#[derive(Template)]
#[template(path = "servers.html")]
pub(crate) struct ServersPage {
    pub(crate) lead: String,
    pub(crate) search: String,
    pub(crate) rows: Vec<ServerRow>,
    pub(crate) empty: Option<Empty>,
    pub(crate) more: Option<Link>,
}

/// One of them.
pub(crate) struct ServerRow {
    pub(crate) name: Html,
    pub(crate) href: String,
    /// What its newest release says of itself, as text.
    pub(crate) says: Option<Html>,
    pub(crate) version: Html,
    pub(crate) received: When,
    pub(crate) level: Level,
    /// Set and alias, as `default: notes`.
    pub(crate) aliases: Vec<String>,
    pub(crate) pins: Count,
    pub(crate) waiting: Count,
}

/// One server.
#[derive(Template)]
#[template(path = "server.html")]
pub(crate) struct ServerPage {
    pub(crate) name: Html,
    pub(crate) lead: String,
    pub(crate) notes: Vec<Note>,
    /// What `serverInfo` claims; display data only.
    pub(crate) says: Option<Html>,
    /// "1.5.0" and when it was received.
    pub(crate) newest: Html,
    pub(crate) newest_note: Html,
    pub(crate) level: Level,
    pub(crate) level_note: Html,
    /// Who may speak for it.
    pub(crate) authority: Html,
    pub(crate) authority_note: String,
    pub(crate) aliases: Vec<AliasRow>,
    /// Binding an alias, for reviewers: where the form goes, the sets without one, and what was wrong.
    pub(crate) bind: Option<Bind>,
    pub(crate) listing: Listing,
    pub(crate) releases: Vec<ReleaseRow>,
    pub(crate) releases_more: Option<Link>,
}

/// What a release lists, as it stands in a set.
pub(crate) struct Listing {
    pub(crate) headline: &'static str,
    pub(crate) total: Count,
    /// Sets to look at the descriptors in.
    pub(crate) sets: Vec<Tab>,
    pub(crate) set: String,
    pub(crate) rows: Vec<DescriptorRow>,
    pub(crate) before: Option<Link>,
    pub(crate) more: Option<Link>,
    pub(crate) unpinnable: Vec<Unpinnable>,
}

/// Under which name a set knows it.
pub(crate) struct AliasRow {
    pub(crate) set: String,
    pub(crate) href: String,
    pub(crate) alias: String,
}

/// The form that binds an alias.
pub(crate) struct Bind {
    pub(crate) action: String,
    pub(crate) sets: Vec<String>,
    pub(crate) alias: String,
    /// The candidate that waits for it.
    pub(crate) candidate: Option<String>,
    pub(crate) error: Option<String>,
}

/// A descriptor of a release.
pub(crate) struct DescriptorRow {
    pub(crate) name: Html,
    pub(crate) href: Option<String>,
    pub(crate) kind: &'static str,
    pub(crate) sign: Sign,
    /// Its description, cut, as text.
    pub(crate) says: Html,
    pub(crate) digest: Short,
    /// None where they aren't for whoever looks.
    pub(crate) findings: Option<Severities>,
    pub(crate) next: Option<Link>,
}

/// A descriptor that can't be pinned, with code and path.
pub(crate) struct Unpinnable {
    pub(crate) name: Html,
    pub(crate) code: String,
    pub(crate) pointer: Html,
    pub(crate) why: String,
}

/// A release.
pub(crate) struct ReleaseRow {
    pub(crate) href: String,
    pub(crate) version: Html,
    pub(crate) role: &'static str,
    pub(crate) level: Level,
    pub(crate) signer: Short,
    pub(crate) descriptors: Count,
    pub(crate) received: When,
    pub(crate) log_index: Count,
}
