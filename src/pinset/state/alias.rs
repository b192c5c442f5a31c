//! The pins and denials under one alias, and the document that lists them.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::{EvidenceState, Place, Registry, trie::Trie};
use crate::{
    canon::{Digest, Sha256},
    name::{Alias, Kind, QualifiedName, ServerName, SetName, Variant},
    pinset::document::{Denial, Denied, Pin, PinsDocument, PinsType},
};

/// The pins and denials of one alias.
#[derive(Clone, Debug)]
pub struct AliasState {
    pub(super) server: ServerName,
    pub(super) pins: BTreeMap<PinKey, Pin>,
    pub(super) denied: BTreeMap<PinKey, Denial>,
    /// SHA-256 and size of the newest document, while nothing changed since.
    pub(super) document: Option<(Sha256, u64)>,
}

/// What tells pins of one alias apart; their order is the document's.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct PinKey {
    /// The kind.
    pub kind: Kind,
    /// The qualified name.
    pub name: QualifiedName,
    /// The variant.
    pub variant: Variant,
    /// The deciding digest.
    pub digest: Digest,
}

/// A pin that a rule took away.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct HeldPin {
    /// The pin set.
    pub pinset: SetName,
    /// The server.
    pub server: ServerName,
    /// Which pin.
    pub key: PinKey,
}

impl AliasState {
    pub(super) const fn new(server: ServerName) -> Self {
        Self { server, pins: BTreeMap::new(), denied: BTreeMap::new(), document: None }
    }

    /// The server the alias belongs to.
    pub const fn server(&self) -> &ServerName {
        &self.server
    }

    /// Its pins in the document's order, expired ones too.
    pub fn pins(&self) -> impl Iterator<Item = &Pin> {
        self.pins.values()
    }

    /// What is denied, in the document's order.
    pub fn denied(&self) -> impl Iterator<Item = &Denial> {
        self.denied.values()
    }

    pub(super) fn deny(&mut self, key: PinKey, state: Denied, reason: Sha256, place: Place) {
        let denial = Denial {
            kind: key.kind,
            name: key.name.clone(),
            variant: key.variant.clone(),
            digest: key.digest,
            state,
            reason_sha256: reason,
            at: place.at,
            log_index: place.index,
        };
        self.denied.insert(key, denial);
        self.document = None;
    }

    pub(super) fn pins_document(
        &self,
        registry: &Registry,
        set: &SetName,
        alias: &Alias,
        evidence: &Trie<Arc<EvidenceState>>,
    ) -> PinsDocument {
        let used: BTreeSet<Sha256> = self.pins.values().map(|pin| pin.evidence).collect();
        let by = |id: Sha256| evidence.get(&id).map(|state| (id, state.to_pin_evidence()));
        PinsDocument {
            r#type: PinsType::V1,
            registry: registry.origin.clone(),
            set: set.clone(),
            alias: alias.clone(),
            server: self.server.clone(),
            evidence: used.into_iter().filter_map(by).collect(),
            pins: self.pins.values().cloned().collect(),
            denied: self.denied.values().cloned().collect(),
        }
    }
}
