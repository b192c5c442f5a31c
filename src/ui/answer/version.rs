//! A version of a pin set: what it says, and what is different from the one before or from any other.

use axum::{extract::State, response::Response};
use serde::Deserialize;

use super::changes;
use crate::{
    canon::Sha256,
    clock::Timestamp,
    name::SetName,
    pinset::changes::Incomparable,
    service::history::{self, History, Past, Reach},
    store::{Conn, SetVersion, StoreError},
    ui::{
        around,
        difftree::query,
        figure::{Count, Short, count},
        frame::{Keys, Section},
        html::{Html, html},
        name::name,
        piece::{Link, Note, Tone},
        text,
        version::{AliasRow, Differences, Kept, VersionPage},
        when,
    },
    web::{Kind, Path, Problem, Query, Reader, Web},
};

/// Differences on one page.
const ROWS: usize = 200;
/// Bytes of pins documents that a comparison reads: twice what 100,000 pins take.
const BUDGET: u64 = 256 << 20;

/// What the address asks for.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Asked {
    /// Another version to compare with: its digest or its number.
    against: String,
    /// The first difference.
    from: usize,
}

pub(super) async fn show(
    State(web): State<Web>,
    Reader(who): Reader,
    Path((set, sha256)): Path<(String, String)>,
    Query(asked): Query<Asked>,
) -> Result<Response, Problem> {
    let nothing = || Problem::new(Kind::NotFound);
    let set: SetName = set.parse().map_err(|_| Problem::new(Kind::PinsetNotFound))?;
    let sha256: Sha256 = sha256.parse().map_err(|_| nothing())?;
    let mut conn = web.app().reader().conn().await?;
    let row = conn.set_version_with(sha256).await?.filter(|row| row.pinset == set).ok_or_else(nothing)?;
    let before = conn.set_versions(&set, row.version, 1).await?.pop();
    let after = conn.set_version(&set, row.version + 1).await?;
    let other = match asked.against.trim() {
        "" => Ok(before.clone()),
        text => other(&mut conn, &set, text).await?.ok_or("That is no other version of this set.").map(Some),
    };
    drop(conn);
    let compared = other.clone().unwrap_or_default().filter(|other| other.version != row.version);
    let rows: Vec<SetVersion> = std::iter::once(row.clone()).chain(compared).collect();
    let history = history::load(web.app(), rows, Reach::of_bytes(BUDGET)).await?;
    let now = web.app().clock().now();
    let link = |row: SetVersion, words: &str| Link {
        href: format!("/pinsets/{set}/versions/{}", row.set_sha256),
        words: words.to_owned(),
    };
    let past = history.get(0);
    let page = VersionPage {
        version: Count(row.version),
        lead: lead(past),
        notes: note(past).into_iter().collect(),
        digest: Short::hash("set digest", sha256),
        issued: when::minute(row.issued, now),
        log_index: Count(row.log_index),
        document: past
            .filter(|past| !past.made_again)
            .map(|_| Link { href: format!("/v1/pinsets/{set}/sets/{sha256}"), words: "As published".to_owned() }),
        previous: before.map(|row| link(row, "the version before")),
        next: after.map(|row| link(row, "the version after")),
        differences: differences(&history, &asked, other.err(), now),
        kept: past.map(|past| kept(&set, past)),
        set: set.to_string(),
    };
    let title = format!("{set}, version {}", row.version);
    let frame = around::frame(&web, &who, &title, Section::Pinsets, Keys::Few).await?;
    around::page(frame, page)
}

/// Another version by its number or digest.
async fn other(conn: &mut Conn, set: &SetName, text: &str) -> Result<Option<SetVersion>, StoreError> {
    let digits = text.trim_start_matches('v').replace(',', "");
    if let Ok(version) = digits.parse() {
        return conn.set_version(set, version).await;
    }
    let hex = text.rsplit_once(':').map_or(text, |(_, hex)| hex);
    let Ok(sha256) = hex.parse() else { return Ok(None) };
    Ok(conn.set_version_with(sha256).await?.filter(|row| row.pinset == *set))
}

fn lead(past: Option<&Past>) -> String {
    match past {
        Some(past) => {
            let servers = count(past.document.aliases.len() as u64, "server", "servers");
            format!("What gateways got with this version: {servers}.")
        }
        None => "Published and in the log; its documents are not kept any more.".to_owned(),
    }
}

fn note(past: Option<&Past>) -> Option<Note> {
    let (headline, detail) = match past {
        Some(past) if past.made_again => (
            "Made again from the log.",
            "Documents are kept for 30 days after the last head that named them. This one was dropped since, and came out \
             of the log’s entries with the digest that the log published.",
        ),
        Some(_) => return None,
        None => (
            "The documents of this version are not kept.",
            "They are dropped 30 days after the last head that named them, and this log is too long to make them again for \
             a page. Its digest and its entry stay; whoever has the documents can compare them with the digest.",
        ),
    };
    Some(Note {
        tone: Tone::Plain,
        symbol: "info",
        headline: headline.to_owned(),
        detail: detail.into(),
        link: None,
        alert: false,
    })
}

fn kept(set: &SetName, past: &Past) -> Kept {
    let raw = |sha256: Sha256| format!("/v1/pinsets/{set}/sets/{sha256}");
    let alias = |(alias, entry): (&crate::name::Alias, &crate::pinset::AliasEntry)| AliasRow {
        alias: alias.to_string(),
        server: name(entry.server.as_str()),
        href: format!("/servers/{}", entry.server),
        pins: Short::hash("pins digest", entry.pins_sha256),
        size: Count(entry.pins_size),
        document: (!past.made_again).then(|| Link { href: raw(entry.pins_sha256), words: "As published".to_owned() }),
    };
    Kept {
        policy: Short::hash("policy digest", past.document.policy_sha256),
        ruleset: Short::hash("rule set digest", past.document.ruleset_sha256),
        aliases: past.document.aliases.iter().map(alias).collect(),
        bytes: text::block(&String::from_utf8_lossy(&past.bytes), &[]),
    }
}

/// From the older of the two to the newer, whichever this page is about.
fn differences(history: &History, asked: &Asked, error: Option<&str>, now: Timestamp) -> Differences {
    let mut shown = Differences {
        against: Html::new(),
        line: Html::new(),
        groups: Vec::new(),
        more: None,
        other: asked.against.trim().to_owned(),
        error: error.map(str::to_owned),
    };
    let (Some(this), Some(other)) = (history.row(0), history.row(1)) else {
        shown.line = match (error, asked.against.is_empty()) {
            (Some(_), _) => "nothing was compared".into(),
            (None, true) => "It is the first version: nothing is before it.".into(),
            (None, false) => "It is the same version: nothing is different.".into(),
        };
        return shown;
    };
    let number = |row: &SetVersion| format!("version {}", Count(row.version));
    let (old, new) = if this.version > other.version { (1, 0) } else { (0, 1) };
    shown.against = match (asked.against.is_empty(), old) {
        (true, _) => html!("since ", (number(other))),
        (false, 1) => html!("from ", (number(other)), " to this one"),
        (false, _) => html!("from this one to ", (number(other))),
    };
    match history.between(old, new) {
        None => shown.line = "It can’t be said: one of the two is not kept.".into(),
        Some(Err(Incomparable::Missing(_))) => {
            shown.line = "It can’t be said: pins of one of the two are not kept.".into()
        }
        Some(Err(why)) => shown.line = html!("It can’t be said: ", (why), "."),
        Some(Ok(changes)) => {
            shown.line = changes::line(&changes);
            shown.groups = changes::groups(&changes, asked.from, ROWS, now);
            let next = asked.from.saturating_add(ROWS);
            let left = changes.len().saturating_sub(next) as u64;
            shown.more = (left > 0).then(|| Link {
                href: format!("?against={}&from={next}#h-diff", query(asked.against.trim())),
                words: format!("{} more", count(left, "difference", "differences")),
            });
        }
    }
    shown
}
