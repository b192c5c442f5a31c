//! What a leaf of the log says: one event, with all that the fold reads.
//!
//! A leaf is the canonical JSON of [`Leaf`]: `v`, `type`, `at` and the event's own members. Descriptor text never goes
//! into the log; documents (attestations, policies, views, packs) are named by their SHA-256. Reading is strict: a leaf
//! is accepted only if writing it again gives the same bytes, so that an unknown member, a second spelling or a
//! rearranged leaf is no leaf.
//!
//! # Leaves
//!
//! Every leaf has `"v": 1`, its `"type"`, and `"at"` in microseconds, which grows from leaf to leaf. The other members,
//! none of which may be absent; `?` marks one that may be `null`, `…[]` a list:
//!
//! | `type` | members |
//! |---|---|
//! | `registry-created` | `origin`, `epoch`, `root_key`, `log_key`, `head_key` (key ids), `ruleset` (SHA-256) |
//! | `pinset-created`, `policy-set` | `pinset`, `policy` (object, [`Policy`]), `by` (reviewer) |
//! | `release-attested`, `evidence-attached` | `release` (id), `server`, `version`, `variant`, `role`, `level`, `signer`, `authority` (id), `attestation` (SHA-256), `subjects` `{count, sha256}`, `remotes` (URL`[]`), `artifacts` (`{purl, digest}[]`) |
//! | `authority-granted` | `authority` (id), `scope`, `key` (the Ed25519 key, 64 hex), `role`, `holder`? (reviewer), `proof` (text), `generation`, `by` (reviewer) |
//! | `authority-revoked` | `authority` (id), `since` (microseconds), `reason` (SHA-256), `by` (reviewer) |
//! | `signer-revoked` | `signer`, `since` (microseconds), `reason` (SHA-256), `by` (reviewer) |
//! | `alias-bound` | `pinset`, `alias`, `server`, `by` (reviewer) |
//! | `reviewer-set` | `reviewer`, `active` (true or false), `by` (reviewer) |
//! | `decision` | the record of [`crate::review::Decision`], whose documentation lists it |
//! | `held` | `pinset`, `alias`, `kind`, `name` (qualified), `variant`, `digest` (SHA-256), `reason` (SHA-256) |
//! | `ruleset-set` | `ruleset` (SHA-256) |
//! | `pinset-published` | `pinset`, `version`, `set_sha256` |
//!
//! `role` is `publisher` or `capture`; `level` is `capture`, `key` or `sigstore`, and a key of role `publisher` has the
//! level `key`, one of role `capture` the level `capture`; `signer` is `key:` and a key id; `scope` is `*`, a namespace
//! or a server, and covers a server whose whole name or whole namespace it is; a reviewer is 32 hex digits or
//! `local-operator`; ids of releases and authorities are texts to compare. Names are those of [`crate::name`]. `epoch`,
//! `version` and log indices are integers below 2^53, `count` and `generation` below 2^32. The SHA-256 by which
//! documents name a leaf is over its bytes, without the tree's zero byte.

mod keys;

use serde::{Deserialize, Serialize};

pub use self::keys::{HeadTerm, Keys, LogTerm, MAX_KEYS, TrustFile};
use crate::{
    attest::{Artifact, Level, Role, Scope, Signer},
    canon::{Sha256, to_jcs},
    clock::Timestamp,
    keys::{KeyId, VerifyingKey},
    name::{Alias, Kind, ServerName, SetName, Variant, Version},
    review::{Decision, Policy, ReviewerId},
};

/// C2SP tlog-tiles holds an entry's length in 16 bits.
pub const MAX_LEAF_BYTES: usize = (1 << 16) - 1;

/// One entry of the log.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Leaf {
    /// Always 1.
    v: u8,
    /// Microseconds since the epoch: the later of the clock and the previous leaf's plus one.
    at: i64,
    /// What happened.
    #[serde(flatten)]
    event: Event,
}

/// What happened. The names of the variants, in kebab case, are the `type` of the leaf.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum Event {
    /// The first leaf: who this registry is.
    RegistryCreated(RegistryCreated),
    /// A pin set exists from here on.
    PinsetCreated(PolicySet),
    /// A pin set is decided by another policy from here on.
    PolicySet(PolicySet),
    /// A release was accepted with its first evidence.
    ReleaseAttested(Evidence),
    /// A known release got further evidence.
    EvidenceAttached(Evidence),
    /// A key may speak for a namespace.
    AuthorityGranted(AuthorityGranted),
    /// It may not any more, since a moment.
    AuthorityRevoked(AuthorityRevoked),
    /// A signer is not trusted since a moment.
    SignerRevoked(SignerRevoked),
    /// An alias belongs to a server for good.
    AliasBound(AliasBound),
    /// An account may review, or may not any more.
    ReviewerSet(ReviewerSet),
    /// A digest was decided about.
    Decision(Box<Decision>),
    /// A pin was taken away by a rule.
    Held(Held),
    /// Other scanner rules apply from here on.
    RulesetSet(RulesetSet),
    /// Another version of the trust file is in force from here on, with the keys that it names.
    KeyRotated(KeyRotated),
    /// A key of the log counts from here on: this leaf's checkpoint is the first that it signs.
    KeyActivated(KeyActivated),
    /// The log goes on under another name.
    EpochStarted(EpochStarted),
    /// A version of a pin set ends here.
    PinsetPublished(PinsetPublished),
}

/// See [`Event::RegistryCreated`].
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct RegistryCreated {
    /// The name of registry and log.
    pub origin: String,
    /// Grows when a registry starts anew under the same root.
    pub epoch: u64,
    /// Key id of the root key.
    pub root_key: KeyId,
    /// Key id of the log key.
    pub log_key: KeyId,
    /// Key id of the head key.
    pub head_key: KeyId,
    /// The scanner's rules.
    pub ruleset: Sha256,
}

/// A pin set's policy; see [`Event::PinsetCreated`] and [`Event::PolicySet`].
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct PolicySet {
    /// The pin set.
    pub pinset: SetName,
    /// The whole policy.
    pub policy: Policy,
    /// Who set it.
    pub by: ReviewerId,
}

/// A verified attestation over a release.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Evidence {
    /// The release: 128 bits of the digest of what it names, in hex.
    pub release: String,
    /// Its server.
    pub server: ServerName,
    /// Its version.
    pub version: Version,
    /// Its variant.
    pub variant: Variant,
    /// Who the signer speaks as.
    pub role: Role,
    /// The level that the signer's authority gives.
    pub level: Level,
    /// The signer.
    pub signer: Signer,
    /// The authority.
    pub authority: String,
    /// SHA-256 of the attestation as received.
    pub attestation: Sha256,
    /// The subjects.
    pub subjects: Subjects,
    /// Endpoint URLs that the attestation names.
    pub remotes: Vec<String>,
    /// Package URLs with digest that the attestation names.
    pub artifacts: Vec<Artifact>,
}

/// The subject list of an attestation, in short.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Subjects {
    /// How many.
    pub count: u32,
    /// SHA-256 of the list's canonical JSON.
    pub sha256: Sha256,
}

/// See [`Event::AuthorityGranted`].
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct AuthorityGranted {
    /// The authority's id.
    pub authority: String,
    /// The namespace or server it may speak for, or `*`.
    pub scope: Scope,
    /// The public key.
    pub key: VerifyingKey,
    /// Whether it speaks as publisher or as capture.
    pub role: Role,
    /// The account that holds the key, if one does.
    pub holder: Option<ReviewerId>,
    /// How it was proved.
    pub proof: String,
    /// Grows with each start that inherits nothing.
    pub generation: u32,
    /// Who granted it.
    pub by: ReviewerId,
}

/// See [`Event::AuthorityRevoked`].
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct AuthorityRevoked {
    /// The authority's id.
    pub authority: String,
    /// Pins whose evidence came at or after this moment are held.
    pub since: i64,
    /// SHA-256 of salt and reason.
    pub reason: Sha256,
    /// Who revoked it.
    pub by: ReviewerId,
}

/// See [`Event::SignerRevoked`].
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct SignerRevoked {
    /// The signer as pins name it.
    pub signer: Signer,
    /// Pins whose evidence came at or after this moment are held.
    pub since: i64,
    /// SHA-256 of salt and reason.
    pub reason: Sha256,
    /// Who revoked it.
    pub by: ReviewerId,
}

/// See [`Event::AliasBound`].
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct AliasBound {
    /// The pin set.
    pub pinset: SetName,
    /// The alias.
    pub alias: Alias,
    /// Its server.
    pub server: ServerName,
    /// Who bound it.
    pub by: ReviewerId,
}

/// See [`Event::ReviewerSet`].
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct ReviewerSet {
    /// The account.
    pub reviewer: ReviewerId,
    /// Whether it has the role `reviewer`.
    pub active: bool,
    /// Who set it.
    pub by: ReviewerId,
}

/// See [`Event::Held`].
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Held {
    /// The pin set.
    pub pinset: SetName,
    /// The alias.
    pub alias: Alias,
    /// The kind.
    pub kind: Kind,
    /// The qualified name.
    pub name: crate::name::QualifiedName,
    /// The variant.
    pub variant: Variant,
    /// The pin's digest.
    pub digest: Sha256,
    /// SHA-256 of salt and reason.
    pub reason: Sha256,
}

/// See [`Event::RulesetSet`].
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct RulesetSet {
    /// SHA-256 of the rule set's document.
    pub ruleset: Sha256,
}

/// See [`Event::KeyRotated`]. Follows from the version before: one higher, of the same registry and epoch.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct KeyRotated {
    /// The trust file.
    pub trust: TrustFile,
    /// Who published it.
    pub by: ReviewerId,
}

/// See [`Event::KeyActivated`].
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct KeyActivated {
    /// The key, which a trust file before named with a time that has come.
    pub key: KeyId,
}

/// See [`Event::EpochStarted`]. The new log begins with every leaf of the old one, byte for byte, so that what is in force is
/// still a fold of its log, and a consistency proof from any checkpoint of the old one, up to `size`, holds. This leaf is
/// the first that the old log hasn't.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct EpochStarted {
    /// The name of registry and log from here on.
    pub origin: String,
    /// The epoch from here on.
    pub epoch: u64,
    /// What it continues.
    pub continues: Continued,
    /// The trust file, signed by the root key in force.
    pub trust: TrustFile,
    /// Who published it.
    pub by: ReviewerId,
}

/// A log that goes on under another name.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Continued {
    /// Its name, by which nothing is signed any more.
    pub origin: String,
    /// How many of its leaves the new one begins with: this leaf's index.
    pub size: u64,
    /// The longest tree that it was known to have had, where that is not the one continued: what the restored copy lacks.
    pub abandoned: Option<Tree>,
}

/// A tree of the log.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Tree {
    /// Its leaves.
    pub size: u64,
    /// Its root.
    pub root: Sha256,
}

/// See [`Event::PinsetPublished`]. The fold cuts a version exactly here.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct PinsetPublished {
    /// The pin set.
    pub pinset: SetName,
    /// Its version.
    pub version: u64,
    /// SHA-256 of the set document.
    pub set_sha256: Sha256,
}

/// The bytes are no leaf that these rules wrote.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum NotALeaf {
    /// Longer than [`MAX_LEAF_BYTES`].
    #[error("a leaf has at most 65,535 bytes, this has {0}")]
    TooLong(usize),
    /// Not the JSON of a known event.
    #[error("not an event: {0}")]
    Shape(String),
    /// An event, but not in the form that it is written in.
    #[error("not the canonical form of its event")]
    Form,
}

impl Leaf {
    /// The leaf that says `event` happened at `at`.
    pub const fn new(at: Timestamp, event: Event) -> Self {
        Self { v: 1, at: at.micros(), event }
    }

    /// When.
    pub fn at(&self) -> Timestamp {
        Timestamp::from_micros(self.at).unwrap_or(Timestamp::EPOCH)
    }

    /// What.
    pub const fn event(&self) -> &Event {
        &self.event
    }

    /// The bytes that go into the log.
    ///
    /// # Errors
    /// [`NotALeaf::TooLong`]; an event that large must be refused before it gets here.
    pub fn to_bytes(&self) -> Result<Vec<u8>, NotALeaf> {
        let bytes = to_jcs(self);
        if bytes.len() > MAX_LEAF_BYTES { Err(NotALeaf::TooLong(bytes.len())) } else { Ok(bytes) }
    }

    /// Reads a leaf.
    ///
    /// # Errors
    /// [`NotALeaf`] for whatever [`Leaf::to_bytes`] would not have written.
    pub fn parse(bytes: &[u8]) -> Result<Self, NotALeaf> {
        if bytes.len() > MAX_LEAF_BYTES {
            return Err(NotALeaf::TooLong(bytes.len()));
        }
        let leaf: Self = serde_json::from_slice(bytes).map_err(|e| NotALeaf::Shape(e.to_string()))?;
        let in_range = leaf.v == 1 && Timestamp::from_micros(leaf.at).is_some();
        if in_range && to_jcs(&leaf) == bytes { Ok(leaf) } else { Err(NotALeaf::Form) }
    }
}

impl Event {
    /// The `type` of the leaf.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::RegistryCreated(_) => "registry-created",
            Self::PinsetCreated(_) => "pinset-created",
            Self::PolicySet(_) => "policy-set",
            Self::ReleaseAttested(_) => "release-attested",
            Self::EvidenceAttached(_) => "evidence-attached",
            Self::AuthorityGranted(_) => "authority-granted",
            Self::AuthorityRevoked(_) => "authority-revoked",
            Self::SignerRevoked(_) => "signer-revoked",
            Self::AliasBound(_) => "alias-bound",
            Self::ReviewerSet(_) => "reviewer-set",
            Self::Decision(_) => "decision",
            Self::Held(_) => "held",
            Self::RulesetSet(_) => "ruleset-set",
            Self::KeyRotated(_) => "key-rotated",
            Self::KeyActivated(_) => "key-activated",
            Self::EpochStarted(_) => "epoch-started",
            Self::PinsetPublished(_) => "pinset-published",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaf() -> Leaf {
        let at = Timestamp::from_micros(1_796_025_600_000_000).expect("in range");
        let by = ReviewerId::local_operator();
        let pinset = "default".parse().expect("legal");
        Leaf::new(at, Event::PolicySet(PolicySet { pinset, policy: Policy::solo(), by }))
    }

    #[test]
    fn a_leaf_is_flat_canonical_json() {
        let bytes = leaf().to_bytes().expect("short");
        assert_eq!(
            String::from_utf8(bytes.clone()).expect("text"),
            r#"{"at":1796025600000000,"by":"local-operator","pinset":"default","policy":{"flag_at":"medium","hold_at":"critical","levels":["sigstore","key","capture"],"lifetime_days":180,"overlap_hours":0,"quorum":1,"quorum_risky":1,"severities":{},"solo":true},"type":"policy-set","v":1}"#
        );
        assert_eq!(Leaf::parse(&bytes), Ok(leaf()));
    }

    #[test]
    fn a_leaf_has_one_spelling() {
        let text = String::from_utf8(leaf().to_bytes().expect("short")).expect("text");
        let rows = [
            (text.replace("\"v\":1", "\"v\":1,\"w\":1"), "an unknown member"),
            (text.replace("\"v\":1", "\"v\":2"), "another version"),
            (text.replace("{\"at\"", "{ \"at\""), "a space"),
            (text.replace("\"v\":1", "\"v\":1,\"v\":1"), "a member twice"),
            (text.replace("\"quorum\":1,", ""), "a default left out"),
            (text.replace("policy-set", "policy-sat"), "an unknown type"),
            (text.replace("1796025600000000", "-1"), "a time before the epoch"),
            (text[..text.len() - 1].to_owned(), "cut short"),
        ];
        for (bad, why) in rows {
            assert!(Leaf::parse(bad.as_bytes()).is_err(), "{why}");
        }
    }

    #[test]
    fn what_is_said_about_keys_reads_back_and_has_one_spelling() {
        let id = |n: u8| crate::keys::SigningKey::from_seed(&[n; 32]).verifying().id();
        let at = |hours| Timestamp::EPOCH + crate::clock::Span::hours(hours);
        let logs = vec![
            LogTerm { key: id(2), from: at(0), until: Some(at(9)) },
            LogTerm { key: id(4), from: at(5), until: None },
        ];
        let keys = Keys { root: id(1), logs, heads: vec![HeadTerm { key: id(3), from: at(1) }] };
        let trust = TrustFile { version: 2, sha256: Sha256::of(b"note"), keys };
        let by = ReviewerId::local_operator;
        let abandoned = Some(Tree { size: 9, root: Sha256::of(b"root") });
        let continues = Continued { origin: "pins.example".into(), size: 7, abandoned };
        let events = [
            Event::KeyRotated(KeyRotated { trust: trust.clone(), by: by() }),
            Event::KeyActivated(KeyActivated { key: id(4) }),
            Event::EpochStarted(EpochStarted { origin: "pins.example/2".into(), epoch: 2, continues, trust, by: by() }),
        ];
        for event in events {
            let leaf = Leaf::new(at(6), event);
            let bytes = leaf.to_bytes().expect("short");
            assert_eq!(Leaf::parse(&bytes), Ok(leaf.clone()));
            let text = String::from_utf8(bytes).expect("text");
            let kind = leaf.event().kind();
            assert!(text.contains(&format!("\"type\":\"{kind}\"")), "{text}");
            for bad in [text.replace(",\"until\":null", ""), text.replace("{\"key\"", "{\"is\":1,\"key\"")] {
                assert!(bad == text || Leaf::parse(bad.as_bytes()).is_err(), "{bad}");
            }
        }
    }

    #[test]
    fn a_leaf_fits_16_bits_of_length() {
        let mut long = leaf();
        let fill = |n: usize| {
            Event::AuthorityRevoked(AuthorityRevoked {
                authority: "a".repeat(n),
                since: 0,
                reason: Sha256::of(b""),
                by: ReviewerId::local_operator(),
            })
        };
        long.event = fill(0);
        let rest = long.to_bytes().expect("short").len();
        long.event = fill(MAX_LEAF_BYTES - rest);
        let bytes = long.to_bytes().expect("just fits");
        assert_eq!(bytes.len(), 65_535);
        assert_eq!(Leaf::parse(&bytes), Ok(long.clone()));
        long.event = fill(MAX_LEAF_BYTES - rest + 1);
        assert_eq!(long.to_bytes(), Err(NotALeaf::TooLong(65_536)));
    }
}
