//! The fold: from the log's leaves to everything that anyone may trust.
//!
//! [`State::apply`] takes one leaf after the other and refuses what these rules could not have written, so replaying a
//! log is also an audit of it. The fold reads the leaf and itself, nothing else. A version of a pin set is cut exactly at
//! its `pinset-published` leaf; [`State::next_version`] says beforehand what that leaf must say.
//!
//! Cloning is cheap: what grows with the log shares its parts with the copy, and what is bounded by a pin set's size is
//! behind an [`Arc`] and is copied when it changes.

mod alias;
mod error;
mod facts;
mod set;
mod trie;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

pub use alias::{AliasState, HeldPin, PinKey};
pub use error::FoldError;
pub use facts::{AuthorityState, EvidenceState, Registry};
pub use set::SetState;

use trie::Trie;

use super::document::{PinsDocument, SetDocument};
use crate::{
    attest::Authorities,
    canon::Sha256,
    clock::Timestamp,
    event::{Event, Leaf, PinsetPublished},
    name::{Alias, SetName},
    review::ReviewerId,
};

/// What the log says so far.
#[derive(Clone, Debug, Default)]
pub struct State {
    size: u64,
    at: Option<Timestamp>,
    registry: Option<Arc<Registry>>,
    reviewers: Arc<BTreeSet<ReviewerId>>,
    authorities: Arc<BTreeMap<String, Arc<AuthorityState>>>,
    evidence: Trie<Arc<EvidenceState>>,
    sets: BTreeMap<SetName, Arc<SetState>>,
}

/// A version of a pin set, with the documents that are new in it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Published {
    /// The pin set.
    pub pinset: SetName,
    /// Its version.
    pub version: u64,
    /// SHA-256 of the set document.
    pub set_sha256: Sha256,
    /// The set document.
    pub set: Vec<u8>,
    /// Pins documents that the version before didn't have.
    pub pins: Vec<(Sha256, Vec<u8>)>,
}

/// What a leaf brought about beyond the state itself.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Effect {
    /// The version that was cut.
    pub published: Option<Published>,
    /// Pins that a rule took away.
    pub held: Vec<HeldPin>,
}

impl State {
    /// How many leaves were read.
    pub const fn size(&self) -> u64 {
        self.size
    }

    /// The time that the next leaf carries when the clock says `now`: time in the log only grows.
    pub fn next_at(&self, now: Timestamp) -> Timestamp {
        let after = self.at.map_or(Timestamp::EPOCH, |at| at + crate::clock::Span::micros(1));
        now.max(after)
    }

    /// Who this registry is; nothing before the first leaf.
    pub fn registry(&self) -> Option<&Registry> {
        self.registry.as_deref()
    }

    /// Accounts with the role `reviewer`.
    pub fn reviewers(&self) -> &BTreeSet<ReviewerId> {
        &self.reviewers
    }

    /// All authorities, revoked ones too, by id.
    pub fn authorities(&self) -> impl Iterator<Item = &AuthorityState> {
        self.authorities.values().map(AsRef::as_ref)
    }

    /// One authority.
    pub fn authority(&self, id: &str) -> Option<&AuthorityState> {
        self.authorities.get(id).map(AsRef::as_ref)
    }

    /// The authorities in the form that verification takes.
    pub fn verifying_authorities(&self) -> Authorities {
        Authorities::new(self.authorities().map(AuthorityState::to_authority))
    }

    /// What is known of an attestation.
    pub fn evidence(&self, attestation: &Sha256) -> Option<&EvidenceState> {
        self.evidence.get(attestation).map(AsRef::as_ref)
    }

    /// All attestations.
    pub fn attestations(&self) -> impl Iterator<Item = &EvidenceState> {
        self.evidence.iter().map(|(_, state)| state.as_ref())
    }

    /// All pin sets by name.
    pub fn sets(&self) -> impl Iterator<Item = &SetState> {
        self.sets.values().map(AsRef::as_ref)
    }

    /// One pin set.
    pub fn set(&self, name: &SetName) -> Option<&SetState> {
        self.sets.get(name).map(AsRef::as_ref)
    }

    /// What the next version of a set would be if it were published at `at`.
    ///
    /// # Errors
    /// [`FoldError::UnknownSet`], or [`FoldError::Registry`] before the first leaf.
    pub fn next_version(&self, name: &SetName, at: Timestamp) -> Result<Published, FoldError> {
        let registry = self.registry().ok_or(FoldError::Registry)?;
        let set = self.set(name).ok_or(FoldError::UnknownSet)?;
        Ok(set.next_version(registry, &self.evidence, at).1)
    }

    /// The document of a set's newest version.
    pub fn set_document(&self, name: &SetName) -> Option<&SetDocument> {
        self.set(name)?.document()
    }

    /// The pins under one alias as its document says them now.
    pub fn pins_document(&self, name: &SetName, alias: &Alias) -> Option<PinsDocument> {
        let state = self.set(name)?.alias(alias)?;
        Some(state.pins_document(self.registry()?, name, alias, &self.evidence))
    }

    /// Reads the next leaf.
    ///
    /// # Errors
    /// [`FoldError`] for a leaf that these rules could not have written at this place; the state is then unchanged.
    pub fn apply(&mut self, index: u64, bytes: &[u8]) -> Result<Effect, FoldError> {
        if index != self.size {
            return Err(FoldError::Order { expected: self.size, index });
        }
        let leaf = Leaf::parse(bytes)?;
        let at = leaf.at();
        if self.at.is_some_and(|last| at <= last) {
            return Err(FoldError::Time);
        }
        if self.registry.is_some() == matches!(leaf.event(), Event::RegistryCreated(_)) {
            return Err(FoldError::Registry);
        }
        let place = Place { index, at, sha256: Sha256::of(bytes) };
        let effect = self.event(leaf.event(), place)?;
        self.size += 1;
        self.at = Some(at);
        Ok(effect)
    }

    /// Each arm checks everything first and changes something only then, so that a refusal has changed nothing.
    fn event(&mut self, event: &Event, place: Place) -> Result<Effect, FoldError> {
        match event {
            Event::RegistryCreated(created) => self.registry = Some(Arc::new(Registry::new(created))),
            Event::PinsetCreated(set) => {
                set.policy.clone().checked().map_err(|_| FoldError::Policy)?;
                if self.sets.contains_key(&set.pinset) {
                    return Err(FoldError::SetExists);
                }
                self.sets.insert(set.pinset.clone(), Arc::new(SetState::new(set)));
            }
            Event::PolicySet(set) => {
                set.policy.clone().checked().map_err(|_| FoldError::Policy)?;
                self.set_mut(&set.pinset)?.set_policy(&set.policy);
            }
            Event::RulesetSet(rules) => {
                let registry = self.registry.as_mut().ok_or(FoldError::Registry)?;
                Arc::make_mut(registry).ruleset = rules.ruleset;
                self.sets.values_mut().for_each(|set| Arc::make_mut(set).touch());
            }
            Event::KeyRotated(rotated) => self.registry_mut()?.rotate(rotated, place.at)?,
            Event::KeyActivated(activated) => self.registry_mut()?.activate(activated.key, place.at)?,
            Event::EpochStarted(started) => {
                self.registry_mut()?.start_epoch(started, place.index, place.at)?;
                self.sets.values_mut().for_each(|set| Arc::make_mut(set).start_epoch());
            }
            Event::ReviewerSet(reviewer) => {
                let reviewers = Arc::make_mut(&mut self.reviewers);
                if reviewer.active {
                    reviewers.insert(reviewer.reviewer.clone());
                } else {
                    reviewers.remove(&reviewer.reviewer);
                }
            }
            Event::ReleaseAttested(evidence) | Event::EvidenceAttached(evidence) => {
                if self.authority(&evidence.authority).is_none() {
                    return Err(FoldError::UnknownAuthority);
                }
                if self.evidence.contains(&evidence.attestation) {
                    return Err(FoldError::EvidenceTwice);
                }
                let state = EvidenceState { facts: evidence.clone(), log_index: place.index, received_at: place.at };
                self.evidence.insert(evidence.attestation, Arc::new(state));
            }
            Event::AuthorityGranted(granted) => {
                if self.authorities.contains_key(&granted.authority) {
                    return Err(FoldError::AuthorityTwice);
                }
                let facts = granted.clone();
                let state = AuthorityState { facts, log_index: place.index, granted_at: place.at, revoked: None };
                Arc::make_mut(&mut self.authorities).insert(granted.authority.clone(), Arc::new(state));
            }
            Event::AuthorityRevoked(revoked) => {
                let since = Timestamp::from_micros(revoked.since).ok_or(FoldError::Time)?;
                let authorities = Arc::make_mut(&mut self.authorities);
                let authority = authorities.get_mut(&revoked.authority).ok_or(FoldError::UnknownAuthority)?;
                let authority = Arc::make_mut(authority);
                authority.revoked = Some(authority.revoked.map_or(since, |earlier| earlier.min(since)));
                let of = |e: &EvidenceState| e.facts.authority == revoked.authority && e.received_at >= since;
                return Ok(self.hold(of, revoked.reason, place));
            }
            Event::SignerRevoked(revoked) => {
                let since = Timestamp::from_micros(revoked.since).ok_or(FoldError::Time)?;
                let of = |e: &EvidenceState| e.facts.signer == revoked.signer && e.received_at >= since;
                return Ok(self.hold(of, revoked.reason, place));
            }
            Event::AliasBound(bound) => self.set_mut(&bound.pinset)?.bind(&bound.alias, &bound.server, place)?,
            Event::Decision(decision) => {
                let evidence = self.evidence.get(&decision.attestation).cloned().ok_or(FoldError::UnknownEvidence)?;
                self.set_mut(&decision.pinset)?.decide(decision, &evidence, place)?;
            }
            Event::Held(held) => {
                let pin = self.set_mut(&held.pinset)?.hold_one(held, place)?;
                return Ok(Effect { held: vec![pin], published: None });
            }
            Event::PinsetPublished(published) => return self.publish(published, place),
        }
        Ok(Effect::default())
    }

    /// Denies every pin whose evidence `of` picks, in every set.
    fn hold(&mut self, of: impl Fn(&EvidenceState) -> bool, reason: Sha256, place: Place) -> Effect {
        let picked: BTreeSet<Sha256> = self.evidence.iter().filter(|(_, e)| of(e)).map(|(id, _)| *id).collect();
        let mut held = Vec::new();
        for set in self.sets.values_mut() {
            if set.rests_on(&picked) {
                held.extend(Arc::make_mut(set).hold_evidence(&picked, reason, place));
            }
        }
        Effect { held, published: None }
    }

    fn publish(&mut self, published: &PinsetPublished, place: Place) -> Result<Effect, FoldError> {
        let registry = self.registry.clone().ok_or(FoldError::Registry)?;
        let set = self.set(&published.pinset).ok_or(FoldError::UnknownSet)?;
        let (document, next) = set.next_version(&registry, &self.evidence, place.at);
        if (next.version, next.set_sha256) != (published.version, published.set_sha256) {
            return Err(FoldError::OtherDocuments);
        }
        self.set_mut(&published.pinset)?.published(document);
        Ok(Effect { published: Some(next), held: Vec::new() })
    }

    fn registry_mut(&mut self) -> Result<&mut Registry, FoldError> {
        self.registry.as_mut().map(Arc::make_mut).ok_or(FoldError::Registry)
    }

    fn set_mut(&mut self, name: &SetName) -> Result<&mut SetState, FoldError> {
        self.sets.get_mut(name).map(Arc::make_mut).ok_or(FoldError::UnknownSet)
    }
}

/// Where in the log an event stands.
#[derive(Clone, Copy, Debug)]
struct Place {
    index: u64,
    at: Timestamp,
    /// SHA-256 of the leaf's bytes, without the tree's prefix.
    sha256: Sha256,
}
