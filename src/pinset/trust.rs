//! The trust file: what a gateway starts from.
//!
//! A signed note by the registry's root key over the keys that sign logs and heads, with the caps that a gateway holds
//! heads to. Its text has one `word value` a line, in this order:
//!
//! ```text
//! countersign/trust/v1
//! version 1
//! origin pins.example
//! epoch 1
//! root pins.example/root+1f2e3d4c+…
//! log pins.example+5a6b7c8d+…
//! head <64 hex of the Ed25519 key> from 2026-12-01T00:00:00.000000Z
//! head-lifetime 3600
//! clock-skew 300
//! witness w1 w1.example+c1d2e3f4+…
//! witness w2 w2.example+d2e3f4a5+…
//! group any-one 1 w1 w2
//! quorum any-one
//! ```
//!
//! `version` and `epoch` are at least 1; `root` and `log` are note keys ([`crate::log::note`]) of the names
//! `<origin>/root` and `<origin>`; `head` stands one to eight times; `head-lifetime` is 1 to 604,800 seconds,
//! `clock-skew` 0 to 3,600. What follows is a [`Policy`] of witnesses, with one space between words, without logs, addresses,
//! comments and empty lines, witnesses first, thresholds as numbers; a file that ends with `clock-skew` asks for no witness. With
//! a policy a head counts only over a checkpoint whose note carries the cosignatures of its quorum, none dated later than the
//! reader's clock plus `clock-skew`. Nothing else may stand in it, and no number begins with a zero that isn't all of it. The
//! whole note has at most 64 KiB, and the root key that it names has signed it.
//!
//! A person compares the fingerprint (SHA-256 of the root key's SPKI) once; from then on only what the
//! root in hand signed, with a higher version, takes its place.

use std::{collections::BTreeMap, fmt::Write as _};

use crate::{
    clock::{Span, Timestamp},
    keys::{KeyId, SigningKey, VerifyingKey},
    log::{
        note::{self, Signer, Verifier},
        policy::Policy,
    },
};

const HEADER: &str = "countersign/trust/v1";
/// A handful of keys; what is longer is something else.
const MAX_BYTES: usize = 64 << 10;
/// Two overlap during a rotation; more than eight is no rotation.
const MAX_HEAD_KEYS: usize = 8;
/// A gateway would rest on a stolen head for that long.
const MAX_LIFETIME_SECONDS: u32 = 7 * 86_400;
/// Clocks that are further apart than an hour are broken.
const MAX_SKEW_SECONDS: u32 = 3_600;

/// What a trust file says.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Terms {
    /// Grows with each trust file.
    pub version: u64,
    /// The name of registry and log.
    pub origin: String,
    /// The epoch that heads must have.
    pub epoch: u64,
    /// The key that signs trust files.
    pub root: VerifyingKey,
    /// The key that signs the log.
    pub log: VerifyingKey,
    /// The keys that sign heads, and from when on.
    pub heads: Vec<HeadKey>,
    /// The longest time a head may last.
    pub head_lifetime: Span,
    /// How far clocks may be apart.
    pub clock_skew: Span,
    /// Which witnesses must have cosigned a checkpoint.
    pub witnesses: Option<Policy>,
}

/// A key that signs heads.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct HeadKey {
    /// The key.
    pub key: VerifyingKey,
    /// The first moment at which it counts.
    pub from: Timestamp,
}

/// A trust file whose signature was checked; kept as it was signed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Trust {
    terms: Terms,
    note: String,
}

/// A trust file that must not be believed.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum BadTrust {
    /// Not in the form; the text says which line.
    #[error("not a trust file: {0}")]
    Form(String),
    /// Its own root key didn't sign it.
    #[error("the trust file is not signed by the root key it names")]
    NotSelfSigned,
    /// The root in hand didn't sign it.
    #[error("the trust file is not signed by the root key you trust")]
    OtherRoot,
    /// Another registry.
    #[error("the trust file is for {found}, you trust {trusted}")]
    OtherOrigin {
        /// The origin in hand.
        trusted: String,
        /// The origin that was offered.
        found: String,
    },
    /// An older version, or the same with other bytes.
    #[error("the trust file has version {found}, you have version {trusted}")]
    NotNewer {
        /// The version in hand.
        trusted: u64,
        /// The version that was offered.
        found: u64,
    },
}

impl Terms {
    /// Signs the terms with the root key they name, and with the root key before it where it changed.
    ///
    /// # Errors
    /// [`BadTrust::Form`] for terms that no reader would accept.
    pub fn sign(&self, roots: &[&SigningKey]) -> Result<Trust, BadTrust> {
        let name = root_name(&self.origin);
        let signers: Result<Vec<Signer>, _> = roots.iter().map(|key| Signer::new(&name, (*key).clone())).collect();
        let signers = signers.map_err(|e| BadTrust::Form(e.to_string()))?;
        let note = note::sign(&self.text()?, &signers.iter().collect::<Vec<_>>());
        Trust::first(&note.map_err(|e| BadTrust::Form(e.to_string()))?)
    }

    fn text(&self) -> Result<String, BadTrust> {
        let key = |name: &str, key| Verifier::new(name, key).map_err(|e| BadTrust::Form(e.to_string()));
        let root = key(&root_name(&self.origin), self.root)?;
        let log = key(&self.origin, self.log)?;
        let (version, origin, epoch) = (self.version, &self.origin, self.epoch);
        let mut text = format!("{HEADER}\nversion {version}\norigin {origin}\nepoch {epoch}\nroot {root}\nlog {log}\n");
        for head in &self.heads {
            let key = crate::canon::Sha256(*head.key.as_bytes());
            let _ = writeln!(text, "head {key} from {}", head.from);
        }
        let _ = writeln!(text, "head-lifetime {}", self.head_lifetime.as_seconds());
        let _ = writeln!(text, "clock-skew {}", self.clock_skew.as_seconds());
        if let Some(witnesses) = &self.witnesses {
            let _ = write!(text, "{}", witnesses.for_readers());
        }
        Ok(text)
    }

    fn parse(text: &str) -> Result<Self, BadTrust> {
        let mut lines = Lines { rest: text.lines().enumerate().peekable() };
        lines.exact(HEADER)?;
        let version = lines.number("version")?;
        let origin = lines.value("origin")?.to_owned();
        let epoch = lines.number("epoch")?;
        let root = lines.key("root", &root_name(&origin))?;
        let log = lines.key("log", &origin)?;
        let mut heads = Vec::new();
        while let Some(line) = lines.optional("head") {
            heads.push(HeadKey::parse(line).ok_or_else(|| BadTrust::Form(format!("head {line}")))?);
        }
        if heads.is_empty() || heads.len() > MAX_HEAD_KEYS {
            return Err(BadTrust::Form(format!("1 to {MAX_HEAD_KEYS} head keys, this has {}", heads.len())));
        }
        let head_lifetime = lines.seconds("head-lifetime", 1..=MAX_LIFETIME_SECONDS)?;
        let clock_skew = lines.seconds("clock-skew", 0..=MAX_SKEW_SECONDS)?;
        let witnesses = lines.witnesses()?;
        let terms = Self { version, origin, epoch, root, log, heads, head_lifetime, clock_skew, witnesses };
        // One text for one meaning: whatever is left over, doubled or spelled otherwise shows here.
        if terms.text()? == text { Ok(terms) } else { Err(BadTrust::Form("not in its one spelling".into())) }
    }
}

impl HeadKey {
    fn parse(line: &str) -> Option<Self> {
        let (key, from) = line.split_once(" from ")?;
        let crate::canon::Sha256(bytes) = key.parse().ok()?;
        Some(Self { key: VerifyingKey::from_bytes(&bytes).ok()?, from: from.parse().ok()? })
    }
}

impl Trust {
    /// Reads a trust file that nothing vouches for yet but the root key it names. A person has to compare
    /// [`Trust::fingerprint`] before anything rests on it.
    ///
    /// # Errors
    /// [`BadTrust::Form`] and [`BadTrust::NotSelfSigned`].
    pub fn first(note: &str) -> Result<Self, BadTrust> {
        if note.len() > MAX_BYTES {
            return Err(BadTrust::Form(format!("longer than {MAX_BYTES} bytes")));
        }
        let unsigned = note.split_once("\n\n").map(|(text, _)| format!("{text}\n"));
        let terms = Terms::parse(&unsigned.ok_or_else(|| BadTrust::Form("no signature".into()))?)?;
        let opened = signed_by(note, &terms.origin, terms.root).ok_or(BadTrust::NotSelfSigned)?;
        // The terms are taken from the text that was verified, not from the one that named the key.
        Ok(Self { terms: Terms::parse(&opened)?, note: note.to_owned() })
    }

    /// Reads the trust file that is to take this one's place. `None` if it is this one.
    ///
    /// # Errors
    /// [`BadTrust`]: it must be of the same registry, signed by the root in hand (and by its own, where that changed),
    /// and newer.
    pub fn next(&self, note: &str) -> Result<Option<Self>, BadTrust> {
        if note == self.note {
            return Ok(None);
        }
        let next = Self::first(note)?;
        let (trusted, found) = (&self.terms, &next.terms);
        if trusted.origin != found.origin {
            let (trusted, found) = (trusted.origin.clone(), found.origin.clone());
            return Err(BadTrust::OtherOrigin { trusted, found });
        }
        if signed_by(note, &trusted.origin, trusted.root).is_none() {
            return Err(BadTrust::OtherRoot);
        }
        if found.version <= trusted.version {
            return Err(BadTrust::NotNewer { trusted: trusted.version, found: found.version });
        }
        Ok(Some(next))
    }

    /// What it says.
    pub const fn terms(&self) -> &Terms {
        &self.terms
    }

    /// The note as it was signed.
    pub fn note(&self) -> &str {
        &self.note
    }

    /// What a person compares: SHA-256 of the root key's SPKI.
    pub fn fingerprint(&self) -> KeyId {
        self.terms.root.id()
    }

    /// The log's key under its name.
    ///
    /// # Errors
    /// Never for a trust file that was read; the name was checked then.
    pub fn log(&self) -> Result<Verifier, note::NotAKey> {
        Verifier::new(&self.terms.origin, self.terms.log)
    }

    /// The keys whose heads count at `now`.
    pub fn head_keys(&self, now: Timestamp) -> BTreeMap<KeyId, VerifyingKey> {
        let active = self.terms.heads.iter().filter(|head| head.from <= now + self.terms.clock_skew);
        active.map(|head| (head.key.id(), head.key)).collect()
    }
}

/// The note's text if this root key signed it.
fn signed_by(note: &str, origin: &str, root: VerifyingKey) -> Option<String> {
    let root = Verifier::new(&root_name(origin), root).ok()?;
    Some(note::open(note, &[&root]).ok()?.text().to_owned())
}

/// The name by which root keys sign notes.
fn root_name(origin: &str) -> String {
    format!("{origin}/root")
}

/// Reads `word value` lines in a fixed order.
struct Lines<'a> {
    rest: std::iter::Peekable<std::iter::Enumerate<std::str::Lines<'a>>>,
}

impl<'a> Lines<'a> {
    fn exact(&mut self, line: &str) -> Result<(), BadTrust> {
        let found = self.rest.next().map(|(_, found)| found);
        if found == Some(line) { Ok(()) } else { Err(BadTrust::Form(format!("the first line is not {line}"))) }
    }

    fn optional(&mut self, word: &str) -> Option<&'a str> {
        let value = |line: &'a str| line.strip_prefix(word)?.strip_prefix(' ');
        let (_, line) = self.rest.next_if(|(_, line)| value(line).is_some())?;
        value(line)
    }

    fn value(&mut self, word: &str) -> Result<&'a str, BadTrust> {
        let at = self.rest.peek().map_or(0, |(n, _)| n + 1);
        self.optional(word).ok_or_else(|| BadTrust::Form(format!("line {at} is not '{word} …'")))
    }

    fn number(&mut self, word: &str) -> Result<u64, BadTrust> {
        let value = self.value(word)?;
        let number = value.parse().ok().filter(|n: &u64| *n > 0 && n.to_string() == value);
        number.ok_or_else(|| BadTrust::Form(format!("{word} {value}")))
    }

    fn seconds(&mut self, word: &str, range: std::ops::RangeInclusive<u32>) -> Result<Span, BadTrust> {
        let value = self.value(word)?;
        let number = value.parse().ok().filter(|n: &u32| range.contains(n));
        number.map(Span::seconds).ok_or_else(|| BadTrust::Form(format!("{word} {value}")))
    }

    /// The rest, which is a policy of witnesses if it is anything.
    fn witnesses(&mut self) -> Result<Option<Policy>, BadTrust> {
        let rest: String = self.rest.by_ref().map(|(_, line)| format!("{line}\n")).collect();
        if rest.is_empty() {
            return Ok(None);
        }
        rest.parse().map(Some).map_err(|e| BadTrust::Form(format!("witnesses: {e}")))
    }

    fn key(&mut self, word: &str, name: &str) -> Result<VerifyingKey, BadTrust> {
        let value = self.value(word)?;
        let verifier = value.parse::<Verifier>().ok().filter(|key| key.name() == name);
        verifier.map(|key| *key.key()).ok_or_else(|| BadTrust::Form(format!("{word} {value}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(n: u8) -> SigningKey {
        SigningKey::from_seed(&[n; 32])
    }

    fn terms(version: u64, root: u8) -> Terms {
        Terms {
            version,
            origin: "pins.example".into(),
            epoch: 1,
            root: key(root).verifying(),
            log: key(2).verifying(),
            heads: vec![HeadKey { key: key(3).verifying(), from: Timestamp::EPOCH }],
            head_lifetime: Span::hours(1),
            clock_skew: Span::minutes(5),
            witnesses: None,
        }
    }

    fn signed(terms: &Terms, roots: &[u8]) -> String {
        let keys: Vec<SigningKey> = roots.iter().map(|n| key(*n)).collect();
        terms.sign(&keys.iter().collect::<Vec<_>>()).expect("signs").note().to_owned()
    }

    #[test]
    fn a_trust_file_is_a_note_that_reads_back() {
        let note = signed(&terms(1, 1), &[1]);
        let trust = Trust::first(&note).expect("reads");
        assert_eq!(trust.terms(), &terms(1, 1));
        assert_eq!(trust.note(), note);
        assert_eq!(trust.fingerprint(), key(1).verifying().id());
        assert_eq!(
            note.lines().filter(|line| !line.contains('+') && !line.starts_with('—')).collect::<Vec<_>>(),
            [
                "countersign/trust/v1",
                "version 1",
                "origin pins.example",
                "epoch 1",
                "head ed4928c628d1c2c6eae90338905995612959273a5c63f93636c14614ac8737d1 from 1970-01-01T00:00:00.000000Z",
                "head-lifetime 3600",
                "clock-skew 300",
                "",
            ]
        );
    }

    fn witnesses(text: &str) -> Option<Policy> {
        let witness = |n: u8| Verifier::cosigner(&format!("w{n}.example"), key(n).verifying()).expect("a name");
        let lines: String = (7..=8).map(|n| format!("witness w{n} {} https://w{n}.example\n", witness(n))).collect();
        Some((lines + text).parse().expect("a policy"))
    }

    #[test]
    fn the_witness_policy_follows_and_belongs_to_what_is_signed() {
        let with = |text: &str| Terms { witnesses: witnesses(text), ..terms(1, 1) };
        let note = signed(&with("group q all w7 w8\nquorum q\n"), &[1]);
        let trust = Trust::first(&note).expect("reads");
        let policy = trust.terms().witnesses.as_ref().expect("asks for witnesses");
        assert_eq!(policy, &with("group q all w7 w8\nquorum q\n").witnesses.expect("a policy").for_readers());
        assert!(
            note.contains("clock-skew 300\nwitness w7 w7.example+") && note.contains("\ngroup q 2 w7 w8\nquorum q\n\n")
        );
        assert!(!note.contains("https:"), "readers need no addresses");
        assert_eq!(Trust::first(&note.replace("q 2 w7", "q 1 w7")), Err(BadTrust::NotSelfSigned));
        assert_eq!(Trust::first(&signed(&terms(1, 1), &[1])).expect("reads").terms().witnesses, None);
        assert!(Trust::first(&signed(&with("quorum none\n"), &[1])).is_ok());
        // Signed, and in another spelling than the one.
        let root = Signer::new("pins.example/root", key(1)).expect("a name");
        let resigned = |from: &str, to: &str| {
            let text = note.split_once("\n\n").map(|(text, _)| format!("{text}\n").replace(from, to)).expect("a note");
            Trust::first(&note::sign(&text, &[&root]).expect("signs"))
        };
        assert!(resigned("q 2 w7", "q 2 w7").is_ok());
        for (from, to) in [
            ("q 2 w7 w8", "q all w7 w8"),
            ("q 2 w7 w8", "q 2  w7 w8"),
            ("q 2 w7 w8", "q 3 w7 w8"),
            ("quorum q\n", ""),
            ("quorum q\n", "quorum q\n# sure\n"),
            ("quorum q\n", "quorum q\n\nquorum q\n"),
            ("group q", "group"),
            ("clock-skew 300\n", "clock-skew 300\n\n"),
        ] {
            assert!(matches!(resigned(from, to), Err(BadTrust::Form(_))), "{from} as {to}");
        }
    }

    #[test]
    fn only_what_the_root_in_hand_signed_takes_its_place() {
        let trust = Trust::first(&signed(&terms(2, 1), &[1])).expect("reads");
        let elsewhere = Terms { origin: "evil.example".into(), ..terms(3, 1) };
        let rows = [
            ("newer, same root", signed(&terms(3, 1), &[1]), Ok(3)),
            ("newer, another root", signed(&terms(3, 9), &[9]), Err(BadTrust::OtherRoot)),
            ("newer, another root, both sign", signed(&terms(3, 9), &[9, 1]), Ok(3)),
            ("older", signed(&terms(1, 1), &[1]), Err(BadTrust::NotNewer { trusted: 2, found: 1 })),
            (
                "the same version with other terms",
                signed(&Terms { epoch: 2, ..terms(2, 1) }, &[1]),
                Err(BadTrust::NotNewer { trusted: 2, found: 2 }),
            ),
            (
                "another registry",
                signed(&elsewhere, &[1]),
                Err(BadTrust::OtherOrigin { trusted: "pins.example".into(), found: "evil.example".into() }),
            ),
        ];
        for (what, note, expected) in rows {
            let next = trust.next(&note).map(|next| next.map_or(0, |next| next.terms().version));
            assert_eq!(next, expected, "{what}");
        }
        assert_eq!(trust.next(trust.note()), Ok(None));
    }

    #[test]
    fn a_trust_file_has_one_spelling_and_a_signature() {
        let note = signed(&terms(1, 1), &[1]);
        assert_eq!(
            Trust::first(&signed(&terms(1, 1), &[1]).replace("epoch 1", "epoch 2")),
            Err(BadTrust::NotSelfSigned)
        );
        assert!(terms(1, 1).sign(&[&key(9)]).is_err(), "signed by another key than it names");
        let bad = ["version 01", "version 0", "version 1\nversion 1", "verzion 1"];
        for line in bad {
            assert!(matches!(Trust::first(&note.replace("version 1", line)), Err(BadTrust::Form(_))), "{line}");
        }
        for (terms, what) in [
            (Terms { heads: vec![], ..terms(1, 1) }, "no head key"),
            (Terms { heads: vec![terms(1, 1).heads[0].clone(); 9], ..terms(1, 1) }, "nine head keys"),
            (Terms { head_lifetime: Span::days(8), ..terms(1, 1) }, "a head that lasts too long"),
            (Terms { head_lifetime: Span::ZERO, ..terms(1, 1) }, "a head that never lasts"),
            (Terms { clock_skew: Span::seconds(3_601), ..terms(1, 1) }, "clocks too far apart"),
            (Terms { origin: "two words".into(), ..terms(1, 1) }, "a name no note can have"),
        ] {
            assert!(matches!(terms.sign(&[&key(1)]), Err(BadTrust::Form(_))), "{what}");
        }
    }

    #[test]
    fn a_head_key_counts_from_its_time_on() {
        let from = Timestamp::EPOCH + Span::hours(1);
        let later = HeadKey { key: key(4).verifying(), from };
        let terms = Terms { heads: vec![terms(1, 1).heads[0].clone(), later], ..terms(1, 1) };
        let trust = terms.sign(&[&key(1)]).expect("signs");
        assert_eq!(trust.head_keys(from.minus(Span::seconds(301))).len(), 1);
        assert_eq!(trust.head_keys(from.minus(Span::seconds(300))).len(), 2);
    }
}
