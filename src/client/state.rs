//! A gateway's state directory: what it verified last, so that it can rely on it and never go back.
//!
//! ```text
//! state.json    which trust file, head and tree count now; replaced in one step, after everything it names is there
//! documents/    content by SHA-256: trust file, head answer, set, pins, rules
//! heads         every head that was ever accepted, one base64 line each, for audits
//! evidence/     a folder for each answer that contradicted what was seen before: both answers, and where the log itself
//!               was caught, its two signed checkpoints; and the last answer of each epoch that is over
//! lock          held while a pull is at work
//! ```
//!
//! `state.json` is canonical: `{"type": "countersign/client-state/v1", "pinset", "trust", "answer", "etag"?, "origin",
//! "version", "set_sha256", "tree_size", "tree_root"}`. `trust` and `answer` are the documents' SHA-256, `etag` may be
//! `null`, and the last five are what the head in the answer says.
//!
//! A directory that holds anything but a whole state is an error, not a beginning: the first pull makes the directory in
//! one step, so a half one was damaged.

use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

use crate::{
    canon::{self, Sha256},
    clock::Timestamp,
    log::Checkpoint,
    name::SetName,
    pinset::{
        PinSet,
        trust::{BadTrust, Trust},
        verify::{self, HeadAnswer, Refused, Seen},
    },
};

/// `state.json` has a dozen short members.
const MAX_STATE: usize = 16 << 10;
/// One contradiction convicts; a registry that makes up a new one for each pull must not fill the disk.
const MAX_EVIDENCE: usize = 16;
/// What names the kind and version of `state.json`.
const TYPE: &str = "countersign/client-state/v1";

/// A state directory that was read and holds together.
#[derive(Debug)]
pub struct State {
    directory: PathBuf,
    record: Record,
    trust: Trust,
    answer: HeadAnswer,
}

/// The state can't be relied on. Only a person can decide to start over.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// The disk says no.
    #[error("{0}: {1}")]
    Io(PathBuf, io::Error),
    /// There is a directory, and it holds no whole state.
    #[error("{0} is no whole state directory: {1}")]
    Corrupt(PathBuf, String),
    /// There is nothing.
    #[error("{0} is not there: nothing was pulled yet")]
    Missing(PathBuf),
    /// Another process pulls.
    #[error("another pull is at work in {0}")]
    Busy(PathBuf),
    /// This machine's clock shows a time before the head that was accepted was signed: it was moved back, or it was wrong
    /// then. Whoever turns a gateway's clock could otherwise make an expired head good again.
    #[error("this machine's clock was moved back: it shows {now}, and the head in hand was signed at {issued}")]
    ClockBack {
        /// When the head in hand was signed.
        issued: Timestamp,
        /// What the clock shows.
        now: Timestamp,
    },
    /// It is the state of another set.
    #[error("{0} holds the set {1}, not {2}")]
    OtherSet(PathBuf, SetName, SetName),
}

/// `state.json`.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Record {
    r#type: String,
    pub(super) pinset: SetName,
    pub(super) trust: Sha256,
    pub(super) answer: Sha256,
    pub(super) etag: Option<String>,
    version: u64,
    set_sha256: Sha256,
    origin: String,
    tree_size: u64,
    tree_root: Sha256,
}

impl Record {
    pub(super) fn new(pinset: SetName, trust: Sha256, answer: Sha256, etag: Option<String>, seen: Seen) -> Self {
        let Seen { version, set_sha256, checkpoint: Checkpoint { origin, size, root } } = seen;
        let r#type = TYPE.to_owned();
        Self { r#type, pinset, trust, answer, etag, version, set_sha256, origin, tree_size: size, tree_root: root }
    }

    pub(super) fn seen(&self) -> Seen {
        let checkpoint = Checkpoint { origin: self.origin.clone(), size: self.tree_size, root: self.tree_root };
        Seen { version: self.version, set_sha256: self.set_sha256, checkpoint }
    }
}

impl State {
    /// Reads the state in a directory; `None` where there is no directory, or an empty one.
    ///
    /// # Errors
    /// [`StateError::Corrupt`] for anything in between.
    pub fn open(directory: &Path) -> Result<Option<Self>, StateError> {
        let io = |e| StateError::Io(directory.to_owned(), e);
        match fs::read_dir(directory) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(io(e)),
            Ok(mut entries) => match entries.next() {
                None => return Ok(None),
                Some(Err(e)) => return Err(io(e)),
                Some(Ok(_)) => {}
            },
        }
        let corrupt = |why: &dyn std::fmt::Display| StateError::Corrupt(directory.to_owned(), why.to_string());
        let bytes = fs::read(directory.join("state.json")).map_err(|e| corrupt(&format_args!("state.json: {e}")))?;
        let record: Record =
            canon::from_jcs(&bytes, MAX_STATE).map_err(|e| corrupt(&format_args!("state.json: {e}")))?;
        if record.r#type != TYPE {
            return Err(corrupt(&format_args!("state.json is of the type {:?}", record.r#type)));
        }
        let named = |sha256| {
            document(directory, sha256).ok_or_else(|| corrupt(&format_args!("document {sha256} is missing or damaged")))
        };
        let note = String::from_utf8(named(&record.trust)?).map_err(|_| corrupt(&"the trust file is no text"))?;
        let trust = Trust::first(&note).map_err(|e: BadTrust| corrupt(&e))?;
        let answer = HeadAnswer::parse(&named(&record.answer)?).map_err(|e| corrupt(&e))?;
        Ok(Some(Self { directory: directory.to_owned(), record, trust, answer }))
    }

    /// The trust file that counts here.
    pub const fn trust(&self) -> &Trust {
        &self.trust
    }

    /// The set that is kept here.
    pub const fn pinset(&self) -> &SetName {
        &self.record.pinset
    }

    pub(super) const fn record(&self) -> &Record {
        &self.record
    }

    pub(super) const fn answer(&self) -> &HeadAnswer {
        &self.answer
    }

    /// The document with this digest, if it is here and undamaged.
    pub fn document(&self, sha256: &Sha256) -> Option<Vec<u8>> {
        document(&self.directory, sha256)
    }

    /// Refuses a clock that shows a time before the head in hand was signed.
    pub(super) fn check_clock(&self, now: Timestamp) -> Result<(), StateError> {
        match verify::head(&self.trust, &self.record.pinset, None, &self.answer, now) {
            Err(Refused::Future { issued, now }) => Err(StateError::ClockBack { issued, now }),
            _ => Ok(()),
        }
    }

    /// The set, verified from the trust file up. It may have expired: the verdict says so of everything it is asked.
    ///
    /// # Errors
    /// [`StateError::Corrupt`] where anything isn't as it was when it was accepted, [`StateError::ClockBack`] where it
    /// can't have been accepted yet.
    pub fn pin_set(&self, now: Timestamp) -> Result<PinSet, StateError> {
        let corrupt = |e: Refused| match e {
            Refused::Future { issued, now } => StateError::ClockBack { issued, now },
            e => StateError::Corrupt(self.directory.clone(), e.to_string()),
        };
        let head = verify::head(&self.trust, &self.record.pinset, None, &self.answer, now).map_err(corrupt)?;
        if head.seen() != self.record.seen() {
            let why = "state.json names another version or tree than the head it keeps";
            return Err(StateError::Corrupt(self.directory.clone(), why.to_owned()));
        }
        let set = head.head().set_sha256;
        let bytes = self.document(&set).ok_or_else(|| corrupt(Refused::Document(set)))?;
        head.with_set(&bytes).and_then(|set| set.with_pins(|sha256| self.document(sha256))).map_err(corrupt)
    }
}

/// What convicts a registry.
pub(super) struct Evidence<'a> {
    /// The answer that was accepted before.
    pub(super) accepted: &'a [u8],
    /// The answer that contradicts it.
    pub(super) offered: &'a [u8],
    /// The checkpoints in both, as the log signed them, where it is the log that contradicts itself.
    pub(super) checkpoints: Option<(&'a str, &'a str)>,
}

/// A directory that is written to, under its lock. A new one is built beside its place and moved there whole.
pub(super) struct Place {
    at: PathBuf,
    building: Option<PathBuf>,
    _lock: File,
}

impl Place {
    /// Takes the lock of a directory with a state, or begins a new one.
    pub(super) fn take(directory: &Path, new: bool) -> Result<Self, StateError> {
        let io = |at: &Path| {
            let at = at.to_owned();
            move |e| StateError::Io(at, e)
        };
        let mut building = None;
        if new {
            let mut name = directory.file_name().unwrap_or_default().to_owned();
            name.push(format!(".new-{}", std::process::id()));
            let beside = directory.with_file_name(name);
            match fs::remove_dir_all(&beside) {
                Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(io(&beside)(e)),
                _ => {}
            }
            DirBuilder::new().recursive(true).mode(0o700).create(beside.join("documents")).map_err(io(&beside))?;
            building = Some(beside);
        }
        let root = building.as_deref().unwrap_or(directory);
        let lock = root.join("lock");
        let lock =
            OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(&lock).map_err(io(&lock))?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive).map_err(|_| StateError::Busy(directory.to_owned()))?;
        Ok(Self { at: directory.to_owned(), building, _lock: lock })
    }

    fn root(&self) -> &Path {
        self.building.as_deref().unwrap_or(&self.at)
    }

    /// The document with this digest, if it is here and undamaged.
    pub(super) fn read(&self, sha256: &Sha256) -> Option<Vec<u8>> {
        document(self.root(), sha256)
    }

    /// Keeps a document under its digest.
    pub(super) fn keep(&self, bytes: &[u8]) -> Result<Sha256, StateError> {
        let sha256 = Sha256::of(bytes);
        if self.read(&sha256).is_none() {
            write_whole(&self.root().join("documents").join(sha256.to_string()), bytes)?;
        }
        Ok(sha256)
    }

    /// Adds an accepted head to the record of all of them.
    pub(super) fn keep_head(&self, envelope: &[u8]) -> Result<(), StateError> {
        let path = self.root().join("heads");
        let line = format!("{}\n", STANDARD.encode(envelope));
        // A pull that stopped after this and before its end comes again with the same head.
        if fs::read(&path).is_ok_and(|heads| heads.ends_with(line.as_bytes())) {
            return Ok(());
        }
        let append = || {
            let mut file = OpenOptions::new().append(true).create(true).mode(0o600).open(&path)?;
            file.write_all(line.as_bytes())?;
            file.sync_all()
        };
        append().map_err(|e| StateError::Io(path.clone(), e))
    }

    /// Keeps the last answer of an epoch that is over: head, checkpoint and proof under the name before.
    pub(super) fn keep_epoch(&self, epoch: u64, answer: &[u8]) -> Result<PathBuf, StateError> {
        let path = self.evidence()?.join(format!("epoch-{epoch}.json"));
        write_whole(&path, answer)?;
        Ok(path)
    }

    fn evidence(&self) -> Result<PathBuf, StateError> {
        let directory = self.at.join("evidence");
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&directory);
        made.map_err(|e| StateError::Io(directory.clone(), e))?;
        Ok(directory)
    }

    /// Keeps an answer that contradicts what was seen before, and what was seen, for whoever convicts the registry. Tells
    /// the folder.
    pub(super) fn keep_evidence(&self, evidence: &Evidence<'_>) -> Result<PathBuf, StateError> {
        let all = self.at.join("evidence");
        let folder = all.join(Sha256::of(evidence.offered).id());
        if fs::read_dir(&all).is_ok_and(|kept| kept.count() >= MAX_EVIDENCE) {
            return Ok(all);
        }
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&folder);
        made.map_err(|e| StateError::Io(folder.clone(), e))?;
        write_whole(&folder.join("accepted.json"), evidence.accepted)?;
        write_whole(&folder.join("offered.json"), evidence.offered)?;
        if let Some((accepted, offered)) = evidence.checkpoints {
            write_whole(&folder.join("accepted.note"), accepted.as_bytes())?;
            write_whole(&folder.join("offered.note"), offered.as_bytes())?;
        }
        Ok(folder)
    }

    /// Makes the record count. From here on everything it names is relied on; if we stop before, the old one still is.
    pub(super) fn commit(self, record: &Record) -> Result<(), StateError> {
        let root = self.root();
        sync(&root.join("documents"))?;
        write_whole(&root.join("state.json"), &canon::to_jcs(record))?;
        if let Some(building) = &self.building {
            fs::rename(building, &self.at).map_err(|e| StateError::Io(self.at.clone(), e))?;
            sync(&parent(&self.at))?;
        }
        Ok(())
    }

    /// Removes documents that neither `keep` names. What a reader of the old state may still be reading has to be in it.
    pub(super) fn prune(directory: &Path, keep: &[Sha256]) {
        let Ok(entries) = fs::read_dir(directory.join("documents")) else { return };
        for entry in entries.flatten() {
            let name = entry.file_name();
            if !keep.iter().any(|sha256| *sha256.to_string() == *name) {
                // What can't be removed only takes room.
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

/// A new directory that never became a state is of no use to anybody.
impl Drop for Place {
    fn drop(&mut self) {
        if let Some(building) = &self.building {
            let _ = fs::remove_dir_all(building);
        }
    }
}

fn document(directory: &Path, sha256: &Sha256) -> Option<Vec<u8>> {
    let bytes = fs::read(directory.join("documents").join(sha256.to_string())).ok()?;
    (Sha256::of(&bytes) == *sha256).then_some(bytes)
}

pub(super) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), StateError> {
    let new = path.with_extension("new");
    let write = || {
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&new)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&new, path)
    };
    write().map_err(|e| StateError::Io(path.to_owned(), e))?;
    sync(&parent(path))
}

fn sync(directory: &Path) -> Result<(), StateError> {
    File::open(directory).and_then(|d| d.sync_all()).map_err(|e| StateError::Io(directory.to_owned(), e))
}

fn parent(path: &Path) -> PathBuf {
    path.parent().filter(|p| !p.as_os_str().is_empty()).map_or_else(|| PathBuf::from("."), Path::to_owned)
}
