//! A server: its releases, what the newest one lists, who may speak for it, and the form that binds an alias.

use axum::{extract::State, http::StatusCode, response::Response};
use serde::Deserialize;

use super::{label, standing::Wanted};
use crate::{
    api::page::{after, cursor},
    attest::Scope,
    name::{ServerName, SetName},
    pinset::SetState,
    service::{Moment, access::Principal},
    store::{Conn, Release, StoreError},
    ui::{
        around,
        figure::{Count, Short, count},
        frame::{Keys, Section},
        html::Html,
        name::name,
        piece::{Link, Note},
        server::{AliasRow, Bind, ReleaseRow, ServerPage},
        sign::Level,
        text, when,
    },
    web::{Kind, Path, Problem, Query, Reader, Web},
};

/// Releases on one page.
const RELEASES: u32 = 20;

/// What the address asks for.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Asked {
    set: String,
    from: usize,
    releases: Option<String>,
}

/// The form that binds, when it comes back.
#[derive(Debug, Default)]
pub(super) struct Again {
    pub(super) alias: String,
    pub(super) candidate: Option<String>,
    pub(super) error: Option<String>,
}

pub(super) async fn show(
    State(web): State<Web>,
    Reader(who): Reader,
    Path((namespace, name)): Path<(String, String)>,
    Query(asked): Query<Asked>,
) -> Result<Response, Problem> {
    let server = format!("{namespace}/{name}").parse().map_err(|_| Problem::new(Kind::ServerNotFound))?;
    respond(&web, &who, &server, &asked, Again::default(), StatusCode::OK).await
}

pub(super) async fn respond(
    web: &Web,
    who: &Principal,
    server: &ServerName,
    asked: &Asked,
    again: Again,
    status: StatusCode,
) -> Result<Response, Problem> {
    let moment = web.app().moment();
    let mut conn = web.app().reader().conn().await?;
    let known = conn.server(server).await?.ok_or_else(|| Problem::new(Kind::ServerNotFound))?;
    let before = after(asked.releases.as_deref(), u64::MAX >> 1)?;
    let mut releases = conn.releases(&known.name, before, RELEASES + 1).await?;
    let newest = conn.newest_releases(&known.name).await?.pop().ok_or_else(|| Problem::new(Kind::ServerNotFound))?;
    let more =
        (releases.len() > RELEASES as usize).then(|| releases.swap_remove(RELEASES as usize)).and(releases.last());
    let more = more.map(|last| format!("/servers/{server}?releases={}", cursor(&last.log_index)));
    let set = chosen(&moment, &asked.set).ok_or_else(|| Problem::new(Kind::PinsetNotFound))?;
    let (now, address) = (web.app().clock().now(), format!("/servers/{}", known.name));
    let wanted = Wanted {
        moment: &moment,
        now,
        release: &newest,
        set: &set,
        from: asked.from,
        reviews: who.may_see_reviews(),
        headline: "Descriptors of the newest release",
        page: &address,
    };
    let listing = wanted.listing(&mut conn).await?;
    let mut rows = Vec::with_capacity(releases.len());
    for release in &releases {
        rows.push(release_row(&mut conn, release, now).await?);
    }
    let says = says(&mut conn, &newest).await?;
    drop(conn);
    let level = rows.iter().find(|row| row.log_index.0 == newest.log_index).map_or(Level::Capture, |row| row.level);
    let (authority, authority_note) = authorities(&moment, &known.name);
    let page = ServerPage {
        name: name(known.name.as_str()),
        lead: lead(&moment, &known.name, listing.total),
        notes: again.error.iter().map(|why| Note::refused("No alias was bound.", why.as_str().into())).collect(),
        says,
        newest: label::version(newest.version.as_str(), newest.variant.as_str()),
        newest_note: received(newest.received_at, now),
        level,
        level_note: level.meaning().into(),
        authority,
        authority_note,
        aliases: aliases(&moment, &known.name),
        bind: who.may_review().then(|| bind(&moment, &known.name, again)).flatten(),
        listing,
        releases: rows,
        releases_more: more.map(|href| Link { href, words: "Earlier releases".to_owned() }),
    };
    let frame = around::frame(web, who, known.name.as_str(), Section::Servers, Keys::List).await?;
    around::page_as(status, frame, page)
}

/// The set that was asked for, or else the first in which anything can be said.
pub(super) fn chosen(moment: &Moment, asked: &str) -> Option<SetName> {
    let name = if asked.is_empty() { None } else { Some(asked.parse::<SetName>().ok()?) };
    match name {
        Some(name) => moment.state.set(&name).map(|set| set.name().clone()),
        None => moment.state.sets().map(SetState::name).next().cloned(),
    }
}

fn lead(moment: &Moment, server: &ServerName, listed: Count) -> String {
    let bound = moment.state.sets().filter(|set| set.alias_of(server).is_some()).count() as u64;
    let listed = count(listed.0, "descriptor", "descriptors");
    match bound {
        0 => format!("{listed} in the newest release. No pin set has an alias for it, so nothing can be approved yet."),
        n => format!("{listed} in the newest release; it has an alias in {}.", count(n, "pin set", "pin sets")),
    }
}

fn received(at: crate::clock::Timestamp, now: crate::clock::Timestamp) -> Html {
    let mut html = Html::new();
    html.tag("received ").safe(&when::minute(at, now)).tag(" UTC");
    html
}

/// What `serverInfo` of a release claims.
pub(super) async fn says(conn: &mut Conn, release: &Release) -> Result<Option<Html>, StoreError> {
    #[derive(Deserialize)]
    struct Info {
        title: Option<String>,
        name: Option<String>,
        version: Option<String>,
    }
    let Some(document) = conn.content(release.document).await? else { return Ok(None) };
    let read = crate::descriptor::Release::parse(&document.bytes).ok();
    let info = read.and_then(|release| release.capture.server_info);
    let info: Option<Info> = info.and_then(|raw| serde_json::from_slice(&raw).ok());
    let words =
        info.map(|info| [info.title.or(info.name), info.version].into_iter().flatten().collect::<Vec<_>>().join(" "));
    Ok(words.filter(|words| !words.is_empty()).map(|words| text::said(&words, 120)))
}

/// Who may speak for a server, and how that was proved.
fn authorities(moment: &Moment, server: &ServerName) -> (Html, String) {
    let over = moment.state.authorities().filter(|a| a.revoked.is_none() && a.facts.scope.covers(server));
    let over: Vec<_> = over.collect();
    let Some(narrowest) = over.iter().max_by_key(|a| match a.facts.scope {
        Scope::Any => 0,
        Scope::Namespace(_) => 1,
        Scope::Server(_) => 2,
    }) else {
        return ("nobody now".into(), "every authority over it was revoked".to_owned());
    };
    let mut html = label::mono(&narrowest.facts.scope.to_string());
    html.tag(" as ").tag(narrowest.facts.role.as_str());
    (html, format!("{}, {}", count(over.len() as u64, "key", "keys"), narrowest.facts.proof))
}

fn aliases(moment: &Moment, server: &ServerName) -> Vec<AliasRow> {
    let of = |set: &SetState| {
        let (alias, set) = (set.alias_of(server)?, set.name());
        Some(AliasRow { set: set.to_string(), href: format!("/pinsets/{set}"), alias: alias.to_string() })
    };
    moment.state.sets().filter_map(of).collect()
}

fn bind(moment: &Moment, server: &ServerName, again: Again) -> Option<Bind> {
    let without = moment.state.sets().filter(|set| set.alias_of(server).is_none());
    let sets: Vec<String> = without.map(|set| set.name().to_string()).collect();
    let Again { alias, candidate, error } = again;
    (!sets.is_empty()).then(|| Bind { action: format!("/servers/{server}/aliases"), sets, alias, candidate, error })
}

/// A row of the list of releases.
async fn release_row(
    conn: &mut Conn,
    release: &Release,
    now: crate::clock::Timestamp,
) -> Result<ReleaseRow, StoreError> {
    let attested = conn.attestations(&release.id).await?;
    let best = attested.iter().max_by_key(|a| Level::from(a.level));
    Ok(ReleaseRow {
        href: format!("/releases/{}", release.id),
        version: label::version(release.version.as_str(), release.variant.as_str()),
        role: release.role.as_str(),
        level: best.map_or(Level::Capture, |a| a.level.into()),
        signer: signer(best.map_or("", |a| &a.signer)),
        descriptors: Count(u64::try_from(release.count).unwrap_or(0)),
        received: when::minute(release.received_at, now),
        log_index: Count(release.log_index),
    })
}

/// A signer's key, short. The table's text was written from the type.
pub(super) fn signer(text: &str) -> Short {
    let id = text.parse().map(|crate::attest::Signer::Key(id)| id.0);
    Short::key(id.unwrap_or(crate::canon::Sha256([0; 32])))
}
