//! What happened to a name in a set so far, and what was said about this candidate.

use super::Known;
use crate::{
    canon::Sha256,
    clock::Timestamp,
    event::{Event, Leaf},
    review::Decision,
    service::desk::Desk,
    store::{Candidate, Conn, Decided, StoreError},
    ui::{
        answer::{label, neighbours, signs},
        candidate::Past,
        html::{Html, html},
        when,
    },
};

/// What the tables tell, read before the page is drawn.
pub(super) struct Told {
    /// All candidates of the name, each with what was decided about it.
    named: Vec<(Candidate, Vec<Decided>)>,
    /// The record of the last decision about this candidate.
    pub(super) last: Option<Decision>,
    /// The reason of each reviewer's ballot that waits.
    pub(super) reasons: Vec<(crate::review::ReviewerId, String)>,
}

/// More is in the log.
const MAX_NAMED: usize = 12;

pub(super) async fn told(conn: &mut Conn, desk: &Desk) -> Result<Told, StoreError> {
    let row = &desk.candidate;
    let mut named = Vec::new();
    let all = conn.candidates_named(&row.pinset, &row.server, &row.variant, row.kind, &desk.view.name).await?;
    for candidate in all.into_iter().rev().take(MAX_NAMED) {
        let decided = conn.decisions(&candidate.id).await?;
        named.push((candidate, decided));
    }
    let mut reasons = Vec::new();
    for ballot in conn.ballots(&row.id).await? {
        if let Some(reason) = conn.reason(ballot.reason).await? {
            reasons.push((ballot.reviewer, reason.text));
        }
    }
    let last = match desk.decisions.last() {
        Some((decided, _)) => record(conn, decided.log_index).await?,
        None => None,
    };
    Ok(Told { named, last, reasons })
}

/// The record of a decision, from its leaf.
pub(in crate::ui::answer) async fn record(conn: &mut Conn, index: u64) -> Result<Option<Decision>, StoreError> {
    let Some(leaf) = conn.leaf(index).await? else { return Ok(None) };
    Ok(Leaf::parse(&leaf).ok().and_then(|leaf| match leaf.event() {
        Event::Decision(decision) => Some(decision.as_ref().clone()),
        _ => None,
    }))
}

/// The past of the name, newest first.
pub(super) fn past(known: &Known) -> Vec<Past> {
    let mut all: Vec<(Timestamp, crate::ui::sign::Sign, Html)> = Vec::new();
    for (candidate, decided) in &known.told.named {
        let this = candidate.id == known.desk.candidate.id;
        all.push((candidate.opened_at, signs::of_reason(candidate.reason), opened(known, candidate, this)));
        for decision in decided {
            all.push((decision.at, signs::of_outcome(decision.outcome), told_of(candidate, decision, this)));
        }
    }
    all.sort_by_key(|(at, ..)| std::cmp::Reverse(*at));
    all.into_iter().map(|(at, sign, what)| Past { at: when::minute(at, known.now), sign, what }).collect()
}

fn opened(known: &Known, candidate: &Candidate, this: bool) -> Html {
    let mut html = Html::new();
    match known.moment.state.evidence(&candidate.attestation) {
        Some(evidence) => {
            html.tag("Version ").html(&label::version(evidence.facts.version.as_str(), "")).tag(" attested: ")
        }
        None => html.tag("Attested: "),
    };
    html.html(&which(candidate, this)).tag(", opened as ").text(candidate.reason.as_str());
    html
}

fn told_of(candidate: &Candidate, decided: &Decided, this: bool) -> Html {
    let mut html = which(candidate, this);
    html.tag(" ").tag(signs::did(decided.outcome)).tag(" by ").text(&decided.mode);
    html.tag(". <a href=\"/decisions/").show(decided.sha256).tag("\">Decision</a>");
    html
}

fn which(candidate: &Candidate, this: bool) -> Html {
    if this {
        return "this digest".into();
    }
    let digest: Sha256 = candidate.digest;
    html!("<a class=\"mono\" href=\"", (neighbours::address(&candidate.id)), "\">", (label::short(digest)), "</a>")
}
