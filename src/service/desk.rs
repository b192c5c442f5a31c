//! Review: what a candidate looks like now, and what ballots bring about.
//!
//! The page a reviewer sees and the vote that comes back are made by the same function, [`case`], once before and once
//! inside the transaction. A vote names the digest of the whole view; if anything in it moved in between, the vote is
//! refused and nothing is written.

use std::collections::{BTreeMap, BTreeSet};

use super::{App, Placed, Step, Stop, Work, WriteError, Written, commit::JSON, opening, repeat, scanning};
use crate::{
    canon::{Digest, Sha256, to_jcs},
    clock::Timestamp,
    descriptor::{Descriptor, diff},
    event::Event,
    name::{Clash, Kind, QualifiedName, SetName},
    pinset::{
        FoldError, State,
        desk::{Case, Decided, out_of_reach},
    },
    review::{
        self, Action, Ballot, BallotType, CandidateId, Digests, Offer, Outcome, Reason, ReasonText, ReviewerId, Shown,
        Step as Move, View, reasons,
    },
    scan::{Report, Ruleset},
    store::{self, Candidate, Conn, Content, Stage, StoreError},
};

/// A candidate with everything that its page shows.
#[derive(Clone, Debug)]
pub struct Desk {
    /// The candidate's row.
    pub candidate: Candidate,
    /// The document that a ballot names.
    pub view: View,
    /// The descriptor as the publisher wrote it.
    pub descriptor: Descriptor,
    /// What is pinned under the name now.
    pub base: Option<Descriptor>,
    /// What the scanner said.
    pub report: Report,
    /// The ballots that count so far.
    pub ballots: Vec<Ballot>,
    /// Who may not vote, because it is theirs.
    pub submitters: BTreeSet<ReviewerId>,
    /// Whether fewer people may vote than must agree.
    pub out_of_reach: bool,
    /// What was decided so far, oldest first, with the reason where it is kept.
    pub decisions: Vec<(store::Decided, Option<String>)>,
}

/// A vote as it comes in.
#[derive(Clone, Debug)]
pub struct Vote {
    /// The candidate.
    pub candidate: CandidateId,
    /// What is wanted: approve, reject or reopen.
    pub outcome: Outcome,
    /// Why.
    pub reason: ReasonText,
    /// What the voter saw.
    pub shown: Shown,
    /// Findings that the voter accepts.
    pub accepts: Vec<String>,
    /// Who votes.
    pub reviewer: ReviewerId,
    /// The account, for the audit trail.
    pub account: String,
}

/// A pin that somebody takes back.
#[derive(Clone, Debug)]
pub struct Revocation {
    /// The pin set.
    pub pinset: SetName,
    /// The qualified name.
    pub name: QualifiedName,
    /// The kind.
    pub kind: Kind,
    /// The deciding digest.
    pub digest: Digest,
    /// Why.
    pub reason: ReasonText,
    /// Who.
    pub reviewer: ReviewerId,
    /// The account, for the audit trail.
    pub account: String,
}

/// Where a candidate stands after a vote.
#[derive(Clone, Debug)]
pub struct Voted {
    /// Its state now.
    pub state: Stage,
    /// Ballots that count.
    pub ballots: u32,
    /// Ballots that an approval needs.
    pub needed: u32,
    /// SHA-256 of the decision's leaf, if the vote decided.
    pub decision: Option<Sha256>,
    /// That leaf's index.
    pub log_index: Option<u64>,
    /// Whether anything was written; if not, this repeats what the same vote was answered before.
    pub new: bool,
}

/// Why a vote or a revocation was refused. Nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// No such candidate.
    #[error("there is no such candidate")]
    NoCandidate,
    /// No such pin.
    #[error("there is no such pin")]
    NoPin,
    /// What was shown isn't what is there now; this is.
    #[error("what you were shown has changed since")]
    ViewChanged(Box<Shown>),
    /// The rules of review.
    #[error(transparent)]
    Review(review::Refused),
    /// The name could be taken for a pinned one.
    #[error(transparent)]
    Clash(Clash),
    /// A finding id that isn't in the report.
    #[error("the report has no finding {0}")]
    NoFinding(String),
}

/// Reads a candidate as it is now.
///
/// # Errors
/// [`StoreError`]; `None` if there is no such candidate.
pub async fn desk(app: &App, id: &CandidateId) -> Result<Option<Desk>, StoreError> {
    let state = app.moment().state.clone();
    let mut conn = app.reader().snapshot().await?;
    let Some(candidate) = conn.candidate(id).await? else { return Ok(None) };
    let known = case(&mut conn, &state, app.rules(), &candidate).await?;
    let view = state.view(&known.case).map_err(|e| corrupt(&e.to_string()))?;
    let ballots = counting(&mut conn, id, view.shown().view).await?;
    let mut decisions = Vec::new();
    for decided in conn.decisions(id).await? {
        let reason = conn.reason(decided.reason).await?.map(|reason| reason.text);
        decisions.push((decided, reason));
    }
    Ok(Some(Desk {
        // Where one decides alone, own submissions are no hindrance.
        out_of_reach: !state.set(&candidate.pinset).is_some_and(|set| set.policy().solo)
            && out_of_reach(view.needed, state.reviewers(), &known.case.submitters),
        submitters: known.case.submitters.clone(),
        candidate,
        view,
        descriptor: known.descriptor,
        base: known.base,
        report: known.report,
        ballots,
        decisions,
    }))
}

/// Counts a vote, and logs the decision if it makes one.
///
/// # Errors
/// [`WriteError::Refused`].
pub async fn vote(app: &App, vote: Vote) -> Result<Written<Voted>, WriteError<Refused>> {
    app.write(Cast { vote, rules: app.rules().clone() }).await
}

/// Takes a pin back.
///
/// # Errors
/// [`WriteError::Refused`].
pub async fn revoke(app: &App, revocation: Revocation) -> Result<Written<Voted>, WriteError<Refused>> {
    app.write(Revoke { revocation, rules: app.rules().clone() }).await
}

/// A case with the bytes it was made from.
struct Known {
    case: Case,
    descriptor: Descriptor,
    base: Option<Descriptor>,
    report: Report,
}

/// The facts of a candidate as they are now.
async fn case(conn: &mut Conn, state: &State, rules: &Ruleset, row: &Candidate) -> Result<Known, StoreError> {
    let descriptor = descriptor(conn, row).await?;
    let base = state.base(&row.pinset, &row.server, row.kind, descriptor.listed_name(), &row.variant);
    let base = match base {
        Some(base) => Some(pinned(conn, row.kind, base.sha256).await?),
        None => None,
    };
    let grew = base.as_ref().is_some_and(|base| {
        base.digest() != descriptor.digest() && diff::diff(&base.value(), &descriptor.value()).growth().next().is_some()
    });
    let report = report(conn, state, rules, &descriptor).await?;
    let set = state.set(&row.pinset).ok_or_else(|| corrupt("candidate of an unknown pin set"))?;
    let gravest = scanning::gravest(&report, set.policy());
    let evidence = state.evidence(&row.attestation).ok_or_else(|| corrupt("candidate without evidence"))?;
    let offer = Offer {
        digest: descriptor.digest(),
        level: evidence.facts.level,
        signer: evidence.facts.signer,
        remotes: &evidence.facts.remotes,
        artifacts: &evidence.facts.artifacts,
        gravest,
        renamed: row.reason == Reason::Renamed,
    };
    let standing = opening::standing_of(state, &row.pinset, &row.server, &row.variant, &descriptor);
    // Reasons are those of today: a name that got a pin since the candidate was opened makes it a change. Expiry moves
    // with the clock and not with the log, so it isn't looked at here.
    let mut why = reasons(&offer, &standing, set.policy().flag_at, Timestamp::EPOCH);
    if why.is_empty() {
        why.push(row.reason);
    }
    let case = Case {
        id: row.id.clone(),
        pinset: row.pinset.clone(),
        server: row.server.clone(),
        variant: row.variant.clone(),
        kind: row.kind,
        name: descriptor.listed_name().to_owned(),
        digests: Digests { jcs: descriptor.digest().sha256, python: descriptor.python_digest().sha256 },
        reasons: why,
        attestation: row.attestation,
        unpinnable: unpinnable(conn, row).await?,
        findings: Sha256::of(&to_jcs(&report)),
        gravest,
        base: base.as_ref().map(Descriptor::digest),
        grew,
        submitters: submitters(conn, state, row).await?,
    };
    Ok(Known { case, descriptor, base, report })
}

async fn descriptor(conn: &mut Conn, row: &Candidate) -> Result<Descriptor, StoreError> {
    let listed = conn.descriptor(&row.release, row.position).await?.filter(|listed| listed.digest == row.digest);
    let listed = listed.ok_or_else(|| corrupt("candidate without its descriptor"))?;
    let raw = conn.content(listed.raw).await?.ok_or_else(|| corrupt("descriptor without its bytes"))?;
    let read = Descriptor::parse(row.kind, &raw.bytes).ok().filter(|read| read.digest().sha256 == row.digest);
    read.ok_or_else(|| corrupt("descriptor with another digest"))
}

/// A descriptor that is pinned. It is read from a publisher's bytes, not from the canonical ones: RFC 8785 writes some
/// numbers in a form that the strict parser doesn't take.
async fn pinned(conn: &mut Conn, kind: Kind, digest: Sha256) -> Result<Descriptor, StoreError> {
    listed_with(conn, kind, digest).await?.ok_or_else(|| corrupt("pinned descriptor without its bytes"))
}

/// A descriptor of any release with this digest.
pub(super) async fn listed_with(conn: &mut Conn, kind: Kind, digest: Sha256) -> Result<Option<Descriptor>, StoreError> {
    for row in conn.descriptors_with(digest, 8).await? {
        let raw = conn.content(row.raw).await?;
        let read = raw.and_then(|raw| Descriptor::parse(kind, &raw.bytes).ok());
        if let Some(read) = read.filter(|read| row.kind == kind && read.digest().sha256 == digest) {
            return Ok(Some(read));
        }
    }
    Ok(None)
}

/// The report under the rules in force; made now if those rules never saw the descriptor.
async fn report(
    conn: &mut Conn,
    state: &State,
    rules: &Ruleset,
    descriptor: &Descriptor,
) -> Result<Report, StoreError> {
    let ruleset = state.registry().map(|registry| registry.ruleset);
    let kept = match ruleset {
        Some(ruleset) => conn.scan(&descriptor.digest().to_string(), ruleset).await?,
        None => None,
    };
    let Some(kept) = kept else { return Ok(scanning::one(rules, descriptor).report) };
    let content = conn.content(kept.report).await?.ok_or_else(|| corrupt("scan without its report"))?;
    serde_json::from_slice(&content.bytes).map_err(|e| corrupt(&format!("scan report: {e}")))
}

async fn unpinnable(conn: &mut Conn, row: &Candidate) -> Result<Option<String>, StoreError> {
    // From the release's row, not from the descriptor alone: a name listed twice is a fault of the release.
    Ok(conn.descriptor(&row.release, row.position).await?.and_then(|listed| listed.unpinnable))
}

/// Who published it, and who holds the key that signed it.
async fn submitters(conn: &mut Conn, state: &State, row: &Candidate) -> Result<BTreeSet<ReviewerId>, StoreError> {
    let mut found = BTreeSet::new();
    let attested = conn.attestation(row.attestation).await?;
    let submitted = conn.release(&row.release).await?.and_then(|release| release.submitted_by);
    for account in [submitted, attested.and_then(|attested| attested.submitted_by)].into_iter().flatten() {
        found.extend(conn.account(&account).await?.map(|account| account.reviewer));
    }
    let authority = state.evidence(&row.attestation).and_then(|evidence| state.authority(&evidence.facts.authority));
    found.extend(authority.and_then(|authority| authority.facts.holder.clone()));
    Ok(found)
}

/// The kept ballots on this view.
async fn counting(conn: &mut Conn, id: &CandidateId, view: Sha256) -> Result<Vec<Ballot>, StoreError> {
    let mut ballots = Vec::new();
    for row in conn.ballots(id).await? {
        if row.view == view {
            ballots.push(serde_json::from_slice(&row.document).map_err(|e| corrupt(&format!("ballot: {e}")))?);
        }
    }
    Ok(ballots)
}

/// The step that counts a vote.
struct Cast {
    vote: Vote,
    rules: std::sync::Arc<Ruleset>,
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
struct Revoke {
    revocation: Revocation,
    rules: std::sync::Arc<Ruleset>,
}

impl Step for Revoke {
    type Done = Voted;
    type Refused = Refused;

    async fn run(&self, work: &mut Work) -> Result<Voted, Stop<Refused>> {
        let asked = &self.revocation;
        let state = work.state().clone();
        let no_pin = || Stop::Refused(Refused::NoPin);
        let set = state.set(&asked.pinset).ok_or_else(no_pin)?;
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

pub(super) const fn after(outcome: Outcome) -> Stage {
    match outcome {
        Outcome::Approve => Stage::Approved,
        Outcome::Reject => Stage::Rejected,
        Outcome::Revoke => Stage::Revoked,
        Outcome::Reopen => Stage::Pending,
    }
}

/// A descriptor's own name, given the alias that its qualified name was joined with.
pub(super) fn bare(alias: &crate::name::Alias, name: &QualifiedName) -> Option<String> {
    name.as_str().strip_prefix(alias.as_str())?.strip_prefix('.').map(str::to_owned)
}

fn corrupt(what: &str) -> StoreError {
    StoreError::Corrupt { table: "candidate", what: what.to_owned() }
}
