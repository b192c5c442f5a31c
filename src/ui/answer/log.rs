//! The log's entries in words, newest first.

use axum::{extract::State, response::Response};
use serde::Deserialize;

use super::{people::People, signs, words};
use crate::{
    clock::Timestamp,
    event::{Event, Leaf},
    store::{Conn, StoreError},
    ui::{
        around,
        figure::{Count, Short},
        frame::{Keys, Section},
        log::{EntryRow, LogPage},
        piece::{Link, Tab},
        when,
    },
    web::{Problem, Query, Reader, Web},
};

/// Entries on one page.
const ROWS: usize = 50;
/// Leaves read at a time while looking for a type, and how many times before the page shows what it has so far.
const PIECE: u64 = 500;
const PIECES: usize = 20;
/// Types worth a filter of their own.
const TYPES: [(&str, &str); 7] = [
    ("decision", "Decisions"),
    ("release-attested", "Releases"),
    ("alias-bound", "Aliases"),
    ("authority-granted", "Authorities"),
    ("policy-set", "Policies"),
    ("reviewer-set", "Reviewers"),
    ("pinset-published", "Versions"),
];

/// What the address asks for.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Asked {
    r#type: String,
    /// Entries with a lower index.
    before: Option<u64>,
}

pub(super) async fn show(
    State(web): State<Web>,
    Reader(who): Reader,
    Query(asked): Query<Asked>,
) -> Result<Response, Problem> {
    let (moment, now) = (web.app().moment(), web.app().clock().now());
    let size = moment.checkpoint.size;
    let before = asked.before.unwrap_or(size).min(size);
    let mut conn = web.app().reader().conn().await?;
    let (found, older) = find(&mut conn, &asked.r#type, before).await?;
    let signed = conn.log_head().await?.last_at;
    drop(conn);
    let people = People::for_eyes_of(&who, web.app());
    let tab = |value: &str, words: &str| Tab {
        href: address(value, None),
        words: words.to_owned(),
        sign: None,
        count: None,
        current: value == asked.r#type,
    };
    let inside = web.app().anchor_is_inside_data();
    let page = LogPage {
        lead: "Everything that changed what anyone may trust, in one tree that only grows.".to_owned(),
        notes: Vec::new(),
        origin: moment.checkpoint.origin.clone(),
        size: Count(size),
        root: Short::hash("root hash", moment.checkpoint.root),
        signed: when::minute(signed, now),
        anchor: if inside { "inside the data directory" } else { "apart from the data" }.to_owned(),
        anchor_note: if inside {
            "a restore of the whole directory is not noticed"
        } else {
            "a restored older database refuses to append"
        }
        .to_owned(),
        types: std::iter::once(("", "All")).chain(TYPES).map(|(value, words)| tab(value, words)).collect(),
        rows: found.iter().map(|(index, leaf)| row(*index, leaf, &people, now)).collect(),
        newer: asked.before.map(|_| Link { href: address(&asked.r#type, None), words: "Newest".to_owned() }),
        older: older.map(|at| Link { href: address(&asked.r#type, Some(at)), words: "Older entries".to_owned() }),
    };
    let frame = around::frame(&web, &who, "Log", Section::Log, Keys::List).await?;
    around::page(frame, page)
}

/// The newest entries of a type below an index, and where to go on.
async fn find(conn: &mut Conn, of: &str, before: u64) -> Result<(Vec<(u64, Leaf)>, Option<u64>), StoreError> {
    let (mut found, mut end) = (Vec::new(), before);
    for _ in 0..PIECES {
        let from = end.saturating_sub(PIECE);
        let leaves = conn.leaves(from, end).await?;
        for (bytes, index) in leaves.iter().rev().zip((from..end).rev()) {
            if found.len() == ROWS {
                return Ok((found, Some(index + 1)));
            }
            let leaf =
                Leaf::parse(bytes).map_err(|e| StoreError::Corrupt { table: "log_leaf", what: e.to_string() })?;
            if of.is_empty() || leaf.event().kind() == of {
                found.push((index, leaf));
            }
        }
        if from == 0 {
            return Ok((found, None));
        }
        end = from;
    }
    Ok((found, Some(end)))
}

fn row(index: u64, leaf: &Leaf, people: &People, now: Timestamp) -> EntryRow {
    let event: &Event = leaf.event();
    EntryRow {
        index: Count(index),
        at: when::minute(leaf.at(), now),
        kind: event.kind(),
        sign: signs::of_event(event),
        what: words::words(event, people),
    }
}

fn address(of: &str, before: Option<u64>) -> String {
    let parts = [
        (!of.is_empty()).then(|| format!("type={}", crate::ui::difftree::query(of))),
        before.map(|index| format!("before={index}")),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() { "/log".to_owned() } else { format!("/log?{}", parts.join("&")) }
}
