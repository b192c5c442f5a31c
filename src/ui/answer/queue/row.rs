//! Rows of the queue, grouped by release and pin set in the order in which each first appears.

use crate::{
    clock::Timestamp,
    descriptor::{Descriptor, diff},
    service::{Moment, desk::Desk},
    ui::{
        answer::{label, neighbours, pinned::Standing, signs},
        explain,
        figure::count,
        html::{Html, html},
        name::name,
        piece::Link,
        queue::{Group, Row},
        sign::Ballots,
        text, when,
    },
};

/// As much of a tool's own words as a row has room for.
const SAID: usize = 140;

pub(super) fn groups(moment: &Moment, desks: &[Desk], now: Timestamp) -> Vec<Group> {
    let mut groups: Vec<(String, Group)> = Vec::new();
    for desk in desks {
        let key = format!("{} {}", desk.candidate.pinset, desk.candidate.release);
        let row = row(moment, desk, now);
        match groups.iter_mut().find(|(of, _)| *of == key) {
            Some((_, group)) => group.rows.push(row),
            None => groups.push((key, group(moment, desk, row, now))),
        }
    }
    groups
        .into_iter()
        .map(|(_, mut group)| {
            let n = count(group.rows.len() as u64, "candidate", "candidates");
            group.about = html!((n), [std::mem::take(&mut group.about)]);
            group
        })
        .collect()
}

fn group(moment: &Moment, desk: &Desk, row: Row, now: Timestamp) -> Group {
    let view = &desk.view;
    let alias = view.alias.as_ref().map_or_else(
        || html!(" in <b>", (&view.pinset), "</b>, no alias bound"),
        |alias| html!(" as <b class=\"mono\">", (alias), "</b> in <b>", (&view.pinset), "</b>"),
    );
    Group {
        server: name(view.server.as_str()),
        href: format!("/servers/{}", view.server),
        version: label::version(view.evidence.version.as_str(), view.variant.as_str()),
        about: alias,
        received: moment.state.evidence(&view.evidence.attestation).map(|e| when::minute(e.received_at, now)),
        next: Some(Link { href: format!("/releases/{}", view.evidence.release), words: "Release".to_owned() }),
        rows: vec![row],
    }
}

fn row(moment: &Moment, desk: &Desk, now: Timestamp) -> Row {
    let (view, row) = (&desk.view, &desk.candidate);
    let mut reasons = view.reasons.iter().copied().map(signs::of_reason);
    let pending = row.state == crate::store::Stage::Pending;
    let sign = match reasons.next() {
        Some(first) if pending => first,
        _ => signs::of_stage(row.state, row.reason),
    };
    let standing = Standing::of(view, moment, now).0;
    let ended = standing.word().filter(|_| row.state == crate::store::Stage::Approved);
    let also: Vec<&str> = reasons.filter(|also| pending && *also != sign).map(crate::ui::sign::Sign::word).collect();
    let solo = moment.state.set(&row.pinset).is_some_and(|set| set.policy().solo);
    let given = u32::try_from(desk.ballots.len()).unwrap_or(u32::MAX);
    Row {
        sign,
        also: ended.map(str::to_owned).or_else(|| (!also.is_empty()).then(|| format!("also {}", also.join(", ")))),
        name: label::listed(view.qualified.as_ref().map_or(view.name.as_str(), |name| name.as_str())),
        href: neighbours::address(&row.id),
        kind: label::unusual(view.kind),
        what: what(desk),
        findings: signs::severities(&desk.report),
        level: Some(view.evidence.level.into()),
        ballots: if solo {
            Ballots::Solo { given: given > 0 }
        } else {
            Ballots::Counted { given, needed: view.needed }
        },
        waits: when::age(row.opened_at, now),
    }
}

/// What is new, in one line.
fn what(desk: &Desk) -> Html {
    if let Some(code) = &desk.view.unpinnable {
        return html!("can’t be pinned: <span class=\"mono\">", (code), "</span>");
    }
    match &desk.base {
        Some(base) => {
            let diff = diff::diff(&base.value(), &desk.descriptor.value());
            explain::summary(&diff, diff.changes.len()).as_str().into()
        }
        None => says(&desk.descriptor, SAID),
    }
}

/// What a descriptor says of itself, cut.
pub(in crate::ui::answer) fn says(descriptor: &Descriptor, max: usize) -> Html {
    let value = descriptor.value();
    let said = match descriptor.kind() {
        crate::name::Kind::Instructions => value.as_str(),
        _ => value.get("description").and_then(|text| text.as_str()),
    };
    match said {
        Some(said) if !said.trim().is_empty() => html!("says of itself ", [text::said(said, max)]),
        _ => "says nothing of itself".into(),
    }
}
