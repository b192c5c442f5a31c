//! What a candidate's page opens with: its name and signs, the sentence that says what it means now, the four facts, and
//! what stands in the way of a decision.

use super::Known;
use crate::{
    descriptor::diff,
    review::{Reason, View},
    scan::Report,
    service::desk::Desk,
    store::Stage,
    ui::{
        answer::{label, pinned::Standing, signs},
        candidate::{Facts, Lead},
        explain,
        figure::{Short, count},
        html::{Html, html},
        piece::{Note, Tone},
        server::Bind,
        sign::{Level, Sign},
        when,
    },
};

/// The name for a window's title: visible ASCII only.
pub(in crate::ui::answer) fn title(view: &View) -> String {
    let name = view.qualified.as_ref().map_or(view.name.as_str(), |name| name.as_str());
    crate::store::listed_name(name).trim_start().to_owned()
}

/// The qualified name, or the bare one until an alias is bound.
pub(super) fn name(view: &View) -> Html {
    label::listed(view.qualified.as_ref().map_or(view.name.as_str(), |name| name.as_str()))
}

/// What it is first of all, and what else.
pub(super) fn signs(desk: &Desk) -> (Sign, Vec<Sign>) {
    let mut reasons = desk.view.reasons.iter().copied().map(signs::of_reason);
    match desk.candidate.state {
        Stage::Pending => {
            let first = reasons.next().unwrap_or(signs::of_reason(desk.candidate.reason));
            let unpinnable = desk.view.unpinnable.as_ref().map(|_| Sign::Unpinnable);
            (first, reasons.chain(unpinnable).collect())
        }
        decided => (signs::of_stage(decided, desk.candidate.reason), Vec::new()),
    }
}

pub(super) fn lead(known: &Known, diff: Option<&diff::Diff>) -> Lead {
    let desk = &known.desk;
    let view = &desk.view;
    let (headline, detail) = match diff {
        Some(diff) => (explain::headline(diff).to_owned(), grown(diff)),
        None if desk.candidate.state == Stage::Pending => {
            (format!("A {} that nobody has decided about.", label::kind(view.kind)), Html::new())
        }
        None => (format!("A {} without another to compare it with.", label::kind(view.kind)), Html::new()),
    };
    let (standing, another) = Standing::of(view, &known.moment, known.now);
    let flagged = view.reasons.contains(&Reason::Flagged);
    let until = match (desk.candidate.state, another, flagged) {
        (Stage::Pending, true, false) => {
            "Another digest is approved under this name. Until someone decides, gateways keep that one and quarantine this."
        }
        (Stage::Pending, true, true) => {
            "Another digest is approved under this name. Until someone decides, gateways keep that one and block this, because \
             the scanner flags it."
        }
        (Stage::Pending, false, false) => "Until someone decides, gateways quarantine it.",
        (Stage::Pending, false, true) => "Until someone decides, gateways block it, because the scanner flags it.",
        (Stage::Approved, ..) if standing == Standing::Live => "Approved: gateways let exactly this digest through.",
        (Stage::Approved, ..) if standing == Standing::Expired => {
            "It was approved, and that has expired: gateways do not let it through any more."
        }
        (Stage::Approved, ..) => {
            "It was approved, and a later decision under this name ended that: gateways do not let it through any more."
        }
        (Stage::Rejected, ..) => "Rejected: gateways block exactly this digest.",
        (Stage::Revoked, ..) => "Revoked: gateways block exactly this digest.",
        (Stage::Held, ..) => "Held by a rule: gateways block exactly this digest until it is reviewed again.",
    };
    Lead { headline, detail, until: until.to_owned() }
}

/// Names what the tool can do now and could not before.
fn grown(diff: &diff::Diff) -> Html {
    /// The rest is in the tree below.
    const MAX_NAMED: usize = 3;
    let grown: Vec<&diff::Change> = diff.growth().collect();
    let mut html = Html::new();
    if grown.is_empty() {
        return html;
    }
    html.tag("Its capability grew: ");
    for (i, change) in grown.iter().take(MAX_NAMED).enumerate() {
        html.tag(if i > 0 { "; " } else { "" }).html(&label::mono(&change.pointer)).tag(" ");
        html.text(change.growth.map_or("", explain::growth));
    }
    if grown.len() > MAX_NAMED {
        html.text(&format!("; and {} more", grown.len() - MAX_NAMED));
    }
    html.tag(".");
    html
}

pub(super) fn facts(known: &Known) -> Facts {
    let view = &known.desk.view;
    let received = known.moment.state.evidence(&view.evidence.attestation).map(|evidence| evidence.received_at);
    let mut digest_note = label::version(view.evidence.version.as_str(), view.variant.as_str());
    if let Some(at) = received {
        digest_note.tag(", received ").safe(&when::minute(at, known.now));
    }
    let wire_note = match &view.wire {
        Some(wire) if wire.is_long() => format!("{} of 64 characters: some clients cut names", wire.as_str().len()),
        Some(wire) => format!("{} of 64 characters", wire.as_str().len()),
        None if view.alias.is_none() => "none before an alias is bound".to_owned(),
        None => "only tools and prompts have one".to_owned(),
    };
    Facts {
        digest: Short::digest(view.digests.digest()),
        digest_note,
        base: view.base.map(Short::digest),
        base_note: base_note(known),
        level: Some(view.evidence.level.into()),
        level_note: level_note(known),
        wire: view.wire.as_ref().map(ToString::to_string),
        wire_note,
    }
}

/// The pin that the difference is to.
fn base(known: &Known) -> Option<&crate::pinset::Pin> {
    let view = &known.desk.view;
    let set = known.moment.state.set(&view.pinset)?;
    let pins = set.alias(view.alias.as_ref()?)?.pins();
    pins.filter(|pin| Some(&pin.name) == view.qualified.as_ref() && Some(pin.digests.digest()) == view.base).last()
}

fn base_note(known: &Known) -> Html {
    let Some(pin) = base(known) else { return "no digest is approved under this name".into() };
    let mut html = match known.moment.state.evidence(&pin.evidence) {
        Some(evidence) => label::version(evidence.facts.version.as_str(), evidence.facts.variant.as_str()),
        None => Html::new(),
    };
    html.tag(", <a href=\"/decisions/").show(pin.approval.decision_sha256).tag("\">");
    html.show(pin.approval.mode).tag("</a>, ").safe(&when::date(pin.approval.approved_at, known.now));
    html
}

fn level_note(known: &Known) -> Html {
    let view = &known.desk.view;
    let before = base(known).and_then(|pin| known.moment.state.evidence(&pin.evidence));
    match before {
        Some(before) if before.facts.signer == view.evidence.signer => "same key as before".into(),
        Some(before) => {
            html!("another key than before, which was ", (Level::from(before.facts.level).word()))
        }
        None => Level::from(view.evidence.level).meaning().into(),
    }
}

pub(super) fn findings(report: &Report) -> String {
    let open = count(report.findings.len() as u64, "finding", "findings");
    if report.findings.is_empty() && report.complete {
        return "none found".to_owned();
    }
    if report.complete { format!("{open}, all open") } else { format!("{open}; the scan is not whole") }
}

/// What stands in the way, said before anybody reads on.
pub(super) fn hindrances(known: &Known) -> Vec<Note> {
    let (desk, view) = (&known.desk, &known.desk.view);
    if desk.candidate.state != Stage::Pending {
        return Vec::new();
    }
    let note = |symbol, headline: &str, detail: Html| Note {
        tone: Tone::Warn,
        symbol,
        headline: headline.to_owned(),
        detail,
        link: None,
        alert: false,
    };
    let mut notes = Vec::new();
    if let Some(code) = &view.unpinnable {
        let detail = html!(
            "It breaks a rule that pins need: <span class=\"mono\">",
            (code),
            "</span>. It can be rejected, and never approved as it is."
        );
        notes.push(note("unpinnable", "This descriptor can’t be pinned.", detail));
    }
    if view.alias.is_none() {
        let detail = html!(
            "A descriptor is approved under the server’s alias, and ",
            [label::mono(view.server.as_str())],
            " has none in <b>",
            (&view.pinset),
            "</b>. It can be rejected without."
        );
        notes.push(note("info", "Bind an alias before approving.", detail));
    }
    if desk.out_of_reach {
        let detail = html!(
            "An approval takes ",
            (count(u64::from(view.needed), "reviewer", "reviewers")),
            " who did not submit this, and there are fewer. An administrator can make another reviewer, or change the policy."
        );
        notes.push(note("held", "The quorum is out of reach.", detail));
    }
    if known.people.you().is_some_and(|you| desk.submitters.contains(you)) && known.may_review {
        let solo = known.moment.state.set(&view.pinset).is_some_and(|set| set.policy().solo);
        let detail = if solo {
            "The policy of this set is solo, so you decide all the same, and the pin says so."
        } else {
            "You published it or hold the key that signed it, so others decide."
        };
        notes.push(note("signer", "This is your own submission.", detail.into()));
    }
    if !desk.report.complete {
        notes.push(note("incomplete", "The scan is not whole.", "A limit or an error stopped it; the findings say which. What was not looked at is not known to be harmless.".into()));
    }
    notes
}

/// The form that binds an alias from here.
pub(super) fn bind(known: &Known) -> Option<Bind> {
    let view = &known.desk.view;
    let offered = view.alias.is_none() && known.may_review && known.desk.candidate.state == Stage::Pending;
    offered.then(|| Bind {
        action: format!("/servers/{}/aliases", view.server),
        sets: vec![view.pinset.to_string()],
        alias: String::new(),
        candidate: Some(known.desk.candidate.id.to_string()),
        error: None,
    })
}
