//! A decision as it stands in the log. Readers see the record; names and reasons are for those who review.

use axum::{extract::State, http::StatusCode, response::Response};

use super::{
    candidate::{lines, record},
    label, neighbours,
    people::People,
    pinned::Standing,
    signs,
};
use crate::{
    canon::Sha256,
    clock::Timestamp,
    review::{Decision, Outcome},
    service::access::Principal,
    store::Decided,
    ui::{
        around,
        decision::{DecisionPage, Revoke},
        figure::{Count, Short, count},
        frame::{Keys, Section},
        html::{Html, html},
        name::name,
        piece::{Link, Note},
        sign::Level,
        text, when,
    },
    web::{Kind, Path, Problem, Reader, Web},
};

/// What comes back when revoking was refused.
#[derive(Default)]
pub(super) struct Again {
    pub(super) reason: String,
    pub(super) error: Option<String>,
    pub(super) note: Option<Note>,
}

pub(super) async fn show(
    State(web): State<Web>,
    Reader(who): Reader,
    Path(sha256): Path<String>,
) -> Result<Response, Problem> {
    let sha256: Sha256 = sha256.parse().map_err(|_| Problem::new(Kind::NotFound))?;
    respond(&web, &who, sha256, Again::default(), StatusCode::OK).await
}

pub(super) async fn respond(
    web: &Web,
    who: &Principal,
    sha256: Sha256,
    again: Again,
    status: StatusCode,
) -> Result<Response, Problem> {
    let mut conn = web.app().reader().conn().await?;
    let decided = conn.decision(sha256).await?.ok_or_else(|| Problem::new(Kind::NotFound))?;
    let of =
        record(&mut conn, decided.log_index).await?.ok_or_else(|| Problem::internal("a decision without its leaf"))?;
    let reason = conn.reason(decided.reason).await?.map(|reason| reason.text);
    let leaf = conn.leaf(decided.log_index).await?.unwrap_or_default();
    drop(conn);
    let page = page(web, who, &Known { decided, record: of, reason, leaf }, again);
    let title = format!("Decision {}", label::short(sha256));
    let frame = around::frame(web, who, &title, Section::Pinsets, Keys::Few).await?;
    around::page_as(status, frame, page)
}

struct Known {
    decided: Decided,
    record: Decision,
    reason: Option<String>,
    leaf: Vec<u8>,
}

fn page(web: &Web, who: &Principal, known: &Known, again: Again) -> DecisionPage {
    let (now, people) = (web.app().clock().now(), People::for_eyes_of(who, web.app()));
    let Known { decided, record, reason, leaf } = known;
    let said = reason.as_deref().filter(|_| who.may_see_reviews()).unwrap_or("The reason is for reviewers to read.");
    let qualified = record.qualified.as_ref().map_or(record.name.as_str(), |name| name.as_str());
    let version = web.app().moment().state.evidence(&record.attestation).map(|e| e.facts.version.to_string());
    let standing = standing(web, decided, record, now);
    let mut digest_note = label::version(&version.unwrap_or_default(), record.variant.as_str());
    digest_note.tag(", ").text(&Level::from(record.level).word().to_lowercase());
    DecisionPage {
        name: label::listed(qualified),
        server: name(record.server.as_str()),
        server_href: format!("/servers/{}", record.server),
        set: record.pinset.to_string(),
        set_href: format!("/pinsets/{}", record.pinset),
        outcome: signs::of_outcome(record.outcome),
        lead: lead(record, standing, now),
        notes: again.note.clone().into_iter().collect(),
        digest: Short::digest(record.digest()),
        digest_note,
        log_index: Count(decided.log_index),
        at: when::minute(decided.at, now),
        mode: decided.mode.clone(),
        mode_note: mode_note(record),
        ends: ends(record, standing, now),
        lines: lines(record, said, &people, now),
        particulars: particulars(record, now),
        candidate: candidate(record, who),
        record: text::block(&String::from_utf8_lossy(leaf), &[]),
        revoke: revoke(web, who, decided, record, again),
    }
}

/// What became of the pin that an approval made.
fn standing(web: &Web, decided: &Decided, record: &Decision, now: Timestamp) -> Standing {
    let moment = web.app().moment();
    let under = moment.state.set(&record.pinset).zip(record.alias.as_ref());
    let pins = under.and_then(|(set, alias)| set.alias(alias)).into_iter().flat_map(|under| under.pins());
    Standing::of_decision(decided.sha256, pins, now)
}

/// When the decision ends, or by what it did.
fn ends(record: &Decision, standing: Standing, now: Timestamp) -> Html {
    match (record.outcome, record.not_after, standing) {
        (Outcome::Approve, _, Standing::Ended) => "ended by a later decision".into(),
        (_, Some(end), _) => {
            let mut html = Html::from(if standing == Standing::Expired { "ended " } else { "ends " });
            html.safe(&when::date(end, now));
            html
        }
        (_, None, _) => "ends only by another decision".into(),
    }
}

fn lead(record: &Decision, standing: Standing, now: Timestamp) -> Html {
    match (record.outcome, record.not_after) {
        (Outcome::Approve, _) if standing == Standing::Ended => html!(
            "<b>Approved, and ended by a later decision</b> under this name. Gateways do not let the digest through because \
             of this one any more."
        ),
        (Outcome::Approve, _) if standing == Standing::Expired => {
            html!("<b>Approved, and expired.</b> Gateways do not let the digest through any more.")
        }
        (Outcome::Approve, Some(ends)) => {
            let mut html = html!("<b>Approved.</b> Gateways let exactly this digest through until ");
            html.safe(&when::date(ends, now)).tag(", unless a later decision says otherwise.");
            html
        }
        (Outcome::Approve, None) => "Approved.".into(),
        (Outcome::Reject, _) => html!("<b>Rejected.</b> Gateways block exactly this digest."),
        (Outcome::Revoke, _) => html!("<b>Revoked.</b> The pin was taken back; gateways block exactly this digest."),
        (Outcome::Reopen, _) => {
            html!("<b>Reopened.</b> The digest waits for a decision again, and stays denied until an approval.")
        }
    }
}

fn mode_note(record: &Decision) -> String {
    match record.mode {
        crate::review::Mode::Solo => "one reviewer decides alone in this set".to_owned(),
        crate::review::Mode::Ballots { .. } => "ballots of one and the same view".to_owned(),
    }
}

fn particulars(record: &Decision, now: Timestamp) -> Vec<(&'static str, Html)> {
    let hash = |what, sha256| {
        let mut html = Html::new();
        html.safe(&Short::hash(what, sha256));
        html
    };
    let mut rows = vec![
        ("Release", html!("<a href=\"/releases/", (&record.release), "\">", (&record.release), "</a>")),
        ("Attestation", hash("attestation", record.attestation)),
    ];
    if let Some(base) = record.base {
        let mut html = Html::new();
        html.safe(&Short::digest(base));
        rows.push(("Compared with", html));
    }
    for ended in &record.supersedes {
        let mut html = Html::new();
        html.safe(&Short::digest(ended.digest));
        match ended.until {
            Some(until) => html.tag(" goes on until ").safe(&when::minute(until, now)),
            None => html.tag(" ended at once"),
        };
        rows.push(("Supersedes", html));
    }
    rows.push((
        "Findings accepted",
        match record.accepted.len() as u64 {
            0 => "none".into(),
            n => count(n, "finding", "findings").as_str().into(),
        },
    ));
    rows.push(("Scan report", hash("scan report", record.findings)));
    rows.push(("Rule set", hash("rule set", record.ruleset)));
    rows.push(("Policy", hash("policy", record.policy)));
    rows
}

fn candidate(record: &Decision, who: &Principal) -> Link {
    let words = record.candidate.to_string();
    match who.may_see_reviews() {
        true => Link { href: neighbours::address(&record.candidate), words },
        false => Link { href: format!("/releases/{}", record.release), words: format!("{words}, in its release") },
    }
}

/// The form that takes the pin back, while this decision's pin is there and whoever looks may do it.
fn revoke(web: &Web, who: &Principal, decided: &Decided, record: &Decision, again: Again) -> Option<Revoke> {
    let (alias, qualified) = (record.alias.as_ref()?, record.qualified.as_ref()?);
    let moment = web.app().moment();
    let mut pins = moment.state.set(&record.pinset)?.alias(alias)?.pins();
    let here = pins.any(|pin| pin.approval.decision_sha256 == decided.sha256);
    (here && who.may_review()).then(|| Revoke {
        action: format!("/pinsets/{}/revocations", record.pinset),
        pin: vec![
            ("name", qualified.to_string()),
            ("kind", record.kind.to_string()),
            ("digest", record.digest().to_string()),
            ("decision", decided.sha256.to_string()),
        ],
        will: vec![
            html!(
                "deny <b>this digest</b> of ",
                [label::mono(qualified.as_str())],
                " in <b>",
                (&record.pinset),
                "</b>"
            ),
            "reach each gateway by the time its head runs out, at the latest".into(),
            "leave the name without an approved digest, unless another pin has one".into(),
            "be logged, for good".into(),
        ],
        reason: again.reason,
        error: again.error,
    })
}
