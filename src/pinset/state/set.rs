//! One pin set in the fold: its policy, its aliases, and the pins and denials under each.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::{
    EvidenceState, FoldError, Place, Published, Registry,
    alias::{AliasState, HeldPin, PinKey},
    trie::Trie,
};
use crate::{
    canon::{Digest, Sha256},
    clock::Timestamp,
    event::{Held, PolicySet},
    name::{Alias, DescriptorName, Kind, Names, QualifiedName, ServerName, SetName, Variant, WireName},
    pinset::document::{AliasEntry, Approval, Denied, Pin, PinEvidence, SetDocument, SetType},
    review::{Decision, Outcome, Policy, Standing, StandingDenial, StandingPin, Superseded},
};

/// A pin set.
#[derive(Clone, Debug)]
pub struct SetState {
    name: SetName,
    policy: Policy,
    policy_sha256: Sha256,
    aliases: BTreeMap<Alias, Arc<AliasState>>,
    by_server: BTreeMap<ServerName, Alias>,
    /// Rejections of servers without an alias; they enter `denied` when one is bound.
    unbound: BTreeMap<ServerName, Vec<Unbound>>,
    /// Every name that was ever pinned: a name isn't handed on when its pin goes.
    names: Arc<Names>,
    newest: Option<Arc<SetDocument>>,
    changed: bool,
}

#[derive(Clone, Debug)]
struct Unbound {
    kind: Kind,
    name: DescriptorName,
    variant: Variant,
    digest: Digest,
    reason: Sha256,
    at: Timestamp,
    log_index: u64,
}

impl SetState {
    pub(super) fn new(created: &PolicySet) -> Self {
        Self {
            name: created.pinset.clone(),
            policy_sha256: created.policy.sha256(),
            policy: created.policy.clone(),
            aliases: BTreeMap::new(),
            by_server: BTreeMap::new(),
            unbound: BTreeMap::new(),
            names: Arc::default(),
            newest: None,
            changed: true,
        }
    }

    /// The set's name.
    pub const fn name(&self) -> &SetName {
        &self.name
    }

    /// The policy in force.
    pub const fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Its digest.
    pub const fn policy_sha256(&self) -> Sha256 {
        self.policy_sha256
    }

    /// The servers with an alias here.
    pub fn aliases(&self) -> impl Iterator<Item = (&Alias, &AliasState)> {
        self.aliases.iter().map(|(alias, state)| (alias, state.as_ref()))
    }

    /// What is under an alias.
    pub fn alias(&self, alias: &Alias) -> Option<&AliasState> {
        self.aliases.get(alias).map(AsRef::as_ref)
    }

    /// A server's alias.
    pub fn alias_of(&self, server: &ServerName) -> Option<&Alias> {
        self.by_server.get(server)
    }

    /// The names that are taken.
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// The document of the newest version.
    pub fn document(&self) -> Option<&SetDocument> {
        self.newest.as_deref()
    }

    /// Whether something changed since the newest version.
    pub const fn is_changed(&self) -> bool {
        self.changed
    }

    /// The qualified and the wire name that a descriptor has here.
    ///
    /// # Errors
    /// [`FoldError::Unbound`] without an alias; [`FoldError::Decision`] if the joined name is too long.
    pub fn joined(
        &self,
        server: &ServerName,
        name: &DescriptorName,
    ) -> Result<(Alias, QualifiedName, Option<WireName>), FoldError> {
        let alias = self.alias_of(server).ok_or(FoldError::Unbound)?;
        let qualified = QualifiedName::join(alias, name).map_err(|_| FoldError::Decision("the name is too long"))?;
        let wire = WireName::join(alias, name).map_err(|_| FoldError::Decision("the wire name is too long"))?;
        Ok((alias.clone(), qualified, wire))
    }

    /// What the set says about one name and variant of a server.
    pub fn standing(
        &self,
        server: &ServerName,
        name: &DescriptorName,
        variant: &Variant,
        evidence: impl Fn(&Sha256) -> Option<PinEvidence>,
    ) -> Standing {
        let kind = name.kind();
        let Some(alias) = self.alias_of(server) else {
            let denials = self.unbound.get(server).into_iter().flatten();
            let of = |u: &&Unbound| u.name == *name && u.variant == *variant;
            let denials = denials.filter(of).map(|u| StandingDenial { digest: u.digest }).collect();
            return Standing { pins: Vec::new(), denials };
        };
        let (Ok(qualified), Some(state)) = (QualifiedName::join(alias, name), self.alias(alias)) else {
            return Standing::default();
        };
        let pins = state.pins.values().filter(|p| p.kind == kind && p.name == qualified && p.variant == *variant);
        let pins = pins.filter_map(|pin| {
            let by = evidence(&pin.evidence)?;
            Some(StandingPin {
                digest: pin.digests.digest(),
                level: by.level,
                signer: by.signer,
                remotes: by.remotes,
                artifacts: by.artifacts,
                not_after: pin.approval.not_after,
            })
        });
        let denials = state.denied.values().filter(|d| d.kind == kind && d.name == qualified && d.variant == *variant);
        Standing { pins: pins.collect(), denials: denials.map(|d| StandingDenial { digest: d.digest }).collect() }
    }

    /// Which older pins an approval of `digest` at `at` brings to an end, and when.
    pub fn supersedes(
        &self,
        alias: &Alias,
        name: &QualifiedName,
        kind: Kind,
        variant: &Variant,
        digest: Digest,
        at: Timestamp,
    ) -> Vec<Superseded> {
        let pins = self.alias(alias).into_iter().flat_map(|state| state.pins.values());
        pins.filter(|p| p.kind == kind && p.name == *name && p.variant == *variant && p.digests.digest() != digest)
            .map(|pin| {
                let live = pin.approval.not_after > at;
                let overlap = self.policy.overlap().filter(|_| live).map(|overlap| at + overlap);
                Superseded {
                    digest: pin.digests.digest(),
                    until: overlap.map(|until| until.min(pin.approval.not_after)),
                }
            })
            .collect()
    }

    pub(super) fn set_policy(&mut self, policy: &Policy) {
        self.policy = policy.clone();
        self.policy_sha256 = policy.sha256();
        self.changed = true;
    }

    pub(super) const fn touch(&mut self) {
        self.changed = true;
    }

    pub(super) fn bind(&mut self, alias: &Alias, server: &ServerName, place: Place) -> Result<(), FoldError> {
        if let Some(held) = self.aliases.get(alias) {
            return Err(FoldError::Bound(format!("{alias} is the alias of {}", held.server)));
        }
        let folded = server.folded();
        if let Some((other, held)) = self.by_server.iter().find(|(other, _)| other.folded() == folded) {
            return Err(FoldError::Bound(format!("{other} has the alias {held}")));
        }
        let mut state = AliasState::new(server.clone());
        for refused in self.unbound.remove(server).into_iter().flatten() {
            // A name too long for this alias can never be approved, so nothing is lost by not denying it.
            if let Ok(name) = QualifiedName::join(alias, &refused.name) {
                let key = PinKey { kind: refused.kind, name, variant: refused.variant, digest: refused.digest };
                let place = Place { index: refused.log_index, at: refused.at, sha256: place.sha256 };
                state.deny(key, Denied::Rejected, refused.reason, place);
            }
        }
        self.aliases.insert(alias.clone(), Arc::new(state));
        self.by_server.insert(server.clone(), alias.clone());
        self.changed = true;
        Ok(())
    }

    pub(super) fn decide(
        &mut self,
        decision: &Decision,
        evidence: &EvidenceState,
        place: Place,
    ) -> Result<(), FoldError> {
        decision.check()?;
        let by = &evidence.facts;
        if (&by.server, &by.variant) != (&decision.server, &decision.variant) {
            return Err(FoldError::Decision("the evidence is about another release"));
        }
        if (by.level, by.signer) != (decision.level, decision.signer) || by.release != decision.release {
            return Err(FoldError::Decision("the evidence has another level, signer or release"));
        }
        if decision.policy != self.policy_sha256 {
            return Err(FoldError::Decision("another policy is in force"));
        }
        let name = DescriptorName::new(decision.kind, &decision.name)
            .map_err(|_| FoldError::Decision("the name can't be pinned"));
        if self.alias_of(&decision.server).is_none() {
            return self.decide_unbound(decision, name, place);
        }
        let joined = name.and_then(|name| self.joined(&decision.server, &name));
        let (alias, qualified, wire) = match (joined, decision.outcome) {
            (Ok(joined), _) => joined,
            // What can't have a name here can still be rejected; there is nothing to deny.
            (Err(_), Outcome::Reject) => return Ok(()),
            (Err(refused), _) => return Err(refused),
        };
        let stated = (decision.alias.as_ref(), decision.qualified.as_ref(), decision.wire.as_ref());
        if stated != (Some(&alias), Some(&qualified), wire.as_ref()) {
            return Err(FoldError::Decision("the name is joined otherwise"));
        }
        let variant = decision.variant.clone();
        let key = PinKey { kind: decision.kind, name: qualified, variant, digest: decision.digest() };
        match decision.outcome {
            Outcome::Approve => self.approve(&alias, key, wire, decision, place),
            Outcome::Reject => self.reject(&alias, key, decision, place),
            Outcome::Revoke => self.take_away(&alias, &key, Denied::Revoked, decision.reason, place),
            // The digest stays denied until an approval reaches its quorum.
            Outcome::Reopen => Ok(()),
        }
    }

    fn decide_unbound(
        &mut self,
        decision: &Decision,
        name: Result<DescriptorName, FoldError>,
        place: Place,
    ) -> Result<(), FoldError> {
        match (decision.outcome, name) {
            (Outcome::Approve | Outcome::Revoke, _) => Err(FoldError::Unbound),
            (Outcome::Reopen, _) | (Outcome::Reject, Err(_)) => Ok(()),
            (Outcome::Reject, Ok(name)) => {
                self.unbound.entry(decision.server.clone()).or_default().push(Unbound {
                    kind: decision.kind,
                    name,
                    variant: decision.variant.clone(),
                    digest: decision.digest(),
                    reason: decision.reason,
                    at: place.at,
                    log_index: place.index,
                });
                Ok(())
            }
        }
    }

    fn approve(
        &mut self,
        alias: &Alias,
        key: PinKey,
        wire: Option<WireName>,
        decision: &Decision,
        place: Place,
    ) -> Result<(), FoldError> {
        let supersedes = self.supersedes(alias, &key.name, key.kind, &key.variant, key.digest, place.at);
        if supersedes != decision.supersedes {
            return Err(FoldError::Decision("other pins are superseded"));
        }
        let not_after = place.at + self.policy.lifetime();
        if decision.not_after != Some(not_after) {
            return Err(FoldError::Decision("the pin ends at another time"));
        }
        Arc::make_mut(&mut self.names).add(key.kind, &key.name, wire.as_ref())?;
        let state = self.alias_mut(alias)?;
        for old in supersedes {
            let old_key = PinKey { digest: old.digest, ..key.clone() };
            match old.until {
                None => drop(state.pins.remove(&old_key)),
                Some(until) => {
                    state.pins.get_mut(&old_key).ok_or(FoldError::UnknownPin)?.approval.not_after = until;
                }
            }
        }
        state.denied.remove(&key);
        let pin = Pin {
            kind: key.kind,
            name: key.name.clone(),
            wire,
            variant: key.variant.clone(),
            evidence: decision.attestation,
            digests: decision.digests,
            approval: Approval {
                decision_sha256: place.sha256,
                log_index: place.index,
                mode: decision.mode,
                approved_at: place.at,
                not_after,
            },
        };
        state.pins.insert(key, pin);
        self.changed = true;
        Ok(())
    }

    fn reject(&mut self, alias: &Alias, key: PinKey, decision: &Decision, place: Place) -> Result<(), FoldError> {
        let state = self.alias_mut(alias)?;
        // With a live pin of this very digest, what is refused is the new evidence or the renewal, not the digest.
        if state.pins.get(&key).is_some_and(|pin| pin.approval.not_after > place.at) {
            return Ok(());
        }
        let same_name = |k: &PinKey| (k.kind, &k.name, &k.variant) == (key.kind, &key.name, &key.variant);
        state.pins.retain(|k, pin| !same_name(k) || pin.approval.not_after > place.at);
        state.deny(key, Denied::Rejected, decision.reason, place);
        self.changed = true;
        Ok(())
    }

    pub(super) fn hold_one(&mut self, held: &Held, place: Place) -> Result<HeldPin, FoldError> {
        let key = PinKey {
            kind: held.kind,
            name: held.name.clone(),
            variant: held.variant.clone(),
            digest: Digest::jcs(held.digest),
        };
        self.take_away(&held.alias, &key, Denied::Held, held.reason, place)?;
        let server = self.alias(&held.alias).ok_or(FoldError::Unbound)?.server.clone();
        Ok(HeldPin { pinset: self.name.clone(), server, key })
    }

    fn take_away(
        &mut self,
        alias: &Alias,
        key: &PinKey,
        state: Denied,
        reason: Sha256,
        place: Place,
    ) -> Result<(), FoldError> {
        let under = self.alias_mut(alias)?;
        if under.pins.remove(key).is_none() {
            return Err(FoldError::UnknownPin);
        }
        under.deny(key.clone(), state, reason, place);
        self.changed = true;
        Ok(())
    }

    pub(super) fn rests_on(&self, evidence: &BTreeSet<Sha256>) -> bool {
        self.aliases.values().flat_map(|state| state.pins.values()).any(|pin| evidence.contains(&pin.evidence))
    }

    pub(super) fn hold_evidence(&mut self, evidence: &BTreeSet<Sha256>, reason: Sha256, place: Place) -> Vec<HeldPin> {
        let mut held = Vec::new();
        for state in self.aliases.values_mut() {
            let rests = |pin: &Pin| evidence.contains(&pin.evidence);
            if !state.pins.values().any(rests) {
                continue;
            }
            let state = Arc::make_mut(state);
            let keys: Vec<PinKey> =
                state.pins.iter().filter(|(_, pin)| rests(pin)).map(|(key, _)| key.clone()).collect();
            for key in keys {
                state.pins.remove(&key);
                state.deny(key.clone(), Denied::Held, reason, place);
                held.push(HeldPin { pinset: self.name.clone(), server: state.server.clone(), key });
            }
            self.changed = true;
        }
        held
    }

    /// Every document names registry and epoch, so all are made anew.
    pub(super) fn start_epoch(&mut self) {
        self.aliases.values_mut().for_each(|alias| Arc::make_mut(alias).document = None);
        self.changed = true;
    }

    pub(super) fn next_version(
        &self,
        registry: &Registry,
        evidence: &Trie<Arc<EvidenceState>>,
        at: Timestamp,
    ) -> (SetDocument, Published) {
        let (document, pins) = self.documents(registry, evidence, at);
        let (set, version) = (document.to_bytes(), document.version);
        let published = Published { pinset: self.name.clone(), version, set_sha256: Sha256::of(&set), set, pins };
        (document, published)
    }

    /// Takes the document that [`SetState::next_version`] gave for the newest version.
    pub(super) fn published(&mut self, document: SetDocument) {
        for (alias, entry) in &document.aliases {
            if let Some(state) = self.aliases.get_mut(alias).filter(|state| state.document.is_none()) {
                Arc::make_mut(state).document = Some((entry.pins_sha256, entry.pins_size));
            }
        }
        self.newest = Some(Arc::new(document));
        self.changed = false;
    }

    fn documents(
        &self,
        registry: &Registry,
        evidence: &Trie<Arc<EvidenceState>>,
        at: Timestamp,
    ) -> (SetDocument, Vec<(Sha256, Vec<u8>)>) {
        let mut changed = Vec::new();
        let aliases = self.aliases.iter().map(|(alias, state)| {
            let (pins_sha256, pins_size) = state.document.unwrap_or_else(|| {
                let bytes = state.pins_document(registry, &self.name, alias, evidence).to_bytes();
                let (sha256, size) = (Sha256::of(&bytes), bytes.len() as u64);
                changed.push((sha256, bytes));
                (sha256, size)
            });
            (alias.clone(), AliasEntry { server: state.server.clone(), pins_sha256, pins_size })
        });
        let aliases = aliases.collect();
        let document = SetDocument {
            r#type: SetType::V1,
            registry: registry.origin.clone(),
            name: self.name.clone(),
            epoch: registry.epoch,
            version: self.newest.as_ref().map_or(1, |newest| newest.version + 1),
            issued: at,
            policy_sha256: self.policy_sha256,
            flag_at: self.policy.flag_at,
            ruleset_sha256: registry.ruleset,
            aliases,
        };
        (document, changed)
    }

    fn alias_mut(&mut self, alias: &Alias) -> Result<&mut AliasState, FoldError> {
        let state = self.aliases.get_mut(alias).map(Arc::make_mut).ok_or(FoldError::Unbound)?;
        state.document = None;
        Ok(state)
    }
}
