//! The panel of a candidate's page: who signed, what approving does, and the form.

use super::{Known, Look};
use crate::{
    review::{Outcome, ReviewerId, Shown},
    store::Stage,
    ui::{
        answer::{label, neighbours, signs},
        candidate::{Decision, DecisionForm, SignatureLine},
        figure::count,
        html::{Html, html},
        piece::Link,
        when,
    },
};

/// What the panel is drawn from.
pub(super) struct Desk<'a> {
    pub(super) known: &'a Known,
    pub(super) pending: bool,
    pub(super) changes: usize,
}

impl Desk<'_> {
    pub(super) fn draw(&self, look: &Look) -> Decision {
        let (desk, view) = (&self.known.desk, &self.known.desk.view);
        let form = (look.deciding && self.may_vote()).then(|| self.form(look));
        Decision {
            count: if self.pending {
                format!("{} of {} ballots", desk.ballots.len(), view.needed)
            } else {
                signs::of_stage(desk.candidate.state, desk.candidate.reason).word().to_owned()
            },
            lines: if self.pending { self.waiting() } else { self.decided() },
            note: self.pending.then(|| self.why_so_many()).flatten(),
            will: if self.pending && self.approvable().is_ok() { self.will() } else { Vec::new() },
            instead: form.is_none().then(|| self.instead()),
            form,
            view: label::short(view.shown().view),
        }
    }

    /// Whether the form is of any use to who looks.
    fn may_vote(&self) -> bool {
        self.known.may_review && self.known.desk.candidate.state != Stage::Approved
    }

    fn solo(&self) -> bool {
        self.known.moment.state.set(&self.known.desk.view.pinset).is_some_and(|set| set.policy().solo)
    }

    fn own(&self) -> bool {
        self.known.people.you().is_some_and(|you| self.known.desk.submitters.contains(you)) && !self.solo()
    }

    fn voted(&self) -> Option<Outcome> {
        let you = self.known.people.you()?;
        self.known.desk.ballots.iter().find(|ballot| ballot.reviewer == *you).map(|ballot| ballot.outcome)
    }

    /// Whether approving is possible at all, or why not. The service decides; this only says it beforehand.
    fn approvable(&self) -> Result<(), String> {
        let view = &self.known.desk.view;
        let policy = self.known.moment.state.set(&view.pinset).map(crate::pinset::SetState::policy);
        if let Some(code) = &view.unpinnable {
            return Err(format!("Approving is not offered: the descriptor can’t be pinned ({code})."));
        }
        if policy.is_some_and(|policy| !policy.levels.contains(&view.evidence.level)) {
            return Err("Approving is not offered: the set’s policy doesn’t accept evidence of this level.".to_owned());
        }
        if view.alias.is_none() {
            return Err("Approving is not offered: the server has no alias in this set yet.".to_owned());
        }
        if self.own() {
            return Err("Approving is not offered: nobody decides on their own submission.".to_owned());
        }
        if self.voted() == Some(Outcome::Approve) {
            return Err("Your ballot to approve is counted.".to_owned());
        }
        Ok(())
    }

    fn form(&self, look: &Look) -> DecisionForm {
        let desk = &self.known.desk;
        let address = neighbours::address(&desk.candidate.id);
        DecisionForm {
            action: format!("{address}/decisions"),
            shown: shown(&desk.view.shown()),
            reason: look.reason.clone(),
            templates: templates(self.pending, desk.view.base.is_some()),
            read: match (self.changes, desk.base.is_some()) {
                (1, true) => "I read the one change.".to_owned(),
                (n, true) => format!("I read all {}.", count(n as u64, "change", "changes")),
                (_, false) => "I read the whole descriptor.".to_owned(),
            },
            approve: if self.pending { self.approvable() } else { Ok(()) },
            reject: self.pending && !self.own(),
            reopen: !self.pending,
            error: look.error.clone(),
            leave: self.known.next.as_ref().filter(|_| self.pending).map(neighbours::address),
        }
    }

    fn waiting(&self) -> Vec<SignatureLine> {
        let (desk, people) = (&self.known.desk, &self.known.people);
        let reason = |of: &ReviewerId| {
            let kept = self.known.told.reasons.iter().find(|(reviewer, _)| reviewer == of);
            kept.map(|(_, text)| text.clone()).unwrap_or_default()
        };
        let mut lines: Vec<SignatureLine> = desk
            .ballots
            .iter()
            .map(|ballot| SignatureLine::Signed {
                by: people.name(&ballot.reviewer),
                outcome: signs::did(ballot.outcome),
                at: when::minute(ballot.issued, self.known.now),
                reason: reason(&ballot.reviewer),
            })
            .collect();
        let free = |reviewer: &&ReviewerId| {
            let own = desk.submitters.contains(*reviewer) && !self.solo();
            !own && desk.ballots.iter().all(|ballot| ballot.reviewer != **reviewer)
        };
        let able: Vec<&ReviewerId> = self.known.moment.state.reviewers().iter().filter(free).collect();
        let missing = (desk.view.needed as usize).saturating_sub(lines.len());
        // As many lines as people may still sign; beyond these nobody may, and the line says so.
        lines.extend((0..missing).map(|line| SignatureLine::Missing {
            who: people.any_of(able.iter().copied().filter(|_| line < able.len())),
        }));
        lines
    }

    fn decided(&self) -> Vec<SignatureLine> {
        let Some(record) = &self.known.told.last else { return Vec::new() };
        let said = self.known.desk.decisions.last().and_then(|(_, reason)| reason.clone()).unwrap_or_default();
        lines(record, &said, &self.known.people, self.known.now)
    }

    fn why_so_many(&self) -> Option<String> {
        let view = &self.known.desk.view;
        if self.solo() {
            return Some("This set’s policy is solo: one reviewer decides alone, and every pin says so.".to_owned());
        }
        let why: Vec<&str> = [
            (view.grew, "its capability grew"),
            (view.evidence.level == crate::attest::Level::Capture, "the publisher signed nothing"),
            (self.known.desk.report.worst() >= Some(crate::scan::Severity::High), "a finding is high or critical"),
            (!self.known.desk.report.complete, "the scan is not whole"),
        ]
        .into_iter()
        .filter_map(|(holds, why)| holds.then_some(why))
        .collect();
        let many = view.needed > 1 && !why.is_empty();
        many.then(|| {
            format!("{} must agree: {}.", count(u64::from(view.needed), "reviewer", "reviewers"), why.join(", "))
        })
    }

    /// What approving does, in five lines at most.
    fn will(&self) -> Vec<Html> {
        let (desk, view) = (&self.known.desk, &self.known.desk.view);
        let name = view.qualified.as_ref().map_or(view.name.as_str(), |name| name.as_str());
        let ends = self.known.now + crate::clock::Span::days(view.lifetime_days);
        let mut until = html!("end by itself on <b>");
        until.safe(&when::date(ends, self.known.now));
        until.text(&format!(", after {}", count(u64::from(view.lifetime_days), "day", "days"))).tag("</b>");
        let mut will =
            vec![html!("allow <b>this digest only</b> as ", [label::mono(name)], " in <b>", (&view.pinset), "</b>")];
        if view.base.is_some_and(|base| base != view.digests.digest()) {
            let overlap = self.known.moment.state.set(&view.pinset).and_then(|set| set.policy().overlap());
            will.push(match overlap {
                None => "end the pin of the digest before it at once (no overlap)".into(),
                Some(overlap) => html!("end the pin of the digest before it after ", (when::length(overlap))),
            });
        }
        will.push(until);
        will.push(match desk.report.findings.len() as u64 {
            0 => "leave no finding open, which proves nothing".into(),
            n => html!("leave <b>", (count(n, "finding", "findings")), " open</b> unless all ballots accept them"),
        });
        will.push("be logged, for good, with your ballot under a random id".into());
        will
    }

    /// What stands where the form would.
    fn instead(&self) -> Html {
        let desk = &self.known.desk;
        let address = neighbours::address(&desk.candidate.id);
        let decision = desk.candidate.decision.map(|sha256| format!("/decisions/{sha256}"));
        match (desk.candidate.state, decision) {
            (Stage::Approved, Some(decision)) => {
                html!("<a class=\"button\" href=\"", (decision), "\">See the decision, or revoke the pin…</a>")
            }
            _ if !self.known.may_review => "You can read this. Only reviewers decide.".into(),
            (Stage::Pending, _) => {
                html!(
                    "<a class=\"button go\" href=\"",
                    (address),
                    "?step=decide#decision\">Continue to the decision</a>"
                )
            }
            _ => html!("<a class=\"button\" href=\"", (address), "?step=decide#decision\">Reopen this candidate…</a>"),
        }
    }
}

/// The ballots of a decision as signatures.
pub(in crate::ui::answer) fn lines(
    record: &crate::review::Decision,
    said: &str,
    people: &crate::ui::answer::people::People,
    now: crate::clock::Timestamp,
) -> Vec<SignatureLine> {
    let last = record.ballots.len().saturating_sub(1);
    let line = |(i, ballot): (usize, &crate::review::Ballot)| SignatureLine::Signed {
        by: people.name(&ballot.reviewer),
        outcome: signs::did(ballot.outcome),
        at: when::minute(ballot.issued, now),
        // The decision keeps the reason of the ballot that made it.
        reason: if i == last { said.to_owned() } else { String::new() },
    };
    record.ballots.iter().enumerate().map(line).collect()
}

/// What a ballot sends back to say what its maker saw.
fn shown(shown: &Shown) -> Vec<(&'static str, String)> {
    vec![
        ("view", shown.view.to_string()),
        ("digest", shown.digest.to_string()),
        ("base", shown.base.map(|base| base.to_string()).unwrap_or_default()),
        ("findings", shown.findings.to_string()),
        ("ruleset", shown.ruleset.to_string()),
        ("policy", shown.policy.to_string()),
    ]
}

fn templates(pending: bool, changed: bool) -> Vec<Link> {
    let link = |words: &str, begins: &str| Link {
        href: format!("#reason={}", begins.replace(' ', "%20")),
        words: words.to_owned(),
    };
    match (pending, changed) {
        (false, _) => Vec::new(),
        (true, true) => {
            vec![link("announced", "Announced by the publisher: "), link("not announced", "Not announced: ")]
        }
        (true, false) => vec![link("needed", "Needed for "), link("not needed", "Not needed: ")],
    }
}
