//! Files that commands read and write: bounded on the way in, durable on the way out.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
};

use crate::{
    canon::{self, Digest, Recipe, Sha256},
    descriptor::{Capture, CaptureError, Kind, Listed, MAX_CAPTURE_BYTES, Release},
    env::Env,
    keys::{SigningKey, VerifyingKey},
    pinset::trust::Trust,
};

use super::Failure;

/// Key files are a few hundred bytes; more is another file.
const MAX_KEY: usize = 16 << 10;
/// A trust file holds a handful of keys.
const MAX_TRUST: usize = 64 << 10;

/// The bytes of a file, or of standard input for `-`, of at most `max` bytes.
pub(super) fn read(env: &mut Env, path: &Path, max: usize) -> Result<Vec<u8>, Failure> {
    let named = path.display();
    let bytes = if path == Path::new("-") {
        bounded(&mut env.stdin, max)
    } else {
        File::open(path).and_then(|file| bounded(file, max))
    };
    let bytes = bytes.map_err(|e| Failure::usage(format_args!("{named} can't be read: {e}")))?;
    if bytes.len() > max {
        return Err(Failure::no(format_args!("{named} is longer than {max} bytes")));
    }
    Ok(bytes)
}

/// The private key in a file that [`create`] wrote.
pub(super) fn signing_key(env: &mut Env, path: &Path) -> Result<SigningKey, Failure> {
    let bytes = zeroize::Zeroizing::new(read(env, path, MAX_KEY)?);
    let key = std::str::from_utf8(&bytes).ok().and_then(|text| SigningKey::from_pem(text).ok());
    key.ok_or_else(|| {
        let next = "give the file that `countersign keygen -o FILE` wrote, not FILE.pub";
        Failure::usage(format_args!("{} holds no Ed25519 private key in PEM", path.display())).next(next)
    })
}

/// The public key in a file.
pub(super) fn verifying_key(env: &mut Env, path: &Path) -> Result<VerifyingKey, Failure> {
    let bytes = read(env, path, MAX_KEY)?;
    let text = String::from_utf8_lossy(&bytes);
    VerifyingKey::from_pem(&text).map_err(|e| {
        let next = "give the FILE.pub that `countersign keygen -o FILE` wrote";
        Failure::usage(format_args!("{}: {e}", path.display())).next(next)
    })
}

/// The trust file that `countersign trust` wrote.
pub(super) fn trust(env: &mut Env, path: &Path) -> Result<Trust, Failure> {
    let bytes = read(env, path, MAX_TRUST)?;
    Trust::first(&String::from_utf8_lossy(&bytes)).map_err(|e| {
        Failure::no(format_args!("{}: {e}", path.display()))
            .next("give the file that `countersign trust URL -o FILE` wrote")
    })
}

/// The hash in a digest by the recipe that decides.
pub(super) fn deciding(digest: Digest) -> Result<Sha256, Failure> {
    match digest.recipe {
        Recipe::JcsSha256 => Ok(digest.sha256),
        Recipe::PythonSortedSha256 => Err(Failure::usage(format_args!("{digest} decides nothing"))
            .next("give the line of `countersign digest` that begins with jcs-sha256")),
    }
}

/// The list in a file's bytes, whatever of the usual forms it has.
pub(super) fn capture(path: &Path, bytes: &[u8]) -> Result<Capture, Failure> {
    Capture::read_any(bytes).map_err(|e| unreadable(path, "list", &e))
}

/// The list in a file's bytes, which may also be one descriptor alone.
pub(super) fn list(path: &Path, bytes: &[u8]) -> Result<Capture, Failure> {
    let alone = canon::parse(bytes).ok().and_then(|value| single(value.as_object()?));
    match alone {
        Some(kind) => Ok(Capture { complete: true, listed: vec![Listed::new(kind, bytes)], ..Capture::default() }),
        None => capture(path, bytes),
    }
}

/// The kind of an object that is one descriptor and no list of them.
fn single(object: &canon::Object<'_>) -> Option<Kind> {
    const OF_LISTS: [&str; 9] =
        ["tools", "prompts", "resources", "resourceTemplates", "capture", "complete", "jsonrpc", "result", "error"];
    let has = |member: &str| object.get(member).is_some();
    match () {
        () if OF_LISTS.into_iter().any(has) => None,
        () if has("uriTemplate") => Some(Kind::ResourceTemplate),
        () if has("uri") => Some(Kind::Resource),
        () if has("arguments") => Some(Kind::Prompt),
        () if has("name") => Some(Kind::Tool),
        () => None,
    }
}

/// The release in a file's bytes.
pub(super) fn release(path: &Path, bytes: &[u8]) -> Result<Release, Failure> {
    let next = "give the file that `countersign capture -o FILE` wrote";
    Release::parse(bytes).map_err(|e| unreadable(path, "release", &e).next(next))
}

/// What broke off was never seen whole; anything else was seen and refused.
fn unreadable(path: &Path, what: &str, error: &CaptureError) -> Failure {
    let text = format!("{} is no {what}: {error}", path.display());
    if matches!(error, CaptureError::Truncated(_)) { Failure::blind(text) } else { Failure::no(text) }
}

/// Whether a file is there and holds a whole release: what nobody wants to lose to one that broke off.
pub(super) fn is_complete_release(path: &Path) -> bool {
    let bytes = File::open(path).and_then(|file| bounded(file, MAX_CAPTURE_BYTES));
    bytes.is_ok_and(|bytes| Release::parse(&bytes).is_ok_and(|release| release.capture.complete))
}

/// Makes a new file that only its owner reads, or that everybody reads. Never touches one that is there.
pub(super) fn create(path: &Path, bytes: &[u8], secret: bool) -> Result<(), Failure> {
    let written = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(if secret { 0o600 } else { 0o644 })
        .open(path)
        .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()))
        .and_then(|()| sync_directory(path));
    written.map_err(|e| match e.kind() {
        io::ErrorKind::AlreadyExists => Failure::no(format_args!("{} is already there", path.display()))
            .next("choose another name, or move the file away yourself"),
        _ => Failure::blind(format_args!("{} can't be written: {e}", path.display())),
    })
}

/// Writes a file whole or not at all: readers see the old bytes or the new ones, also after a crash.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let failed = |e: io::Error| Failure::blind(format_args!("{} can't be written: {e}", path.display()));
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".new");
    let new = path.with_file_name(name);
    File::create(&new).and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all())).map_err(failed)?;
    fs::rename(&new, path).and_then(|()| sync_directory(path)).map_err(failed)
}

fn bounded(from: impl Read, max: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(max as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A new name is only durable once its directory is.
fn sync_directory(path: &Path) -> io::Result<()> {
    let directory =
        path.parent().filter(|p| !p.as_os_str().is_empty()).map_or_else(|| PathBuf::from("."), Path::to_owned);
    File::open(directory)?.sync_all()
}
