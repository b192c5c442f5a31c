//! One descriptor: the bytes received, what they mean, and the digests that name them.

use std::sync::{Arc, OnceLock};

use super::{Unpinnable, rules};
use crate::{
    canon::{self, Canonical, Digest, Refused, Sha256, Value},
    name::{DescriptorName, Kind},
};

/// One complete JSON value as a server lists it, with every member, known or unknown.
///
/// Having one means that the strict parser accepted the bytes; whether it may be pinned is
/// [`unpinnable`](Self::unpinnable)'s answer. For the kind `instructions` the value is a string, else an object.
#[derive(Clone, Debug)]
pub struct Descriptor {
    kind: Kind,
    raw: Arc<[u8]>,
    canonical: Canonical,
    listed_name: String,
    name: Option<DescriptorName>,
    unpinnable: Option<Unpinnable>,
    /// Made when first asked for: neither decides anything, so a check of a live list needs neither.
    python: OnceLock<Digest>,
    members: OnceLock<Vec<Member>>,
}

/// The digest of one top-level member: explains which part moved, and never admits anything.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Member {
    /// The member's name.
    pub name: String,
    /// SHA-256 of the canonical bytes of its value.
    pub sha256: Sha256,
}

impl Descriptor {
    /// Reads one descriptor from exactly the bytes that were listed.
    ///
    /// # Errors
    /// What the strict parser refuses. A value that breaks a rule of its kind is no error: see
    /// [`unpinnable`](Self::unpinnable).
    pub fn parse(kind: Kind, raw: &[u8]) -> Result<Self, Refused> {
        Self::from_shared(kind, raw.into())
    }

    pub(super) fn from_shared(kind: Kind, raw: Arc<[u8]>) -> Result<Self, Refused> {
        let value = canon::parse(&raw)?;
        let canonical = value.canonical();
        let listed_name = rules::listed_name(kind, &value).unwrap_or_default().to_owned();
        let name = DescriptorName::new(kind, &listed_name).ok();
        let unpinnable = rules::first_broken(kind, &value);
        let (python, members) = (OnceLock::new(), OnceLock::new());
        Ok(Self { kind, canonical, listed_name, name, unpinnable, python, members, raw })
    }

    /// What it describes.
    pub const fn kind(&self) -> Kind {
        self.kind
    }

    /// The bytes as they were received.
    pub fn raw(&self) -> &[u8] {
        &self.raw
    }

    /// The bytes under the digest (RFC 8785).
    pub fn canonical(&self) -> &[u8] {
        &self.canonical.bytes
    }

    /// The parsed value, borrowed from the bytes received, so that it knows the publisher's member order.
    #[expect(clippy::expect_used, reason = "the constructor parsed these very bytes")]
    pub fn value(&self) -> Value<'_> {
        canon::parse(&self.raw).expect("parsed before")
    }

    /// The name as the server wrote it, legal or not; empty where there is none.
    pub fn listed_name(&self) -> &str {
        &self.listed_name
    }

    /// The name, if it keeps the rule of its kind.
    pub const fn name(&self) -> Option<&DescriptorName> {
        self.name.as_ref()
    }

    /// The digest that decides equality.
    pub const fn digest(&self) -> Digest {
        self.canonical.digest
    }

    /// The digest by recipe two, which decides nothing.
    pub fn python_digest(&self) -> Digest {
        *self.python.get_or_init(|| self.canonical.python_digest().unwrap_or_else(|| self.value().python_digest()))
    }

    /// A digest per top-level member, in canonical order; none for instructions.
    pub fn members(&self) -> &[Member] {
        self.members.get_or_init(|| {
            let value = self.value();
            let members = value.as_object().into_iter().flat_map(|object| object.iter());
            members.map(|(name, value)| Member { name: name.to_owned(), sha256: value.digest().sha256 }).collect()
        })
    }

    /// The first rule it breaks, if any: such a descriptor is attested and listed, but can't be approved.
    pub const fn unpinnable(&self) -> Option<&Unpinnable> {
        self.unpinnable.as_ref()
    }

    pub(super) fn forbid(&mut self, unpinnable: Unpinnable) {
        self.unpinnable.get_or_insert(unpinnable);
    }
}

/// Equal when kind and received bytes are.
impl PartialEq for Descriptor {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind && self.raw == other.raw
    }
}
