//! The trust file: what a gateway starts from.
//!
//! A signed note by the registry's root key over the keys that sign logs and heads, with the caps that a gateway holds
//! heads to. Its text has one `word value` a line, in this order:
//!
//! ```text
//! countersign/trust/v1
//! version 2
//! origin pins.example
//! epoch 1
//! root pins.example/root+1f2e3d4c+…
//! log pins.example+5a6b7c8d+… until 2026-12-20T00:00:00.000000Z
//! log pins.example+0c1d2e3f+… from 2026-12-13T00:00:00.000000Z
//! head <64 hex of the Ed25519 key> from 2026-12-01T00:00:00.000000Z
//! head <64 hex of the Ed25519 key> from 2026-12-13T00:00:00.000000Z
//! head-lifetime 3600
//! clock-skew 300
//! witness w1 w1.example+c1d2e3f4+…
//! witness w2 w2.example+d2e3f4a5+…
//! group any-one 1 w1 w2
//! quorum any-one
//! ```
//!
//! `log` and `head` may repeat, in the order in which the keys begin to count, no two at one moment. A `log` without `from`
//! counts from the beginning, and is never spelled otherwise; one without `until` counts for good. After `epoch` there is a line `continues NAME` for every name that the registry
//! had in epochs before, oldest first. A person compares the fingerprint (SHA-256 of the root key's SPKI) once; from then
//! on only what the root in hand signed, with a higher version, takes its place.
//!
//! `version` and `epoch` are at least 1; `root` and `log` are note keys ([`crate::log::note`]) of the names
//! `<origin>/root` and `<origin>`; `log` and `head` stand one to eight times each, and of root, log and head keys none
//! is another. The last `log` has no `until`, and each other has one, no earlier than the next one's `from`.
//! `continues` stands at most eight times and never with the present name; `head-lifetime` is 1 to 604,800 seconds,
//! `clock-skew` 0 to 3,600. What follows is a [`Policy`](crate::log::policy::Policy) of witnesses, with one space
//! between words, without logs, addresses, comments and empty lines, witnesses first, thresholds as numbers; a file
//! that ends with `clock-skew` asks for no witness. With a policy a head counts only over a checkpoint whose note
//! carries the cosignatures of its quorum, none dated later than the reader's clock plus `clock-skew`. Nothing else may
//! stand in it, and no number begins with a zero that isn't all of it. The whole note has at most 64 KiB, and the root
//! key that it names has signed it.
//!
//! # Changing keys
//!
//! A key changes by a new version of this file, published before the key begins to count. Nobody has to act at one
//! moment; what decides is the time that a head says it was issued, which is bounded by its expiry and the caps:
//!
//! - **Heads.** The registry signs with the newest key whose `from` has come, never with one that is yet to come. A gateway
//!   takes a head by a key if it was issued from the key's `from` on and before the next key's. A head lasts at most
//!   `head-lifetime`, so a key is of no use to anybody after the next one's `from` and that span, give or take the skew.
//! - **Log.** Between the next key's `from` and its own `until` the key before signs along: checkpoints then carry both
//!   signatures, and a gateway that only has the trust file before still verifies them. A gateway asks for a signature by a
//!   key that counted when the head was issued: from the key's `from` on and before its `until`. Signatures by keys that
//!   don't count then are passed over.
//! - **Clocks.** Both of a key's ends are `clock-skew` further out for a gateway: a key counts if its `from` is no later than
//!   `issued` plus the skew, and if `issued` is before its end (the next head key's `from`, a log key's `until`) plus the skew.
//! - **Root.** The first file with a new root key is signed by the old one too. A gateway that missed it asks for the
//!   versions in between, one after the other ([`Trust::next`] of each).
//! - **Epoch.** A registry whose log can't go on, because its newest copy is lost, goes on under another name: `epoch` one
//!   or more higher, the names before in `continues`, signed by the same root under those names too. It is the only way in
//!   which `origin` changes, and `epoch` changes in no other way.

mod terms;

use std::collections::BTreeMap;

pub use self::terms::{HeadKey, LogKey, Terms};

use crate::{
    clock::Timestamp,
    keys::{KeyId, VerifyingKey},
    log::{
        BadCheckpoint, Checkpoint,
        note::{self, Verifier},
        open_checkpoint_by,
    },
};

/// A handful of keys; what is longer is something else.
const MAX_BYTES: usize = 64 << 10;

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
    /// Another epoch under the same name, or another name under the same epoch.
    #[error("the trust file is of epoch {found}, you are in epoch {trusted}: epoch and name change together")]
    Epoch {
        /// The epoch in hand.
        trusted: u64,
        /// The epoch that was offered.
        found: u64,
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
    /// and newer; of the same epoch under the same name, or of a later one that continues this name.
    pub fn next(&self, note: &str) -> Result<Option<Self>, BadTrust> {
        if note == self.note {
            return Ok(None);
        }
        let next = Self::first(note)?;
        let (trusted, found) = (&self.terms, &next.terms);
        if trusted.origin != found.origin && !found.former.contains(&trusted.origin) {
            let (trusted, found) = (trusted.origin.clone(), found.origin.clone());
            return Err(BadTrust::OtherOrigin { trusted, found });
        }
        if signed_by(note, &trusted.origin, trusted.root).is_none() {
            return Err(BadTrust::OtherRoot);
        }
        if found.version <= trusted.version {
            return Err(BadTrust::NotNewer { trusted: trusted.version, found: found.version });
        }
        if (trusted.origin == found.origin) != (trusted.epoch == found.epoch) || found.epoch < trusted.epoch {
            return Err(BadTrust::Epoch { trusted: trusted.epoch, found: found.epoch });
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

    /// Every key of the log under its name, whether it counts yet, still or no more: for checkpoints of any time.
    ///
    /// # Errors
    /// Never for a trust file that was read; the name was checked then.
    pub fn logs(&self) -> Result<Vec<Verifier>, note::NotAKey> {
        self.terms.logs.iter().map(|log| Verifier::new(&self.terms.origin, log.key)).collect()
    }

    /// The checkpoint in a note that one of the log's keys signed, whether it counts yet, still or no more.
    ///
    /// # Errors
    /// [`BadCheckpoint`].
    pub fn open(&self, note: &str) -> Result<Checkpoint, BadCheckpoint> {
        self.open_as(&self.terms.origin, note)
    }

    /// The same under any name that the log ever had: of one that goes on under another name the first checkpoints are
    /// signed by the name before.
    ///
    /// # Errors
    /// [`BadCheckpoint`], about the present name.
    pub fn open_ever(&self, note: &str) -> Result<Checkpoint, BadCheckpoint> {
        let present = self.open(note);
        let mut before = self.terms.former.iter().filter_map(|origin| self.open_as(origin, note).ok());
        present.or_else(|e| before.next().ok_or(e))
    }

    fn open_as(&self, origin: &str, note: &str) -> Result<Checkpoint, BadCheckpoint> {
        let logs = self.terms.logs.iter().filter_map(|log| Verifier::new(origin, log.key).ok());
        let logs: Vec<Verifier> = logs.collect();
        open_checkpoint_by(note, &logs)
    }

    /// The keys of the log that may vouch for a head issued at `issued`.
    ///
    /// # Errors
    /// As [`Trust::logs`].
    pub fn logs_at(&self, issued: Timestamp) -> Result<Vec<Verifier>, note::NotAKey> {
        let (terms, skew) = (&self.terms, self.terms.clock_skew);
        let counts = |log: &&LogKey| log.from <= issued + skew && log.until.is_none_or(|until| issued < until + skew);
        terms.logs.iter().filter(counts).map(|log| Verifier::new(&terms.origin, log.key)).collect()
    }

    /// Every key that signs heads, whether it counts yet, still or no more.
    pub fn heads(&self) -> BTreeMap<KeyId, VerifyingKey> {
        self.terms.heads.iter().map(|head| (head.key.id(), head.key)).collect()
    }

    /// The keys that may sign a head issued at `issued`: from a key's time on until the next one's.
    pub fn head_keys(&self, issued: Timestamp) -> BTreeMap<KeyId, VerifyingKey> {
        let (heads, skew) = (&self.terms.heads, self.terms.clock_skew);
        let ended = |i: usize| heads.get(i + 1).is_some_and(|next| issued >= next.from + skew);
        let counts = heads.iter().enumerate().filter(|(i, head)| head.from <= issued + skew && !ended(*i));
        counts.map(|(_, head)| (head.key.id(), head.key)).collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        clock::Span,
        keys::SigningKey,
        log::{note::Signer, policy::Policy},
    };

    fn key(n: u8) -> SigningKey {
        SigningKey::from_seed(&[n; 32])
    }

    fn log_key(n: u8, from: u32, until: Option<u32>) -> LogKey {
        let at = |hours| Timestamp::EPOCH + Span::hours(hours);
        LogKey { key: key(n).verifying(), from: at(from), until: until.map(at) }
    }

    fn head_key(n: u8, from: u32) -> HeadKey {
        HeadKey { key: key(n).verifying(), from: Timestamp::EPOCH + Span::hours(from) }
    }

    fn terms(version: u64, root: u8) -> Terms {
        Terms {
            version,
            origin: "pins.example".into(),
            epoch: 1,
            root: key(root).verifying(),
            former: vec![],
            logs: vec![log_key(2, 0, None)],
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
            (Terms { heads: (0..9).map(|n| head_key(n + 10, n.into())).collect(), ..terms(1, 1) }, "nine head keys"),
            (Terms { heads: vec![head_key(3, 1), head_key(3, 2)], ..terms(1, 1) }, "a key twice"),
            (Terms { logs: vec![], ..terms(1, 1) }, "no log key"),
            (Terms { former: vec!["pins.example".into()], ..terms(1, 1) }, "continues itself"),
            (Terms { head_lifetime: Span::days(8), ..terms(1, 1) }, "a head that lasts too long"),
            (Terms { head_lifetime: Span::ZERO, ..terms(1, 1) }, "a head that never lasts"),
            (Terms { clock_skew: Span::seconds(3_601), ..terms(1, 1) }, "clocks too far apart"),
            (Terms { origin: "two words".into(), ..terms(1, 1) }, "a name no note can have"),
        ] {
            assert!(matches!(terms.sign(&[&key(1)]), Err(BadTrust::Form(_))), "{what}");
        }
    }

    #[test]
    fn a_log_line_without_a_time_counts_from_the_beginning() {
        let note = signed(&terms(1, 1), &[1]);
        let line = note.lines().find(|line| line.starts_with("log ")).expect("is there");
        assert_eq!(line.split(' ').count(), 2, "as the first trust files had it: {line}");
        let terms = Terms { logs: vec![log_key(2, 0, Some(9)), log_key(4, 5, None)], ..terms(2, 1) };
        let note = signed(&terms, &[1]);
        let lines: Vec<&str> = note.lines().filter(|line| line.starts_with("log ")).collect();
        assert!(lines[0].ends_with(" until 1970-01-01T09:00:00.000000Z"), "{lines:?}");
        assert!(lines[1].ends_with(" from 1970-01-01T05:00:00.000000Z"), "{lines:?}");
        assert_eq!(Trust::first(&note).expect("reads").terms(), &terms);
        for (bad, what) in [
            (note.replace(" until 1970-01-01T09", " until 1970-01-01T04"), "a gap"),
            (note.replace(" from 1970-01-01T05", " from 1970-01-01T00"), "two from the beginning"),
            (note.replace(" until 1970-01-01T09:00:00.000000Z", ""), "an end that is left out"),
        ] {
            assert!(matches!(Trust::first(&bad), Err(BadTrust::Form(_))), "{what}");
        }
    }

    #[test]
    fn a_key_counts_from_its_time_on_until_the_next_ones() {
        let logs = vec![log_key(2, 0, Some(9)), log_key(4, 5, None)];
        let terms = Terms { logs, heads: vec![head_key(3, 1), head_key(5, 5)], ..terms(1, 1) };
        let trust = terms.sign(&[&key(1)]).expect("signs");
        let (hour, skew, tick) = (Span::hours(1), Span::minutes(5), Span::micros(1));
        let at = |hours| Timestamp::EPOCH + Span::hours(hours);
        let head = |n: u8| key(n).verifying().id();
        let rows: [(&str, Timestamp, &[u8], &[u8]); 7] = [
            ("before any head key", (at(0) + hour).minus(skew).minus(tick), &[], &[2]),
            ("the first, by a clock that is early", (at(0) + hour).minus(skew), &[3], &[2]),
            ("before the second ones", at(5).minus(skew).minus(tick), &[3], &[2]),
            ("clocks differ", at(5), &[3, 5], &[2, 4]),
            ("the second head key alone, both log keys", at(5) + skew, &[5], &[2, 4]),
            ("before the first log key ends", (at(9) + skew).minus(tick), &[5], &[2, 4]),
            ("the second ones alone", at(9) + skew, &[5], &[4]),
        ];
        for (what, issued, heads, logs) in rows {
            let mut heads: Vec<KeyId> = heads.iter().map(|n| head(*n)).collect();
            heads.sort_unstable();
            assert_eq!(trust.head_keys(issued).into_keys().collect::<Vec<_>>(), heads, "{what}");
            let counting = trust.logs_at(issued).expect("names").iter().map(|log| *log.key()).collect::<Vec<_>>();
            assert_eq!(counting, logs.iter().map(|n| key(*n).verifying()).collect::<Vec<_>>(), "{what}");
        }
    }

    #[test]
    fn epoch_and_name_change_together_under_one_root() {
        let trust = Trust::first(&signed(&terms(2, 1), &[1])).expect("reads");
        let second = |former: &[&str], epoch| Terms {
            origin: "pins.example/2".into(),
            former: former.iter().map(ToString::to_string).collect(),
            epoch,
            ..terms(3, 1)
        };
        let rows = [
            ("another name that continues this one", second(&["pins.example"], 2), &[1][..], Ok(3)),
            ("two epochs later", second(&["pins.example", "pins.example/1b"], 3), &[1], Ok(3)),
            (
                "another name that continues nothing",
                second(&[], 2),
                &[1],
                Err(BadTrust::OtherOrigin { trusted: "pins.example".into(), found: "pins.example/2".into() }),
            ),
            (
                "another name, the same epoch",
                second(&["pins.example"], 1),
                &[1],
                Err(BadTrust::Epoch { trusted: 1, found: 1 }),
            ),
            (
                "another epoch, the same name",
                Terms { epoch: 2, ..terms(3, 1) },
                &[1],
                Err(BadTrust::Epoch { trusted: 1, found: 2 }),
            ),
            (
                "another root",
                Terms { root: key(9).verifying(), ..second(&["pins.example"], 2) },
                &[9],
                Err(BadTrust::OtherRoot),
            ),
        ];
        for (what, terms, roots, expected) in rows {
            let next = trust.next(&signed(&terms, roots)).map(|next| next.map_or(0, |next| next.terms().version));
            assert_eq!(next, expected, "{what}");
        }
        let later = Trust::first(&signed(&second(&["pins.example"], 2), &[1])).expect("reads");
        assert!(later.next(&signed(&terms(4, 1), &[1])).is_err(), "there is no way back");
    }
}
