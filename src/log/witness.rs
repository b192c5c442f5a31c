//! The texts of C2SP tlog-witness: what a log asks of a witness, and what the witness answers.
//!
//! A request is `POST <submission prefix>/add-checkpoint` with this body: the size of the checkpoint that the witness
//! cosigned last, the consistency proof from there, one hash a line, an empty line, and the new checkpoint's note:
//!
//! ```text
//! old 20852014
//! PlRNCrwHpqhGrupue0L7gxbjbMiKA9temvuZZDDpkaw=
//!
//! pins.example
//! 20852163
//! CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=
//!
//! — pins.example Az3grlgt…
//! ```
//!
//! 200 answers signature lines, of which [`cosignature`] takes the one of the known key. 409 answers the size that the
//! witness has cosigned, which [`size`] reads; nobody signs that, so it is a hint and no evidence. 422 says that the
//! proof doesn't verify. Sends and stores nothing, and trusts nothing that a witness answers before its signature verified.

use std::{fmt, str::FromStr};

use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};

use super::{
    checkpoint::{hash, number},
    merkle::Hash,
    note::{self, OpenError, Verifier},
};
use crate::clock::Timestamp;

/// The most hashes of a proof that a client may send.
pub const MAX_PROOF: usize = 63;
/// The longest answer that is read: the lines of a witness with a handful of keys, post-quantum ones included.
pub const MAX_ANSWER: usize = 64 << 10;

/// What a log asks of a witness.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AddCheckpoint {
    /// The size that the witness cosigned last; 0 if it never did.
    pub old: u64,
    /// That the new tree continues the old one.
    pub proof: Vec<Hash>,
    /// The new checkpoint's note.
    pub checkpoint: String,
}

/// The body isn't a request.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("not an add-checkpoint request: `old SIZE`, at most {MAX_PROOF} hashes, an empty line, a checkpoint")]
pub struct NotARequest;

/// The cosignature of `witness` on this checkpoint's note among the lines that were answered: its line, and when the
/// witness says that it signed. Lines of other keys are passed over.
///
/// # Errors
/// [`OpenError::Unknown`] if there is none, others if there is something else.
pub fn cosignature(answer: &str, checkpoint: &str, witness: &Verifier) -> Result<(String, Timestamp), OpenError> {
    let text = note::unverified_text(checkpoint).ok_or(OpenError::Malformed)?;
    if answer.len() > MAX_ANSWER || answer.split_inclusive('\n').count() > note::MAX_SIGNATURES {
        return Err(OpenError::TooLarge);
    }
    for line in answer.split_inclusive('\n') {
        match note::open(&format!("{text}\n{line}"), &[witness]) {
            Ok(opened) => {
                let at = opened.by().first().and_then(|by| by.at).ok_or(OpenError::Malformed)?;
                return Ok((line.to_owned(), at));
            }
            Err(OpenError::Unknown) => {}
            Err(e) => return Err(e),
        }
    }
    Err(OpenError::Unknown)
}

/// The size in a 409's body: a decimal number and a newline.
pub fn size(answer: &str) -> Option<u64> {
    number(answer.strip_suffix('\n')?)
}

impl fmt::Display for AddCheckpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "old {}", self.old)?;
        for hash in &self.proof {
            writeln!(f, "{}", BASE64.encode(hash.0))?;
        }
        write!(f, "\n{}", self.checkpoint)
    }
}

impl FromStr for AddCheckpoint {
    type Err = NotARequest;

    fn from_str(body: &str) -> Result<Self, NotARequest> {
        let (head, checkpoint) = body.split_once("\n\n").ok_or(NotARequest)?;
        let mut lines = head.split('\n');
        let old = lines.next().and_then(|line| line.strip_prefix("old ")).and_then(number).ok_or(NotARequest)?;
        // One more than allowed is enough to know.
        let proof: Option<Vec<Hash>> = lines.take(MAX_PROOF + 1).map(hash).collect();
        let proof = proof.filter(|proof| proof.len() <= MAX_PROOF).ok_or(NotARequest)?;
        note::unverified_text(checkpoint).ok_or(NotARequest)?;
        Ok(Self { old, proof, checkpoint: checkpoint.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{
        canon::Sha256,
        keys::SigningKey,
        log::{Checkpoint, empty_root, note::Signer, sign_checkpoint},
    };

    fn key(seed: u8) -> SigningKey {
        SigningKey::from_seed(&[seed; 32])
    }

    fn checkpoint() -> (Checkpoint, String) {
        let log = Signer::new("log.example", key(1)).expect("a name");
        let checkpoint = Checkpoint { origin: "log.example".to_owned(), size: 0, root: empty_root() };
        let note = sign_checkpoint(&checkpoint, &log).expect("signs");
        (checkpoint, note)
    }

    fn request(hashes: usize) -> AddCheckpoint {
        AddCheckpoint { old: 7, proof: vec![Sha256([9; 32]); hashes], checkpoint: checkpoint().1 }
    }

    #[test]
    fn a_request_is_the_old_size_the_proof_and_the_checkpoint() {
        let (_, note) = checkpoint();
        let hash = "CQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQk=\n";
        assert_eq!(request(2).to_string(), format!("old 7\n{hash}{hash}\n{note}"));
        let first = AddCheckpoint { old: 0, proof: vec![], checkpoint: note.clone() };
        assert_eq!(first.to_string(), format!("old 0\n\n{note}"));
        for request in [request(0), request(1), request(MAX_PROOF), first] {
            assert_eq!(request.to_string().parse(), Ok(request));
        }
    }

    #[test]
    fn other_requests_are_refused() {
        let text = request(1).to_string();
        for (name, text) in [
            ("nothing", String::new()),
            ("no old size", text.replace("old 7\n", "")),
            ("a leading zero", text.replace("old 7", "old 07")),
            ("two spaces", text.replace("old 7", "old  7")),
            ("a negative size", text.replace("old 7", "old -7")),
            ("a hash too short", text.replace("CQkJCQ", "CQ")),
            ("no empty line", text.replacen("\n\n", "\n", 1)),
            ("no checkpoint", "old 7\n\n".to_owned()),
            ("carriage returns", text.replace('\n', "\r\n")),
            ("too many hashes", request(MAX_PROOF + 1).to_string()),
        ] {
            assert_eq!(text.parse::<AddCheckpoint>(), Err(NotARequest), "{name}");
        }
    }

    #[test]
    fn the_known_keys_cosignature_is_taken_and_no_other() {
        let (checkpoint, note) = checkpoint();
        let at = Timestamp::from_micros(1_796_025_600_000_000).expect("in range");
        let line = |text: &str, seed, name: &str| note::cosign(text, name, &key(seed), at).expect("cosigns");
        let text = checkpoint.to_string();
        let witness = Verifier::cosigner("w.example", key(2).verifying()).expect("a name");
        let (right, other) = (line(&text, 2, "w.example"), line(&text, 3, "v.example"));
        let take = |answer: &str| cosignature(answer, &note, &witness);
        assert_eq!(take(&right), Ok((right.clone(), at)));
        assert_eq!(take(&format!("{other}{right}")), Ok((right.clone(), at)));
        let bad = Err(OpenError::BadSignature { name: "w.example".to_owned() });
        assert_eq!(take(&line("log.example\n1\n", 2, "w.example")), bad);
        for (name, answer, expected) in [
            ("nothing", String::new(), OpenError::Unknown),
            ("another key", other.clone(), OpenError::Unknown),
            ("another key in its name", line(&text, 3, "w.example"), OpenError::Unknown),
            ("no newline", right.trim_end().to_owned(), OpenError::Malformed),
            ("words", "signed\n".to_owned(), OpenError::Malformed),
            ("an empty line first", format!("\n{right}"), OpenError::Malformed),
            ("a text of its own", format!("log.example\n1\n\n{right}"), OpenError::Malformed),
            ("too many lines", other.repeat(note::MAX_SIGNATURES) + &right, OpenError::TooLarge),
            ("too long", "x".repeat(MAX_ANSWER + 1), OpenError::TooLarge),
        ] {
            assert_eq!(take(&answer), Err(expected), "{name}");
        }
        assert_eq!(take(&(other.repeat(note::MAX_SIGNATURES - 1) + &right)), Ok((right, at)));
    }

    #[test]
    fn a_size_has_one_spelling() {
        assert_eq!(size("0\n"), Some(0));
        assert_eq!(size("20852163\n"), Some(20_852_163));
        assert_eq!(size(&format!("{}\n", u64::MAX)), Some(u64::MAX), "whatever it claims is told");
        for text in ["", "\n", "7", "07\n", "+7\n", "7 \n", "7\n\n", "seven\n", "7\r\n", "18446744073709551616\n"] {
            assert_eq!(size(text), None, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn whatever_is_read_is_a_request_and_no_answer_makes_it_panic(body in "(old [0-9]{1,3}\n)?(.|\n){0,200}", answer in "(.|\n){0,200}") {
            if let Ok(request) = body.parse::<AddCheckpoint>() {
                prop_assert_eq!(request.to_string(), body);
            }
            let witness = Verifier::cosigner("w.example", key(2).verifying()).expect("a name");
            prop_assert!(cosignature(&answer, &checkpoint().1, &witness).is_err());
            let _ = size(&answer);
        }
    }
}
