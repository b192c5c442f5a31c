//! Review: what a candidate looks like now, and what ballots bring about.
//!
//! The page a reviewer sees and the vote that comes back are made by the same function, `case`, once before and once
//! inside the transaction. A vote names the digest of the whole view; if anything in it moved in between, the vote is
//! refused and nothing is written.

mod case;
mod cast;

use std::collections::BTreeSet;

pub(super) use self::{case::listed_with, cast::after};
use self::{
    case::{case, counting},
    cast::{Cast, Revoke},
};
use super::{App, WriteError, Written};
use crate::{
    canon::{Digest, Sha256},
    descriptor::Descriptor,
    name::{Clash, Kind, QualifiedName, SetName},
    pinset::desk::out_of_reach,
    review::{self, Ballot, CandidateId, Outcome, ReasonText, ReviewerId, Shown, View},
    scan::Report,
    store::{self, Candidate, Stage, StoreError},
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

/// A descriptor's own name, given the alias that its qualified name was joined with.
pub(super) fn bare(alias: &crate::name::Alias, name: &QualifiedName) -> Option<String> {
    name.as_str().strip_prefix(alias.as_str())?.strip_prefix('.').map(str::to_owned)
}

fn corrupt(what: &str) -> StoreError {
    StoreError::Corrupt { table: "candidate", what: what.to_owned() }
}
