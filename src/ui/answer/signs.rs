//! The product's words as the pages' signs.

use crate::{
    clock::{Span, Timestamp},
    event::Event,
    pinset::{Denied, Pin, verdict},
    review::{Outcome, Reason},
    scan::Report,
    store::Stage,
    ui::sign::{Action, Severities, Severity, Sign},
};

/// From this long before its end an approval is a matter for review again.
pub(super) const EXPIRING: Span = Span::days(14);

pub(super) const fn of_reason(reason: Reason) -> Sign {
    match reason {
        Reason::Changed => Sign::Changed,
        Reason::Downgrade => Sign::Downgrade,
        Reason::SignerChange => Sign::SignerChange,
        Reason::EndpointChange => Sign::EndpointChange,
        Reason::Flagged => Sign::Flagged,
        Reason::Renamed => Sign::Renamed,
        Reason::Unknown => Sign::Unknown,
        Reason::Expiring => Sign::Expiring,
    }
}

/// A candidate's sign: what was decided, or why it waits.
pub(super) const fn of_stage(stage: Stage, reason: Reason) -> Sign {
    match stage {
        Stage::Pending => of_reason(reason),
        Stage::Approved => Sign::Approved,
        Stage::Rejected => Sign::Rejected,
        Stage::Revoked => Sign::Revoked,
        Stage::Held => Sign::Held,
    }
}

pub(super) const fn of_verdict(verdict: verdict::Verdict) -> Sign {
    use verdict::Verdict as V;
    match verdict {
        V::Stale => Sign::Stale,
        V::Incomplete => Sign::Incomplete,
        V::Ambiguous => Sign::Ambiguous,
        V::Revoked => Sign::Revoked,
        V::Rejected => Sign::Rejected,
        V::Held => Sign::Held,
        V::Approved => Sign::Approved,
        V::Expired => Sign::Expired,
        V::Changed => Sign::Changed,
        V::Flagged => Sign::Flagged,
        V::Unknown => Sign::Unknown,
    }
}

pub(super) const fn of_action(action: verdict::Action) -> Action {
    match action {
        verdict::Action::Allow => Action::Allow,
        verdict::Action::Quarantine => Action::Quarantine,
        verdict::Action::Block => Action::Block,
    }
}

pub(super) const fn of_denied(denied: Denied) -> Sign {
    match denied {
        Denied::Revoked => Sign::Revoked,
        Denied::Rejected => Sign::Rejected,
        Denied::Held => Sign::Held,
    }
}

/// What an outcome makes of a candidate; a reopened one waits as something to look at again.
pub(super) const fn of_outcome(outcome: Outcome) -> Sign {
    match outcome {
        Outcome::Approve => Sign::Approved,
        Outcome::Reject => Sign::Rejected,
        Outcome::Revoke => Sign::Revoked,
        Outcome::Reopen => Sign::Unknown,
    }
}

/// What a reviewer did.
pub(super) const fn did(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Approve => "approved",
        Outcome::Reject => "rejected",
        Outcome::Revoke => "revoked",
        Outcome::Reopen => "reopened",
    }
}

/// A pin's sign at a moment.
pub(super) fn of_pin(pin: &Pin, now: Timestamp) -> Sign {
    let ends = pin.approval.not_after;
    if ends <= now {
        Sign::Expired
    } else if ends.minus(EXPIRING) <= now {
        Sign::Expiring
    } else {
        Sign::Approved
    }
}

/// The sign of what an event did, where it has one.
pub(super) const fn of_event(event: &Event) -> Option<Sign> {
    match event {
        Event::Decision(decision) => match decision.outcome {
            Outcome::Reopen => None,
            other => Some(of_outcome(other)),
        },
        Event::Held(_) => Some(Sign::Held),
        _ => None,
    }
}

/// How many findings there are of each severity, worst first.
pub(super) fn severities(report: &Report) -> Severities {
    let n = |severity: Severity| report.findings.iter().filter(|f| Severity::from(f.severity) == severity).count();
    let counted = Severity::ALL.into_iter().map(|severity| (severity, n(severity) as u64));
    Severities(counted.filter(|(_, n)| *n > 0).collect())
}
