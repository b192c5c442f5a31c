//! The policy of a pin set, as TOML: what it says, and another one.

use askama::Template;
use axum::{extract::State, http::StatusCode, response::Response};
use serde::Deserialize;

use super::{Part, frame, governor, needs_quorum, parts};
use crate::{
    name::SetName,
    pinset::SetState,
    review::{HoldAt, Policy},
    service::{
        WriteError,
        access::Principal,
        govern::{self, Refused, SetPolicy},
    },
    ui::{
        around::{page, page_as, see},
        figure::Short,
        piece::{Note, Tab},
        sentence,
    },
    web::{Admin, Form, Kind, Problem, Query, Web},
};

/// A set's policy.
#[derive(Template)]
#[template(path = "settings/policy.html")]
pub(crate) struct PolicyPage {
    pub(crate) parts: Vec<Tab>,
    pub(crate) notes: Vec<Note>,
    pub(crate) sets: Vec<Tab>,
    pub(crate) set: String,
    /// Each rule in a sentence: name, value, what it does.
    pub(crate) rules: Vec<(&'static str, String, &'static str)>,
    pub(crate) digest: Short,
    /// The policy as TOML, to be edited.
    pub(crate) toml: String,
    pub(crate) error: Option<String>,
    /// How many ballots a change takes.
    pub(crate) quorum: u32,
}

/// Which pin set is asked for.
#[derive(Deserialize)]
pub(in crate::ui) struct Asked {
    #[serde(default)]
    set: String,
}

/// What is sent.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::ui) struct Sent {
    set: String,
    #[serde(default)]
    policy: String,
}

/// A policy has a dozen lines.
const MAX_POLICY: usize = 64 << 10;

/// `GET /settings/policy?set=SET`
pub(in crate::ui) async fn show(
    State(web): State<Web>,
    Admin(who): Admin,
    Query(Asked { set }): Query<Asked>,
) -> Result<Response, Problem> {
    let set = if set.is_empty() { "default" } else { &set };
    let body = body(&web, &named(set)?)?;
    page(frame(&web, &who, &format!("Policy of {set}")).await?, body)
}

/// `POST /settings/policy`
pub(in crate::ui) async fn set(
    State(web): State<Web>,
    Admin(who): Admin,
    Form(sent): Form<Sent>,
) -> Result<Response, Problem> {
    let pinset = named(&sent.set)?;
    let policy = match read(&sent.policy) {
        Ok(policy) => policy,
        Err(error) => return again(&web, &who, &pinset, sent, (Some(error), None)).await,
    };
    let asked = SetPolicy { pinset: pinset.clone(), policy, by: governor(&who)?, alone: false };
    match govern::set_policy(web.app(), asked).await {
        Ok(_) => Ok(see(&format!("/settings/policy?set={pinset}"))),
        Err(WriteError::Refused(refused)) => again(&web, &who, &pinset, sent, wrong(&refused, &pinset)).await,
        Err(e) => Err(e.into()),
    }
}

fn read(text: &str) -> Result<Policy, String> {
    if text.len() > MAX_POLICY {
        return Err(format!("A policy has at most {MAX_POLICY} bytes; this has {}.", text.len()));
    }
    // Forms send every line with a carriage return, which TOML takes.
    Policy::from_toml(text).map_err(|e| e.to_string())
}

/// What stands beside the field, and what above the page.
fn wrong(refused: &Refused, pinset: &SetName) -> (Option<String>, Option<Note>) {
    match refused {
        Refused::NeedsQuorum(quorum) => {
            let command = format!("countersign admin policy set {pinset} FILE.toml");
            (None, Some(needs_quorum(*quorum, &command)))
        }
        other => (Some(sentence(other)), None),
    }
}

fn named(set: &str) -> Result<SetName, Problem> {
    set.parse().map_err(|_| Problem::new(Kind::PinsetNotFound))
}

async fn again(
    web: &Web,
    who: &Principal,
    pinset: &SetName,
    sent: Sent,
    (error, note): (Option<String>, Option<Note>),
) -> Result<Response, Problem> {
    let notes = note.into_iter().collect();
    let body = PolicyPage { notes, toml: sent.policy, error, ..body(web, pinset)? };
    page_as(StatusCode::UNPROCESSABLE_ENTITY, frame(web, who, &format!("Policy of {pinset}")).await?, body)
}

fn body(web: &Web, pinset: &SetName) -> Result<PolicyPage, Problem> {
    let moment = web.app().moment();
    let set = moment.state.set(pinset).ok_or_else(|| Problem::new(Kind::PinsetNotFound))?;
    let tab = |set: &SetState| Tab {
        href: format!("/settings/policy?set={}", set.name()),
        words: set.name().to_string(),
        sign: None,
        count: None,
        current: set.name() == pinset,
    };
    Ok(PolicyPage {
        parts: parts(Part::Policy, true),
        notes: Vec::new(),
        sets: moment.state.sets().map(tab).collect(),
        set: pinset.to_string(),
        rules: rules(set.policy()),
        digest: Short::hash("policy digest", set.policy().sha256()),
        toml: written(set.policy())?,
        error: None,
        quorum: set.policy().quorum,
    })
}

/// As an operator would write it: without an empty table at the end.
fn written(policy: &Policy) -> Result<String, Problem> {
    let text = toml::to_string(policy).map_err(Problem::internal)?;
    Ok(text.trim_end().trim_end_matches("[severities]").trim_end().to_owned() + "\n")
}

fn rules(policy: &Policy) -> Vec<(&'static str, String, &'static str)> {
    let levels: Vec<&str> = policy.levels.iter().map(|level| level.as_str()).collect();
    let hold_at = match policy.hold_at {
        HoldAt::Never => "never".to_owned(),
        HoldAt::At(severity) => severity.to_string(),
    };
    let overrides = match policy.severities.len() {
        0 => "none".to_owned(),
        n => n.to_string(),
    };
    vec![
        ("quorum", policy.quorum.to_string(), "ballots that an approval takes"),
        (
            "quorum_risky",
            policy.quorum_risky.to_string(),
            "with a finding high or above, a capture, or a capability that grew",
        ),
        ("lifetime_days", policy.lifetime_days.to_string(), "after which an approval ends by itself"),
        ("overlap_hours", policy.overlap_hours.to_string(), "for which an old pin stays beside a newer one"),
        ("levels", levels.join(", "), "evidence that can be approved at all"),
        ("flag_at", policy.flag_at.to_string(), "findings from here block what is not approved"),
        ("hold_at", hold_at, "findings of newer rules from here hold what is approved"),
        ("solo", policy.solo.to_string(), "one reviewer decides alone, own submissions too"),
        ("severities", overrides, "single rules that count as more or less severe here"),
    ]
}
