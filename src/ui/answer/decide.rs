//! A vote comes in from a candidate's page. What the service refuses comes back on the same page, as it is now, with
//! everything that was typed.

use axum::{
    extract::State,
    http::StatusCode,
    response::{IntoResponse as _, Response},
};

use super::{
    candidate::{self, Look, known},
    form::{Fields, reason},
    neighbours,
};
use crate::{
    canon::Digest,
    review::{CandidateId, Outcome, Shown},
    service::{
        WriteError,
        access::Principal,
        desk::{self, Vote},
    },
    store::StoreError,
    ui::{
        around,
        html::{Html, html},
        piece::{Link, Note, Tone},
    },
    web::{Form, Kind, Path, Problem, Reviewer, Web, Who},
};

/// What was sent.
struct Sent {
    outcome: Outcome,
    reason: String,
    shown: Shown,
    accepts: Vec<String>,
    read: bool,
}

pub(super) async fn vote(
    State(web): State<Web>,
    Who(who): Who,
    reviewer: Reviewer,
    Path(id): Path<String>,
    Form(fields): Form<Vec<(String, String)>>,
) -> Result<Response, Problem> {
    let (id, sent) = (known(&id)?, Sent::read(Fields::new(fields))?);
    if sent.outcome == Outcome::Approve && !sent.read {
        let unread =
            Problem::new(Kind::NotRead).detail("Tick the box that says you read it: approving needs your word.");
        return again(&web, &who, &id, &sent, unread, None).await;
    }
    let reason = match reason(&sent.reason) {
        Ok(reason) => reason,
        Err(problem) => return again(&web, &who, &id, &sent, problem, None).await,
    };
    let vote = Vote {
        candidate: id.clone(),
        outcome: sent.outcome,
        reason,
        shown: sent.shown.clone(),
        accepts: sent.accepts.clone(),
        reviewer: reviewer.id,
        account: reviewer.account,
    };
    match desk::vote(web.app(), vote).await {
        Ok(_) => Ok(next(&web, &id).await?),
        Err(WriteError::Refused(desk::Refused::ViewChanged(now))) => {
            let changed = Problem::from(desk::Refused::ViewChanged(now.clone()));
            again(&web, &who, &id, &sent, changed, Some(*now)).await
        }
        Err(refused) => again(&web, &who, &id, &sent, refused.into(), None).await,
    }
}

/// To the next one that waits, or to the queue; either says what came of this one.
async fn next(web: &Web, id: &CandidateId) -> Result<Response, StoreError> {
    let mut conn = web.app().reader().conn().await?;
    let Some(row) = conn.candidate(id).await? else { return Ok(around::see("/queue")) };
    let to = match neighbours::next(&mut conn, &row.key(), id).await? {
        Some(next) => next.id,
        None => id.clone(),
    };
    Ok(around::see(&format!("{}?done={id}", neighbours::address(&to))))
}

/// The page as it is now, with what was refused, why, and what was typed.
async fn again(
    web: &Web,
    who: &Principal,
    id: &CandidateId,
    sent: &Sent,
    problem: Problem,
    now: Option<Shown>,
) -> Result<Response, Problem> {
    let status = problem.kind().status();
    let typed = problem.kind() == Kind::ReasonMalformed;
    if status.is_server_error() || problem.kind() == Kind::CandidateNotFound {
        return Err(problem);
    }
    let detail = problem.says().unwrap_or_default().to_owned();
    let look = Look {
        deciding: true,
        reason: sent.reason.clone(),
        accepts: sent.accepts.clone(),
        error: typed.then(|| sentence(&detail)),
        ..Look::default()
    };
    let mut page = candidate::draw(web, who, id, look).await?;
    page.notes.insert(0, note(id, &problem, &detail, now.map(|now| differences(&sent.shown, &now))));
    let mut response = candidate::respond(web, who, page).await?;
    *response.status_mut() = if status == StatusCode::OK { StatusCode::CONFLICT } else { status };
    Ok(response.into_response())
}

fn note(id: &CandidateId, problem: &Problem, detail: &str, changed: Option<Html>) -> Note {
    let address = neighbours::address(id);
    let (headline, detail, words) = match changed {
        Some(what) => (
            "What you were shown has changed since. Nothing was recorded.",
            html!([what], " Your reason is kept below. Read what is here now, then decide."),
            "Read it as it is now",
        ),
        None if problem.kind() == Kind::AliasUnbound => (
            problem.kind().title(),
            "Nothing was recorded. Bind one below, then approve.".into(),
            "Back to the candidate",
        ),
        None => (
            problem.kind().title(),
            html!((sentence(detail)), " Nothing was recorded; your reason is kept below."),
            "Back to the candidate",
        ),
    };
    let link = Some(Link { href: address, words: words.to_owned() });
    Note { tone: Tone::Bad, symbol: "rejected", headline: headline.to_owned(), detail, link, alert: true }
}

/// Which parts of the view moved between two looks at it.
fn differences(before: &Shown, now: &Shown) -> Html {
    let parts = [
        (before.digest != now.digest, "the descriptor is another one"),
        (before.base != now.base, "another digest is approved under the name now, so the comparison is another one"),
        (before.findings != now.findings, "the scanner’s findings are others"),
        (before.ruleset != now.ruleset, "the scanner’s rules are others"),
        (before.policy != now.policy, "the set’s policy is another one"),
    ];
    let mut told: Vec<&str> = parts.into_iter().filter_map(|(moved, words)| moved.then_some(words)).collect();
    if told.is_empty() {
        told.push("its alias, its reasons, its evidence, or how many must agree is otherwise");
    }
    html!("What moved: ", (told.join("; ")), ".")
}

fn sentence(text: &str) -> String {
    crate::ui::sentence(&text)
}

impl Sent {
    fn read(mut fields: Fields) -> Result<Self, Problem> {
        let outcome = match fields.one("outcome")?.as_str() {
            "approve" => Outcome::Approve,
            "reject" => Outcome::Reject,
            "reopen" => Outcome::Reopen,
            _ => return Err(Problem::new(Kind::FormMalformed).detail("`outcome` is none that a reviewer can want")),
        };
        let base = fields.one("base")?;
        let base: Option<Digest> = match base.as_str() {
            "" => None,
            text => Some(text.parse().map_err(|e| Problem::new(Kind::FormMalformed).detail(format!("`base`: {e}")))?),
        };
        let shown = Shown {
            view: fields.parsed("view")?,
            digest: fields.parsed("digest")?,
            base,
            findings: fields.parsed("findings")?,
            ruleset: fields.parsed("ruleset")?,
            policy: fields.parsed("policy")?,
        };
        let (reason, accepts) = (fields.one("reason")?, fields.all("accept"));
        let read = fields.optional("read")?.is_some();
        fields.done()?;
        Ok(Self { outcome, reason, shown, accepts, read })
    }
}
