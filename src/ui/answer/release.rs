//! One release, immutable: its evidence and how each entry stands in a set.

use axum::{extract::State, response::Response};
use serde::Deserialize;

use super::{
    label,
    server::{chosen, says, signer},
    standing::Wanted,
};
use crate::{
    clock::Timestamp,
    service::Moment,
    store::Attestation,
    ui::{
        around,
        figure::{Count, count},
        frame::{Keys, Section},
        html::{Html, html},
        name::name,
        piece::Link,
        release::{AttestationRow, ReleasePage},
        when,
    },
    web::{Kind, Path, Problem, Query, Reader, Web},
};

/// What the address asks for.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Asked {
    set: String,
    from: usize,
}

pub(super) async fn show(
    State(web): State<Web>,
    Reader(who): Reader,
    Path(id): Path<String>,
    Query(asked): Query<Asked>,
) -> Result<Response, Problem> {
    let (moment, now) = (web.app().moment(), web.app().clock().now());
    let mut conn = web.app().reader().conn().await?;
    let release = conn.release(&id).await?.ok_or_else(|| Problem::new(Kind::ReleaseNotFound))?;
    let set = chosen(&moment, &asked.set).ok_or_else(|| Problem::new(Kind::PinsetNotFound))?;
    let page = format!("/releases/{}", release.id);
    let wanted = Wanted {
        moment: &moment,
        now,
        release: &release,
        set: &set,
        from: asked.from,
        reviews: who.may_see_reviews(),
        headline: "Descriptors",
        page: &page,
    };
    let listing = wanted.listing(&mut conn).await?;
    let (attested, says) = (conn.attestations(&release.id).await?, says(&mut conn, &release).await?);
    drop(conn);
    let page = ReleasePage {
        server: name(release.server.as_str()),
        server_href: format!("/servers/{}", release.server),
        version: label::version(release.version.as_str(), release.variant.as_str()),
        lead: format!("A release of {}, as it was attested.", count(listing.total.0, "descriptor", "descriptors")),
        notes: Vec::new(),
        says,
        received: when::minute(release.received_at, now),
        log_index: Count(release.log_index),
        role: release.role.as_str(),
        document: Link { href: format!("/v1/content/{}", release.document), words: "As submitted".to_owned() },
        backends: backends(&moment, &attested),
        attestations: attested.iter().map(|row| attestation(&moment, row, now)).collect(),
        listing,
        id: release.id.clone(),
    };
    let title = format!("{} {}", release.server, release.version);
    let frame = around::frame(&web, &who, &title, Section::Servers, Keys::List).await?;
    around::page(frame, page)
}

fn attestation(moment: &Moment, row: &Attestation, now: Timestamp) -> AttestationRow {
    let authority = match moment.state.authority(&row.authority) {
        Some(authority) => {
            let mut html = label::mono(&authority.facts.scope.to_string());
            html.tag(" <span class=\"mut\">").text(&authority.facts.proof).tag("</span>");
            html.tag(if authority.revoked.is_some() { " <b>revoked</b>" } else { "" });
            html
        }
        None => Html::new(),
    };
    AttestationRow {
        level: row.level.into(),
        signer: signer(&row.signer),
        authority,
        received: when::minute(row.received_at, now),
        log_index: Count(row.log_index),
        document: Link { href: format!("/v1/content/{}", row.sha256), words: "As received".to_owned() },
    }
}

/// Endpoints and packages, as text: a publisher's link is none of ours.
fn backends(moment: &Moment, attested: &[Attestation]) -> Vec<Html> {
    let mut found = Vec::new();
    for evidence in attested.iter().filter_map(|row| moment.state.evidence(&row.sha256)) {
        found.extend(evidence.facts.remotes.iter().map(|url| html!("endpoint ", [label::mono(url)])));
        found.extend(
            evidence.facts.artifacts.iter().map(|a| {
                html!("package ", [label::mono(&a.purl)], " <span class=\"mono mut\">", (&a.digest), "</span>")
            }),
        );
    }
    found
}
