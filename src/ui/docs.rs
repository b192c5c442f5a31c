//! A short reference: what the states mean, what a gateway checks, what the API is.

use askama::Template;
use axum::{extract::State, response::Response};

use super::{
    around::{frame_apart, page},
    sign::{Action, Level, Severity, Sign},
};
use crate::{
    api,
    web::{Problem, Web, Who},
};

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

/// `GET /docs`
pub(super) async fn docs(State(web): State<Web>, Who(who): Who) -> Result<Response, Problem> {
    let call =
        |call: api::Call| Call { method: call.method.to_owned(), path: call.path, who: call.who, what: call.what };
    let public_url = web.settings().public_url.as_str().to_owned();
    let body = DocsPage { public_url, calls: api::calls().into_iter().map(call).collect() };
    page(frame_apart(&web, &who, "What this is and isn’t").await?, body)
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
