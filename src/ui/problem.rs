//! What a page says when something went wrong.

use askama::Template;

use super::{
    html::Html,
    piece::{Link, Tone},
};

/// A page for one problem.
#[derive(Template)]
#[template(path = "problem.html")]
pub(crate) struct ProblemPage {
    pub(crate) status: u16,
    /// What happened.
    pub(crate) headline: String,
    /// What was not done.
    pub(crate) detail: Html,
    pub(crate) tone: Tone,
    /// The stable slug, for those who look it up.
    pub(crate) slug: Option<&'static str>,
    /// For a 5xx: what the operator finds it by.
    pub(crate) request: Option<String>,
    pub(crate) next: Vec<Link>,
}

impl ProblemPage {
    const fn class(&self) -> &'static str {
        match self.tone {
            Tone::Bad => "bad",
            Tone::Warn => "warn",
            Tone::Plain => "",
        }
    }

    const fn symbol(&self) -> &'static str {
        match self.status {
            500.. => "incomplete",
            404 | 410 => "unknown",
            _ => "rejected",
        }
    }

    fn icon(&self) -> Html {
        super::symbol::icon(self.symbol())
    }
}
