//! The differences between two versions, as a line and as rows: each pin and denial with its decision and its log entry.

use std::collections::BTreeSet;

use super::{label, signs};
use crate::{
    canon::{Digest, Sha256},
    clock::Timestamp,
    name::{Kind, QualifiedName, Variant},
    pinset::{
        Denial, Pin, PinEvidence,
        changes::{Change, Pair, Tally, Under},
    },
    ui::{
        figure::{Short, count},
        html::{Html, html},
        name::name,
        sign::{Level, Severity},
        version::{ChangeGroup, ChangeRow},
        when,
    },
};

/// "+2 pins, 1 revoked, alias notes bound"; "nothing but its number and time" where that is so.
pub(super) fn line(changes: &[Change<'_>]) -> Html {
    let tally = Tally::of(changes);
    let mut parts: Vec<Html> = Vec::new();
    let mut part = |n: u64, one: &str, many: &str| {
        if n > 0 {
            parts.push(count(n, one, many).as_str().into());
        }
    };
    part(tally.replaced, "replaced", "replaced");
    part(tally.renewed, "renewed", "renewed");
    part(tally.ends, "ends sooner", "end sooner");
    part(tally.removed, "pin gone", "pins gone");
    part(tally.revoked, "revoked", "revoked");
    part(tally.held, "held", "held");
    part(tally.rejected, "rejected", "rejected");
    part(tally.lifted, "denial lifted", "denials lifted");
    part(tally.altered, "altered", "altered");
    if tally.added > 0 {
        parts.insert(0, html!("+", (count(tally.added, "pin", "pins"))));
    }
    let (bound, more) = bound(changes);
    parts.extend(bound);
    parts.extend(more);
    for change in changes {
        match change {
            Change::Registry(pair) => parts.push(html!("registry ", [label::mono(pair.new)])),
            Change::Epoch(pair) => parts.push(html!("epoch ", (pair.new))),
            Change::Policy(_) => parts.push("another policy".into()),
            // It is part of the policy.
            Change::FlagAt(_) => {}
            Change::Ruleset(_) => parts.push("other scanner rules".into()),
            Change::Unbound(alias, _) => parts.push(html!("alias ", [label::mono(alias.as_str())], " gone")),
            Change::Rebound(alias, _) => parts.push(html!("alias ", [label::mono(alias.as_str())], " moved")),
            Change::Bound(..) | Change::Under(..) => {}
        }
    }
    if parts.is_empty() && !changes.is_empty() {
        parts.push("evidence alone".into());
    }
    let mut line = Html::new();
    for (n, part) in parts.iter().enumerate() {
        line.tag(if n > 0 { ", " } else { "" }).html(part);
    }
    if parts.is_empty() { "nothing but its number and time".into() } else { line }
}

/// New aliases: a few by name, more as a count.
fn bound(changes: &[Change<'_>]) -> (Vec<Html>, Option<Html>) {
    const NAMED: usize = 3;
    let bound = changes.iter().filter_map(|change| match change {
        Change::Bound(alias, _) => Some(*alias),
        _ => None,
    });
    let all: Vec<_> = bound.collect();
    let more = all.len().saturating_sub(NAMED) as u64;
    let named = all.iter().take(NAMED).map(|alias| html!("alias ", [label::mono(alias.as_str())], " bound"));
    (named.collect(), (more > 0).then(|| count(more, "other alias bound", "other aliases bound").as_str().into()))
}

/// The log entries that the changes name, each once, in order.
pub(super) fn entries(changes: &[Change<'_>]) -> BTreeSet<u64> {
    let of = |change: &Change<'_>| match change {
        Change::Under(_, under) => match under {
            Under::Added(pin) => Some(pin.approval.log_index),
            Under::Replaced(pair) | Under::Renewed(pair) | Under::Moved(pair) | Under::Altered(pair) => {
                Some(pair.new.approval.log_index)
            }
            Under::TakenAway(_, denial) | Under::Denied(denial) | Under::Restated(Pair { new: denial, .. }) => {
                Some(denial.log_index)
            }
            Under::Removed(_) | Under::Ends(_) | Under::Lifted(_) | Under::Evidence(..) => None,
        },
        _ => None,
    };
    changes.iter().filter_map(of).collect()
}

/// Rows from `from` on, at most `limit` of them, under the set or their alias.
pub(super) fn groups(changes: &[Change<'_>], from: usize, limit: usize, now: Timestamp) -> Vec<ChangeGroup> {
    let mut groups: Vec<(String, ChangeGroup)> = Vec::new();
    for change in changes.iter().skip(from).take(limit) {
        let (key, title) = match change {
            Change::Bound(alias, _)
            | Change::Unbound(alias, _)
            | Change::Rebound(alias, _)
            | Change::Under(alias, _) => (alias.to_string(), html!("<b class=\"mono\">", (alias), "</b>")),
            _ => (String::new(), html!("<b>the set itself</b>")),
        };
        if groups.last().is_none_or(|(last, _)| *last != key) {
            groups.push((key, ChangeGroup { title, rows: Vec::new() }));
        }
        if let Some((_, group)) = groups.last_mut() {
            group.rows.push(row(change, now));
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

fn row(change: &Change<'_>, now: Timestamp) -> ChangeRow {
    let set = |words: &'static str, what: &str, detail: Html| ChangeRow {
        sign: changed(words),
        what: what.into(),
        detail,
        links: Html::new(),
    };
    match change {
        Change::Registry(pair) => {
            set("name", "the registry", html!([label::mono(pair.old)], " → ", [label::mono(pair.new)]))
        }
        Change::Epoch(pair) => set("epoch", "the registry’s life", html!((pair.old), " → ", (pair.new))),
        Change::Policy(pair) => set("policy", "what an approval takes", documents("policy", *pair)),
        Change::FlagAt(pair) => {
            let mut detail = Html::new();
            detail.safe(&Severity::from(pair.old)).tag(" → ").safe(&Severity::from(pair.new));
            set("flags", "findings that flag", detail)
        }
        Change::Ruleset(pair) => set("rules", "the scanner’s rules", documents("rule set", *pair)),
        Change::Bound(_, server) => ChangeRow {
            sign: added("bound"),
            what: "the alias".into(),
            detail: html!("to ", [label::link(&format!("/servers/{server}"), server.as_str())], ", for good"),
            links: Html::new(),
        },
        Change::Unbound(_, server) => ChangeRow {
            sign: removed("unbound"),
            what: "the alias".into(),
            detail: html!("from ", [label::mono(server.as_str())], ": no rule of this registry does that"),
            links: Html::new(),
        },
        Change::Rebound(_, pair) => ChangeRow {
            sign: odd("rebound"),
            what: "the alias".into(),
            detail: html!(
                [label::mono(pair.old.as_str())],
                " → ",
                [label::mono(pair.new.as_str())],
                ": no rule of this registry does that"
            ),
            links: Html::new(),
        },
        Change::Under(_, under) => under_row(under, now),
    }
}

fn under_row(under: &Under<'_>, now: Timestamp) -> ChangeRow {
    let until = |pin: &Pin| {
        let mut html = html!(", ", (pin.approval.mode), ", until ");
        html.safe(&when::date(pin.approval.not_after, now));
        html
    };
    let of_pin = |sign: Html, pin: &Pin, detail: Html| ChangeRow {
        sign,
        what: named(pin.kind, &pin.name, &pin.variant),
        detail,
        links: approval(pin),
    };
    match under {
        Under::Added(pin) => of_pin(added("pinned"), pin, html!([digest(pin.digests.digest())], [until(pin)])),
        Under::Removed(pin) => {
            of_pin(removed("gone"), pin, html!([digest(pin.digests.digest())], ": neither replaced nor denied"))
        }
        Under::Replaced(Pair { old, new }) => {
            let detail = html!([digest(old.digests.digest())], " → ", [digest(new.digests.digest())], [until(new)]);
            of_pin(changed("replaced"), new, detail)
        }
        Under::Renewed(Pair { new, .. }) => {
            of_pin(changed("renewed"), new, html!("the same digest ", [digest(new.digests.digest())], [until(new)]))
        }
        Under::Moved(Pair { old, new }) => {
            let (old, now) = (attestation(old.evidence), attestation(new.evidence));
            of_pin(
                changed("evidence"),
                new,
                html!("the same digest rests on ", [now], " instead of ", [old], [until(new)]),
            )
        }
        Under::Ends(Pair { old, new }) => {
            let mut detail = html!("the same digest ", [digest(new.digests.digest())], " ends ");
            detail.safe(&when::minute(new.approval.not_after, now)).tag(" instead of ");
            detail.safe(&when::date(old.approval.not_after, now));
            of_pin(changed("ends"), new, detail)
        }
        Under::Altered(Pair { new, .. }) => of_pin(
            odd("altered"),
            new,
            html!(
                "the same digest ",
                [digest(new.digests.digest())],
                " with something else about it: no decision does that"
            ),
        ),
        Under::TakenAway(pin, denial) => {
            let mut row = denied(denial, "was pinned");
            row.links = html!([approval(pin)], " then ", [row.links]);
            row
        }
        Under::Denied(denial) => denied(denial, "was not pinned"),
        Under::Restated(Pair { old, new }) => {
            let mut row = denied(new, "was denied already, as ");
            row.detail.safe(&signs::of_denied(old.state)).tag(" by ").html(&label::entry(old.log_index));
            row
        }
        Under::Lifted(denial) => ChangeRow {
            sign: removed("denial lifted"),
            what: named(denial.kind, &denial.name, &denial.variant),
            detail: html!([digest(denial.digest)], " was denied by ", [label::entry(denial.log_index)]),
            links: Html::new(),
        },
        Under::Evidence(id, pair) => evidence(*id, *pair),
    }
}

fn denied(denial: &Denial, was: &'static str) -> ChangeRow {
    let mut sign = Html::new();
    sign.safe(&signs::of_denied(denial.state));
    ChangeRow {
        sign,
        what: named(denial.kind, &denial.name, &denial.variant),
        detail: html!([digest(denial.digest)], " ", [was.into()]),
        links: label::entry(denial.log_index),
    }
}

fn evidence(id: Sha256, pair: Pair<Option<&PinEvidence>>) -> ChangeRow {
    let (sign, by) = match (pair.old, pair.new) {
        (None, Some(new)) => (added("evidence in"), new),
        (Some(old), None) => (removed("evidence out"), old),
        (Some(_), Some(new)) => (odd("evidence altered"), new),
        (None, None) => {
            return ChangeRow { sign: Html::new(), what: Html::new(), detail: Html::new(), links: Html::new() };
        }
    };
    let mut detail =
        html!("<a href=\"/releases/", (&by.release), "\">", [label::version(by.version.as_str(), "")], "</a> ");
    detail.safe(&Level::from(by.level));
    ChangeRow { sign, what: attestation(id), detail, links: label::entry(by.log_index) }
}

fn named(kind: Kind, qualified: &QualifiedName, variant: &Variant) -> Html {
    let mut html = html!("<span class=\"name\">", [name(qualified.as_str())], "</span>");
    let variant = (!variant.is_default()).then(|| html!("variant ", [label::mono(variant.as_str())]));
    let about: Vec<Html> = label::unusual(kind).map(Html::from).into_iter().chain(variant).collect();
    for one in about {
        html.tag(" <span class=\"mut\">").html(&one).tag("</span>");
    }
    html
}

fn digest(digest: Digest) -> Html {
    let mut html = Html::new();
    html.safe(&Short::digest(digest));
    html
}

fn attestation(sha256: Sha256) -> Html {
    let mut html = Html::new();
    html.safe(&Short::hash("attestation", sha256));
    html
}

fn documents(what: &'static str, pair: Pair<Sha256>) -> Html {
    let one = |sha256: Sha256| {
        let mut html = Html::new();
        html.safe(&Short::hash(what, sha256)).tag(" ");
        html.html(&label::link(&format!("/v1/content/{sha256}"), "document"));
        html
    };
    html!([one(pair.old)], " → ", [one(pair.new)])
}

fn approval(pin: &Pin) -> Html {
    let decision = label::link(&format!("/decisions/{}", pin.approval.decision_sha256), "decision");
    html!([decision], ", ", [label::entry(pin.approval.log_index)])
}

fn added(word: &'static str) -> Html {
    html!("<span class=\"ch plus\"><b aria-hidden=\"true\">+</b>", (word), "</span>")
}

fn removed(word: &'static str) -> Html {
    html!("<span class=\"ch minus\"><b aria-hidden=\"true\">−</b>", (word), "</span>")
}

fn changed(word: &'static str) -> Html {
    html!("<span class=\"ch\"><b aria-hidden=\"true\">~</b>", (word), "</span>")
}

/// What the log's rules never do.
fn odd(word: &'static str) -> Html {
    html!("<span class=\"ch odd\"><b aria-hidden=\"true\">!</b>", (word), "</span>")
}
