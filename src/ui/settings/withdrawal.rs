//! Taking an authority away: what it will do, since when, and why.

use std::collections::BTreeSet;

use askama::Template;
use axum::{extract::State, http::StatusCode, response::Response};
use serde::Deserialize;

use super::{Part, frame, governor, parts};
use crate::{
    clock::Timestamp,
    pinset::AuthorityState,
    review::ReasonText,
    service::{
        WriteError,
        access::Principal,
        govern::{self, Withdraw},
    },
    ui::{
        around::{page, page_as, see},
        figure::{Short, count},
        html::Html,
        name::name,
        piece::{Note, Tab},
        sentence,
        when::{self, When},
    },
    web::{Admin, Form, Kind, Path, Problem, Web},
};

/// Before an authority is taken away.
#[derive(Template)]
#[template(path = "settings/withdrawal.html")]
pub(crate) struct WithdrawalPage {
    pub(crate) parts: Vec<Tab>,
    pub(crate) notes: Vec<Note>,
    pub(crate) action: String,
    pub(crate) scope: Html,
    pub(crate) role: &'static str,
    pub(crate) key: Short,
    pub(crate) granted: When,
    /// Since when it is revoked, if it is.
    pub(crate) revoked: Option<When>,
    /// "14 releases".
    pub(crate) releases: String,
    /// The form, as it was sent.
    pub(crate) since: String,
    pub(crate) reason: String,
    pub(crate) since_error: Option<String>,
    pub(crate) reason_error: Option<String>,
}

/// What is sent.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::ui) struct Sent {
    /// Empty: from now on.
    #[serde(default)]
    since: String,
    #[serde(default)]
    reason: String,
}

/// What is wrong with each field, and with the whole.
#[derive(Default)]
struct Wrong {
    since: Option<String>,
    reason: Option<String>,
    note: Option<Note>,
}

/// `GET /settings/authorities/{id}`
pub(in crate::ui) async fn show(
    State(web): State<Web>,
    Admin(who): Admin,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    page(frame(&web, &who, "Revoke an authority").await?, body(&web, &id)?)
}

/// `POST /settings/authorities/{id}`
pub(in crate::ui) async fn revoke(
    State(web): State<Web>,
    Admin(who): Admin,
    Path(id): Path<String>,
    Form(sent): Form<Sent>,
) -> Result<Response, Problem> {
    let (since, reason) = match read(&sent) {
        Ok(read) => read,
        Err(wrong) => return again(&web, &who, &id, sent, *wrong).await,
    };
    let asked = Withdraw { authority: id.clone(), since, reason, by: governor(&who)? };
    match govern::withdraw(web.app(), asked).await {
        Ok(_) => Ok(see(&format!("/settings/authorities/{id}"))),
        Err(WriteError::Refused(refused)) => {
            let note = Note::refused(&sentence(&refused), Html::from("Nothing was changed."));
            again(&web, &who, &id, sent, Wrong { note: Some(note), ..Wrong::default() }).await
        }
        Err(e) => Err(e.into()),
    }
}

fn read(sent: &Sent) -> Result<(Option<Timestamp>, ReasonText), Box<Wrong>> {
    let since = moment(sent.since.trim()).ok_or_else(|| "Write it as 2026-11-30 09:20, in UTC.".to_owned());
    let reason = sent.reason.parse::<ReasonText>().map_err(|e| sentence(&e));
    match (since, reason) {
        (Ok(since), Ok(reason)) => Ok((since, reason)),
        (since, reason) => Err(Box::new(Wrong { since: since.err(), reason: reason.err(), note: None })),
    }
}

/// A moment as people write it: to the minute, or in full; nothing is "from now on".
fn moment(text: &str) -> Option<Option<Timestamp>> {
    if text.is_empty() {
        return Some(None);
    }
    let minute = text.replacen(' ', "T", 1);
    text.parse().or_else(|_| format!("{minute}:00.000000Z").parse()).ok().map(Some)
}

async fn again(web: &Web, who: &Principal, id: &str, sent: Sent, wrong: Wrong) -> Result<Response, Problem> {
    let body = WithdrawalPage {
        notes: wrong.note.into_iter().collect(),
        since: sent.since,
        reason: sent.reason,
        since_error: wrong.since,
        reason_error: wrong.reason,
        ..body(web, id)?
    };
    page_as(StatusCode::UNPROCESSABLE_ENTITY, frame(web, who, "Revoke an authority").await?, body)
}

fn body(web: &Web, id: &str) -> Result<WithdrawalPage, Problem> {
    let (moment, now) = (web.app().moment(), web.app().clock().now());
    let authority: &AuthorityState = moment.state.authority(id).ok_or_else(|| Problem::new(Kind::AuthorityNotFound))?;
    let by_it = moment.state.attestations().filter(|evidence| evidence.facts.authority == id);
    let releases: BTreeSet<&str> = by_it.map(|evidence| evidence.facts.release.as_str()).collect();
    Ok(WithdrawalPage {
        parts: parts(Part::Authorities, true),
        notes: Vec::new(),
        action: format!("/settings/authorities/{id}"),
        scope: name(&authority.facts.scope.to_string()),
        role: authority.facts.role.as_str(),
        key: Short::key(authority.facts.key.id().0),
        granted: when::date(authority.granted_at, now),
        revoked: authority.revoked.map(|at| when::minute(at, now)),
        releases: count(releases.len() as u64, "release", "releases"),
        since: String::new(),
        reason: String::new(),
        since_error: None,
        reason_error: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_written_to_the_minute_or_in_full_or_not_at_all() {
        let table = [
            ("", Some(None)),
            ("2026-11-30 09:20", Some(Some("2026-11-30T09:20:00.000000Z"))),
            ("2026-11-30T09:20", Some(Some("2026-11-30T09:20:00.000000Z"))),
            ("2026-11-30T09:20:01.500000Z", Some(Some("2026-11-30T09:20:01.500000Z"))),
            ("2026-11-30", None),
            ("yesterday", None),
        ];
        for (text, expected) in table {
            let found = moment(text).map(|at| at.map(|at| at.to_string()));
            assert_eq!(found, expected.map(|at| at.map(str::to_owned)), "{text}");
        }
    }
}
