//! The log's entries in words, newest first, and the way to one entry from a number, digest or id.

mod kinds;
mod sought;

use axum::{extract::State, response::Response};
use serde::Deserialize;

use self::{kinds::Kinds, sought::Sought};
use super::{entry::refers, people::People, signs, words};
use crate::{
    clock::Timestamp,
    event::{Event, Leaf},
    service::{Found, Moment},
    store::{Conn, StoreError},
    ui::{
        around,
        figure::{Count, Short, count},
        frame::{Keys, Section},
        log::{EntryRow, LogPage},
        piece::{Empty, Link, Note, Tone},
        when,
    },
    web::{Kind, Problem, Query, Reader, Web},
};

/// Entries on one page.
const ROWS: usize = 50;
/// Leaves read at a time while looking for a type, and how many times before the page shows what it has so far.
const PIECE: u64 = 500;
const PIECES: usize = 20;

/// What the address asks for.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Asked {
    r#type: String,
    /// Entries with a lower index.
    before: Option<u64>,
    /// A number, digest or id to go to.
    find: String,
}

/// A stretch of the log that was looked at.
struct Looked {
    found: Vec<(u64, Vec<u8>, Leaf)>,
    /// The first entry that was looked at.
    from: u64,
    /// Where to go on.
    next: Option<u64>,
}

pub(super) async fn show(
    State(web): State<Web>,
    Reader(who): Reader,
    Query(asked): Query<Asked>,
) -> Result<Response, Problem> {
    let (moment, now) = (web.app().moment(), web.app().clock().now());
    let missed = match asked.find.trim() {
        "" => None,
        text => match find(&web, &moment, text).await? {
            Ok(index) => return Ok(around::see(&format!("/log/entries/{index}"))),
            Err(why) => Some(why),
        },
    };
    let kinds = Kinds::of(&asked.r#type).ok_or_else(|| Problem::new(Kind::NotFound))?;
    let size = moment.checkpoint.size;
    let before = asked.before.unwrap_or(size).min(size);
    let mut conn = web.app().reader().conn().await?;
    let looked = look(&mut conn, &kinds, before).await?;
    let signed = conn.log_head().await?.last_at;
    drop(conn);
    let people = People::for_eyes_of(&who, web.app());
    let inside = web.app().anchor_is_inside_data();
    let page = LogPage {
        lead: "Everything that changed what anyone may trust, in one tree that only grows.".to_owned(),
        notes: missed.into_iter().collect(),
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
        types: kinds.tabs(|of| address(of, None)),
        find: asked.find.trim().to_owned(),
        empty: looked.found.is_empty().then(|| empty(&looked)),
        looked: if kinds.is_all() { None } else { Some(sentence(&looked, before)) },
        older: looked.next.map(|at| Link {
            href: address(kinds.name(), Some(at)),
            words: if kinds.is_all() { "Older entries" } else { "Look further back" }.to_owned(),
        }),
        newer: asked.before.map(|_| Link { href: address(kinds.name(), None), words: "Newest".to_owned() }),
        rows: looked.found.iter().map(|entry| row(entry, &moment, &people, now)).collect(),
    };
    let frame = around::frame(&web, &who, "Log", Section::Log, Keys::List).await?;
    around::page(frame, page)
}

/// The entry that somebody looks for, or what to tell them.
async fn find(web: &Web, moment: &Moment, text: &str) -> Result<Result<u64, Note>, Problem> {
    let (app, size) = (web.app(), moment.checkpoint.size);
    let missed = |headline: &str, detail: String| {
        let (headline, detail) = (headline.to_owned(), detail.as_str().into());
        Note { tone: Tone::Warn, symbol: "unknown", headline, detail, link: None, alert: true }
    };
    let nothing = || missed("Nothing in the log has this digest or id.", SEARCHED.to_owned());
    Ok(match Sought::parse(text) {
        Some(Sought::Index(index)) if index < size => Ok(index),
        Some(Sought::Index(index)) => {
            let last = size.saturating_sub(1);
            let headline = format!("There is no entry {} yet.", Count(index));
            Err(missed(&headline, format!("The newest is {}.", Count(last))))
        }
        Some(Sought::Release(id)) => app.find_release(&id).await?.ok_or_else(nothing),
        Some(Sought::Hash(sha256)) => match sought::decided(moment, sha256) {
            Some(index) => Ok(index),
            None => match app.find_hash(sha256).await? {
                Found::Entry(index) => Ok(index),
                Found::Nothing => Err(nothing()),
                Found::NothingSince(from) => Err(missed(
                    "Nothing was found, but not everything was looked at.",
                    format!("{SEARCHED} Hashes of leaves before entry {} were not compared.", Count(from)),
                )),
            },
        },
        None => Err(missed("That is neither a number nor a digest.", SEARCHED.to_owned())),
    })
}

const SEARCHED: &str = "Entries are found by their number, by the digest of a decision, an attestation, a version of a pin \
                        set, a pinned or denied descriptor or a leaf (64 hex digits), and by the id of a release (32).";

/// The newest entries of these kinds below an index.
async fn look(conn: &mut Conn, kinds: &Kinds, before: u64) -> Result<Looked, StoreError> {
    let (mut found, mut end) = (Vec::new(), before);
    for _ in 0..PIECES {
        let from = end.saturating_sub(PIECE);
        let leaves = conn.leaves(from, end).await?;
        for (bytes, index) in leaves.into_iter().rev().zip((from..end).rev()) {
            if found.len() == ROWS {
                return Ok(Looked { found, from: index + 1, next: Some(index + 1) });
            }
            let leaf =
                Leaf::parse(&bytes).map_err(|e| StoreError::Corrupt { table: "log_leaf", what: e.to_string() })?;
            if kinds.include(leaf.event().kind()) {
                found.push((index, bytes, leaf));
            }
        }
        if from == 0 {
            return Ok(Looked { found, from, next: None });
        }
        end = from;
    }
    Ok(Looked { found, from: end, next: Some(end) })
}

/// How far was looked for a type, which may not be the whole way.
fn sentence(looked: &Looked, before: u64) -> String {
    let found = count(looked.found.len() as u64, "entry", "entries");
    let range = format!("Entries {} to {} were looked at", Count(looked.from), Count(before.saturating_sub(1)));
    match looked.next {
        Some(_) => format!("{range}: {found} of this type. Older entries were not."),
        None => format!("{range}, the first of the log: {found} of this type."),
    }
}

fn empty(looked: &Looked) -> Empty {
    match looked.next {
        Some(next) => Empty {
            headline: "None of this type so far.".to_owned(),
            detail: format!("Nothing from entry {} on is one; older entries were not looked at.", Count(next)),
            link: None,
        },
        None => Empty {
            headline: "No entry of this type.".to_owned(),
            detail: "All entries up to here were looked at.".to_owned(),
            link: Some(Link { href: "/log".to_owned(), words: "All entries".to_owned() }),
        },
    }
}

fn row((index, bytes, leaf): &(u64, Vec<u8>, Leaf), moment: &Moment, people: &People, now: Timestamp) -> EntryRow {
    let event: &Event = leaf.event();
    EntryRow {
        index: Count(*index),
        at: when::minute(leaf.at(), now),
        kind: event.kind(),
        sign: signs::of_event(event),
        what: words::words(event, people),
        refers: refers(event, bytes, &moment.state),
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
