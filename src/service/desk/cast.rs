//! The steps that count a vote and take a pin back: the state machine on what is there now, and what comes of it.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Refused, Revocation, Vote, Voted, bare,
    case::{case, counting},
    corrupt,
};
use crate::{
    canon::Sha256,
    event::Event,
    pinset::{
        FoldError,
        desk::{Case, Decided},
    },
    review::{self, Action, Ballot, BallotType, Outcome, ReasonText, ReviewerId, Step as Move, View},
    scan::Ruleset,
    service::{Placed, Step, Stop, Work, commit::JSON, repeat},
    store::{self, Candidate, Content, Stage, StoreError},
};

/// The step that counts a vote.
pub(super) struct Cast {
    pub(super) vote: Vote,
    pub(super) rules: std::sync::Arc<Ruleset>,
}

impl Step for Cast {
    type Done = Voted;
    type Refused = Refused;

    async fn run(&self, work: &mut Work) -> Result<Voted, Stop<Refused>> {
        let state = work.state().clone();
        let row = work.read().candidate(&self.vote.candidate).await?.ok_or(Stop::Refused(Refused::NoCandidate))?;
        // Before the view is compared: a decision may itself have changed what would be shown now.
        if let Some(answered) = repeat::decided(work.read(), &row, &self.vote).await? {
            return Ok(answered);
        }
        let known = case(work.read(), &state, &self.rules, &row).await?;
        let view = state.view(&known.case)?;
        let shown = view.shown();
        if self.vote.shown != shown {
            return Err(Stop::Refused(Refused::ViewChanged(Box::new(shown))));
        }
        let ballots = counting(work.read(), &row.id, shown.view).await?;
        if row.state == Stage::Pending && ballots.iter().any(|ballot| repeat::is_of(ballot, &self.vote)) {
            let (ballots, needed) = (u32::try_from(ballots.len()).unwrap_or(u32::MAX), view.needed);
            return Ok(Voted { state: row.state, ballots, needed, decision: None, log_index: None, new: false });
        }
        let ids: BTreeSet<&String> = known.report.findings.iter().map(|finding| &finding.id).collect();
        if let Some(missing) = self.vote.accepts.iter().find(|id| !ids.contains(id)) {
            return Err(Stop::Refused(Refused::NoFinding(missing.clone())));
        }
        let mut accepts = self.vote.accepts.clone();
        accepts.sort();
        accepts.dedup();
        let ballot = Ballot {
            r#type: BallotType::V1,
            registry: view.registry.clone(),
            pinset: row.pinset.clone(),
            candidate: row.id.clone(),
            outcome: self.vote.outcome,
            view: shown.view,
            accepts,
            reviewer: self.vote.reviewer.clone(),
            issued: work.at(),
        };
        let by = By { reason: &self.vote.reason, account: &self.vote.account, rules: &self.rules };
        settle(work, &row, &known.case, &view, ballot, by).await
    }
}

/// The step that takes a pin back.
pub(super) struct Revoke {
    pub(super) revocation: Revocation,
    pub(super) rules: std::sync::Arc<Ruleset>,
}

impl Step for Revoke {
    type Done = Voted;
    type Refused = Refused;

    async fn run(&self, work: &mut Work) -> Result<Voted, Stop<Refused>> {
        let asked = &self.revocation;
        let state = work.state().clone();
        let no_pin = || Stop::Refused(Refused::NoPin);
        let set = state.set(&asked.pinset).ok_or_else(no_pin)?;
        if let Some(answered) = repeat::revoked(work.read(), &state, asked).await? {
            return Ok(answered);
        }
        let pin = set.aliases().find_map(|(alias, under)| {
            let of = |pin: &&crate::pinset::Pin| {
                pin.kind == asked.kind && pin.name == asked.name && pin.digests.digest() == asked.digest
            };
            under.pins().find(of).map(|pin| (alias.clone(), under.server().clone(), pin.clone()))
        });
        let (alias, server, pin) = pin.ok_or_else(no_pin)?;
        let name = bare(&alias, &pin.name).ok_or_else(no_pin)?;
        let named = work.read().candidates_named(&asked.pinset, &server, &pin.variant, pin.kind, &name).await?;
        let approved = |row: &Candidate| row.state == Stage::Approved && row.digest == pin.digests.jcs;
        let row = named.into_iter().rev().find(approved).ok_or_else(no_pin)?;
        // The evidence of the pin, which a renewal may have moved away from the candidate's.
        let row = Candidate { attestation: pin.evidence, ..row };
        let known = case(work.read(), &state, &self.rules, &row).await?;
        let view = state.view(&known.case)?;
        let ballot = Ballot {
            r#type: BallotType::V1,
            registry: view.registry.clone(),
            pinset: row.pinset.clone(),
            candidate: row.id.clone(),
            outcome: Outcome::Revoke,
            // What is taken back is a decision, so that is what the ballot names.
            view: pin.approval.decision_sha256,
            accepts: Vec::new(),
            reviewer: asked.reviewer.clone(),
            issued: work.at(),
        };
        let by = By { reason: &asked.reason, account: &asked.account, rules: &self.rules };
        settle(work, &row, &known.case, &view, ballot, by).await
    }
}

/// Who acts, and why.
struct By<'a> {
    reason: &'a ReasonText,
    account: &'a str,
    rules: &'a Ruleset,
}

/// Runs the state machine on a ballot and writes what comes of it.
async fn settle(
    work: &mut Work,
    row: &Candidate,
    case: &Case,
    view: &View,
    ballot: Ballot,
    by: By<'_>,
) -> Result<Voted, Stop<Refused>> {
    let state = work.state().clone();
    let ballots = counting(work.read(), &row.id, ballot.view).await?;
    let candidate = review::Candidate(stands(row, ballots));
    let desk = state.eligible(case, view)?;
    let moved = candidate.apply(Action::Vote(ballot.clone()), &desk);
    let (candidate, step) = moved.map_err(|refused| match refused {
        review::Refused::ViewChanged => Stop::Refused(Refused::ViewChanged(Box::new(view.shown()))),
        other => Stop::Refused(Refused::Review(other)),
    })?;
    let mut salt = [0; 16];
    work.rng().fill(&mut salt);
    let reason = by.reason.digest(&salt);
    let kept = store::Reason { sha256: reason, salt: salt.to_vec(), text: by.reason.as_str().to_owned() };
    match step {
        Move::Waiting { given, needed } => {
            // Ballots that the state machine left out are void: their view, their voter or their mind has changed. The
            // others keep their own reasons.
            let own: BTreeMap<ReviewerId, Sha256> =
                work.read().ballots(&row.id).await?.into_iter().map(|kept| (kept.reviewer, kept.reason)).collect();
            let at = work.at();
            work.write().void_ballots(&row.id, at).await?;
            for counted in counted(&candidate) {
                let new = counted.reviewer == ballot.reviewer;
                let reason = own.get(&counted.reviewer).copied().filter(|_| !new).unwrap_or(reason);
                put_ballot(work, counted, reason).await?;
            }
            work.write().put_reason(&kept).await?;
            work.audit(by.account, "vote", row.id.as_str(), ballot.outcome.as_str());
            Ok(Voted { state: Stage::Pending, ballots: given, needed, decision: None, log_index: None, new: true })
        }
        Move::Decide { outcome, ballots, mode, accepted } => {
            let given = u32::try_from(ballots.len()).unwrap_or(u32::MAX);
            let decided = Decided { outcome, ballots: ballots.clone(), mode, accepted, reason };
            let decision = state.decision(case, view, decided, work.at()).map_err(|refused| match refused {
                FoldError::Clash(clash) => Stop::Refused(Refused::Clash(clash)),
                other => Stop::Fold(other),
            })?;
            let placed = work.append(Event::Decision(Box::new(decision)))?;
            let to = after(outcome);
            let tx = work.write();
            tx.put_content(&Content::new(view.to_jcs(), JSON, false)).await?;
            tx.put_reason(&kept).await?;
            tx.void_ballots(&row.id, placed.at).await?;
            record(tx, row, outcome, &placed, reason, &mode.to_string()).await?;
            if !tx.move_candidate(&row.id, row.state, to, Some(placed.sha256)).await? {
                return Err(Stop::Store(corrupt("candidate moved under the head row")));
            }
            work.audit(by.account, outcome.as_str(), row.id.as_str(), &format!("leaf {}", placed.index));
            renew_reasons(work, by.rules, row).await?;
            let (decision, log_index) = (Some(placed.sha256), Some(placed.index));
            Ok(Voted { state: to, ballots: given, needed: view.needed, decision, log_index, new: true })
        }
        // Votes only wait or decide.
        Move::Moved => Err(Stop::Store(corrupt("a vote moved a candidate"))),
    }
}

/// What a decision changes for others that wait under the same name: a first version that is approved makes the next one
/// a change, and the queue is sorted by it.
async fn renew_reasons(work: &mut Work, rules: &Ruleset, decided: &Candidate) -> Result<(), StoreError> {
    let state = work.state().clone();
    let Candidate { pinset, server, variant, kind, name, .. } = decided;
    for row in work.read().candidates_named(pinset, server, variant, *kind, name).await? {
        if row.state != Stage::Pending || row.id == decided.id {
            continue;
        }
        let known = case(work.read(), &state, rules, &row).await?;
        if let Some(reason) = known.case.reasons.first().filter(|reason| **reason != row.reason) {
            work.write().renew_candidate(&row.id, *reason).await?;
        }
    }
    Ok(())
}

fn counted(candidate: &review::Candidate) -> Vec<Ballot> {
    match &candidate.0 {
        review::State::Pending { ballots } => ballots.clone(),
        _ => Vec::new(),
    }
}

async fn put_ballot(work: &mut Work, ballot: Ballot, reason: Sha256) -> Result<(), StoreError> {
    let row = store::Ballot {
        candidate: ballot.candidate.clone(),
        reviewer: ballot.reviewer.clone(),
        view: ballot.view,
        document: ballot.to_jcs(),
        reason,
        cast_at: ballot.issued,
        void_since: None,
    };
    work.write().put_ballot(&row).await.map(drop)
}

async fn record(
    tx: &mut store::WriteTx,
    row: &Candidate,
    outcome: Outcome,
    placed: &Placed,
    reason: Sha256,
    mode: &str,
) -> Result<(), StoreError> {
    let decided = store::Decided {
        log_index: placed.index,
        sha256: placed.sha256,
        candidate: row.id.clone(),
        outcome,
        reason,
        mode: mode.to_owned(),
        at: placed.at,
    };
    tx.put_decision(&decided).await
}

/// A row's state in the words of the state machine.
fn stands(row: &Candidate, ballots: Vec<Ballot>) -> review::State {
    // Only for a row that a crash of our own rules wrote; the state machine then finds no decision to go back to.
    let decision = row.decision.unwrap_or(Sha256([0; 32]));
    match row.state {
        Stage::Pending => review::State::Pending { ballots },
        Stage::Approved => review::State::Approved { decision },
        Stage::Rejected => review::State::Rejected { decision },
        Stage::Revoked => review::State::Revoked { decision },
        Stage::Held => review::State::Held,
    }
}

pub(in crate::service) const fn after(outcome: Outcome) -> Stage {
    match outcome {
        Outcome::Approve => Stage::Approved,
        Outcome::Reject => Stage::Rejected,
        Outcome::Revoke => Stage::Revoked,
        Outcome::Reopen => Stage::Pending,
    }
}
