//! Settings: flags, environment and `DIR/countersign.toml`, checked once into structs that can't be wrong.
//!
//! A flag goes before a variable, a variable before the file, the file before the default. An unknown key of the file
//! is fatal, because a setting that is silently not applied may be the one that was to keep somebody out. Nothing is
//! opened here but the file and the witness policy that it may name; whether a directory or database can be used is for whoever uses it to find out. Paths in
//! the file are relative to DIR, those of flags to the working directory.

use std::{
    collections::BTreeMap,
    fmt,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
};

use ipnet::IpNet;
use serde::Deserialize;
use url::Url;

use crate::clock::Span;

mod log;
mod public_url;
mod witnesses;

pub use log::{Form as LogForm, Log};
pub use public_url::PublicUrl;
pub use witnesses::Witnesses;

/// What the command line gave, as text; every member may be absent.
#[derive(Clone, Debug, Default)]
pub struct Flags {
    /// `--listen ADDR:PORT`.
    pub listen: Option<String>,
    /// `--admin-listen ADDR:PORT`.
    pub admin_listen: Option<String>,
    /// `--database-url URL`.
    pub database_url: Option<DatabaseText>,
    /// `--keys DIR`.
    pub keys: Option<PathBuf>,
    /// `--anchor PATH` or `--anchor postgres://…`.
    pub anchor: Option<PathBuf>,
    /// `--public-url URL`.
    pub public_url: Option<String>,
    /// `--origin NAME`.
    pub origin: Option<String>,
    /// `--trusted-proxy CIDR`, repeated.
    pub trusted_proxy: Vec<String>,
}

/// Settings of `serve`.
#[derive(Clone, Debug)]
pub struct Serve {
    /// What `admin` needs too.
    pub registry: Registry,
    /// Where the service listens; port 0 lets the system choose.
    pub listen: SocketAddr,
    /// Where `/metrics` and `/readyz` are served instead, if apart.
    pub admin_listen: Option<SocketAddr>,
    /// The URL that people and gateways use; `None` means the address it listens on, which then is a loopback one.
    pub public_url: Option<PublicUrl>,
    /// Who may read.
    pub readers: Readers,
    /// Proxies whose `X-Forwarded-For` is believed.
    pub trusted_proxy: Vec<IpNet>,
    /// What the service says of itself on standard error, and how.
    pub log: Log,
}

/// Where a registry's state is: what `serve` and `admin` must agree on.
#[derive(Clone, Debug)]
pub struct Registry {
    /// DIR.
    pub data: PathBuf,
    /// Which database.
    pub database: Database,
    /// The directory of the signing keys.
    pub keys: PathBuf,
    /// What keeps the highest checkpoint served.
    pub anchor: Anchor,
    /// The registry's name, if stated; the first start fixes it.
    pub origin: Option<Origin>,
    /// How long heads live.
    pub heads: Heads,
    /// Who must have cosigned a checkpoint before heads over it are released.
    pub witnesses: Option<Witnesses>,
    /// Sizes of pools and queues.
    pub limits: Limits,
}

/// Which database holds the registry.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Database {
    /// A file of SQLite.
    Sqlite(PathBuf),
    /// A database of PostgreSQL.
    Postgres(DatabaseText),
}

/// A database URL. Its password is shown by nothing.
#[derive(Clone, Eq, PartialEq)]
pub struct DatabaseText(String);

/// Where the highest checkpoint served is kept.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Anchor {
    /// A file, for the processes of one machine.
    File {
        /// The file.
        path: PathBuf,
        /// It lies in DIR: a restore of the whole directory isn't noticed. Start-up and `/readyz` say so.
        inside_data: bool,
    },
    /// A table in a PostgreSQL database that isn't the registry's, for several replicas.
    Postgres(DatabaseText),
}

/// The name of registry and log: the origin line of checkpoints, the name of note signatures.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Origin(String);

/// Who may read without being a reviewer or administrator.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub enum Readers {
    /// Everybody.
    Anonymous,
    /// A session or any `pull:` token.
    Token,
}

/// The times of heads.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Heads {
    /// How long after signing a head expires; bounds how long a revoked pin may still be let through.
    pub lifetime: Span,
    /// How often a head is signed anew.
    pub resign: Span,
}

/// Sizes that an operator may change. Sizes that clients depend on are constants where they are enforced.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Connections that read.
    pub read_connections: u32,
    /// Writes that may wait for their turn; the next one is told to come back.
    pub write_queue: usize,
    /// Passwords hashed at the same time; each takes about 20 MB and a core.
    pub password_hashers: usize,
    /// Requests a client address may make in a minute.
    pub requests_per_minute: u32,
    /// Requests that are worked on at once; the next one is told to come back. Each may hold a body of 8 MiB.
    pub requests_at_once: usize,
}

/// A setting can't be used: which, and what to do about it.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{setting}: {why}")]
pub struct ConfigError {
    /// The flag or key.
    pub setting: &'static str,
    /// The reason, for a person to read.
    pub why: String,
}

/// `DIR/countersign.toml`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct File {
    listen: Option<String>,
    admin_listen: Option<String>,
    database_url: Option<DatabaseText>,
    keys: Option<PathBuf>,
    anchor: Option<PathBuf>,
    public_url: Option<String>,
    origin: Option<String>,
    trusted_proxy: Vec<String>,
    readers: Option<Readers>,
    witnesses: Option<String>,
    log: Option<String>,
    log_format: Option<LogForm>,
    heads: HeadsFile,
    limits: Limits,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct HeadsFile {
    lifetime_minutes: u32,
    resign_minutes: u32,
}

/// The file's name in DIR.
const FILE: &str = "countersign.toml";
/// Trust files cap the lifetime of heads at an hour; a longer-lived head would be refused by every gateway.
const MAX_LIFETIME_MINUTES: u32 = 60;
/// As in a checkpoint's origin line: short enough to be typed, and no name a note's signature line can't carry.
const MAX_ORIGIN: usize = 200;

impl Serve {
    /// Checks all settings of `serve --data DATA`.
    ///
    /// # Errors
    /// The first setting that can't be used.
    pub fn load(data: &Path, flags: &Flags, vars: &BTreeMap<String, String>) -> Result<Self, ConfigError> {
        let file = File::read(data)?;
        let registry = Registry::checked(data, flags, vars, &file)?;
        let or = |flag: &Option<String>, var: &str, file: &Option<String>| {
            flag.clone().or_else(|| vars.get(var).cloned()).or_else(|| file.clone())
        };
        let listen = or(&flags.listen, "COUNTERSIGN_LISTEN", &file.listen);
        let listen = address("listen", listen.as_deref().unwrap_or("127.0.0.1:8080"))?;
        let admin_listen = or(&flags.admin_listen, "COUNTERSIGN_ADMIN_LISTEN", &file.admin_listen);
        let admin_listen = admin_listen.map(|text| address("admin-listen", &text)).transpose()?;
        let public_url = or(&flags.public_url, "COUNTERSIGN_PUBLIC_URL", &file.public_url);
        let public_url = public_url.map(|text| PublicUrl::parse(&text)).transpose()?;
        if public_url.is_none() {
            PublicUrl::of_listener(listen)?;
        }
        let proxies = if flags.trusted_proxy.is_empty() { &file.trusted_proxy } else { &flags.trusted_proxy };
        Ok(Self {
            readers: readers(file.readers, listen, public_url.as_ref())?,
            trusted_proxy: proxies.iter().map(|text| network(text)).collect::<Result<_, _>>()?,
            log: Log::checked(vars, &file)?,
            registry,
            listen,
            admin_listen,
            public_url,
        })
    }

    /// The URL to use once the service is bound to `bound`.
    ///
    /// # Errors
    /// If none was stated and the address isn't a loopback one.
    pub fn public_url(&self, bound: SocketAddr) -> Result<PublicUrl, ConfigError> {
        self.public_url.clone().map_or_else(|| PublicUrl::of_listener(bound), Ok)
    }
}

impl Registry {
    /// Checks the settings that `admin --data DATA` needs; others in the file are checked for spelling alone.
    ///
    /// # Errors
    /// The first setting that can't be used.
    pub fn load(data: &Path, flags: &Flags, vars: &BTreeMap<String, String>) -> Result<Self, ConfigError> {
        Self::checked(data, flags, vars, &File::read(data)?)
    }

    fn checked(data: &Path, flags: &Flags, vars: &BTreeMap<String, String>, file: &File) -> Result<Self, ConfigError> {
        let path = |flag: &Option<PathBuf>, var: &str, file: &Option<PathBuf>| {
            let stated = flag.clone().or_else(|| vars.get(var).map(PathBuf::from));
            stated.or_else(|| file.as_ref().map(|path| data.join(path)))
        };
        let var = |name: &str| vars.get(name).cloned();
        let url = flags.database_url.clone().or_else(|| var("COUNTERSIGN_DATABASE_URL").map(DatabaseText));
        let url = url.or_else(|| file.database_url.clone());
        let stated = flags.anchor.clone().or_else(|| var("COUNTERSIGN_ANCHOR").map(PathBuf::from));
        let anchor = Anchor::checked(stated, file.anchor.as_ref(), data)?;
        let origin = flags.origin.clone().or_else(|| var("COUNTERSIGN_ORIGIN")).or_else(|| file.origin.clone());
        Ok(Self {
            data: data.to_owned(),
            database: match url {
                Some(url) => Database::Postgres(url.checked()?),
                None => Database::Sqlite(data.join("registry.db")),
            },
            keys: path(&flags.keys, "COUNTERSIGN_KEYS", &file.keys).unwrap_or_else(|| data.join("keys")),
            anchor,
            origin: origin.map(|text| Origin::parse(&text)).transpose()?,
            heads: file.heads.checked()?,
            witnesses: file.witnesses.as_deref().map(|setting| Witnesses::load(data, setting)).transpose()?,
            limits: file.limits.checked()?,
        })
    }
}

impl Anchor {
    /// A restored copy of DIR would bring it back along.
    pub const fn is_inside_data(&self) -> bool {
        matches!(self, Self::File { inside_data: true, .. })
    }

    fn checked(stated: Option<PathBuf>, in_file: Option<&PathBuf>, data: &Path) -> Result<Self, ConfigError> {
        let url = |path: &PathBuf| path.to_str().filter(|text| text.contains("://")).map(DatabaseText::new);
        if let Some(url) = stated.as_ref().or(in_file).and_then(url) {
            let why =
                "must be a path, or postgres://USER@HOST/DATABASE of another database than the registry's".to_owned();
            return url.checked().map(Self::Postgres).map_err(|_| ConfigError { setting: "anchor", why });
        }
        let path = stated.or_else(|| in_file.map(|path| data.join(path))).unwrap_or_else(|| data.join("anchor"));
        Ok(Self::File { inside_data: path.starts_with(data), path })
    }
}

impl File {
    fn read(data: &Path) -> Result<Self, ConfigError> {
        let bad = |why: String| ConfigError { setting: FILE, why };
        match std::fs::read_to_string(data.join(FILE)) {
            // The message alone: the parser's own rendering quotes the line, which may hold a password.
            Ok(text) => toml::from_str(&text).map_err(|e| bad(e.message().to_owned())),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(e) => Err(bad(e.to_string())),
        }
    }
}

impl DatabaseText {
    /// Takes a URL as it was given; [`Registry::load`] checks it.
    pub fn new(url: impl Into<String>) -> Self {
        Self(url.into())
    }

    /// The URL, password included: for the database driver alone.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    fn checked(self) -> Result<Self, ConfigError> {
        match Url::parse(&self.0) {
            Ok(url) if matches!(url.scheme(), "postgres" | "postgresql") => Ok(self),
            _ => Err(ConfigError {
                setting: "database-url",
                why: "must be postgres://USER@HOST/DATABASE; leave it out for SQLite in DIR".to_owned(),
            }),
        }
    }
}

impl fmt::Debug for DatabaseText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Ok(url) = Url::parse(&self.0) else { return f.write_str("DatabaseText(..)") };
        write!(f, "{}://…@{}{}", url.scheme(), url.host_str().unwrap_or_default(), url.path())
    }
}

impl<'de> Deserialize<'de> for DatabaseText {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self)
    }
}

impl Origin {
    /// Checks a registry's name.
    ///
    /// # Errors
    /// If a checkpoint's first line or a signature line couldn't carry it.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        let legal = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_' | b'/' | b':');
        if text.is_empty() || text.len() > MAX_ORIGIN || !text.bytes().all(legal) {
            let why = "1 to 200 letters, digits and the characters . - _ / :, as pins.example".to_owned();
            return Err(ConfigError { setting: "origin", why });
        }
        Ok(Self(text.to_owned()))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for HeadsFile {
    fn default() -> Self {
        Self { lifetime_minutes: 60, resign_minutes: 15 }
    }
}

impl HeadsFile {
    fn checked(&self) -> Result<Heads, ConfigError> {
        let bad = |why: &str| Err(ConfigError { setting: "heads", why: why.to_owned() });
        if !(2..=MAX_LIFETIME_MINUTES).contains(&self.lifetime_minutes) {
            return bad("lifetime_minutes must be 2 to 60: trust files cap the lifetime of heads at an hour");
        }
        if self.resign_minutes == 0 || self.resign_minutes > self.lifetime_minutes / 2 {
            return bad("resign_minutes must be at least 1 and at most half of lifetime_minutes");
        }
        Ok(Heads { lifetime: Span::minutes(self.lifetime_minutes), resign: Span::minutes(self.resign_minutes) })
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            read_connections: 8,
            write_queue: 1_024,
            password_hashers: 2,
            requests_per_minute: 1_200,
            requests_at_once: 256,
        }
    }
}

impl Limits {
    fn checked(self) -> Result<Self, ConfigError> {
        let in_range = (1..=256).contains(&self.read_connections)
            && (1..=65_536).contains(&self.write_queue)
            && (1..=64).contains(&self.password_hashers)
            && (1..=10_000_000).contains(&self.requests_per_minute)
            && (1..=65_536).contains(&self.requests_at_once);
        if in_range {
            return Ok(self);
        }
        let why = "read_connections 1 to 256, write_queue 1 to 65536, password_hashers 1 to 64, \
                   requests_per_minute 1 to 10000000, requests_at_once 1 to 65536";
        Err(ConfigError { setting: "limits", why: why.to_owned() })
    }
}

fn address(setting: &'static str, text: &str) -> Result<SocketAddr, ConfigError> {
    if let Some(port) = text.strip_prefix("localhost:").and_then(|port| port.parse().ok()) {
        return Ok((Ipv4Addr::LOCALHOST, port).into());
    }
    text.parse().map_err(|_| ConfigError { setting, why: "must be ADDRESS:PORT, as 127.0.0.1:8080".to_owned() })
}

fn network(text: &str) -> Result<IpNet, ConfigError> {
    let net = text.parse().or_else(|_| text.parse::<IpAddr>().map(IpNet::from));
    net.map_err(|_| ConfigError { setting: "trusted-proxy", why: "must be a network, as 10.0.0.0/8".to_owned() })
}

/// Everybody reads on loopback; elsewhere the operator must say who does. A service on loopback with a public URL
/// elsewhere stands behind a proxy, so it is not private: it asks for tokens unless told otherwise.
fn readers(stated: Option<Readers>, listen: SocketAddr, url: Option<&PublicUrl>) -> Result<Readers, ConfigError> {
    match stated {
        Some(readers) => Ok(readers),
        None if !listen.ip().is_loopback() => Err(ConfigError {
            setting: "readers",
            why: format!(
                "listening on {}, which others reach: write readers = \"anonymous\" or \"token\" in DIR/{FILE}",
                listen.ip()
            ),
        }),
        None if url.is_some_and(|url| !url.is_loopback()) => Ok(Readers::Token),
        None => Ok(Readers::Anonymous),
    }
}

#[cfg(test)]
#[path = "config/tests.rs"]
mod tests;
