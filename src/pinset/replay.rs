//! An auditor's fold: replays a log and says which documents it must have brought about, and which heads it convicts.
//!
//! [`Replay::leaf`] gives the documents that a version names for the first time, byte for byte as they must be. Whoever
//! drives it compares them with what the registry has and reports back with [`Replay::settle`]. A document that isn't
//! there is *missing* while a version names it and for as long as registries keep what they named, and *not kept*
//! afterwards; it is never taken for equal. [`Replay::judge`] holds a head to what the log said when the head was signed.
//!
//! Memory is that of the fold, of one name an alias, and of the documents whose outcome isn't known yet. No I/O.

use std::{collections::BTreeMap, fmt};

use serde::{Deserialize, Serialize};

use super::{
    head::Head,
    state::{FoldError, State},
};
use crate::{
    canon::Sha256,
    clock::{Span, Timestamp},
    name::{Alias, SetName},
};

/// Registries keep documents for 30 days after a version last named them; a day less, because clocks differ.
const KEPT: Span = Span::days(29);

/// A log that is replayed, up to some leaf.
#[derive(Debug)]
pub struct Replay {
    state: State,
    now: Timestamp,
    newest: BTreeMap<SetName, Newest>,
    named: BTreeMap<(SetName, Option<Alias>), Named>,
    open: BTreeMap<Sha256, Open>,
    counts: Counts,
    missing: Vec<Document>,
}

/// Which document, and the version that named it first.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// The pin set.
    pub set: SetName,
    /// The version that named it first.
    pub version: u64,
    /// Whose pins it holds; absent for the set document itself.
    pub alias: Option<Alias>,
    /// Its digest.
    pub sha256: Sha256,
}

/// A document that a registry should have, with the bytes that it must have.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Due {
    /// Which.
    pub document: Document,
    /// Its bytes, from the log alone.
    pub bytes: Vec<u8>,
}

/// What became of a [`Due`] document.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Found {
    /// It is there, byte for byte.
    Equal,
    /// Other bytes are there.
    Other,
    /// Nothing is there.
    Absent,
    /// Nobody looked.
    Unasked,
}

/// What was counted.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
pub struct Counts {
    /// Versions of pin sets that the log published.
    pub versions: u64,
    /// Documents that were equal byte for byte.
    pub equal: u64,
    /// Documents of older versions that are not kept any more.
    pub not_kept: u64,
}

/// What a head says against the registry that signed it.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Lie {
    /// Another tree of that size.
    #[error("it was signed over {size} leaves with the root {signed}, and the log's root at that size is {log}")]
    OtherRoot {
        /// The size.
        size: u64,
        /// The head's root.
        signed: Sha256,
        /// The log's.
        log: Sha256,
    },
    /// A longer log than there is.
    #[error("it was signed over {signed} leaves, and the log has {log}")]
    LongerLog {
        /// The head's size.
        signed: u64,
        /// The log's.
        log: u64,
    },
    /// An older version than the log had published by then.
    #[error(
        "it names version {version} and was signed over {size} leaves; the log published version {newest} in leaf {leaf}"
    )]
    OldVersion {
        /// The head's version.
        version: u64,
        /// The size it was signed over.
        size: u64,
        /// The newest version at that size.
        newest: u64,
        /// The leaf that published it.
        leaf: u64,
    },
    /// A version that the log had not published by then.
    #[error("it names version {version}, which the log had not published when it had {size} leaves")]
    Unpublished {
        /// The head's version.
        version: u64,
        /// The size it was signed over.
        size: u64,
    },
    /// Another set under the version's number.
    #[error("its version {version} has the digest {signed}, and the log published {log}")]
    OtherDigest {
        /// The version.
        version: u64,
        /// The head's digest.
        signed: Sha256,
        /// The log's.
        log: Sha256,
    },
}

#[derive(Clone, Copy, Debug)]
struct Newest {
    version: u64,
    sha256: Sha256,
    leaf: u64,
}

#[derive(Clone, Copy, Debug)]
struct Named {
    sha256: Sha256,
    /// Whether somebody looked for it.
    asked: bool,
}

/// A document whose outcome isn't known, or which is absent and named by the newest version.
#[derive(Clone, Debug)]
struct Open {
    document: Document,
    absent: bool,
    /// When a version came that doesn't name it any more.
    retired: Option<Timestamp>,
}

impl Replay {
    /// A log that has not been read yet, looked at now.
    pub fn new(now: Timestamp) -> Self {
        let (newest, named, open) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Self { state: State::default(), now, newest, named, open, counts: Counts::default(), missing: Vec::new() }
    }

    /// Reads the next leaf; the documents that come due.
    ///
    /// # Errors
    /// [`FoldError`] for a leaf that doesn't follow from those before it.
    pub fn leaf(&mut self, index: u64, bytes: &[u8]) -> Result<Vec<Due>, FoldError> {
        let Some(published) = self.state.apply(index, bytes)?.published else { return Ok(Vec::new()) };
        let (set, version) = (published.pinset, published.version);
        let Some(document) = self.state.set_document(&set) else { return Err(FoldError::UnknownSet) };
        let at = document.issued;
        let whose: BTreeMap<Sha256, Alias> =
            document.aliases.iter().map(|(alias, entry)| (entry.pins_sha256, alias.clone())).collect();
        self.counts.versions += 1;
        self.newest.insert(set.clone(), Newest { version, sha256: published.set_sha256, leaf: index });
        let mut due = Vec::with_capacity(published.pins.len() + 1);
        let pins = published.pins.into_iter().map(|(sha256, bytes)| (whose.get(&sha256).cloned(), sha256, bytes));
        for (alias, sha256, bytes) in pins.chain([(None, published.set_sha256, published.set)]) {
            let named = self.named.insert((set.clone(), alias.clone()), Named { sha256, asked: false });
            if let Some(before) = named.filter(|before| before.sha256 != sha256) {
                self.retire(&before.sha256, at);
            }
            let document = Document { set: set.clone(), version, alias, sha256 };
            self.open.insert(sha256, Open { document: document.clone(), absent: false, retired: None });
            due.push(Due { document, bytes });
        }
        Ok(due)
    }

    /// Says what became of a document.
    pub fn settle(&mut self, sha256: &Sha256, found: Found) {
        let Some(mut open) = self.open.remove(sha256) else { return };
        let key = (open.document.set.clone(), open.document.alias.clone());
        if let Some(named) = self.named.get_mut(&key).filter(|named| named.sha256 == *sha256) {
            named.asked = found != Found::Unasked;
        }
        match (found, open.retired) {
            (Found::Equal, _) => self.counts.equal += 1,
            (Found::Other | Found::Unasked, _) => {}
            (Found::Absent, Some(retired)) => self.gone(open.document, retired),
            (Found::Absent, None) => {
                open.absent = true;
                self.open.insert(*sha256, open);
            }
        }
    }

    /// Documents of the newest versions that nobody looked for yet.
    pub fn outstanding(&mut self) -> Vec<Due> {
        let mut due = Vec::new();
        for ((set, alias), named) in self.named.iter().filter(|(_, named)| !named.asked) {
            let bytes = match alias {
                None => self.state.set_document(set).map(super::SetDocument::to_bytes),
                Some(alias) => self.state.pins_document(set, alias).map(|document| document.to_bytes()),
            };
            let version = self.newest.get(set).map_or(0, |newest| newest.version);
            let document = Document { set: set.clone(), version, alias: alias.clone(), sha256: named.sha256 };
            due.extend(bytes.map(|bytes| Due { document, bytes }));
        }
        for Due { document, .. } in &due {
            self.open.insert(document.sha256, Open { document: document.clone(), absent: false, retired: None });
        }
        due
    }

    /// Documents that should be there and aren't, as far as that is known: those of newest versions only when `ended`.
    pub fn missing(&mut self, ended: bool) -> Vec<Document> {
        let mut missing = std::mem::take(&mut self.missing);
        if ended {
            missing.extend(self.absent().cloned());
        }
        missing
    }

    /// Documents that aren't there and that a newest version names.
    pub fn absent(&self) -> impl Iterator<Item = &Document> {
        self.open.values().filter(|open| open.absent).map(|open| &open.document)
    }

    /// Takes over what [`Replay::absent`] said at this size of the log.
    pub fn assume_absent(&mut self, documents: &[Document]) {
        for document in documents {
            let open = Open { document: document.clone(), absent: true, retired: None };
            self.open.insert(document.sha256, open);
        }
    }

    /// What the log says so far.
    pub const fn state(&self) -> &State {
        &self.state
    }

    /// What was counted so far.
    pub const fn counts(&self) -> Counts {
        self.counts
    }

    /// Holds a head to the log, which was replayed to exactly the size that the head was signed over and has this root.
    ///
    /// # Errors
    /// [`Lie`].
    pub fn judge(&self, head: &Head, root: &Sha256) -> Result<(), Lie> {
        let (size, version) = (head.checkpoint_size, head.version);
        if size != self.state.size() {
            return Err(Lie::LongerLog { signed: size, log: self.state.size() });
        }
        if head.checkpoint_root != *root {
            return Err(Lie::OtherRoot { size, signed: head.checkpoint_root, log: *root });
        }
        match self.newest.get(&head.name) {
            Some(newest) if newest.version > version => {
                Err(Lie::OldVersion { version, size, newest: newest.version, leaf: newest.leaf })
            }
            Some(newest) if newest.version == version => Self::same(head, newest),
            _ => Err(Lie::Unpublished { version, size }),
        }
    }

    /// Holds a head that was signed over any size to the newest version here, whatever its tree is.
    ///
    /// # Errors
    /// [`Lie`].
    pub fn is_newest(&self, head: &Head) -> Result<(), Lie> {
        let (size, version) = (head.checkpoint_size, head.version);
        match self.newest.get(&head.name) {
            Some(newest) if newest.version > version => {
                Err(Lie::OldVersion { version, size, newest: newest.version, leaf: newest.leaf })
            }
            Some(newest) if newest.version == version && size <= newest.leaf => Err(Lie::Unpublished { version, size }),
            Some(newest) if newest.version == version => Self::same(head, newest),
            // Published after the part of the log that was replayed.
            _ if size > self.state.size() => Ok(()),
            _ => Err(Lie::Unpublished { version, size }),
        }
    }

    fn same(head: &Head, newest: &Newest) -> Result<(), Lie> {
        if head.set_sha256 == newest.sha256 {
            return Ok(());
        }
        Err(Lie::OtherDigest { version: head.version, signed: head.set_sha256, log: newest.sha256 })
    }

    fn retire(&mut self, sha256: &Sha256, at: Timestamp) {
        let Some(open) = self.open.get_mut(sha256) else { return };
        open.retired = Some(at);
        if open.absent
            && let Some(open) = self.open.remove(sha256)
        {
            self.gone(open.document, at);
        }
    }

    fn gone(&mut self, document: Document, retired: Timestamp) {
        if retired + KEPT <= self.now {
            self.counts.not_kept += 1;
        } else {
            self.missing.push(document);
        }
    }
}

impl fmt::Display for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { set, version, alias, sha256 } = self;
        match alias {
            Some(alias) => write!(f, "the pins of {alias} in {set}, version {version} ({sha256})"),
            None => write!(f, "the pin set {set}, version {version} ({sha256})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        event::{Event, Leaf, PinsetPublished, PolicySet, RegistryCreated},
        keys::SigningKey,
        review::{Policy, ReviewerId},
    };

    const START: Timestamp = Timestamp::EPOCH;

    fn default() -> SetName {
        "default".parse().expect("legal")
    }

    /// Leaves of a registry whose one set is published as often as this, a second apart.
    fn leaves(versions: usize) -> Vec<Vec<u8>> {
        let key = SigningKey::from_seed(&[1; 32]).verifying().id();
        let ruleset = Sha256::of(b"rules");
        let origin = "pins.example".to_owned();
        let created = RegistryCreated { origin, epoch: 1, root_key: key, log_key: key, head_key: key, ruleset };
        let set = || PolicySet { pinset: default(), policy: Policy::solo(), by: ReviewerId::local_operator() };
        let (mut state, mut leaves) = (State::default(), Vec::new());
        let mut events = vec![Event::RegistryCreated(created), Event::PinsetCreated(set())];
        for n in 0..versions {
            if n > 0 {
                events.push(Event::PolicySet(set()));
            }
            for event in std::mem::take(&mut events) {
                let leaf = Leaf::new(state.next_at(START), event).to_bytes().expect("short");
                state.apply(state.size(), &leaf).expect("sound");
                leaves.push(leaf);
            }
            let next = state.next_version(&default(), state.next_at(START)).expect("known");
            let (version, set_sha256) = (next.version, next.set_sha256);
            events.push(Event::PinsetPublished(PinsetPublished { pinset: default(), version, set_sha256 }));
        }
        let leaf = Leaf::new(state.next_at(START), events.remove(0)).to_bytes().expect("short");
        leaves.push(leaf);
        leaves
    }

    #[test]
    fn a_document_that_is_absent_is_missing_or_not_kept_and_never_equal() {
        for (what, now, counts, missing) in [
            ("while documents are kept", START + Span::days(28), (1, 0), vec![1, 3]),
            ("when they are kept no more", START + Span::days(31), (1, 1), vec![3]),
        ] {
            let mut replay = Replay::new(now);
            let mut due = Vec::new();
            for (index, leaf) in (0..).zip(leaves(3)) {
                due.extend(replay.leaf(index, &leaf).expect("sound"));
            }
            let versions: Vec<u64> = due.iter().map(|due| due.document.version).collect();
            assert_eq!(versions, [1, 2, 3], "{what}");
            // The second arrives late: a third version doesn't name it any more, and it is there.
            for (due, found) in due.iter().zip([Found::Absent, Found::Equal, Found::Absent]) {
                assert_eq!(Sha256::of(&due.bytes), due.document.sha256);
                replay.settle(&due.document.sha256, found);
            }
            let missing_now: Vec<u64> = replay.missing(true).iter().map(|document| document.version).collect();
            assert_eq!(missing_now, missing, "{what}");
            assert_eq!((replay.counts().equal, replay.counts().not_kept), counts, "{what}");
            assert_eq!(replay.counts().versions, 3);
        }
    }

    #[test]
    fn what_nobody_looked_for_is_outstanding_with_the_bytes_that_the_log_gives() {
        let mut replay = Replay::new(START);
        let mut due = Vec::new();
        for (index, leaf) in (0..).zip(leaves(2)) {
            due.extend(replay.leaf(index, &leaf).expect("sound"));
        }
        due.iter().for_each(|due| replay.settle(&due.document.sha256, Found::Unasked));
        let outstanding = replay.outstanding();
        assert_eq!(outstanding, due[1..], "the newest version's alone");
        replay.settle(&outstanding[0].document.sha256, Found::Equal);
        assert_eq!((replay.outstanding(), replay.missing(true)), (vec![], vec![]));
    }
}
