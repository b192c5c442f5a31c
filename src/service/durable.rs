//! Small files that must survive a crash whole: written beside their place, synced, put in place, directory synced.

use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

/// Makes a directory that only its owner enters, unless it is there.
pub(super) fn private_dir(path: &Path) -> io::Result<()> {
    match DirBuilder::new().recursive(true).mode(0o700).create(path) {
        Ok(()) => Ok(()),
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        Err(e) => Err(e),
    }
}

/// Puts a file in place of the one before. After a crash there is the old one or the new one.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let beside = write_beside(path, bytes)?;
    fs::rename(&beside, path)?;
    sync_dir(path)
}

/// Puts a file where none is; `AlreadyExists` if another process was first, whose file then stays.
pub(super) fn create(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let beside = write_beside(path, bytes)?;
    let linked = fs::hard_link(&beside, path);
    fs::remove_file(&beside)?;
    linked?;
    sync_dir(path)
}

/// Whether others than the owner may read or write a file.
pub(super) fn is_open_to_others(path: &Path) -> io::Result<bool> {
    Ok(fs::metadata(path)?.mode() & 0o077 != 0)
}

/// Whether this process runs as the owner of a file or directory.
pub(super) fn is_ours(path: &Path) -> io::Result<bool> {
    Ok(fs::metadata(path)?.uid() == rustix::process::geteuid().as_raw())
}

/// The name differs by process and by call, so that no two writers share a file.
fn write_beside(path: &Path, bytes: &[u8]) -> io::Result<PathBuf> {
    static CALLS: AtomicU64 = AtomicU64::new(0);
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}-{}.new", std::process::id(), CALLS.fetch_add(1, Ordering::Relaxed)));
    let beside = path.with_file_name(name);
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&beside)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    Ok(beside)
}

/// A rename is durable once its directory is.
fn sync_dir(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(dir) if !dir.as_os_str().is_empty() => File::open(dir)?.sync_all(),
        _ => File::open(".")?.sync_all(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_created_once_replaced_at_will_and_private() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("deep/file");
        private_dir(&dir.path().join("deep")).expect("made");
        private_dir(&dir.path().join("deep")).expect("is there");
        create(&path, b"one").expect("made");
        let again = create(&path, b"two").expect_err("is there");
        assert_eq!(again.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&path).expect("reads"), b"one");
        replace(&path, b"three").expect("replaced");
        assert_eq!(fs::read(&path).expect("reads"), b"three");
        assert!(!is_open_to_others(&path).expect("is there"));
        assert!(is_ours(&path).expect("is there"));
        assert_eq!(fs::read_dir(dir.path().join("deep")).expect("a folder").count(), 1, "nothing is left beside");
    }
}
