//! Opening candidates: which descriptors of a release need a decision, in which pin sets, and why.

use std::collections::BTreeSet;

use serde::Serialize;

use super::{
    Stop, Work,
    desk::listed_with,
    publish::sets_of,
    scanning::{self, Scanned},
};
use crate::{
    attest::{Artifact, Level, Signer},
    canon::{Digest, Sha256, to_jcs},
    clock::Timestamp,
    descriptor::{Descriptor, renamed},
    name::{Kind, QualifiedName, ServerName, SetName, Variant},
    pinset::{PinEvidence, State},
    review::{CandidateId, Offer, Reason, Standing, reasons},
    store::{self, Candidate, Stage, StoreError},
};

/// A release's descriptors with one attestation over them.
pub(super) struct Brought<'a> {
    pub release: &'a str,
    pub server: &'a ServerName,
    pub variant: &'a Variant,
    pub attestation: Sha256,
    pub level: Level,
    pub signer: Signer,
    pub remotes: &'a [String],
    pub artifacts: &'a [Artifact],
    pub descriptors: Vec<&'a Descriptor>,
    pub scanned: &'a [Scanned],
    pub opened_at: Timestamp,
    /// The leaf that opens them.
    pub log_index: u64,
}

/// What was opened.
#[derive(Debug, Default)]
pub(super) struct Opened {
    /// New candidates, and those that waited already for the same.
    pub candidates: Vec<Candidate>,
    /// Descriptors that need no decision anywhere.
    pub unchanged: usize,
}

/// Opens candidates in every pin set in which the server is reviewed.
pub(super) async fn in_all_sets<R>(work: &mut Work, brought: &Brought<'_>) -> Result<Opened, Stop<R>> {
    let mut opened = Opened::default();
    let mut waiting = BTreeSet::new();
    for set in sets_of(work.state(), brought.server) {
        for candidate in in_set(work, brought, &set).await? {
            waiting.insert(candidate.position);
            opened.candidates.push(candidate);
        }
    }
    opened.unchanged = brought.descriptors.len() - waiting.len();
    Ok(opened)
}

/// How many descriptors need no decision anywhere, as things are now.
pub(super) fn unchanged(state: &State, brought: &Brought<'_>) -> usize {
    let sets = sets_of(state, brought.server);
    let decided = |i: usize| sets.iter().all(|set| needs(state, brought, set, i, false).is_empty());
    (0..brought.descriptors.len()).filter(|i| decided(*i)).count()
}

/// Why a descriptor needs a decision in a set; empty if it needs none.
fn needs(state: &State, brought: &Brought<'_>, set: &SetName, i: usize, renamed: bool) -> Vec<Reason> {
    let (Some(found), Some(descriptor)) = (state.set(set), brought.descriptors.get(i)) else { return Vec::new() };
    let standing = standing_of(state, set, brought.server, brought.variant, descriptor);
    let report = brought.scanned.get(i).map(|scanned| &scanned.report);
    let offer = Offer {
        digest: descriptor.digest(),
        level: brought.level,
        signer: brought.signer,
        remotes: brought.remotes,
        artifacts: brought.artifacts,
        gravest: report.and_then(|report| scanning::gravest(report, found.policy())),
        renamed,
    };
    reasons(&offer, &standing, found.policy().flag_at, brought.opened_at)
}

/// Opens candidates in one pin set.
pub(super) async fn in_set<R>(
    work: &mut Work,
    brought: &Brought<'_>,
    set: &SetName,
) -> Result<Vec<Candidate>, Stop<R>> {
    let renamed = renamed_in(work, brought, set).await?;
    let mut opened = Vec::new();
    for (i, descriptor) in brought.descriptors.iter().enumerate() {
        let reasons = needs(work.state(), brought, set, i, renamed.contains(&i));
        let Some(reason) = reasons.first().copied() else { continue };
        if let Some(waiting) = waiting_for(work, brought, set, descriptor).await? {
            opened.push(Candidate { position: position(i), ..waiting });
            continue;
        }
        let candidate = candidate(work.state(), brought, set, descriptor, i, reason);
        work.write().put_candidate(&candidate).await?;
        opened.push(candidate);
    }
    Ok(opened)
}

/// What a set says about a descriptor's name; nothing about one that can't have a name there.
pub(super) fn standing_of(
    state: &State,
    set: &SetName,
    server: &ServerName,
    variant: &Variant,
    descriptor: &Descriptor,
) -> Standing {
    let (Some(set), Some(name)) = (state.set(set), descriptor.name()) else { return Standing::default() };
    set.standing(server, name, variant, |id| evidence(state, id))
}

pub(super) fn evidence(state: &State, attestation: &Sha256) -> Option<PinEvidence> {
    Some(state.evidence(attestation)?.to_pin_evidence())
}

/// A candidate that waits already for this digest under the same evidence.
async fn waiting_for(
    work: &mut Work,
    brought: &Brought<'_>,
    set: &SetName,
    descriptor: &Descriptor,
) -> Result<Option<Candidate>, StoreError> {
    let (kind, name) = (descriptor.kind(), descriptor.listed_name());
    let named = work.read().candidates_named(set, brought.server, brought.variant, kind, name).await?;
    let state = work.state();
    let same = |candidate: &Candidate| {
        candidate.state == Stage::Pending
            && candidate.digest == descriptor.digest().sha256
            && state.evidence(&candidate.attestation).is_some_and(|known| {
                known.facts.level == brought.level
                    && known.facts.signer == brought.signer
                    && known.facts.remotes == brought.remotes
                    && known.facts.artifacts == brought.artifacts
            })
    };
    Ok(named.into_iter().find(same))
}

fn candidate(
    state: &State,
    brought: &Brought<'_>,
    set: &SetName,
    descriptor: &Descriptor,
    i: usize,
    reason: Reason,
) -> Candidate {
    #[derive(Serialize)]
    struct Named<'a> {
        r#type: &'static str,
        pinset: &'a SetName,
        server: &'a ServerName,
        variant: &'a Variant,
        kind: Kind,
        name: &'a str,
        digest: Digest,
        reason: Reason,
        attestation: Sha256,
        log_index: u64,
    }
    let named = Named {
        r#type: "countersign/candidate/v1",
        pinset: set,
        server: brought.server,
        variant: brought.variant,
        kind: descriptor.kind(),
        name: descriptor.listed_name(),
        digest: descriptor.digest(),
        reason,
        attestation: brought.attestation,
        log_index: brought.log_index,
    };
    let (kind, digest) = (descriptor.kind(), descriptor.digest());
    let base = state.base(set, brought.server, kind, descriptor.listed_name(), brought.variant, digest);
    Candidate {
        id: CandidateId::of(&to_jcs(&named)),
        pinset: set.clone(),
        server: brought.server.clone(),
        variant: brought.variant.clone(),
        kind: descriptor.kind(),
        name: store::listed_name(descriptor.listed_name()),
        reason,
        digest: descriptor.digest().sha256,
        base: base.map(|base| base.sha256),
        state: Stage::Pending,
        decision: None,
        release: brought.release.to_owned(),
        position: position(i),
        attestation: brought.attestation,
        opened_at: brought.opened_at,
        log_index: brought.log_index,
    }
}

/// Which descriptors look like ones that are pinned in the set and missing from the release.
async fn renamed_in(work: &mut Work, brought: &Brought<'_>, set: &SetName) -> Result<BTreeSet<usize>, StoreError> {
    let listed: BTreeSet<(Kind, String)> = {
        let Some(alias) = work.state().set(set).and_then(|set| set.alias_of(brought.server)) else {
            return Ok(BTreeSet::new());
        };
        let joined = |d: &&Descriptor| Some((d.kind(), QualifiedName::join(alias, d.name()?).ok()?.to_string()));
        brought.descriptors.iter().filter_map(joined).collect()
    };
    let vanished: Vec<(Kind, Sha256)> = {
        let state = work.state();
        let Some(set) = state.set(set) else { return Ok(BTreeSet::new()) };
        let Some(under) = set.alias_of(brought.server).and_then(|alias| set.alias(alias)) else {
            return Ok(BTreeSet::new());
        };
        let gone = under.pins().filter(|pin| pin.variant == *brought.variant);
        let gone = gone.filter(|pin| !listed.contains(&(pin.kind, pin.name.to_string())));
        gone.map(|pin| (pin.kind, pin.digests.jcs)).collect()
    };
    if vanished.is_empty() {
        return Ok(BTreeSet::new());
    }
    let mut old = Vec::new();
    for (kind, digest) in vanished {
        old.extend(listed_with(work.read(), kind, digest).await?);
    }
    let new: Vec<usize> = (0..brought.descriptors.len())
        .filter(|i| {
            let standing = standing_of(work.state(), set, brought.server, brought.variant, brought.descriptors[*i]);
            standing.pins.is_empty() && standing.denials.is_empty()
        })
        .collect();
    let candidates: Vec<&Descriptor> = new.iter().map(|i| brought.descriptors[*i]).collect();
    let pairs = renamed(&old.iter().collect::<Vec<_>>(), &candidates);
    Ok(pairs.into_iter().map(|pair| new[pair.to]).collect())
}

fn position(i: usize) -> i64 {
    i64::try_from(i).unwrap_or(i64::MAX)
}
