//! One version of a pin set, as its document says.

use askama::Template;

use super::{
    figure::{Count, Short},
    html::Html,
    piece::Link,
    when::When,
};

/// A version.
#[derive(Template)]
#[template(path = "version.html")]
pub(crate) struct VersionPage {
    pub(crate) set: String,
    pub(crate) version: Count,
    pub(crate) lead: String,
    pub(crate) digest: Short,
    pub(crate) issued: When,
    pub(crate) log_index: Option<Count>,
    pub(crate) policy: Short,
    pub(crate) ruleset: Short,
    pub(crate) document: Link,
    pub(crate) previous: Option<Link>,
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
    pub(crate) document: Link,
}
