//! Heads and checkpoints that somebody kept, to hold the registry to them.

use std::{collections::BTreeMap, fs, io, path::Path};

use base64::{Engine as _, engine::general_purpose::STANDARD};

use crate::{
    log::Checkpoint,
    pinset::{head::Head, trust::Trust},
};

/// What was kept, by the size of the log that it is about.
#[derive(Debug, Default)]
pub struct Kept {
    pub(super) heads: BTreeMap<u64, Vec<KeptHead>>,
    pub(super) checkpoints: BTreeMap<u64, Vec<KeptCheckpoint>>,
    pub(super) unusable: Vec<String>,
}

/// A head with its bytes.
#[derive(Debug)]
pub(super) struct KeptHead {
    pub(super) head: Head,
    pub(super) envelope: String,
}

/// A checkpoint with its bytes, and who kept it.
#[derive(Debug)]
pub(super) struct KeptCheckpoint {
    pub(super) checkpoint: Checkpoint,
    pub(super) note: String,
    pub(super) by: &'static str,
}

/// There are no kept heads.
#[derive(Debug, thiserror::Error)]
pub enum NotKept {
    /// The file can't be read.
    #[error("{0} can't be read: {1}")]
    Io(String, io::Error),
    /// It is longer than any gateway's.
    #[error("{0} is longer than {MAX} bytes")]
    TooLong(String),
}

/// A gateway keeps a head every quarter of an hour: a kilobyte each, 35 MB a year.
const MAX: u64 = 256 << 20;
/// A few of a kind say enough.
const MAX_UNUSABLE: usize = 20;

impl Kept {
    /// The heads that a gateway's state directory keeps, or a file with one base64 envelope a line.
    ///
    /// # Errors
    /// [`NotKept`]. Lines that are no heads of this registry are noted, not refused.
    pub fn load(path: &Path, trust: &Trust) -> Result<Self, NotKept> {
        let path = if path.is_dir() { path.join("heads") } else { path.to_owned() };
        let named = path.display().to_string();
        let length = fs::metadata(&path).map_err(|e| NotKept::Io(named.clone(), e))?.len();
        if length > MAX {
            return Err(NotKept::TooLong(named));
        }
        let text = fs::read_to_string(&path).map_err(|e| NotKept::Io(named.clone(), e))?;
        let (mut kept, keys, terms) = (Self::default(), trust.heads(), trust.terms());
        for (line, n) in text.lines().zip(1_u64..) {
            let envelope = STANDARD.decode(line).map_err(|e| e.to_string());
            let head = envelope.and_then(|envelope| {
                let head = Head::open(&envelope, &keys).map_err(|e| e.to_string())?;
                Ok(KeptHead { head, envelope: String::from_utf8_lossy(&envelope).into_owned() })
            });
            match head {
                Ok(head) if (&head.head.registry, head.head.epoch) == (&terms.origin, terms.epoch) => {
                    kept.heads.entry(head.head.checkpoint_size).or_default().push(head);
                }
                Ok(KeptHead { head, .. }) => {
                    let (ours, theirs) = (&terms.origin, &head.registry);
                    let why = format!(
                        "a head of {theirs}, epoch {}, where {ours}, epoch {} is audited",
                        head.epoch, terms.epoch
                    );
                    kept.unusable(format!("{named}, line {n}: {why}"));
                }
                Err(why) => kept.unusable(format!("{named}, line {n}: {why}")),
            }
        }
        Ok(kept)
    }

    /// Adds a checkpoint that was kept: one that this log's key didn't sign says nothing about it and is noted.
    pub fn checkpoint(&mut self, note: String, by: &'static str, trust: &Trust) {
        match trust.open_ever(&note) {
            Ok(checkpoint) => {
                let kept = KeptCheckpoint { checkpoint, note, by };
                self.checkpoints.entry(kept.checkpoint.size).or_default().push(kept);
            }
            Err(e) => self.unusable(format!("the checkpoint that {by} keeps: {e}")),
        }
    }

    fn unusable(&mut self, why: String) {
        if self.unusable.len() < MAX_UNUSABLE {
            self.unusable.push(why);
        }
    }
}
