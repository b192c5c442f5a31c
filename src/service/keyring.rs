//! The registry's three keys, in three files that only their owner reads: root signs trust files, head signs heads, log
//! signs checkpoints.
//!
//! They are made when the log is empty and never again: a registry that has lost a key must not go on under another one
//! without its gateways being told. The root key may be moved off the machine once the trust file is signed.

use std::{fs, io, path::Path};

use zeroize::Zeroizing;

use super::durable;
use crate::{
    env::Rng,
    keys::{BadKey, SigningKey},
};

/// The keys that the service signs with.
#[derive(Clone, Debug)]
pub(super) struct Keyring {
    /// Signs trust files; absent once it was moved away.
    pub(super) root: Option<SigningKey>,
    /// Signs heads.
    pub(super) head: SigningKey,
    /// Signs checkpoints.
    pub(super) log: SigningKey,
}

/// A key can't be used.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The file can't be read or made.
    #[error("key {file}: {error}")]
    File {
        /// Its name.
        file: &'static str,
        /// Why.
        error: io::Error,
    },
    /// The file holds no key.
    #[error("key {file}: {error}")]
    Text {
        /// Its name.
        file: &'static str,
        /// Why.
        error: BadKey,
    },
    /// Somebody else may have read it.
    #[error("key {0} can be read by others: chmod 600 it, and think about who may have read it")]
    Open(&'static str),
    /// The log isn't empty, so a new key would be another registry's.
    #[error("key {0} is missing: restore it; a new one would make this another registry")]
    Missing(&'static str),
}

const ROOT: &str = "root.pem";
const HEAD: &str = "head.pem";
const LOG: &str = "log.pem";

impl Keyring {
    /// Reads the keys; where `create` is set (the log is empty) those that are missing are made first.
    pub(super) fn open(dir: &Path, create: bool, rng: &dyn Rng) -> Result<Self, KeyError> {
        if create {
            durable::private_dir(dir).map_err(|error| KeyError::File { file: "directory", error })?;
            for file in [ROOT, HEAD, LOG] {
                make(dir, file, rng)?;
            }
        }
        let needed = |file| read(dir, file)?.ok_or(KeyError::Missing(file));
        Ok(Self { root: read(dir, ROOT)?, head: needed(HEAD)?, log: needed(LOG)? })
    }
}

/// Another process that starts at the same moment may be first; its key is then the registry's.
fn make(dir: &Path, file: &'static str, rng: &dyn Rng) -> Result<(), KeyError> {
    let path = dir.join(file);
    if path.exists() {
        return Ok(());
    }
    let seed = Zeroizing::new(rng.bytes::<32>());
    let pem = SigningKey::from_seed(&seed).to_pem().map_err(|error| KeyError::Text { file, error })?;
    match durable::create(&path, pem.as_bytes()) {
        Err(e) if e.kind() != io::ErrorKind::AlreadyExists => Err(KeyError::File { file, error: e }),
        _ => Ok(()),
    }
}

fn read(dir: &Path, file: &'static str) -> Result<Option<SigningKey>, KeyError> {
    let path = dir.join(file);
    let at = |error| KeyError::File { file, error };
    let text = match fs::read_to_string(&path) {
        Ok(text) => Zeroizing::new(text),
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(at(error)),
    };
    if durable::is_open_to_others(&path).map_err(at)? {
        return Err(KeyError::Open(file));
    }
    SigningKey::from_pem(&text).map(Some).map_err(|error| KeyError::Text { file, error })
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
        assert!(matches!(open(false), Err(KeyError::Missing(HEAD))));
        let made = open(true).expect("made");
        let mode = |path: &Path| fs::metadata(path).expect("is there").permissions().mode() & 0o777;
        assert_eq!((mode(&keys), mode(&keys.join(LOG))), (0o700, 0o600));
        let again = open(true).expect("read");
        assert_eq!(again.log.verifying(), made.log.verifying());
        let ids = [made.root.as_ref().expect("made"), &made.head, &made.log].map(|key| key.verifying().id());
        assert!(ids[0] != ids[1] && ids[1] != ids[2] && ids[0] != ids[2], "three keys");
        fs::remove_file(keys.join(ROOT)).expect("moved away");
        assert!(open(false).expect("the service runs without the root key").root.is_none());
        fs::set_permissions(keys.join(HEAD), fs::Permissions::from_mode(0o640)).expect("opened");
        assert!(matches!(open(false), Err(KeyError::Open(HEAD))));
        assert!(!format!("{made:?}").contains("PRIVATE"));
    }
}
