//! A release: one capture, said to be of one server, version and variant.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{Capture, CaptureError, Descriptor, MAX_CAPTURE_BYTES, Rule, Unpinnable, capture};
use crate::{
    canon::{Refused, Sha256},
    name::{Kind, ServerName, Variant, Version},
};

/// A capture for a server, version and variant. Immutable once attested; on its own it proves nothing about who made it.
#[expect(clippy::manual_non_exhaustive, reason = "inside this crate, too, only `Release::new` makes one")]
#[derive(Clone, Debug, PartialEq)]
pub struct Release {
    /// The server, by its registry name.
    pub server: ServerName,
    /// The version as the publisher calls it.
    pub version: Version,
    /// The label of a list that differs from the usual one; mostly empty.
    pub variant: Variant,
    /// What the server listed.
    pub capture: Capture,
    /// Proof that names listed twice were looked for.
    _checked: (),
}

/// One descriptor of a release as an in-toto statement names it: `tool/export` and the SHA-256 of its canonical bytes.
#[derive(Clone, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(from = "WireSubject", into = "WireSubject")]
pub struct Subject {
    /// Kind, slash, listed name.
    pub name: String,
    /// The hex part of the descriptor's `jcs-sha256` digest.
    pub sha256: Sha256,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct WireSubject {
    name: String,
    digest: WireDigest,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct WireDigest {
    sha256: Sha256,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Wire<'a> {
    server: WireServer,
    #[serde(borrow)]
    capture: &'a RawValue,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct WireServer {
    name: ServerName,
    version: Version,
    #[serde(default, skip_serializing_if = "Variant::is_default")]
    variant: Variant,
}

impl Release {
    /// Puts a release together. Where a kind and name is listed twice, all that bear it become unpinnable: neither could
    /// be told from the other by its name.
    pub fn new(server: ServerName, version: Version, variant: Variant, mut capture: Capture) -> Self {
        let mut seen: BTreeMap<(Kind, String), usize> = BTreeMap::new();
        for listed in &capture.listed {
            *seen.entry((listed.kind, listed.display_name().into_owned())).or_default() += 1;
        }
        for listed in &mut capture.listed {
            let key = (listed.kind, listed.display_name().into_owned());
            if seen.get(&key).is_some_and(|count| *count > 1)
                && let Ok(descriptor) = &mut listed.parsed
            {
                descriptor.forbid(Unpinnable::new(Rule::DuplicateName, ""));
            }
        }
        Self { server, version, variant, capture, _checked: () }
    }

    /// Reads `{"server": {"name", "version", "variant"?}, "capture": {…}}`.
    ///
    /// # Errors
    /// As [`Capture::parse`]: unknown members are fatal, refused items aren't.
    pub fn parse(bytes: &[u8]) -> Result<Self, CaptureError> {
        let text = capture::text(bytes, MAX_CAPTURE_BYTES)?;
        let wire: Wire<'_> = serde_json::from_str(text)?;
        let capture = Capture::parse(wire.capture.get().as_bytes())?;
        Ok(Self::new(wire.server.name, wire.server.version, wire.server.variant, capture))
    }

    /// The JSON that [`Release::parse`] reads; each descriptor's bytes go out as they came in.
    pub fn to_json(&self) -> Vec<u8> {
        let server =
            WireServer { name: self.server.clone(), version: self.version.clone(), variant: self.variant.clone() };
        let mut out = b"{\"server\":".to_vec();
        capture::append(&mut out, &server);
        out.extend_from_slice(b",\"capture\":");
        out.extend_from_slice(&self.capture.to_json());
        out.push(b'}');
        out
    }

    /// All descriptors, in listed order.
    ///
    /// # Errors
    /// The place in the list and the refusal of the first item that the strict parser refused: no release holds one.
    pub fn descriptors(&self) -> Result<Vec<&Descriptor>, (usize, Refused)> {
        let listed = self.capture.listed.iter().enumerate();
        listed.map(|(i, listed)| listed.parsed.as_ref().map_err(|refused| (i, refused.clone()))).collect()
    }

    /// What an attestation of this release has to list, sorted by name and then hash.
    ///
    /// A refused item has no digest and isn't among them, so call [`Release::descriptors`] first.
    pub fn subjects(&self) -> Vec<Subject> {
        let descriptors = self.capture.listed.iter().filter_map(|listed| listed.parsed.as_ref().ok());
        let mut subjects: Vec<Subject> = descriptors.map(Subject::of).collect();
        subjects.sort();
        subjects
    }
}

impl Subject {
    /// The subject of one descriptor.
    pub fn of(descriptor: &Descriptor) -> Self {
        let name = format!("{}/{}", descriptor.kind(), descriptor.listed_name());
        Self { name, sha256: descriptor.digest().sha256 }
    }
}

impl From<WireSubject> for Subject {
    fn from(wire: WireSubject) -> Self {
        Self { name: wire.name, sha256: wire.digest.sha256 }
    }
}

impl From<Subject> for WireSubject {
    fn from(subject: Subject) -> Self {
        Self { name: subject.name, digest: WireDigest { sha256: subject.sha256 } }
    }
}
