//! The first page: what needs someone now, and whether the rest is as it should be.

mod alerts;
mod pins;

use axum::{extract::State, response::Response};

use super::{
    candidate::record,
    label,
    pinsets::{good_for, waiting},
    signs,
};
use crate::{
    clock::Timestamp,
    review::Reason,
    service::{Moment, access::Principal},
    store::{Conn, ReasonCount, Stage, StoreError},
    ui::{
        around,
        dashboard::{DashboardPage, DecisionRow, Health, Line, SetRow},
        figure::{Count, count},
        frame::{Keys, Section},
        sign::Ballots,
        when,
    },
    web::{Problem, Reader, Web},
};

/// Decisions on the page; the log has all.
const DECISIONS: u32 = 8;

pub(super) async fn show(State(web): State<Web>, Reader(who): Reader) -> Result<Response, Problem> {
    let (moment, now) = (web.app().moment(), web.app().clock().now());
    let mut conn = web.app().reader().conn().await?;
    let counts = conn.candidate_counts().await?;
    let reasons = conn.queue_reasons(Stage::Pending).await?;
    let decisions = decisions(&mut conn, now).await?;
    let (signed, published) = (conn.log_head().await?.last_at, !conn.servers("", 1).await?.is_empty());
    drop(conn);
    let pins = pins::Pins::of(&moment, now);
    let alerts = alerts::alerts(&web, &moment, &reasons, now);
    let (headline, detail) = lead(alerts.len(), reasons.iter().map(|of| of.n).sum(), &moment);
    let sets = moment.state.sets().map(|set| SetRow {
        name: set.name().to_string(),
        href: format!("/pinsets/{}", set.name()),
        version: set.document().map_or(0, |document| document.version),
        good_for: good_for(&moment, set.name(), now),
        pins: Count(set.aliases().map(|(_, under)| under.pins().count() as u64).sum()),
        waiting: waiting(&counts, set.name()),
    });
    let page = DashboardPage {
        headline,
        detail,
        notes: Vec::new(),
        first_steps: alerts::first_steps(&web, &who, &moment, (published, decisions.is_empty())),
        sets: sets.collect(),
        waiting: Count(reasons.iter().map(|of| u64::try_from(of.n).unwrap_or(0)).sum()),
        waiting_note: "wait for a decision".to_owned(),
        reasons: lines(&reasons),
        decisions,
        health: health(&web, &moment, signed, now),
        ending: Count(pins.ending),
        ending_chart: pins.chart(),
        pins: Count(pins.all),
        pins_note: pins.note(),
        levels: pins.levels.clone(),
        denied: pins.denied(),
        alerts,
        as_of: when::clock(now, now),
    };
    let frame = around::frame(&web, &who, "Dashboard", Section::Dashboard, Keys::Few).await?;
    around::page(frame, page)
}

fn lead(alerts: usize, waiting: i64, moment: &Moment) -> (String, String) {
    let sets = count(moment.heads.len() as u64, "pin set", "pin sets");
    match alerts as u64 {
        0 if waiting > 0 => (
            match waiting {
                1 => "1 waits for reviewers.".to_owned(),
                n => format!("{n} wait for reviewers."),
            },
            format!("{sets} served under a fresh head."),
        ),
        0 => ("Nothing needs anyone now.".to_owned(), format!("{sets} served under a fresh head.")),
        1 => ("1 thing needs someone now".to_owned(), "Everything else is as it should be.".to_owned()),
        n => (format!("{n} things need someone now"), "Everything else is as it should be.".to_owned()),
    }
}

fn lines(reasons: &[ReasonCount]) -> Vec<Line> {
    let n = |reason: Reason| reasons.iter().filter(|of| of.reason == reason).map(|of| of.n).sum::<i64>();
    let line = |reason: Reason| {
        let sign = signs::of_reason(reason);
        (n(reason) > 0).then(|| Line { sign, words: sign.word().to_owned(), figure: n(reason).to_string() })
    };
    Reason::ALL.into_iter().filter_map(line).collect()
}

async fn decisions(conn: &mut Conn, now: Timestamp) -> Result<Vec<DecisionRow>, StoreError> {
    let mut rows = Vec::new();
    for decided in conn.last_decisions(DECISIONS).await? {
        let Some(of) = record(conn, decided.log_index).await? else { continue };
        let (given, needed) = match of.mode {
            crate::review::Mode::Solo => (1, 1),
            crate::review::Mode::Ballots { given, needed } => (given, needed),
        };
        rows.push(DecisionRow {
            sign: signs::of_outcome(decided.outcome),
            name: label::listed(of.qualified.as_ref().map_or(of.name.as_str(), |name| name.as_str())),
            href: format!("/decisions/{}", decided.sha256),
            set: of.pinset.to_string(),
            ballots: match of.mode {
                crate::review::Mode::Solo => Ballots::Solo { given: true },
                crate::review::Mode::Ballots { .. } => Ballots::Counted { given, needed },
            },
            at: when::minute(decided.at, now),
        });
    }
    Ok(rows)
}

fn health(web: &Web, moment: &Moment, signed: Timestamp, now: Timestamp) -> Vec<Health> {
    let line = |good: bool, what: String, figure: String| Health { good: Some(good), what, figure };
    let size = count(moment.checkpoint.size, "entry", "entries");
    let mut lines = vec![
        line(true, format!("Log, {size}"), format!("last {} ago", when::length(now.since(signed)))),
        match (web.app().read_only().is_some(), web.app().anchor_is_inside_data()) {
            (true, _) => line(false, "Read-only".to_owned(), "see above".to_owned()),
            (false, true) => Health {
                good: None,
                what: "Anchor inside the data directory".to_owned(),
                figure: "a restore of all of it is not noticed".to_owned(),
            },
            (false, false) => line(true, "Anchor apart from the data".to_owned(), "agrees".to_owned()),
        },
    ];
    for head in moment.heads.values() {
        let left = good_for(moment, &head.pinset, now);
        let waits = moment.released.get(&head.pinset) != Some(head);
        let ended = if waits { "waits for its witnesses" } else { "ran out" };
        let figure = left.as_ref().map_or(ended.to_owned(), |left| format!("good for {left}"));
        lines.push(line(left.is_some(), format!("Head of {}, v{}", head.pinset, head.version), figure));
    }
    let same = moment.state.registry().is_some_and(|registry| registry.ruleset == web.app().rules().sha256());
    let packs = count(web.app().rules().packs().len() as u64, "pack", "packs");
    lines.push(line(
        same,
        format!("Scanner, {packs}"),
        if same { "self-test passed" } else { "other rules than the log names" }.to_owned(),
    ));
    lines
}

/// Whether whoever looks is led to the queue.
fn reviews(who: &Principal) -> bool {
    who.may_see_reviews()
}
