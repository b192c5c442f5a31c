//! The versions of a pin set, newest first, each with what it changed.

use axum::{extract::State, response::Response};
use serde::Deserialize;

use super::{changes, label};
use crate::{
    clock::Timestamp,
    name::SetName,
    pinset::changes::Incomparable,
    service::history::{self, History, Reach},
    store::SetVersion,
    ui::{
        around,
        figure::{Count, Short},
        frame::{Keys, Section},
        html::{Html, html},
        piece::Link,
        version::{VersionRow, VersionsPage},
        when,
    },
    web::{Kind, Path, Problem, Query, Reader, Web},
};

/// Versions on one page.
const ROWS: u32 = 20;
/// Bytes of pins documents that one page of the list reads: sets of thousands of pins change by a few at a time.
const BUDGET: u64 = 32 << 20;
/// Entries that a row names one by one.
const NAMED: usize = 3;

/// What the address asks for.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Asked {
    /// Versions with a lower number.
    before: Option<u64>,
}

pub(super) async fn show(
    State(web): State<Web>,
    Reader(who): Reader,
    Path(set): Path<String>,
    Query(asked): Query<Asked>,
) -> Result<Response, Problem> {
    let set: SetName = set.parse().map_err(|_| Problem::new(Kind::PinsetNotFound))?;
    let known = web.app().moment().state.set(&set).and_then(|set| set.document().map(|document| document.version));
    let newest = known.ok_or_else(|| Problem::new(Kind::PinsetNotFound))?;
    let before = asked.before.unwrap_or(u64::MAX >> 1);
    // One more than is shown: the last one shown is compared with it.
    let rows = web.app().reader().conn().await?.set_versions(&set, before, ROWS + 1).await?;
    let shown = rows.len().min(ROWS as usize);
    let more = rows.len() > shown;
    let history = history::load(web.app(), rows, Reach::of_bytes(BUDGET)).await?;
    let now = web.app().clock().now();
    let rows: Vec<VersionRow> = (0..shown).filter_map(|place| row(&set, &history, place, now)).collect();
    let href = |before: u64| format!("/pinsets/{set}/versions?before={before}");
    let page = VersionsPage {
        lead: format!("{} so far, each as gateways got it. The log says which entry published it.", Count(newest)),
        newer: asked.before.map(|_| Link { href: format!("/pinsets/{set}/versions"), words: "Newest".to_owned() }),
        older: rows
            .last()
            .filter(|_| more)
            .map(|last| Link { href: href(last.version.0), words: "Older versions".to_owned() }),
        rows,
        set: set.to_string(),
    };
    let frame = around::frame(&web, &who, &format!("Versions of {set}"), Section::Pinsets, Keys::List).await?;
    around::page(frame, page)
}

fn row(set: &SetName, history: &History, place: usize, now: Timestamp) -> Option<VersionRow> {
    let row = history.row(place)?;
    let before = history.row(place + 1);
    let (changed, entries) = match (before, history.between(place + 1, place)) {
        (None, _) => ("the first: nothing before it".into(), Html::new()),
        (Some(_), Some(Ok(changes))) => (changes::line(&changes), entries(&changes)),
        (Some(before), why) => {
            (unknown(why.is_some_and(|why| why != Err(Incomparable::OtherSet))), between(before, row))
        }
    };
    Some(VersionRow {
        version: Count(row.version),
        href: format!("/pinsets/{set}/versions/{}", row.set_sha256),
        issued: when::minute(row.issued, now),
        changed,
        entries,
        digest: Short::hash("set digest", row.set_sha256),
        log_index: Count(row.log_index),
    })
}

/// The documents are there and too many, or aren't.
fn unknown(there: bool) -> Html {
    let words = if there {
        "too much for a list; its page says it"
    } else {
        "not kept, and the log is too long to make it again here"
    };
    html!("<span class=\"mut\">", (words), "</span>")
}

/// The entries that pins and denials name; where there are none, those between the two versions.
fn entries(changes: &[crate::pinset::changes::Change<'_>]) -> Html {
    let all = changes::entries(changes);
    let mut html = Html::new();
    for (n, index) in all.iter().take(NAMED).enumerate() {
        html.tag(if n > 0 { ", " } else { "" })
            .html(&label::link(&format!("/log/entries/{index}"), &Count(*index).to_string()));
    }
    if all.len() > NAMED {
        html.tag(" and ").show(Count((all.len() - NAMED) as u64)).tag(" more");
    }
    html
}

fn between(before: &SetVersion, row: &SetVersion) -> Html {
    html!("after ", [label::entry(before.log_index)], ", before ", (Count(row.log_index)))
}
