//! The anchor: the highest checkpoint that was served, by which a restored old database is known.
//!
//! A file, for the processes of one machine, or a row in a PostgreSQL database that isn't the registry's, for replicas.
//! Trusted as far as whoever restores the database doesn't restore it too. It moves on after a commit and before anything
//! of that commit is served: after a crash between the two the database is ahead, which is no fault. Many may move it;
//! each says what it found there, and looks again if that has changed, so it never moves back.

use std::{fs, io, path::PathBuf};

use rustix::fs::{FlockOperation, flock};

use super::{
    durable,
    keyring::KeyKind,
    logs::{Held, Logs},
};
use crate::{
    canon::Sha256,
    config,
    keys::KeyId,
    log::Checkpoint,
    store::{AnchorError, AnchorTable, Reader, StoreError},
};

/// Where the checkpoint is kept.
#[derive(Clone, Debug)]
pub(super) enum Anchor {
    File(PathBuf),
    Row(AnchorTable, String),
}

/// Every replica may be first once; more often than this nobody can be.
const TRIES: usize = 64;

/// Why a registry must not append: whatever it signed might contradict what it signed before.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ReadOnly {
    /// No anchor beside a log that has leaves.
    #[error(
        "the anchor is missing: you left out --anchor, or `anchor` in countersign.toml; or, only if you know that this \
         database is the newest copy, run `countersign admin anchor adopt`"
    )]
    NoAnchor,
    /// The database is older than what was served.
    #[error(
        "the database ends at {size}, but a checkpoint of {anchored} was served: this is an old copy. Restore the newest \
         one; if there is none, see Recovery in the README"
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
    /// A key that signs now isn't here.
    #[error(
        "the {kind} key {id} signs now, and is not in the directory of keys: put its file there; a new one would make \
         this another registry"
    )]
    NoKey {
        /// What it signs.
        kind: KeyKind,
        /// Which.
        id: KeyId,
    },
    /// The anchor can't be read or written.
    #[error("the anchor can't be used: {0}")]
    Unusable(String),
}

impl Anchor {
    /// `registry` names its row: the log's first name, which stays.
    pub(super) async fn at(settings: &config::Anchor, registry: &str, database: &Reader) -> Result<Self, StoreError> {
        Ok(match settings {
            config::Anchor::File { path, .. } => Self::File(path.clone()),
            config::Anchor::Postgres(url) => {
                Self::Row(AnchorTable::at(url, database.identity().await?)?, registry.to_owned())
            }
        })
    }

    /// Where it is, for people; a database's address says nothing of its password.
    pub(super) fn place(&self) -> String {
        match self {
            Self::File(path) => path.display().to_string(),
            Self::Row(..) => "a row in another PostgreSQL database".to_owned(),
        }
    }

    /// The note that is held.
    pub(super) async fn read(&self) -> Result<Option<String>, ReadOnly> {
        match self {
            Self::File(path) => {
                let path = path.clone();
                blocking(move || file::read(&path)).await
            }
            Self::Row(table, registry) => Ok(table.read(registry).await?),
        }
    }

    /// Moves the anchor on to a checkpoint, unless it is further already.
    pub(super) async fn advance(&self, checkpoint: &Checkpoint, note: &str, logs: &Logs) -> Result<(), ReadOnly> {
        for _ in 0..TRIES {
            let held = self.read().await?;
            match held.as_deref().map(|held| logs.held(held)).transpose()? {
                Some(Held::Checkpoint(held)) if held.size > checkpoint.size => return Ok(()),
                Some(Held::Checkpoint(held)) if held.size == checkpoint.size => {
                    return if held.root == checkpoint.root { Ok(()) } else { Err(ReadOnly::Fork(held.size)) };
                }
                Some(Held::Checkpoint(_) | Held::LeftBehind) | None => {}
            }
            if self.swap(held, note, checkpoint.size).await? {
                return Ok(());
            }
        }
        Err(ReadOnly::Unusable("others keep moving it".to_owned()))
    }

    /// The first checkpoint of a registry, unless another process was first.
    pub(super) async fn begin(&self, note: &str) -> Result<(), ReadOnly> {
        self.swap(None, note, 0).await.map(|_| ())
    }

    /// Puts a checkpoint there whatever was there: one that convicts this registry, so that a restart finds it, or one that
    /// an operator adopts.
    pub(super) async fn set(&self, note: &str, size: u64) -> Result<(), ReadOnly> {
        match self {
            Self::File(path) => {
                let (path, note) = (path.clone(), note.to_owned());
                blocking(move || file::set(&path, &note)).await
            }
            Self::Row(table, registry) => Ok(table.set(registry, note, size).await?),
        }
    }

    async fn swap(&self, held: Option<String>, note: &str, size: u64) -> Result<bool, ReadOnly> {
        match self {
            Self::File(path) => {
                let (path, note) = (path.clone(), note.to_owned());
                blocking(move || file::swap(&path, held.as_deref(), &note)).await
            }
            Self::Row(table, registry) => Ok(table.swap(registry, held.as_deref(), note, size).await?),
        }
    }

    pub(super) async fn close(&self) {
        if let Self::Row(table, _) = self {
            table.close().await;
        }
    }
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> Result<T, ReadOnly> {
    let done = tokio::task::spawn_blocking(work).await.map_err(|e| ReadOnly::Unusable(e.to_string()))?;
    done.map_err(|e| ReadOnly::Unusable(e.to_string()))
}

impl From<AnchorError> for ReadOnly {
    fn from(e: AnchorError) -> Self {
        Self::Unusable(e.to_string())
    }
}

/// The anchor's file, with a lock beside it.
mod file {
    use std::path::Path;

    use super::{FlockOperation, durable, flock, fs, io};

    pub(super) fn read(path: &Path) -> io::Result<Option<String>> {
        match fs::read_to_string(path) {
            Ok(note) => Ok(Some(note)),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(e),
        }
    }

    pub(super) fn swap(path: &Path, held: Option<&str>, note: &str) -> io::Result<bool> {
        let _lock = lock(path)?;
        if read(path)?.as_deref() != held {
            return Ok(false);
        }
        durable::replace(path, note.as_bytes()).map(|()| true)
    }

    pub(super) fn set(path: &Path, note: &str) -> io::Result<()> {
        let _lock = lock(path)?;
        durable::replace(path, note.as_bytes())
    }

    /// Held until it is dropped.
    fn lock(path: &Path) -> io::Result<fs::File> {
        let mut path = path.as_os_str().to_owned();
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
