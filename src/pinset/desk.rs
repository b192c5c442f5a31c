//! What a reviewer's desk needs from the state: the view of a case, who may vote on it, and the record of what was
//! decided. Pure, like the fold that will read the record; both use the same rules, so a record made here folds.

use std::collections::BTreeSet;

use super::{
    document::Denied,
    state::{FoldError, State},
};
use crate::{
    attest::Level,
    canon::{Digest, Sha256},
    clock::Timestamp,
    name::{DescriptorName, Kind, QualifiedName, ServerName, SetName, Variant},
    review::{
        Ballot, CandidateId, Decision, Digests, Eligible, Mode, Outcome, Reason, ReviewerId, Risk, View, ViewEvidence,
        ViewType,
    },
    scan::Severity,
};

/// The facts of a candidate that the state doesn't know.
#[derive(Clone, Debug)]
pub struct Case {
    /// The candidate.
    pub id: CandidateId,
    /// The pin set.
    pub pinset: SetName,
    /// The server.
    pub server: ServerName,
    /// The variant of its list.
    pub variant: Variant,
    /// The kind of descriptor.
    pub kind: Kind,
    /// Its own name, as listed.
    pub name: String,
    /// The digest by both recipes.
    pub digests: Digests,
    /// Why it is open, most urgent first.
    pub reasons: Vec<Reason>,
    /// The attestation behind it.
    pub attestation: Sha256,
    /// Why it can't be pinned.
    pub unpinnable: Option<String>,
    /// SHA-256 of its scan report.
    pub findings: Sha256,
    /// The gravest finding.
    pub gravest: Option<Severity>,
    /// What the diff was made against.
    pub base: Option<Digest>,
    /// Whether it can do more than that.
    pub grew: bool,
    /// Who submitted it, and who holds the key that signed it.
    pub submitters: BTreeSet<ReviewerId>,
}

/// What ballots have decided.
#[derive(Clone, Debug)]
pub struct Decided {
    /// The outcome.
    pub outcome: Outcome,
    /// The ballots that counted.
    pub ballots: Vec<Ballot>,
    /// How many agreed, of how many.
    pub mode: Mode,
    /// Findings that all accept.
    pub accepted: Vec<String>,
    /// SHA-256 of salt and reason.
    pub reason: Sha256,
}

impl State {
    /// What the diff of `digest` is made against: the newest pin of the name and variant, or what was pinned last if that
    /// was taken away. Without the latter a tool that grew would look new, and less risky, after a revocation.
    pub fn base(
        &self,
        set: &SetName,
        server: &ServerName,
        kind: Kind,
        name: &str,
        variant: &Variant,
        digest: Digest,
    ) -> Option<Digest> {
        let set = self.set(set)?;
        let name = DescriptorName::new(kind, name).ok()?;
        let (alias, qualified, _) = set.joined(server, &name).ok()?;
        let under = set.alias(&alias)?;
        let of_name = |k: Kind, n: &QualifiedName, v: &Variant| k == kind && *n == qualified && v == variant;
        let pins = under.pins().filter(|pin| of_name(pin.kind, &pin.name, &pin.variant));
        let newest = pins.max_by_key(|pin| pin.approval.approved_at).map(|pin| pin.digests.digest());
        let taken = under.denied().filter(|denial| of_name(denial.kind, &denial.name, &denial.variant));
        let taken = taken.filter(|denial| denial.state != Denied::Rejected && denial.digest != digest);
        newest.or_else(|| taken.max_by_key(|denial| denial.at).map(|denial| denial.digest))
    }

    /// Everything that the page of a case is made from.
    ///
    /// # Errors
    /// [`FoldError`] if the set, the registry or the evidence isn't known.
    pub fn view(&self, case: &Case) -> Result<View, FoldError> {
        let registry = self.registry().ok_or(FoldError::Registry)?;
        let set = self.set(&case.pinset).ok_or(FoldError::UnknownSet)?;
        let evidence = &self.evidence(&case.attestation).ok_or(FoldError::UnknownEvidence)?.facts;
        let joined = DescriptorName::new(case.kind, &case.name).ok();
        let joined = joined.and_then(|name| set.joined(&case.server, &name).ok());
        let (qualified, wire) = joined.map_or((None, None), |(_, qualified, wire)| (Some(qualified), wire));
        Ok(View {
            r#type: ViewType::V1,
            registry: registry.origin.clone(),
            pinset: case.pinset.clone(),
            candidate: case.id.clone(),
            reasons: case.reasons.clone(),
            server: case.server.clone(),
            alias: set.alias_of(&case.server).cloned(),
            variant: case.variant.clone(),
            kind: case.kind,
            name: case.name.clone(),
            qualified,
            wire,
            digests: case.digests,
            base: case.base,
            unpinnable: case.unpinnable.clone(),
            findings: case.findings,
            ruleset: registry.ruleset,
            policy: set.policy_sha256(),
            evidence: ViewEvidence {
                release: evidence.release.clone(),
                version: evidence.version.clone(),
                attestation: case.attestation,
                role: evidence.role,
                level: evidence.level,
                signer: evidence.signer,
                authority: evidence.authority.clone(),
                remotes: evidence.remotes.clone(),
                artifacts: evidence.artifacts.clone(),
            },
            grew: case.grew,
            lifetime_days: set.policy().lifetime_days,
            needed: set.policy().needed(risk(case, evidence.level)),
        })
    }

    /// Who may vote on a case, and under which conditions.
    ///
    /// # Errors
    /// As [`State::view`].
    pub fn eligible<'a>(&'a self, case: &'a Case, view: &View) -> Result<Eligible<'a>, FoldError> {
        let set = self.set(&case.pinset).ok_or(FoldError::UnknownSet)?;
        let level = view.evidence.level;
        Ok(Eligible {
            policy: set.policy(),
            view: Sha256::of(&view.to_jcs()),
            risk: risk(case, level),
            reviewers: self.reviewers(),
            submitters: &case.submitters,
            level,
            alias_bound: view.alias.is_some(),
            unpinnable: case.unpinnable.as_deref(),
        })
    }

    /// The record of what was decided, as a leaf at `at` will hold it.
    ///
    /// # Errors
    /// [`FoldError::Clash`] if the name could be taken for one that is pinned, and whatever else the fold would refuse.
    pub fn decision(&self, case: &Case, view: &View, decided: Decided, at: Timestamp) -> Result<Decision, FoldError> {
        let set = self.set(&case.pinset).ok_or(FoldError::UnknownSet)?;
        let approves = decided.outcome == Outcome::Approve;
        let digest = case.digests.digest();
        let supersedes = match (approves, &view.alias, &view.qualified) {
            (true, Some(alias), Some(name)) => {
                set.names().check(case.kind, name, view.wire.as_ref())?;
                set.supersedes(alias, name, case.kind, &case.variant, digest, at)
            }
            _ => Vec::new(),
        };
        let decision = Decision {
            pinset: case.pinset.clone(),
            alias: view.alias.clone(),
            server: case.server.clone(),
            variant: case.variant.clone(),
            kind: case.kind,
            name: case.name.clone(),
            qualified: view.qualified.clone(),
            wire: view.wire.clone(),
            digests: case.digests,
            outcome: decided.outcome,
            candidate: case.id.clone(),
            base: case.base,
            release: view.evidence.release.clone(),
            attestation: case.attestation,
            level: view.evidence.level,
            signer: view.evidence.signer,
            findings: case.findings,
            accepted: decided.accepted,
            ruleset: view.ruleset,
            policy: view.policy,
            supersedes,
            mode: decided.mode,
            ballots: decided.ballots,
            reason: decided.reason,
            not_after: approves.then(|| at + set.policy().lifetime()),
        };
        decision.check()?;
        Ok(decision)
    }
}

/// Whether the eligible reviewers are fewer than a case needs, so that no approval can come of it.
pub fn out_of_reach(needed: u32, reviewers: &BTreeSet<ReviewerId>, submitters: &BTreeSet<ReviewerId>) -> bool {
    let able = reviewers.difference(submitters).count();
    usize::try_from(needed).is_ok_and(|needed| able < needed)
}

fn risk(case: &Case, level: Level) -> Risk {
    Risk { finding: case.gravest, captured: level == Level::Capture, grew: case.grew }
}
