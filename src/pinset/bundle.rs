//! A bundle: one file that proves one pin to somebody who has only the trust file.
//!
//! It is canonical JSON (RFC 8785) with exactly these members; base64 is the standard alphabet with padding, in its one
//! spelling, and holds bytes as they were signed or hashed:
//!
//! ```text
//! type         "countersign/bundle/v1"
//! descriptor   base64 of the descriptor's canonical bytes
//! attestation  base64 of the attestation as it was received: a DSSE envelope (crate::attest)
//! authority    the leaf `authority-granted` that let the attestation's key speak for the server
//! release      the leaf `release-attested` or `evidence-attached` that recorded the attestation
//! decision     the leaf `decision` that approved the digest
//! published    the leaf `pinset-published` of the version that has the pin
//! head         base64 of the head that named this version as the newest: a DSSE envelope (crate::pinset::head)
//! set          base64 of the version's set document
//! pins         base64 of the pins document of the pin's alias
//! ```
//!
//! A leaf is `{"leaf": base64 of its bytes, "proof": tlog-proof text without extra data}`. All four proofs carry the same
//! checkpoint, byte for byte, which is the one that the head was signed over.
//!
//! # What is checked
//!
//! In this order; [`Broken::link`] names the first that doesn't hold, and `tests/verifiers/verify.py` says the same names.
//! The trust file comes first and from elsewhere ([`trust`](super::trust)): whoever hands out a bundle must not choose it.
//!
//! | link | what must hold |
//! |---|---|
//! | `form` | at most [`MAX_BYTES`], canonical JSON of exactly this form |
//! | `leaf` | the four leaves are canonical leaves ([`crate::event`]) of the events named above |
//! | `log` | the four leaves' proofs lead to checkpoints that log keys of the trust file signed, whenever those count |
//! | `checkpoint` | the four proofs carry one checkpoint |
//! | `order` | the leaves' indices and times grow: authority, release, decision, published |
//! | `head` | the head passes [`verify::head`](super::verify::head) for the decision's pin set, with `published` as its leaf, as of the moment at which it expires |
//! | `set` | the set document is the head's by SHA-256 and size; registry, name, epoch and version are the head's, `issued` the published leaf's time |
//! | `pins` | the set has the decision's alias for the decision's server, and the pins document is the one named there by SHA-256 and size, of this registry, set, alias and server, and carries the evidence that its pins name |
//! | `decision` | the record is sound ([`Decision::check`]) and approves, its ballots name this registry, its qualified and wire name are joined from alias and name |
//! | `pin` | the pins document has a pin of the decision's kind, qualified name, variant, wire name and digests, whose approval is this leaf (SHA-256, index, mode, time), ending no later than the decision says, with the decision's attestation as evidence |
//! | `evidence` | release, attestation, level, signer, server and variant of the decision are the release leaf's; the pins document's evidence says what the release leaf says, and its index |
//! | `authority` | the release leaf's authority is the granted one: id, role, a scope that covers the server, the signer's key id (SHA-256 of the key's SPKI), and the level that the role gives a key |
//! | `attestation` | the attestation's SHA-256 is the release leaf's, and the granted key signed it as `application/vnd.in-toto+json` |
//! | `statement` | its payload is a statement ([`crate::attest::statement`]) that names the release leaf's server, version, variant, role, remotes and artifacts, with as many subjects of the same list digest |
//! | `subject` | the descriptor is among the subjects: kind, slash, the decision's `name`, and the decision's `jcs-sha256` |
//! | `descriptor` | the descriptor's SHA-256 is that digest |
//!
//! # What it doesn't prove
//!
//! That the descriptor is safe, or that the pin is still live: a bundle never ends, and what it proves is what was true
//! when its head was issued. That nobody revoked the key or the pin afterwards, or that the log is the only one: an
//! audit of the whole log shows that. The second digest, by the recipe `python-sorted-sha256`, is told and not checked:
//! it decides nothing.

mod link;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::{Deserialize, Serialize};

use super::{Pin, head::Head, trust::Trust};
use crate::{
    canon::{from_jcs, to_jcs},
    clock::Timestamp,
    event::{AuthorityGranted, Evidence, PinsetPublished},
    log::{Checkpoint, Proof},
    review::Decision,
};

pub use link::Broken;

/// Base64 of a set and a pins document of 32 MiB each, an attestation of 4 MiB, a descriptor whose 1 MiB grew sixfold in
/// canonical form (numbers such as `1e20`), and a few leaves. Most bundles have some dozen kilobytes.
pub const MAX_BYTES: usize = 104 << 20;

/// A bundle as it was read or put together. It proves nothing yet.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Bundle {
    /// The descriptor's canonical bytes.
    pub descriptor: Vec<u8>,
    /// The attestation as it was received.
    pub attestation: Vec<u8>,
    /// The leaf that granted the signing key its authority.
    pub authority: Logged,
    /// The leaf that recorded the attestation.
    pub release: Logged,
    /// The leaf of the approval.
    pub decision: Logged,
    /// The leaf that published the version.
    pub published: Logged,
    /// The head as it was signed.
    pub head: Vec<u8>,
    /// The set document.
    pub set: Vec<u8>,
    /// The pins document of the pin's alias.
    pub pins: Vec<u8>,
}

/// A leaf and where it is in the log.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Logged {
    /// The leaf's bytes.
    pub leaf: Vec<u8>,
    /// That the log holds it.
    pub proof: Proof,
}

/// What a bundle proves. [`Bundle::verify`] makes it and nothing else does.
#[derive(Clone, Debug)]
pub struct Proven {
    descriptor: Vec<u8>,
    authority: Known<AuthorityGranted>,
    release: Known<Evidence>,
    decision: Known<Decision>,
    published: Known<PinsetPublished>,
    pin: Pin,
    head: Head,
    checkpoint: Checkpoint,
}

/// An event that the log holds.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Known<T> {
    /// Its leaf's index.
    pub index: u64,
    /// When, by the registry's clock.
    pub at: Timestamp,
    /// What.
    pub facts: T,
}

/// The type of a bundle, which has one value.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
enum BundleType {
    #[default]
    #[serde(rename = "countersign/bundle/v1")]
    V1,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Written {
    r#type: BundleType,
    descriptor: String,
    attestation: String,
    authority: WrittenLeaf,
    release: WrittenLeaf,
    decision: WrittenLeaf,
    published: WrittenLeaf,
    head: String,
    set: String,
    pins: String,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct WrittenLeaf {
    leaf: String,
    proof: String,
}

impl Bundle {
    /// Reads a bundle's file.
    ///
    /// # Errors
    /// [`Broken::Form`].
    pub fn parse(bytes: &[u8]) -> Result<Self, Broken> {
        let Written { descriptor, attestation, authority, release, decision, published, head, set, pins, .. } =
            from_jcs(bytes, MAX_BYTES).map_err(|e| Broken::Form(e.to_string()))?;
        Ok(Self {
            descriptor: decode("descriptor", &descriptor)?,
            attestation: decode("attestation", &attestation)?,
            authority: Logged::read("authority", &authority)?,
            release: Logged::read("release", &release)?,
            decision: Logged::read("decision", &decision)?,
            published: Logged::read("published", &published)?,
            head: decode("head", &head)?,
            set: decode("set", &set)?,
            pins: decode("pins", &pins)?,
        })
    }

    /// The file that [`Bundle::parse`] reads.
    pub fn to_bytes(&self) -> Vec<u8> {
        to_jcs(&Written {
            r#type: BundleType::V1,
            descriptor: STANDARD.encode(&self.descriptor),
            attestation: STANDARD.encode(&self.attestation),
            authority: self.authority.written(),
            release: self.release.written(),
            decision: self.decision.written(),
            published: self.published.written(),
            head: STANDARD.encode(&self.head),
            set: STANDARD.encode(&self.set),
            pins: STANDARD.encode(&self.pins),
        })
    }

    /// Checks every link, from the trust file down to the descriptor's bytes. It needs no clock: what is proved was true
    /// when the head was issued.
    ///
    /// # Errors
    /// The first [`Broken`] link.
    pub fn verify(&self, trust: &Trust) -> Result<Proven, Broken> {
        link::verify(self, trust)
    }
}

impl Logged {
    fn read(name: &'static str, written: &WrittenLeaf) -> Result<Self, Broken> {
        let proof: Proof = written.proof.parse().map_err(|e| Broken::Form(format!("{name}: {e}")))?;
        // One spelling, and nothing in it that no link looks at.
        if proof.extra.is_some() || proof.to_string() != written.proof {
            return Err(Broken::Form(format!("{name}: a proof without extra data, in its one spelling")));
        }
        Ok(Self { leaf: decode(name, &written.leaf)?, proof })
    }

    fn written(&self) -> WrittenLeaf {
        WrittenLeaf { leaf: STANDARD.encode(&self.leaf), proof: self.proof.to_string() }
    }
}

fn decode(name: &'static str, text: &str) -> Result<Vec<u8>, Broken> {
    STANDARD.decode(text).map_err(|_| Broken::Form(format!("{name}: base64 in its one canonical spelling")))
}

impl Proven {
    /// The descriptor's canonical bytes. A stranger's text.
    pub fn descriptor(&self) -> &[u8] {
        &self.descriptor
    }

    /// Which key may speak for which servers, and who said so.
    pub const fn authority(&self) -> &Known<AuthorityGranted> {
        &self.authority
    }

    /// Who attested the descriptor as part of which release.
    pub const fn release(&self) -> &Known<Evidence> {
        &self.release
    }

    /// Who approved it.
    pub const fn decision(&self) -> &Known<Decision> {
        &self.decision
    }

    /// The version of the pin set.
    pub const fn published(&self) -> &Known<PinsetPublished> {
        &self.published
    }

    /// The pin in that version.
    pub const fn pin(&self) -> &Pin {
        &self.pin
    }

    /// The registry's statement that this version was the newest, and for how long it could be relied on.
    pub const fn head(&self) -> &Head {
        &self.head
    }

    /// The log that holds all of it.
    pub const fn checkpoint(&self) -> &Checkpoint {
        &self.checkpoint
    }
}
