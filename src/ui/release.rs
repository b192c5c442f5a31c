//! One release: what was attested, by whom, and how each entry stands.

use askama::Template;

use super::{
    figure::{Count, Short},
    html::Html,
    piece::{Link, Note},
    server::Listing,
    sign::Level,
    when::When,
};

/// A release.
#[derive(Template)]
#[template(path = "release.html")]
pub(crate) struct ReleasePage {
    pub(crate) server: Html,
    pub(crate) server_href: String,
    pub(crate) version: Html,
    pub(crate) lead: String,
    pub(crate) notes: Vec<Note>,
    pub(crate) says: Option<Html>,
    pub(crate) received: When,
    pub(crate) log_index: Count,
    pub(crate) role: &'static str,
    pub(crate) id: String,
    /// The document as it was submitted.
    pub(crate) document: Link,
    /// Endpoints and packages that the evidence names.
    pub(crate) backends: Vec<Html>,
    pub(crate) attestations: Vec<AttestationRow>,
    pub(crate) listing: Listing,
}

/// An attestation over the release.
pub(crate) struct AttestationRow {
    pub(crate) level: Level,
    pub(crate) signer: Short,
    pub(crate) authority: Html,
    pub(crate) received: When,
    pub(crate) log_index: Count,
    pub(crate) document: Link,
}
