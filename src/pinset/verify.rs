//! From what a registry answered to a [`PinSet`], in ten steps that fail closed.
//!
//! 1. A trust file is in hand ([`Trust`]).
//! 2. The caller fetched; a cached answer is checked like a new one.
//! 3. The head's signature, before anything in it is read.
//! 4. Type, registry, set, epoch, and times within the trust file's caps.
//! 5. The version never falls, grows no faster than the log, and one version has one digest.
//! 6. The checkpoint's signature, that it is the head's, and that the trust file's witnesses have cosigned it.
//! 7. Consistency with the tree seen before; a failure is proof of a fork.
//! 8. Set and pins documents by digest.
//! 9. Inclusion of the leaf that published the version.
//! 10. The caller persists, last.
//!
//! # The answer
//!
//! `GET /v1/pinsets/{set}/head?tree_size=N` answers JSON of at most [`MAX_ANSWER_BYTES`]:
//!
//! ```text
//! {"head": the envelope, "leaf": base64 of the leaf `pinset-published`, "proof": tlog-proof of the leaf, as text,
//!  "consistency": [base64 of each hash of the proof from the tree of N leaves, at most 128]}
//! ```
//!
//! The proof's checkpoint is the one that the head was signed over: `checkpoint_size` and `checkpoint_root` are its
//! size and root, and the leaf publishes the head's pin set, version and `set_sha256`. The head is `issued` no later
//! than the clock plus the skew, `expires` after that, by no more than the trust file's lifetime. One of the head keys and
//! one of the log keys that signed count at `issued` ([`super::trust`] says when); signatures by the trust file's other head
//! keys must verify too. The version is at most `checkpoint_size`, because each has a leaf. The checkpoint's note carries
//! the cosignatures that the trust file asks for. The set document has the head's SHA-256, size, registry,
//! name, epoch and version; each pins document the SHA-256 and size that the set names, its registry and name, the
//! alias and the server, and each of its pins names evidence that is in it.
//!
//! The order is in the types: [`head`] gives a [`CheckedHead`], that gives a [`CheckedSet`], and only that a [`PinSet`].

mod refused;

use std::{collections::BTreeMap, sync::Arc};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

pub use self::refused::Refused;

use super::{
    document::{PinsDocument, SetDocument},
    head::Head,
    set::{AliasPins, PinSet},
    trust::{Terms, Trust},
};
use crate::{
    canon::Sha256,
    clock::Timestamp,
    event::{Event, Leaf},
    log::{Checkpoint, Proof, verify_consistency},
    name::{Alias, SetName},
};

/// A head, a leaf of 64 KiB in base64 and two proofs.
pub const MAX_ANSWER_BYTES: usize = 256 << 10;
/// As many hashes as a size has bits, twice.
const MAX_CONSISTENCY: usize = 128;

/// Versions between two pulls: one a second for twelve days. A thief of both keys could else name the highest version there
/// is and lock out every honest one after it; from a step within this the registry comes back by a new epoch.
const MAX_STEP: u64 = 1 << 20;

/// What `GET /v1/pinsets/{set}/head` answers.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct HeadAnswer {
    /// The DSSE envelope, byte for byte.
    pub head: Vec<u8>,
    /// The leaf that published the version.
    pub leaf: Vec<u8>,
    /// That leaf's proof, with the checkpoint the head was signed over.
    pub proof: Proof,
    /// From the tree size that was asked about to that checkpoint.
    pub consistency: Vec<Sha256>,
}

/// What a gateway remembers of a set between two pulls.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Seen {
    /// The newest version it relied on.
    pub version: u64,
    /// That version's digest.
    pub set_sha256: Sha256,
    /// The largest checkpoint it saw.
    pub checkpoint: Checkpoint,
}

/// A head that passed steps 3 to 7 and 9.
#[derive(Clone, Debug)]
pub struct CheckedHead {
    head: Head,
    checkpoint: Checkpoint,
}

/// A set document that belongs to a checked head.
#[derive(Clone, Debug)]
pub struct CheckedSet {
    head: CheckedHead,
    document: SetDocument,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Read<'a> {
    #[serde(borrow)]
    head: &'a RawValue,
    leaf: String,
    proof: String,
    consistency: Vec<String>,
}

#[derive(Serialize)]
struct Written<'a> {
    head: &'a RawValue,
    leaf: String,
    proof: String,
    consistency: Vec<String>,
}

impl HeadAnswer {
    /// Reads the JSON of an answer; the head keeps its bytes.
    ///
    /// # Errors
    /// [`Refused::Form`].
    pub fn parse(json: &[u8]) -> Result<Self, Refused> {
        let form = |what: &dyn std::fmt::Display| Refused::Form(what.to_string());
        if json.len() > MAX_ANSWER_BYTES {
            return Err(form(&"longer than 256 KiB"));
        }
        let read: Read<'_> = serde_json::from_slice(json).map_err(|e| form(&e))?;
        if read.consistency.len() > MAX_CONSISTENCY {
            return Err(form(&"the consistency proof is too long"));
        }
        let decode = |text: &str| STANDARD.decode(text).map_err(|e| form(&e));
        let hash = |text: &String| Ok(Sha256(decode(text)?.try_into().map_err(|_| form(&"a hash has 32 bytes"))?));
        Ok(Self {
            head: read.head.get().as_bytes().to_vec(),
            leaf: decode(&read.leaf)?,
            proof: read.proof.parse().map_err(|e| form(&e))?,
            consistency: read.consistency.iter().map(hash).collect::<Result<_, Refused>>()?,
        })
    }

    /// The JSON of the answer.
    ///
    /// # Errors
    /// [`Refused::Form`] if the head isn't JSON.
    pub fn to_json(&self) -> Result<Vec<u8>, Refused> {
        let head = serde_json::from_slice(&self.head).map_err(|e| Refused::Form(e.to_string()))?;
        let consistency = self.consistency.iter().map(|hash| STANDARD.encode(hash.0)).collect();
        let written = Written { head, leaf: STANDARD.encode(&self.leaf), proof: self.proof.to_string(), consistency };
        serde_json::to_vec(&written).map_err(|e| Refused::Form(e.to_string()))
    }
}

/// Checks an answer against the trust file and what was seen before. Whether the head is still fresh is asked apart, by
/// [`CheckedHead::fresh`], because a head that ran out still tells what it said.
///
/// # Errors
/// The first [`Refused`] in the order of the steps.
pub fn head(
    trust: &Trust,
    set: &SetName,
    seen: Option<&Seen>,
    answer: &HeadAnswer,
    now: Timestamp,
) -> Result<CheckedHead, Refused> {
    let terms = trust.terms();
    let (head, by) = Head::open_by(&answer.head, &trust.heads())?;
    if head.name != *set || head.registry != terms.origin {
        let expected = format!("{set} of {}", terms.origin);
        return Err(Refused::Elsewhere { expected, found: format!("{} of {}", head.name, head.registry) });
    }
    if head.epoch != terms.epoch {
        return Err(Refused::Epoch { trusted: terms.epoch, found: head.epoch });
    }
    times(&head, terms, now)?;
    let counting = trust.head_keys(head.issued);
    if !by.iter().any(|key| counting.contains_key(key)) {
        return Err(Refused::KeyTime { issued: head.issued });
    }
    version(&head, seen)?;
    let logs = trust.logs_at(head.issued).map_err(|e| Refused::Form(e.to_string()))?;
    let checkpoint = answer.proof.verify_by(&answer.leaf, &logs)?;
    if (checkpoint.size, checkpoint.root) != (head.checkpoint_size, head.checkpoint_root) {
        return Err(Refused::OtherCheckpoint);
    }
    witnessed(trust, &answer.proof.checkpoint, now)?;
    if let Some(seen) = seen.map(|seen| &seen.checkpoint) {
        if checkpoint.size < seen.size {
            return Err(Refused::ShorterLog { seen: seen.size, offered: checkpoint.size });
        }
        if checkpoint.size == seen.size && checkpoint.root != seen.root {
            return Err(Refused::SplitView(seen.size));
        }
        verify_consistency(seen.size, &seen.root, checkpoint.size, &checkpoint.root, &answer.consistency)
            .map_err(Refused::Fork)?;
    }
    let leaf = Leaf::parse(&answer.leaf)?;
    match leaf.event() {
        Event::PinsetPublished(published)
            if published.pinset == *set
                && published.version == head.version
                && published.set_sha256 == head.set_sha256 => {}
        _ => return Err(Refused::OtherLeaf),
    }
    Ok(CheckedHead { head, checkpoint })
}

fn times(head: &Head, terms: &Terms, now: Timestamp) -> Result<(), Refused> {
    if head.issued > now + terms.clock_skew {
        return Err(Refused::Future { issued: head.issued, now });
    }
    if head.expires <= head.issued {
        return Err(Refused::Times(head.expires));
    }
    let lasts = head.expires.since(head.issued);
    if lasts > terms.head_lifetime {
        return Err(Refused::Lifetime { lasts, cap: terms.head_lifetime });
    }
    Ok(())
}

/// The version in hand is a floor even after its head ran out: what expired is of no use for decisions, and of every use
/// against a replay.
fn version(head: &Head, seen: Option<&Seen>) -> Result<(), Refused> {
    let leaves = head.checkpoint_size;
    // Each version has a leaf of its own, and the log's first leaf is no version's.
    let most = match seen {
        Some(seen) => seen.version.saturating_add(leaves.saturating_sub(seen.checkpoint.size).min(MAX_STEP)),
        None => leaves.saturating_sub(1),
    };
    match seen {
        Some(seen) if head.version < seen.version => {
            Err(Refused::Rollback { seen: seen.version, offered: head.version })
        }
        Some(seen) if head.version == seen.version && head.set_sha256 != seen.set_sha256 => {
            Err(Refused::TwoSets(head.version))
        }
        // Refused as such once its checkpoint is verified.
        Some(seen) if leaves < seen.checkpoint.size => Ok(()),
        _ if head.version > most => Err(Refused::FastForward { offered: head.version, most, leaves }),
        _ => Ok(()),
    }
}

/// Whether a checkpoint's note has the cosignatures that the trust file asks for. Everything that takes a checkpoint
/// from a registry asks this, beside whether the log signed it.
///
/// # Errors
/// [`Refused::Unwitnessed`].
pub fn witnessed(trust: &Trust, note: &str, now: Timestamp) -> Result<(), Refused> {
    let terms = trust.terms();
    match &terms.witnesses {
        None => Ok(()),
        Some(policy) => Ok(policy.check(note, now + terms.clock_skew)?),
    }
}

impl CheckedHead {
    /// What the head says.
    pub const fn head(&self) -> &Head {
        &self.head
    }

    /// What to remember for the next pull.
    pub fn seen(&self) -> Seen {
        let Head { version, set_sha256, .. } = self.head;
        Seen { version, set_sha256, checkpoint: self.checkpoint.clone() }
    }

    /// Refuses a head that has run out.
    ///
    /// # Errors
    /// [`Refused::Expired`].
    pub fn fresh(self, now: Timestamp) -> Result<Self, Refused> {
        if now < self.head.expires { Ok(self) } else { Err(Refused::Expired(self.head.expires)) }
    }

    /// Takes the set document that the head names.
    ///
    /// # Errors
    /// [`Refused::Document`], [`Refused::NotCanonical`] and [`Refused::Foreign`].
    pub fn with_set(self, bytes: &[u8]) -> Result<CheckedSet, Refused> {
        let head = &self.head;
        if bytes.len() as u64 != head.set_size || Sha256::of(bytes) != head.set_sha256 {
            return Err(Refused::Document(head.set_sha256));
        }
        let document = SetDocument::parse(bytes)?;
        let same = document.registry == head.registry
            && document.name == head.name
            && document.epoch == head.epoch
            && document.version == head.version;
        if same { Ok(CheckedSet { head: self, document }) } else { Err(Refused::Foreign("the set document")) }
    }
}

impl CheckedSet {
    /// The set document.
    pub const fn document(&self) -> &SetDocument {
        &self.document
    }

    /// The pins documents that [`CheckedSet::with_pins`] will ask for.
    pub fn needs(&self) -> BTreeMap<Sha256, u64> {
        self.document.aliases.values().map(|entry| (entry.pins_sha256, entry.pins_size)).collect()
    }

    /// Takes the pins documents and gives the set that may be relied on.
    ///
    /// # Errors
    /// As [`CheckedHead::with_set`], and [`Refused::NoEvidence`].
    pub fn with_pins(self, mut read: impl FnMut(&Sha256) -> Option<Vec<u8>>) -> Result<PinSet, Refused> {
        let mut under: BTreeMap<Alias, Arc<AliasPins>> = BTreeMap::new();
        for (alias, entry) in &self.document.aliases {
            let missing = Refused::Document(entry.pins_sha256);
            let Some(bytes) = read(&entry.pins_sha256) else { return Err(missing) };
            if bytes.len() as u64 != entry.pins_size || Sha256::of(&bytes) != entry.pins_sha256 {
                return Err(missing);
            }
            let pins = PinsDocument::parse(&bytes)?;
            let same = pins.registry == self.document.registry
                && pins.set == self.document.name
                && pins.alias == *alias
                && pins.server == entry.server;
            if !same {
                return Err(Refused::Foreign("a pins document"));
            }
            if let Some(pin) = pins.unvouched() {
                return Err(Refused::NoEvidence(pin.name.clone()));
            }
            under.insert(alias.clone(), Arc::new(AliasPins::new(pins)));
        }
        let Head { set_sha256, expires, .. } = self.head.head;
        PinSet::assemble(self.document, set_sha256, expires, |_, alias| under.get(alias).cloned())
            .ok_or(Refused::Foreign("a pins document"))
    }
}
