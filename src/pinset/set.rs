//! A pin set that may be relied on, indexed for questions.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::{
    document::{Denial, Pin, PinEvidence, PinsDocument, SetDocument},
    state::State,
};
use crate::{
    canon::Sha256,
    clock::Timestamp,
    name::{Alias, Kind, SetName},
};

/// One version of a pin set, with how long it may be relied on.
///
/// It comes from `verify`, which checked every signature, or from the registry's own [`State`].
#[derive(Clone, Debug)]
pub struct PinSet {
    document: Arc<SetDocument>,
    set_sha256: Sha256,
    expires: Timestamp,
    aliases: BTreeMap<Alias, Arc<AliasPins>>,
    /// Which aliases know a bare name.
    bare: Arc<BTreeMap<(Kind, String), BTreeSet<Alias>>>,
}

/// The pins of one alias, indexed by name.
#[derive(Clone, Debug)]
pub struct AliasPins {
    document: PinsDocument,
    by_name: BTreeMap<(Kind, String), Entry>,
}

/// Where the pins and denials of one name are in the document.
#[derive(Clone, Debug, Default)]
struct Entry {
    pins: Vec<usize>,
    denied: Vec<usize>,
}

impl PinSet {
    /// The newest version of a set in the registry's own fold, good until `expires`. What didn't change since
    /// `previous` is shared with it. `None` if there is no such set or it has no version yet.
    pub fn own(state: &State, name: &SetName, expires: Timestamp, previous: Option<&Self>) -> Option<Self> {
        let document = state.set_document(name)?;
        let pins = |sha256: &Sha256, alias: &Alias| {
            let known = previous.and_then(|set| set.shared(alias, sha256));
            known.or_else(|| Some(Arc::new(AliasPins::new(state.pins_document(name, alias)?))))
        };
        Self::assemble(document.clone(), Sha256::of(&document.to_bytes()), expires, pins)
    }

    /// Puts a set together from documents that were checked against their digests.
    pub(super) fn assemble(
        document: SetDocument,
        set_sha256: Sha256,
        expires: Timestamp,
        mut pins: impl FnMut(&Sha256, &Alias) -> Option<Arc<AliasPins>>,
    ) -> Option<Self> {
        let mut aliases = BTreeMap::new();
        let mut bare: BTreeMap<_, BTreeSet<Alias>> = BTreeMap::new();
        for (alias, entry) in &document.aliases {
            let under = pins(&entry.pins_sha256, alias)?;
            let prefix = format!("{alias}.");
            for (kind, qualified) in under.by_name.keys() {
                // The alias is known here, so taking it off is no guess about where it ends.
                if let Some(name) = qualified.strip_prefix(&prefix) {
                    bare.entry((*kind, name.to_owned())).or_default().insert(alias.clone());
                }
            }
            aliases.insert(alias.clone(), under);
        }
        Some(Self { document: Arc::new(document), set_sha256, expires, aliases, bare: Arc::new(bare) })
    }

    /// The same set under a newer head.
    #[must_use]
    pub fn until(&self, expires: Timestamp) -> Self {
        Self { expires, ..self.clone() }
    }

    /// The set document.
    pub fn document(&self) -> &SetDocument {
        &self.document
    }

    /// SHA-256 of the set document.
    pub const fn sha256(&self) -> Sha256 {
        self.set_sha256
    }

    /// The first moment at which nothing may rest on it any more.
    pub const fn expires(&self) -> Timestamp {
        self.expires
    }

    /// What is under an alias.
    pub fn alias(&self, alias: &Alias) -> Option<&AliasPins> {
        self.aliases.get(alias).map(AsRef::as_ref)
    }

    /// All aliases with what is under them.
    pub fn aliases(&self) -> impl Iterator<Item = (&Alias, &AliasPins)> {
        self.aliases.iter().map(|(alias, under)| (alias, under.as_ref()))
    }

    /// The aliases under which a descriptor's own name has a pin or a denial.
    pub fn aliases_with(&self, kind: Kind, name: &str) -> impl Iterator<Item = &Alias> {
        self.bare.get(&(kind, name.to_owned())).into_iter().flatten()
    }

    fn shared(&self, alias: &Alias, sha256: &Sha256) -> Option<Arc<AliasPins>> {
        let same = self.document.aliases.get(alias).is_some_and(|entry| entry.pins_sha256 == *sha256);
        if same { self.aliases.get(alias).cloned() } else { None }
    }
}

impl AliasPins {
    pub(super) fn new(document: PinsDocument) -> Self {
        let mut by_name: BTreeMap<_, Entry> = BTreeMap::new();
        for (i, pin) in document.pins.iter().enumerate() {
            by_name.entry((pin.kind, pin.name.to_string())).or_default().pins.push(i);
        }
        for (i, denial) in document.denied.iter().enumerate() {
            by_name.entry((denial.kind, denial.name.to_string())).or_default().denied.push(i);
        }
        Self { document, by_name }
    }

    /// The document itself.
    pub const fn document(&self) -> &PinsDocument {
        &self.document
    }

    /// The pins of one qualified name, all variants.
    pub fn pins(&self, kind: Kind, qualified: &str) -> impl Iterator<Item = &Pin> {
        let entry = self.by_name.get(&(kind, qualified.to_owned()));
        entry.into_iter().flat_map(|entry| &entry.pins).filter_map(|i| self.document.pins.get(*i))
    }

    /// The denials of one qualified name, all variants.
    pub fn denied(&self, kind: Kind, qualified: &str) -> impl Iterator<Item = &Denial> {
        let entry = self.by_name.get(&(kind, qualified.to_owned()));
        entry.into_iter().flat_map(|entry| &entry.denied).filter_map(|i| self.document.denied.get(*i))
    }

    /// Who vouches for a pin.
    pub fn evidence(&self, pin: &Pin) -> Option<&PinEvidence> {
        self.document.evidence.get(&pin.evidence)
    }
}
