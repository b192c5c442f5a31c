//! The list of servers: by name, searched by a part of it.

use axum::{extract::State, response::Response};
use serde::Deserialize;

use super::label;
use crate::{
    api::page::{after, cursor},
    service::Moment,
    store::{Conn, Server, ServerCount, Stage, StoreError},
    ui::{
        around,
        difftree::query,
        figure::{Count, count},
        frame::{Keys, Section},
        name::name,
        piece::{Empty, Link},
        server::{ServerRow, ServersPage},
        sign::Level,
        when,
    },
    web::{Problem, Query, Reader, Web},
};

const ROWS: usize = 50;
/// Rows read at a time while searching, and how many times before the page says what it has so far.
const PIECE: u32 = 200;
const PIECES: usize = 10;

/// What the address asks for.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Asked {
    q: String,
    cursor: Option<String>,
}

pub(super) async fn show(
    State(web): State<Web>,
    Reader(who): Reader,
    Query(asked): Query<Asked>,
) -> Result<Response, Problem> {
    let (moment, now) = (web.app().moment(), web.app().clock().now());
    let from = after(asked.cursor.as_deref(), String::new())?;
    let mut conn = web.app().reader().conn().await?;
    let (found, more) = find(&mut conn, asked.q.trim(), from).await?;
    let waiting = if who.may_see_reviews() { conn.queue_servers(Stage::Pending).await? } else { Vec::new() };
    let mut rows = Vec::with_capacity(found.len());
    for server in &found {
        rows.extend(row(&mut conn, &moment, server, &waiting, now).await?);
    }
    drop(conn);
    let href = |at: &String| format!("/servers?q={}&cursor={}", query(asked.q.trim()), cursor(at));
    let page = ServersPage {
        lead: lead(&rows, asked.q.is_empty() && asked.cursor.is_none() && more.is_none()),
        empty: rows.is_empty().then(|| empty(asked.q.is_empty())),
        rows,
        more: more.map(|at| Link { href: href(&at), words: "More servers".to_owned() }),
        search: asked.q,
    };
    let frame = around::frame(&web, &who, "Servers", Section::Servers, Keys::List).await?;
    around::page(frame, page)
}

/// Those that match after a name, and where to go on.
async fn find(conn: &mut Conn, text: &str, from: String) -> Result<(Vec<Server>, Option<String>), StoreError> {
    let (mut found, mut at, wanted) = (Vec::new(), from, text.to_lowercase());
    for _ in 0..PIECES {
        let piece = conn.servers(&at, PIECE).await?;
        let whole = piece.len() < PIECE as usize;
        for server in piece {
            if found.len() == ROWS {
                return Ok((found, Some(at)));
            }
            server.name.as_str().clone_into(&mut at);
            if server.name.folded().contains(&wanted) {
                found.push(server);
            }
        }
        if whole {
            return Ok((found, None));
        }
    }
    Ok((found, Some(at)))
}

async fn row(
    conn: &mut Conn,
    moment: &Moment,
    server: &Server,
    waiting: &[ServerCount],
    now: crate::clock::Timestamp,
) -> Result<Option<ServerRow>, StoreError> {
    let Some(newest) = conn.newest_releases(&server.name).await?.pop() else { return Ok(None) };
    let attested = conn.attestations(&newest.id).await?;
    let (mut aliases, mut pins) = (Vec::new(), 0);
    for set in moment.state.sets() {
        let Some(alias) = set.alias_of(&server.name) else { continue };
        aliases.push(format!("{}: {alias}", set.name()));
        pins += set.alias(alias).map_or(0, |under| under.pins().count());
    }
    let waits = waiting.iter().find(|count| count.server == server.name).map_or(0, |count| count.n);
    let level = attested.iter().map(|a| Level::from(a.level)).max();
    Ok(Some(ServerRow {
        name: name(server.name.as_str()),
        href: format!("/servers/{}", server.name),
        says: None,
        version: label::version(newest.version.as_str(), newest.variant.as_str()),
        received: when::minute(newest.received_at, now),
        level: level.unwrap_or(Level::Capture),
        aliases,
        pins: Count(pins as u64),
        waiting: Count(u64::try_from(waits).unwrap_or(0)),
    }))
}

fn lead(rows: &[ServerRow], all: bool) -> String {
    match (rows.len() as u64, all) {
        (0, _) => "None.".to_owned(),
        (1, true) => "1 server has a release here.".to_owned(),
        (n, true) => format!("{} have a release here.", count(n, "server", "servers")),
        (n, false) => format!("{} on this page.", count(n, "server", "servers")),
    }
}

fn empty(all: bool) -> Empty {
    let (headline, detail, link) = match all {
        true => ("No server has a release here yet.", "The first published release brings the first server.", "/docs"),
        false => ("No server’s name has that in it.", "A search finds parts of namespace and name.", "/servers"),
    };
    let words = if all { "How to publish" } else { "All servers" };
    let link = Some(Link { href: link.to_owned(), words: words.to_owned() });
    Empty { headline: headline.to_owned(), detail: detail.to_owned(), link }
}
