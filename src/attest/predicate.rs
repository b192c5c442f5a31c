//! What an attestation says about its subjects: which release they make up, in which role the signer speaks, and where
//! the server can be had.

use serde::{Deserialize, Serialize};
use url::Url;

use super::{
    Role,
    members::{Malformed, Members},
};
use crate::{
    canon::Value,
    clock::Timestamp,
    descriptor::{Method, Release, Taken},
    name::{ServerName, Variant, Version},
};

/// An event of the log holds at most 64 KiB and carries artifacts and remotes whole.
pub const MAX_DESTINATIONS: usize = 8 << 10;
/// Protocol versions are dates; whatever follows them stays short.
const MAX_PROTOCOL_VERSION: usize = 64;
/// The recipe of the subjects' digests; the only one that decides equality.
const CANONICALIZATION: &str = "jcs-sha256";

/// The predicate of [`PREDICATE_TYPE`](super::statement::PREDICATE_TYPE).
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Predicate {
    /// Which release this is.
    pub server: Server,
    /// As whom the signer speaks.
    pub role: Role,
    canonicalization: Canonicalization,
    /// The protocol version under which the server listed its descriptors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol_version: Option<String>,
    /// The packages that contain the server.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<Artifact>,
    /// The endpoint URLs at which the server is reached.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remotes: Vec<String>,
    /// Where the server's source is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// How the descriptors were recorded; with role `capture` only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capture: Option<Recorded>,
}

/// The release that a statement is about.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Server {
    /// The server's registry name.
    pub name: ServerName,
    /// The release's version.
    pub version: Version,
    /// The release's variant; empty for the usual list.
    pub variant: Variant,
}

/// A package: its URL and the digest of its file.
#[derive(Clone, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Artifact {
    /// A package URL, as `pkg:npm/%40example/notes@1.4.0`.
    pub purl: String,
    /// `sha256:` or `sha512:` and lower-case hex.
    pub digest: String,
}

/// A state of a source repository.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Source {
    /// The repository's URL.
    pub repository: String,
    /// The commit, in lower-case hex.
    pub commit: String,
}

/// How an operator recorded what a server lists.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Recorded {
    /// By which way.
    pub method: Method,
    /// The command that was run, with `stdio`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// The URL that was asked, with `http`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
    /// The capabilities that were declared to the server, as JSON: a server may list more to a client that can more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_capabilities: Option<serde_json::Value>,
    /// When, by the recorder's clock; shown, never trusted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub captured_at: Option<Timestamp>,
}

/// The only value that the predicate's `canonicalization` may have.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
enum Canonicalization {
    #[serde(rename = "jcs-sha256")]
    JcsSha256,
}

/// Why a value is no predicate of ours.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub(super) enum NotAPredicate {
    #[error(transparent)]
    Malformed(#[from] Malformed),
    #[error("the canonicalization is {0:?}")]
    Canonicalization(String),
}

impl Predicate {
    /// A predicate without its optional parts, which are public fields.
    pub(super) const fn new(server: Server, role: Role) -> Self {
        Self {
            server,
            role,
            canonicalization: Canonicalization::JcsSha256,
            protocol_version: None,
            artifacts: Vec::new(),
            remotes: Vec::new(),
            source: None,
            capture: None,
        }
    }

    pub(super) fn read(mut members: Members<'_>) -> Result<Self, NotAPredicate> {
        let canonicalization = members.text("canonicalization")?;
        if canonicalization != CANONICALIZATION {
            return Err(NotAPredicate::Canonicalization(canonicalization.to_owned()));
        }
        let server = Server::read(members.members("server")?)?;
        let role = members.parsed("role", "publisher or capture")?;
        let protocol_version = members.optional_text("protocolVersion")?.map(str::to_owned);
        if protocol_version.as_ref().is_some_and(|v| v.len() > MAX_PROTOCOL_VERSION || !visible(v)) {
            return Err(members.form("protocolVersion", "at most 64 visible ASCII characters").into());
        }
        let artifacts = members.optional_array("artifacts")?;
        let artifacts = artifacts.into_iter().map(|(at, v)| Artifact::read(v, at)).collect::<Result<Vec<_>, _>>()?;
        let remotes = members.optional_array("remotes")?;
        let remotes = remotes.into_iter().map(|(at, v)| remote(v, at)).collect::<Result<Vec<_>, _>>()?;
        let size = artifacts.iter().map(|a| a.purl.len() + a.digest.len()).sum::<usize>()
            + remotes.iter().map(String::len).sum::<usize>();
        if size > MAX_DESTINATIONS {
            return Err(members.form("remotes", "8 KiB at most, together with the artifacts").into());
        }
        let source = members.optional("source").map(|value| Source::read(value, members.at("source"))).transpose()?;
        let capture = members.optional("capture").map(|value| Recorded::read(value, members.at("capture")));
        let capture = capture.transpose()?;
        if capture.is_some() && role != Role::Capture {
            return Err(members.form("capture", "absent unless the role is capture").into());
        }
        members.done()?;
        let canonicalization = Canonicalization::JcsSha256;
        Ok(Self { server, role, canonicalization, protocol_version, artifacts, remotes, source, capture })
    }
}

impl Server {
    pub(super) fn of(release: &Release) -> Self {
        Self { name: release.server.clone(), version: release.version.clone(), variant: release.variant.clone() }
    }

    fn read(mut members: Members<'_>) -> Result<Self, Malformed> {
        let name = members.parsed("name", "a server name, as com.example/notes")?;
        let version = members.parsed("version", "one version, 1 to 255 visible ASCII characters")?;
        let variant = match members.optional("variant") {
            Some(_) => members.parsed("variant", "a variant's label")?,
            None => Variant::default(),
        };
        members.done()?;
        Ok(Self { name, version, variant })
    }
}

impl Artifact {
    fn read(value: &Value<'_>, pointer: String) -> Result<Self, Malformed> {
        let mut members = Members::of(value, pointer)?;
        let purl = members.text("purl")?;
        if !purl.starts_with("pkg:") || !visible(purl) {
            return Err(members.form("purl", "a package URL"));
        }
        let digest = members.text("digest")?;
        let known = match digest.split_once(':') {
            Some(("sha256", hex)) => lower_hex(hex, 64),
            Some(("sha512", hex)) => lower_hex(hex, 128),
            _ => false,
        };
        if !known {
            return Err(members.form("digest", "sha256: or sha512: and lower-case hex"));
        }
        members.done()?;
        Ok(Self { purl: purl.to_owned(), digest: digest.to_owned() })
    }
}

impl Source {
    fn read(value: &Value<'_>, pointer: String) -> Result<Self, Malformed> {
        let mut members = Members::of(value, pointer)?;
        let (repository, commit) = (members.text("repository")?, members.text("commit")?);
        if web_url(repository).is_none() {
            return Err(members.form("repository", "an http or https URL"));
        }
        if !lower_hex(commit, 40) && !lower_hex(commit, 64) {
            return Err(members.form("commit", "a commit's 40 or 64 lower-case hex digits"));
        }
        members.done()?;
        Ok(Self { repository: repository.to_owned(), commit: commit.to_owned() })
    }
}

impl Recorded {
    /// What a capture says of itself; one that says nothing came out of a file.
    pub(super) fn of(taken: Option<&Taken>) -> Self {
        let capabilities = taken.and_then(|taken| taken.client_capabilities.as_deref());
        Self {
            method: taken.map_or(Method::File, |taken| taken.method),
            command: taken.and_then(|taken| taken.command.clone()).unwrap_or_default(),
            endpoint: taken.and_then(|taken| taken.endpoint.clone()),
            client_capabilities: capabilities.and_then(|json| serde_json::from_slice(json).ok()),
            captured_at: taken.and_then(|taken| taken.at),
        }
    }

    fn read(value: &Value<'_>, pointer: String) -> Result<Self, Malformed> {
        let mut members = Members::of(value, pointer)?;
        let method = match members.text("method")? {
            "stdio" => Method::Stdio,
            "http" => Method::Http,
            "file" => Method::File,
            _ => return Err(members.form("method", "stdio, http or file")),
        };
        let mut command = Vec::new();
        for (at, word) in members.optional_array("command")? {
            let word = word.as_str().ok_or(Malformed::Form { pointer: at, expected: "a string" })?;
            command.push(word.to_owned());
        }
        let endpoint = members.optional_text("endpoint")?.map(str::to_owned);
        let fits = match method {
            Method::Stdio => !command.is_empty() && endpoint.is_none(),
            Method::Http => command.is_empty() && endpoint.as_deref().and_then(web_url).is_some(),
            Method::File => command.is_empty() && endpoint.is_none(),
        };
        if !fits {
            return Err(members.form("method", "stdio with a command, http with an endpoint, or file with neither"));
        }
        let client_capabilities = match members.optional("clientCapabilities") {
            Some(value @ Value::Object(_)) => serde_json::from_slice(&value.to_jcs()).ok(),
            Some(_) => return Err(members.form("clientCapabilities", "an object")),
            None => None,
        };
        let captured_at = match members.optional("capturedAt") {
            Some(_) => Some(members.parsed("capturedAt", "a UTC time with six fractional digits")?),
            None => None,
        };
        members.done()?;
        Ok(Self { method, command, endpoint, client_capabilities, captured_at })
    }
}

fn remote(value: &Value<'_>, pointer: String) -> Result<String, Malformed> {
    match value.as_str() {
        // Written as a URL parser writes it, so that equal endpoints are equal texts; a bare host may lack its slash.
        Some(url) if web_url(url).is_some_and(|p| p.as_str() == url || p.as_str().strip_suffix('/') == Some(url)) => {
            Ok(url.to_owned())
        }
        _ => Err(Malformed::Form { pointer, expected: "an http or https URL in normal form, without a user name" }),
    }
}

/// A URL of the web that carries no credentials.
fn web_url(text: &str) -> Option<Url> {
    let url = Url::parse(text).ok()?;
    let plain = url.username().is_empty() && url.password().is_none() && url.fragment().is_none();
    (matches!(url.scheme(), "http" | "https") && plain).then_some(url)
}

fn visible(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_graphic())
}

fn lower_hex(text: &str, digits: usize) -> bool {
    text.len() == digits && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}
