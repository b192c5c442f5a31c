//! The facts of a candidate as they are now: read the same way for its page and inside the transaction that counts a vote.

use std::collections::BTreeSet;

use super::corrupt;
use crate::{
    canon::{Sha256, to_jcs},
    clock::Timestamp,
    descriptor::{Descriptor, diff},
    name::Kind,
    pinset::{State, desk::Case},
    review::{Ballot, CandidateId, Digests, Offer, Reason, ReviewerId, reasons},
    scan::{Report, Ruleset},
    service::{opening, scanning},
    store::{Candidate, Conn, StoreError},
};

/// A case with the bytes it was made from.
pub(super) struct Known {
    pub(super) case: Case,
    pub(super) descriptor: Descriptor,
    pub(super) base: Option<Descriptor>,
    pub(super) report: Report,
}

/// The facts of a candidate as they are now.
pub(super) async fn case(
    conn: &mut Conn,
    state: &State,
    rules: &Ruleset,
    row: &Candidate,
) -> Result<Known, StoreError> {
    let descriptor = descriptor(conn, row).await?;
    let (name, digest) = (descriptor.listed_name(), descriptor.digest());
    let base = state.base(&row.pinset, &row.server, row.kind, name, &row.variant, digest);
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
pub(in crate::service) async fn listed_with(
    conn: &mut Conn,
    kind: Kind,
    digest: Sha256,
) -> Result<Option<Descriptor>, StoreError> {
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
pub(super) async fn counting(conn: &mut Conn, id: &CandidateId, view: Sha256) -> Result<Vec<Ballot>, StoreError> {
    let mut ballots = Vec::new();
    for row in conn.ballots(id).await? {
        if row.view == view {
            ballots.push(serde_json::from_slice(&row.document).map_err(|e| corrupt(&format!("ballot: {e}")))?);
        }
    }
    Ok(ballots)
}
