//! A candidate's page: the same facts that its view is made of, and the digests that a ballot sends back.

mod done;
mod evidence;
mod history;
mod lead;
mod panel;
mod raw;

use axum::{extract::State, response::Response};
use serde::Deserialize;

use self::{history::Told, panel::Desk as Panel};
pub(super) use self::{history::record, lead::title, panel::lines};
use super::{label, neighbours, people::People};
use crate::{
    clock::Timestamp,
    descriptor::diff,
    review::CandidateId,
    service::{
        Moment,
        access::Principal,
        desk::{self, Desk},
    },
    ui::{
        around,
        candidate::{CandidatePage, Diff, Place},
        difftree::{DiffTree, Input, Node, View},
        explain,
        figure::Short,
        frame::{Keys, Section},
        name::name,
    },
    web::{Kind, Path, Problem, Query, ReviewReader, Web},
};

/// What the address asks for.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Asked {
    view: String,
    show: Option<String>,
    step: String,
    at: usize,
    done: Option<String>,
}

/// How the page is to be drawn, and what comes back on it.
#[derive(Debug, Default)]
pub(super) struct Look {
    pub(super) view: View,
    /// The object whose unchanged members are shown.
    pub(super) unfold: Option<String>,
    /// Whether the panel has its form.
    pub(super) deciding: bool,
    /// Where the raw view begins.
    pub(super) at: usize,
    /// What was typed.
    pub(super) reason: String,
    /// Findings that were ticked.
    pub(super) accepts: Vec<String>,
    /// What was wrong with the reason.
    pub(super) error: Option<String>,
}

/// All that is read before the page is drawn.
struct Known {
    desk: Desk,
    moment: std::sync::Arc<Moment>,
    people: People,
    may_review: bool,
    told: Told,
    next: Option<CandidateId>,
    now: Timestamp,
}

pub(super) async fn show(
    State(web): State<Web>,
    ReviewReader(who): ReviewReader,
    Path(id): Path<String>,
    Query(asked): Query<Asked>,
) -> Result<Response, Problem> {
    let (view, deciding) = (View::from_word(&asked.view), asked.step == "decide");
    let look = Look { view, unfold: asked.show, deciding, at: asked.at, ..Look::default() };
    let mut page = draw(&web, &who, &known(&id)?, look).await?;
    page.notes.extend(done::note(&web, asked.done.as_deref()).await?);
    respond(&web, &who, page).await
}

/// The id in an address.
pub(super) fn known(id: &str) -> Result<CandidateId, Problem> {
    id.parse().map_err(|_| Problem::new(Kind::CandidateNotFound))
}

/// The page in its frame.
pub(super) async fn respond(web: &Web, who: &Principal, page: CandidatePage) -> Result<Response, Problem> {
    let frame = around::frame(web, who, &page.title.clone(), Section::Queue, Keys::Candidate).await?;
    around::page(frame, page)
}

/// The page of a candidate as it is now.
pub(super) async fn draw(web: &Web, who: &Principal, id: &CandidateId, look: Look) -> Result<CandidatePage, Problem> {
    let desk = desk::desk(web.app(), id).await?.ok_or_else(|| Problem::new(Kind::CandidateNotFound))?;
    let mut conn = web.app().reader().conn().await?;
    let place = neighbours::place(&mut conn, &desk.candidate).await?;
    let known = Known {
        told: history::told(&mut conn, &desk).await?,
        next: neighbours::next(&mut conn, &desk.candidate.key(), id).await?.map(|row| row.id),
        moment: web.app().moment(),
        people: People::for_eyes_of(who, web.app()),
        may_review: who.may_review(),
        now: web.app().clock().now(),
        desk,
    };
    drop(conn);
    let drawn = tokio::task::spawn_blocking(move || page(&known, &look, place)).await;
    drawn.map_err(Problem::internal)?
}

fn page(known: &Known, look: &Look, place: Option<Place>) -> Result<CandidatePage, Problem> {
    let (desk, view) = (&known.desk, &known.desk.view);
    let address = neighbours::address(&desk.candidate.id);
    let diff = desk.base.as_ref().map(|base| diff::diff(&base.value(), &desk.descriptor.value()));
    let drawn = difference(desk, diff.as_ref(), look, &address)?;
    let node: Node<'_> = serde_json::from_slice(desk.descriptor.raw()).map_err(Problem::internal)?;
    let pending = desk.candidate.state == crate::store::Stage::Pending;
    let signs = lead::signs(desk);
    let panel = Panel { known, pending, changes: drawn.changes }.draw(look);
    let mut findings = explain::findings(&desk.report.findings, &node);
    for finding in &mut findings {
        finding.acceptable = panel.form.as_ref().is_some_and(|form| form.approve.is_ok() && !form.reopen);
        finding.accepted = look.accepts.contains(&finding.id);
    }
    Ok(CandidatePage {
        title: title(view),
        server: name(view.server.as_str()),
        server_href: format!("/servers/{}", view.server),
        version: label::version(view.evidence.version.as_str(), view.variant.as_str()),
        kind: label::kind(view.kind),
        name: lead::name(view),
        sign: signs.0,
        also: signs.1,
        set: view.pinset.to_string(),
        notes: lead::hindrances(known),
        bind: lead::bind(known),
        lead: lead::lead(known, diff.as_ref()),
        facts: lead::facts(known),
        sees: explain::sees(&node),
        findings_lead: lead::findings(&desk.report),
        findings,
        ruleset: Short::hash("rule set digest", desk.report.ruleset),
        evidence: evidence::chain(known),
        history: history::past(known),
        decision: panel,
        diff: drawn.diff,
        place,
        page: address,
    })
}

/// The descriptor in the view that was asked for, and how many places a reviewer has to have read.
struct Difference {
    diff: Diff,
    changes: usize,
}

fn difference(desk: &Desk, diff: Option<&diff::Diff>, look: &Look, address: &str) -> Result<Difference, Problem> {
    let labels = diff.map(explain::labels).unwrap_or_default();
    let tree = DiffTree::new(&Input {
        kind: desk.view.kind,
        old: desk.base.as_ref().map(crate::descriptor::Descriptor::raw),
        new: desk.descriptor.raw(),
        labels: &labels,
        hits: &explain::hits(&desk.report.findings),
        view: if desk.base.is_some() { look.view } else { View::Whole },
        unfold: look.unfold.as_deref(),
        page: address,
    })
    .map_err(Problem::internal)?;
    let changes = tree.changes();
    let raw = (look.view == View::Raw).then(|| raw::stretch(desk, look.at, address));
    let diff = Diff {
        headline: if diff.is_some() { "What changed" } else { "New: nothing to compare with" },
        summary: diff.map_or_else(|| "the whole descriptor".to_owned(), |diff| explain::summary(diff, changes)),
        view: if desk.base.is_none() && look.view == View::Changes { View::Whole } else { look.view },
        compared: desk.base.is_some(),
        tree: raw.is_none().then_some(tree),
        raw,
    };
    Ok(Difference { diff, changes })
}
