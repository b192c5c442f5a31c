//! The registry's keys, in files that only their owner reads: `root*.pem` signs trust files, `head*.pem` heads, `log*.pem`
//! checkpoints. What a file is called says what it is for; which key it holds, and when that counts, is in the log.
//!
//! The first three are made when the log is empty and never again: a registry that has lost a key must not go on under
//! another one without its gateways being told. Later ones are made on demand, to be named in a trust file. The root key
//! may be moved off the machine once a trust file is signed.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt, fs, io,
    path::Path,
};

use zeroize::Zeroizing;

use super::durable;
use crate::{
    env::Rng,
    keys::{BadKey, KeyId, SigningKey, VerifyingKey},
};

/// What a key signs.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum KeyKind {
    /// Trust files.
    Root,
    /// Checkpoints.
    Log,
    /// Heads.
    Head,
}

/// The keys that are here.
#[derive(Clone, Debug, Default)]
pub(super) struct Keyring {
    held: BTreeMap<KeyId, (KeyKind, SigningKey)>,
}

/// A key can't be used.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The file can't be read or made.
    #[error("key {file}: {error}")]
    File {
        /// Its name.
        file: String,
        /// Why.
        error: io::Error,
    },
    /// The file holds no key.
    #[error("key {file}: {error}")]
    Text {
        /// Its name.
        file: String,
        /// Why.
        error: BadKey,
    },
    /// Somebody else may have read it.
    #[error("key {0} can be read by others: chmod 600 it, and think about who may have read it")]
    Open(String),
    /// A new registry needs it.
    #[error("key {0} is missing")]
    Missing(String),
}

impl Keyring {
    /// Reads the keys; where `create` is set (the log is empty) those that are missing are made first.
    pub(super) fn open(dir: &Path, create: bool, rng: &dyn Rng) -> Result<Self, KeyError> {
        if create {
            let directory = |error| KeyError::File { file: "directory".to_owned(), error };
            durable::private_dir(dir).map_err(directory)?;
            for kind in [KeyKind::Root, KeyKind::Head, KeyKind::Log] {
                let path = dir.join(format!("{kind}.pem"));
                // Another process that starts at the same moment may be first; its key is then the registry's.
                if !path.exists() {
                    write(&path, &generate(rng), true)?;
                }
            }
        }
        Self::read(dir)
    }

    /// The keys in a directory; none where there is no directory.
    pub(super) fn read(dir: &Path) -> Result<Self, KeyError> {
        let at = |file: &str| {
            let file = file.to_owned();
            move |error| KeyError::File { file, error }
        };
        let entries = match fs::read_dir(dir) {
            Ok(entries) => entries,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(e) => return Err(at("directory")(e)),
        };
        let mut held = BTreeMap::new();
        for entry in entries {
            let name = entry.map_err(at("directory"))?.file_name().to_string_lossy().into_owned();
            let Some(kind) = KeyKind::of_file(&name) else { continue };
            let path = dir.join(&name);
            let text = Zeroizing::new(fs::read_to_string(&path).map_err(at(&name))?);
            if durable::is_open_to_others(&path).map_err(at(&name))? {
                return Err(KeyError::Open(name));
            }
            let key = SigningKey::from_pem(&text).map_err(|error| KeyError::Text { file: name, error })?;
            held.insert(key.verifying().id(), (kind, key));
        }
        Ok(Self { held })
    }

    /// The key with this id.
    pub(super) fn key(&self, id: KeyId) -> Option<&SigningKey> {
        self.held.get(&id).map(|(_, key)| key)
    }

    /// The one key of a kind, of a registry that has no log yet.
    pub(super) fn only(&self, kind: KeyKind) -> Result<&SigningKey, KeyError> {
        let mut of_kind = self.held.values().filter(|(held, _)| *held == kind);
        match (of_kind.next(), of_kind.next()) {
            (Some((_, key)), None) => Ok(key),
            _ => Err(KeyError::Missing(format!("{kind}.pem"))),
        }
    }

    /// A kind of which there are keys here, but none that the registry ever had: this is another registry's directory.
    pub(super) fn foreign(&self, known: &BTreeSet<KeyId>) -> Option<KeyKind> {
        let kinds = [KeyKind::Log, KeyKind::Head, KeyKind::Root].into_iter();
        let mut foreign = kinds.filter(|kind| {
            let mut of_kind = self.held.iter().filter(|(_, (held, _))| held == kind).peekable();
            of_kind.peek().is_some() && of_kind.all(|(id, _)| !known.contains(id))
        });
        foreign.next()
    }
}

/// Makes a key that a trust file is to name, in a file called after it.
pub(super) fn make(dir: &Path, kind: KeyKind, rng: &dyn Rng) -> Result<VerifyingKey, KeyError> {
    let key = generate(rng);
    let verifying = key.verifying();
    write(&dir.join(file_of(kind, verifying.id())), &key, false)?;
    Ok(verifying)
}

/// Removes a key that [`make`] has made, and that nothing was signed with.
pub(super) fn discard(dir: &Path, kind: KeyKind, id: KeyId) -> Result<(), KeyError> {
    let file = file_of(kind, id);
    fs::remove_file(dir.join(&file)).map_err(|error| KeyError::File { file, error })
}

fn file_of(kind: KeyKind, id: KeyId) -> String {
    format!("{kind}-{}.pem", &id.to_string()[..16])
}

fn generate(rng: &dyn Rng) -> SigningKey {
    SigningKey::from_seed(&Zeroizing::new(rng.bytes::<32>()))
}

fn write(path: &Path, key: &SigningKey, or_is_there: bool) -> Result<(), KeyError> {
    let file = || path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let pem = key.to_pem().map_err(|error| KeyError::Text { file: file(), error })?;
    match durable::create(path, pem.as_bytes()) {
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists && or_is_there => Ok(()),
        Err(error) => Err(KeyError::File { file: file(), error }),
        Ok(()) => Ok(()),
    }
}

impl KeyKind {
    /// `log.pem`, `log-0123456789abcdef.pem`; anything else in the directory is none of ours.
    fn of_file(name: &str) -> Option<Self> {
        let stem = name.strip_suffix(".pem")?;
        let word = stem.split_once('-').map_or(stem, |(word, _)| word);
        [Self::Root, Self::Log, Self::Head].into_iter().find(|kind| kind.word() == word)
    }

    /// As files and lists say it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Root => "root",
            Self::Log => "log",
            Self::Head => "head",
        }
    }
}

impl fmt::Display for KeyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::env::SeededRng;

    #[test]
    fn keys_are_made_once_kept_private_and_never_made_for_a_log_that_has_leaves() {
        let dir = tempfile::tempdir().expect("a folder");
        let keys = dir.path().join("keys");
        let open = |create| Keyring::open(&keys, create, &SeededRng::new(1));
        assert!(open(false).expect("nothing").held.is_empty() && !keys.exists());
        let made = open(true).expect("made");
        let mode = |path: &Path| fs::metadata(path).expect("is there").permissions().mode() & 0o777;
        assert_eq!((mode(&keys), mode(&keys.join("log.pem"))), (0o700, 0o600));
        let ids = |keys: &Keyring| keys.held.keys().copied().collect::<Vec<_>>();
        assert_eq!(ids(&open(true).expect("read")), ids(&made));
        assert_eq!(made.held.len(), 3, "three keys");
        fs::remove_file(keys.join("root.pem")).expect("moved away");
        assert!(open(false).expect("the service runs without the root key").only(KeyKind::Root).is_err());
        fs::set_permissions(keys.join("head.pem"), fs::Permissions::from_mode(0o640)).expect("opened");
        assert!(matches!(open(false), Err(KeyError::Open(file)) if file == "head.pem"));
        assert!(!format!("{made:?}").contains("PRIVATE"));
    }

    #[test]
    fn a_key_is_found_by_its_id_in_a_file_that_says_what_it_is_for() {
        let dir = tempfile::tempdir().expect("a folder");
        let rng = SeededRng::new(1);
        let first = Keyring::open(dir.path(), true, &rng).expect("made");
        let known: BTreeSet<KeyId> = first.held.keys().copied().collect();
        let second = make(dir.path(), KeyKind::Head, &rng).expect("made");
        fs::write(dir.path().join("notes.txt"), "no key").expect("written");
        let keys = Keyring::read(dir.path()).expect("read");
        assert_eq!(keys.key(second.id()).map(SigningKey::verifying), Some(second));
        assert_eq!(keys.held.len(), 4);
        assert!(keys.only(KeyKind::Head).is_err(), "two");
        assert_eq!((keys.foreign(&known), keys.foreign(&BTreeSet::new())), (None, Some(KeyKind::Log)));
    }
}
