//! Who publishes: namespaces, with the keys and identities that may speak for them.

use askama::Template;

use super::{
    figure::{Count, Short},
    html::Html,
    piece::Empty,
    sign::Level,
    when::When,
};

/// All namespaces with an authority or a release.
#[derive(Template)]
#[template(path = "publishers.html")]
pub(crate) struct PublishersPage {
    pub(crate) lead: String,
    pub(crate) publishers: Vec<Publisher>,
    pub(crate) empty: Option<Empty>,
}

/// One namespace.
pub(crate) struct Publisher {
    pub(crate) namespace: Html,
    /// "2 servers, 14 releases".
    pub(crate) about: String,
    pub(crate) signers: Vec<SignerRow>,
}

/// One key or identity that speaks for it.
pub(crate) struct SignerRow {
    pub(crate) key: Short,
    pub(crate) role: &'static str,
    pub(crate) level: Level,
    pub(crate) proof: String,
    pub(crate) generation: u32,
    pub(crate) since: When,
    pub(crate) revoked: Option<When>,
    pub(crate) releases: Count,
}
