//! Offline proof that a log holds a leaf, after C2SP tlog-proof: the leaf's index, the way to the root, and the
//! checkpoint that signs it.

use std::{fmt, str::FromStr};

use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};

use super::{
    checkpoint::{BadCheckpoint, Checkpoint, hash, number, open_checkpoint_by},
    merkle::{Hash, MAX_SIZE, ProofError, leaf_hash, verify_inclusion},
    note::{self, Verifier},
};

const HEADER: &str = "c2sp.org/tlog-proof@v1\n";

/// The longest proof has as many hashes as a size has bits.
const MAX_HASHES: usize = 62;

/// Extra data is context for a person or the rest of a record, not an archive.
const MAX_EXTRA: usize = 64 * 1024;

/// A receipt. Nothing in it is verified, and `extra` isn't even covered by a signature.
///
/// ```text
/// c2sp.org/tlog-proof@v1
/// extra <base64, at most 64 KiB; this line may be absent>
/// index <decimal>
/// <base64 of each hash, from the leaf's sibling to the root's child; at most 62>
///
/// <the checkpoint: a signed note>
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Proof {
    /// The leaf's index.
    pub index: u64,
    /// From the leaf's sibling up to the root's child.
    pub hashes: Vec<Hash>,
    /// The log's checkpoint, a signed note, byte for byte.
    pub checkpoint: String,
    /// What the application adds.
    pub extra: Option<Vec<u8>>,
}

/// The text isn't a proof.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("not a transparency log proof (c2sp.org/tlog-proof@v1)")]
pub struct NotAProof;

/// The proof must not be believed.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum BadProof {
    /// Its checkpoint isn't the log's.
    #[error(transparent)]
    Checkpoint(#[from] BadCheckpoint),
    /// The checkpointed tree isn't shown to hold the leaf.
    #[error(transparent)]
    Inclusion(#[from] ProofError),
}

impl Proof {
    /// Checks that the log with this key holds the leaf, and tells the checkpoint that says so.
    ///
    /// # Errors
    /// [`BadProof`].
    pub fn verify(&self, leaf: &[u8], log: &Verifier) -> Result<Checkpoint, BadProof> {
        self.verify_by(leaf, std::slice::from_ref(log))
    }

    /// The same where the log has several keys: one of them must have signed the checkpoint.
    ///
    /// # Errors
    /// [`BadProof`].
    pub fn verify_by(&self, leaf: &[u8], log: &[Verifier]) -> Result<Checkpoint, BadProof> {
        let checkpoint = open_checkpoint_by(&self.checkpoint, log)?;
        verify_inclusion(self.index, checkpoint.size, &leaf_hash(leaf), &self.hashes, &checkpoint.root)?;
        Ok(checkpoint)
    }
}

impl fmt::Display for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HEADER)?;
        if let Some(extra) = &self.extra {
            writeln!(f, "extra {}", BASE64.encode(extra))?;
        }
        writeln!(f, "index {}", self.index)?;
        for hash in &self.hashes {
            writeln!(f, "{}", BASE64.encode(hash.0))?;
        }
        write!(f, "\n{}", self.checkpoint)
    }
}

impl FromStr for Proof {
    type Err = NotAProof;

    fn from_str(text: &str) -> Result<Self, NotAProof> {
        let rest = text.strip_prefix(HEADER).ok_or(NotAProof)?;
        let (proof, checkpoint) = rest.split_once("\n\n").ok_or(NotAProof)?;
        let mut lines = proof.split('\n').peekable();
        let extra = match lines.next_if(|line| line.starts_with("extra ")) {
            None => None,
            Some(line) => Some(decode_extra(line).ok_or(NotAProof)?),
        };
        let index = lines.next().and_then(|line| line.strip_prefix("index ")).and_then(number);
        let index = index.filter(|index| *index < MAX_SIZE).ok_or(NotAProof)?;
        // One more than allowed is enough to know.
        let hashes: Option<Vec<Hash>> = lines.take(MAX_HASHES + 1).map(hash).collect();
        let hashes = hashes.filter(|hashes| hashes.len() <= MAX_HASHES).ok_or(NotAProof)?;
        note::unverified_text(checkpoint).ok_or(NotAProof)?;
        Ok(Self { index, hashes, checkpoint: checkpoint.to_owned(), extra })
    }
}

fn decode_extra(line: &str) -> Option<Vec<u8>> {
    let digits = line.strip_prefix("extra ").filter(|digits| digits.len() <= MAX_EXTRA.div_ceil(3) * 4)?;
    BASE64.decode(digits).ok().filter(|extra| extra.len() <= MAX_EXTRA)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        keys::SigningKey,
        log::{Frontier, node_hash, note::Signer, sign_checkpoint},
    };

    fn log(name: &str) -> Signer {
        Signer::new(name, SigningKey::from_seed(&[1; 32])).expect("a name")
    }

    /// The second of three leaves.
    fn proof() -> Proof {
        let leaves = [leaf_hash(b"a"), leaf_hash(b"b"), leaf_hash(b"c")];
        let mut tree = Frontier::new();
        leaves.iter().for_each(|leaf| tree.append(*leaf));
        let checkpoint = Checkpoint { origin: "log.example".to_owned(), size: 3, root: tree.root() };
        let checkpoint = sign_checkpoint(&checkpoint, &log("log.example")).expect("signs");
        Proof { index: 1, hashes: vec![leaves[0], leaves[2]], checkpoint, extra: None }
    }

    #[test]
    fn a_proof_shows_its_leaf_and_no_other() {
        let (proof, log) = (proof(), log("log.example"));
        assert_eq!(proof.verify(b"b", log.verifier()).expect("holds").size, 3);
        assert_eq!(proof.verify(b"c", log.verifier()), Err(ProofError::Mismatch.into()));
        let moved = Proof { index: 0, ..proof.clone() };
        assert_eq!(moved.verify(b"b", log.verifier()), Err(ProofError::Mismatch.into()));
        let beyond = Proof { index: 3, ..proof.clone() };
        assert_eq!(beyond.verify(b"b", log.verifier()), Err(ProofError::OutOfRange { index: 3, size: 3 }.into()));
        let short = Proof { hashes: vec![node_hash(&proof.hashes[0], &proof.hashes[1])], ..proof };
        assert_eq!(short.verify(b"b", log.verifier()), Err(ProofError::Length.into()));
    }

    #[test]
    fn a_proof_under_another_logs_checkpoint_names_the_wrong_log() {
        let wrong = BadCheckpoint::WrongLog { expected: "shard-b.example".to_owned(), found: "log.example".to_owned() };
        assert_eq!(proof().verify(b"b", log("shard-b.example").verifier()), Err(wrong.into()));
    }

    #[test]
    fn a_proof_has_one_text() {
        let proof = proof();
        let text = proof.to_string();
        let start = "c2sp.org/tlog-proof@v1\nindex 1\nAippeebat6pa5MPl5F9+l3ESp+Y1k4INvsHsc4ok+Tw=\nWX/LMSgtNGVMIA00GPylcFxkjr8ybsc9jd7xGEH4dtg=\n\nlog.example\n3\n";
        assert_eq!(text.strip_prefix(start).map(str::len), Some(155));
        assert_eq!(text.parse(), Ok(proof.clone()));
        for extra in [vec![], vec![0, 1, 2, 3], vec![9; MAX_EXTRA]] {
            let proof = Proof { extra: Some(extra), ..proof.clone() };
            assert_eq!(proof.to_string().parse(), Ok(proof));
        }
        let single = Proof { hashes: vec![], ..proof };
        assert_eq!(single.to_string().parse(), Ok(single));
    }

    #[test]
    fn other_texts_are_refused() {
        let proof = proof();
        let text = proof.to_string();
        let first = BASE64.encode(proof.hashes[0].0);
        let with_hashes = |count| Proof { hashes: vec![proof.hashes[0]; count], ..proof.clone() }.to_string();
        for (name, text) in [
            ("nothing", String::new()),
            ("another version", text.replace("@v1", "@v2")),
            ("no index", text.replace("index 1\n", "")),
            ("a leading zero", text.replace("index 1", "index 01")),
            ("a sign", text.replace("index 1", "index +1")),
            ("no number", text.replace("index 1", "index ")),
            ("an index beyond every tree", text.replace("index 1", &format!("index {MAX_SIZE}"))),
            ("extra after the index", text.replace("index 1\n", "index 1\nextra AAAA\n")),
            ("extra twice", text.replace("index 1\n", "extra AAAA\nextra AAAA\nindex 1\n")),
            ("extra that is no base64", text.replace("index 1\n", "extra A\nindex 1\n")),
            ("a hash that is no base64", text.replace(&first, &first.replace('=', "!"))),
            ("a hash with a space", text.replace(&first, &format!("{first} "))),
            ("no blank line", text.replacen("\n\n", "\n", 1)),
            ("a carriage return", text.replacen('\n', "\r\n", 1)),
            ("no checkpoint", text[..text.find("\n\n").expect("one") + 2].to_owned()),
            ("too many hashes", with_hashes(MAX_HASHES + 1)),
            ("extra that is too long", Proof { extra: Some(vec![0; MAX_EXTRA + 1]), ..proof.clone() }.to_string()),
        ] {
            assert_eq!(text.parse::<Proof>(), Err(NotAProof), "{name}");
        }
        assert!(with_hashes(MAX_HASHES).parse::<Proof>().is_ok());
    }
}
