//! The anchor: a file with the highest checkpoint that was served, by which a restored old database is known.
//!
//! Trusted as far as whoever restores the database doesn't restore it too. It moves on after a commit and before anything
//! of that commit is served: after a crash between the two the database is ahead, which is no fault. Several processes
//! of one machine may share it; a lock beside it keeps it from moving back.

use std::{fs, io, path::PathBuf};

use rustix::fs::{FlockOperation, flock};

use super::durable;
use crate::{
    canon::Sha256,
    log::{Checkpoint, note::Verifier, open_checkpoint},
};

/// The anchor's file.
#[derive(Clone, Debug)]
pub(super) struct Anchor {
    path: PathBuf,
    log: Verifier,
}

/// Why a registry must not append: whatever it signed might contradict what it signed before.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ReadOnly {
    /// No anchor beside a log that has leaves.
    #[error("the anchor is missing: if this database is the newest copy, run `countersign admin anchor adopt`")]
    NoAnchor,
    /// The database is older than what was served.
    #[error(
        "the database ends at {size}, but a checkpoint of {anchored} was served: this is an old copy. Restore the newest one"
    )]
    Behind {
        /// The log's size.
        size: u64,
        /// The anchor's.
        anchored: u64,
    },
    /// The database is another one than what was served.
    #[error("the database differs from the checkpoint of {0} that was served: this is another log under the same key")]
    Fork(u64),
    /// The log's rows contradict each other.
    #[error("the log is damaged: {0}")]
    Damaged(String),
    /// The anchor can't be read or written.
    #[error("the anchor can't be used: {0}")]
    Unusable(String),
}

impl Anchor {
    pub(super) const fn new(path: PathBuf, log: Verifier) -> Self {
        Self { path, log }
    }

    /// Where it is.
    pub(super) fn path(&self) -> &std::path::Path {
        &self.path
    }

    /// The checkpoint in the file.
    pub(super) fn read(&self) -> Result<Option<Checkpoint>, ReadOnly> {
        match fs::read_to_string(&self.path) {
            Ok(note) => open_checkpoint(&note, &self.log).map(Some).map_err(|e| ReadOnly::Unusable(e.to_string())),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(ReadOnly::Unusable(e.to_string())),
        }
    }

    /// Moves the anchor on to a checkpoint, unless it is further already.
    pub(super) fn advance(&self, checkpoint: &Checkpoint, note: &str) -> Result<(), ReadOnly> {
        let unusable = |e: io::Error| ReadOnly::Unusable(e.to_string());
        let _lock = self.lock().map_err(unusable)?;
        match self.read()? {
            Some(held) if held.size > checkpoint.size => Ok(()),
            Some(held) if held.size == checkpoint.size && held.root != checkpoint.root => {
                Err(ReadOnly::Fork(held.size))
            }
            Some(held) if held.size == checkpoint.size => Ok(()),
            _ => durable::replace(&self.path, note.as_bytes()).map_err(unusable),
        }
    }

    /// Puts a checkpoint in the file whatever was in it: one that convicts this registry, so that a restart finds it, or
    /// one that an operator adopts.
    pub(super) fn set(&self, note: &str) -> io::Result<()> {
        let _lock = self.lock()?;
        durable::replace(&self.path, note.as_bytes())
    }

    /// Held until it is dropped.
    fn lock(&self) -> io::Result<fs::File> {
        let mut path = self.path.clone().into_os_string();
        path.push(".lock");
        let file = fs::OpenOptions::new().create(true).truncate(false).write(true).open(path)?;
        flock(&file, FlockOperation::LockExclusive)?;
        Ok(file)
    }
}

/// Compares the anchor with the log: `root_at` is the log's root at the anchor's size, if it is that long.
pub(super) fn compare(anchored: Option<&Checkpoint>, size: u64, root_at: Option<Sha256>) -> Result<(), ReadOnly> {
    match (anchored, root_at) {
        (None, _) if size == 0 => Ok(()),
        (None, _) => Err(ReadOnly::NoAnchor),
        (Some(anchor), None) => Err(ReadOnly::Behind { size, anchored: anchor.size }),
        (Some(anchor), Some(root)) if anchor.root != root => Err(ReadOnly::Fork(anchor.size)),
        (Some(_), Some(_)) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        keys::SigningKey,
        log::{note::Signer, sign_checkpoint},
    };

    fn checkpoint(size: u64, root: &str) -> (Checkpoint, String) {
        let signer = Signer::new("pins.example", SigningKey::from_seed(&[1; 32])).expect("a signer");
        let checkpoint = Checkpoint { origin: "pins.example".to_owned(), size, root: Sha256::of(root.as_bytes()) };
        let note = sign_checkpoint(&checkpoint, &signer).expect("signs");
        (checkpoint, note)
    }

    #[test]
    fn the_anchor_moves_on_and_never_back() {
        let dir = tempfile::tempdir().expect("a folder");
        let log = Verifier::new("pins.example", SigningKey::from_seed(&[1; 32]).verifying()).expect("a verifier");
        let anchor = Anchor::new(dir.path().join("anchor"), log);
        let size = || anchor.read().map(|held| held.map(|held| held.size));
        let advance = |(checkpoint, note): (Checkpoint, String)| anchor.advance(&checkpoint, &note);
        assert_eq!(size(), Ok(None));
        assert_eq!(advance(checkpoint(7, "seven")), Ok(()));
        assert_eq!(advance(checkpoint(5, "five")), Ok(()));
        assert_eq!(size(), Ok(Some(7)));
        assert_eq!(advance(checkpoint(7, "seven")), Ok(()));
        assert_eq!(advance(checkpoint(7, "another")), Err(ReadOnly::Fork(7)));
        anchor.set(&checkpoint(5, "five").1).expect("set");
        assert_eq!(size(), Ok(Some(5)));
        fs::write(dir.path().join("anchor"), checkpoint(9, "nine").1.replace('9', "8")).expect("written");
        assert!(matches!(size(), Err(ReadOnly::Unusable(_))), "an anchor that the log didn't sign");
    }

    #[test]
    fn a_database_is_compared_with_its_anchor() {
        let (anchor, root) = (checkpoint(7, "seven").0, Some(Sha256::of(b"seven")));
        let table = [
            (None, 0, None, Ok(())),
            (None, 9, None, Err(ReadOnly::NoAnchor)),
            (Some(&anchor), 9, root, Ok(())),
            (Some(&anchor), 7, root, Ok(())),
            (Some(&anchor), 6, None, Err(ReadOnly::Behind { size: 6, anchored: 7 })),
            (Some(&anchor), 0, None, Err(ReadOnly::Behind { size: 0, anchored: 7 })),
            (Some(&anchor), 9, Some(Sha256::of(b"other")), Err(ReadOnly::Fork(7))),
        ];
        for (anchored, size, root_at, expected) in table {
            assert_eq!(compare(anchored, size, root_at), expected, "{anchored:?} {size}");
        }
    }
}
