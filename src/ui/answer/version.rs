//! A version of a pin set, found by the digest of its document.

use axum::{extract::State, response::Response};

use crate::{
    canon::Sha256,
    name::SetName,
    pinset::SetDocument,
    service::distribute,
    ui::{
        around,
        figure::{Count, Short, count},
        frame::{Keys, Section},
        name::name,
        piece::Link,
        text,
        version::{AliasRow, VersionPage},
        when,
    },
    web::{Kind, Path, Problem, Reader, Web},
};

pub(super) async fn show(
    State(web): State<Web>,
    Reader(who): Reader,
    Path((set, sha256)): Path<(String, String)>,
) -> Result<Response, Problem> {
    let nothing = || Problem::new(Kind::NotFound);
    let set: SetName = set.parse().map_err(|_| Problem::new(Kind::PinsetNotFound))?;
    let sha256: Sha256 = sha256.parse().map_err(|_| nothing())?;
    let bytes = distribute::set_document(web.app(), &set, sha256).await?.ok_or_else(nothing)?;
    // Pins documents are served by the same address of the API; only a set's own has a page.
    let document = SetDocument::parse(&bytes).map_err(|_| nothing())?;
    let mut conn = web.app().reader().conn().await?;
    let logged = conn.set_version(&set, document.version).await?;
    let before = conn.set_versions(&set, document.version, 1).await?.pop();
    drop(conn);
    let now = web.app().clock().now();
    let raw = |sha256: Sha256| format!("/v1/pinsets/{set}/sets/{sha256}");
    let alias = |(alias, entry): (&crate::name::Alias, &crate::pinset::AliasEntry)| AliasRow {
        alias: alias.to_string(),
        server: name(entry.server.as_str()),
        href: format!("/servers/{}", entry.server),
        pins: Short::hash("pins digest", entry.pins_sha256),
        size: Count(entry.pins_size),
        document: Link { href: raw(entry.pins_sha256), words: "As published".to_owned() },
    };
    let page = VersionPage {
        version: Count(document.version),
        lead: format!(
            "What gateways got with this version: {}.",
            count(document.aliases.len() as u64, "server", "servers")
        ),
        digest: Short::hash("set digest", sha256),
        issued: when::minute(document.issued, now),
        log_index: logged.map(|row| Count(row.log_index)),
        policy: Short::hash("policy digest", document.policy_sha256),
        ruleset: Short::hash("rule set digest", document.ruleset_sha256),
        document: Link { href: raw(sha256), words: "As published".to_owned() },
        previous: before.map(|row| Link {
            href: format!("/pinsets/{set}/versions/{}", row.set_sha256),
            words: "the version before".to_owned(),
        }),
        aliases: document.aliases.iter().map(alias).collect(),
        bytes: text::block(&String::from_utf8_lossy(&bytes), &[]),
        set: set.to_string(),
    };
    let title = format!("{set}, version {}", document.version);
    let frame = around::frame(&web, &who, &title, Section::Pinsets, Keys::Few).await?;
    around::page(frame, page)
}
