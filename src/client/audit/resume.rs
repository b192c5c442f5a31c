//! The file by which an audit goes on where an earlier run ended.
//!
//! It is trusted for one thing: that tiles, checkpoints and documents up to its size were compared. Entries are read,
//! hashed and folded again, and must come to the root that is written down; so a registry that rewrote what was verified
//! is convicted by the checkpoint kept here.

use std::{fs, io, path::Path};

use serde::{Deserialize, Serialize};

use super::super::state::write_whole;
use crate::{
    canon::{self, Sha256},
    pinset::replay::Document,
};

/// How far an audit has come; `Resume::load` and `Resume::save` keep it in a file.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Resume {
    r#type: String,
    /// The registry's name.
    pub origin: String,
    /// Leaves that are verified: full bundles only.
    pub size: u64,
    /// The root over them.
    pub root: Sha256,
    /// The signed checkpoint that the run was about.
    pub checkpoint: String,
    /// The size of the last listed checkpoint that was verified.
    pub listed: u64,
    /// Where in the list it stands.
    pub cursor: Option<String>,
    /// Documents of the newest versions at that size that were not there.
    pub absent: Vec<Document>,
}

const TYPE: &str = "countersign/audit/v1";
/// A note and a few absent documents; a registry that lacks thousands fails the audit before this is full.
const MAX: usize = 4 << 20;

impl Resume {
    pub(super) fn new(origin: &str, size: u64, root: Sha256, checkpoint: &str, absent: Vec<Document>) -> Self {
        let (origin, checkpoint) = (origin.to_owned(), checkpoint.to_owned());
        Self { r#type: TYPE.to_owned(), origin, size, root, checkpoint, listed: 0, cursor: None, absent }
    }

    /// Reads the file; `None` if there is none.
    ///
    /// # Errors
    /// What is wrong with it, as a sentence.
    pub fn load(path: &Path) -> Result<Option<Self>, String> {
        let bytes = match fs::read(path) {
            Ok(bytes) => bytes,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(format!("{} can't be read: {e}", path.display())),
        };
        match canon::from_jcs::<Self>(&bytes, MAX) {
            Ok(resume) if resume.r#type == TYPE && resume.size.is_multiple_of(256) => Ok(Some(resume)),
            Ok(_) => Err(format!("{} is of another kind", path.display())),
            Err(e) => Err(format!("{} is not what an audit wrote: {e}", path.display())),
        }
    }

    /// The same verified part, under a newer checkpoint.
    pub(super) fn about(self, checkpoint: String) -> Self {
        Self { checkpoint, ..self }
    }

    pub(super) fn save(&self, path: &Path) -> Result<(), String> {
        write_whole(path, &canon::to_jcs(self)).map_err(|e| e.to_string())
    }
}
