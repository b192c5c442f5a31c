//! A short reference: what the states mean, what a gateway checks, what the API is.

use askama::Template;

use super::sign::{Action, Level, Severity, Sign};

/// The reference page.
#[derive(Template)]
#[template(path = "docs.html")]
pub(crate) struct DocsPage {
    /// Where this registry is, for commands to copy.
    pub(crate) public_url: String,
    pub(crate) calls: Vec<Call>,
}

/// One call of the API.
pub(crate) struct Call {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) who: String,
    pub(crate) what: String,
}

impl DocsPage {
    /// Every sign with what a gateway does about it.
    fn signs(&self) -> Vec<(Sign, &'static str, &'static str)> {
        Sign::ALL
            .into_iter()
            .map(|sign| {
                let does = match sign {
                    Sign::Approved | Sign::Expiring => Action::Allow.word(),
                    Sign::Changed | Sign::Unknown | Sign::Expired => Action::Quarantine.word(),
                    Sign::Downgrade | Sign::SignerChange | Sign::EndpointChange | Sign::Renamed => "as the pin says",
                    _ => Action::Block.word(),
                };
                (sign, does, sign.meaning())
            })
            .collect()
    }
}
