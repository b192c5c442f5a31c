//! One decision as it stands in the log: the record, who signed it, and how to take it back.

use askama::Template;

use super::{
    candidate::SignatureLine,
    figure::{Count, Short},
    html::Html,
    piece::{Link, Note},
    sign::Sign,
    when::When,
};

/// A decision.
#[derive(Template)]
#[template(path = "decision.html")]
pub(crate) struct DecisionPage {
    pub(crate) name: Html,
    pub(crate) server: Html,
    pub(crate) server_href: String,
    pub(crate) set: String,
    pub(crate) set_href: String,
    /// What was decided.
    pub(crate) outcome: Sign,
    /// "Approved by 2 of 2; gateways let this digest through until 29 May 2027."
    pub(crate) lead: Html,
    pub(crate) notes: Vec<Note>,
    pub(crate) digest: Short,
    /// "1.5.0, publisher key".
    pub(crate) digest_note: Html,
    pub(crate) log_index: Count,
    pub(crate) at: When,
    /// "2 of 2", "solo".
    pub(crate) mode: String,
    pub(crate) mode_note: String,
    /// "ends 8 May 2027", or by what it ended.
    pub(crate) ends: Html,
    pub(crate) lines: Vec<SignatureLine>,
    /// What stood with it: supersedes, base, findings, policy, rule set, view.
    pub(crate) particulars: Vec<(&'static str, Html)>,
    pub(crate) candidate: Link,
    /// The record as it is in the log.
    pub(crate) record: Html,
    /// The form that takes the pin back, for reviewers.
    pub(crate) revoke: Option<Revoke>,
}

/// Taking an approval back.
pub(crate) struct Revoke {
    pub(crate) action: String,
    /// Name, kind and digest of the pin.
    pub(crate) pin: Vec<(&'static str, String)>,
    /// What revoking does.
    pub(crate) will: Vec<Html>,
    pub(crate) reason: String,
    pub(crate) error: Option<String>,
}
