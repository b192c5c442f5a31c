//! The head: the small, short-lived, signed statement that names a pin set's newest version.
//!
//! A DSSE envelope ([`crate::attest::dsse`]) of the payload type [`PAYLOAD_TYPE`] by one of the trust file's head keys. Its
//! payload is canonical JSON of at most 8 KiB:
//!
//! ```text
//! {"type": "countersign/pinset-head/v1", "registry": origin, "name": pin set, "epoch", "version",
//!  "set_sha256", "set_size": bytes, "issued": time, "expires": time, "checkpoint_size", "checkpoint_root": 64 hex}
//! ```

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    attest::dsse,
    canon::{NotCanonical, Sha256, from_jcs, to_jcs},
    clock::Timestamp,
    keys::{KeyId, SigningKey, VerifyingKey},
    name::SetName,
};

/// The DSSE payload type of a head.
pub const PAYLOAD_TYPE: &str = "application/vnd.countersign.pinset-head.v1+json";
/// A head has a dozen short members.
const MAX_BYTES: usize = 8 << 10;

/// What a head says.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Head {
    /// Always `countersign/pinset-head/v1`.
    pub r#type: HeadType,
    /// Origin of the registry.
    pub registry: String,
    /// The pin set.
    pub name: SetName,
    /// The registry's epoch.
    pub epoch: u64,
    /// The newest version.
    pub version: u64,
    /// SHA-256 of its set document.
    pub set_sha256: Sha256,
    /// Size of that document in bytes.
    pub set_size: u64,
    /// When the head was signed.
    pub issued: Timestamp,
    /// The first moment at which nothing may rest on it any more.
    pub expires: Timestamp,
    /// Size of the log when it was signed.
    pub checkpoint_size: u64,
    /// Root of the log at that size.
    pub checkpoint_root: Sha256,
}

/// The type of a [`Head`], which has one value.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub enum HeadType {
    /// The first version.
    #[default]
    #[serde(rename = "countersign/pinset-head/v1")]
    V1,
}

/// The bytes are no head that a known key signed.
#[derive(Debug, thiserror::Error)]
pub enum NotAHead {
    /// The envelope isn't one, or its signature doesn't hold.
    #[error(transparent)]
    Envelope(#[from] dsse::Refused),
    /// What was signed is no head.
    #[error("the signed payload is no head: {0}")]
    Payload(#[from] NotCanonical),
}

impl Head {
    /// The signed head, as it is served and kept.
    pub fn sign(&self, key: &SigningKey) -> Vec<u8> {
        dsse::sign(PAYLOAD_TYPE, &to_jcs(self), key)
    }

    /// Checks the signature before anything else, then reads what was signed.
    ///
    /// # Errors
    /// [`NotAHead`].
    pub fn open(envelope: &[u8], keys: &BTreeMap<KeyId, VerifyingKey>) -> Result<Self, NotAHead> {
        Ok(Self::open_by(envelope, keys)?.0)
    }

    /// The same, with the keys that signed it: at least one.
    ///
    /// # Errors
    /// [`NotAHead`].
    pub fn open_by(envelope: &[u8], keys: &BTreeMap<KeyId, VerifyingKey>) -> Result<(Self, Vec<KeyId>), NotAHead> {
        let envelope = dsse::Envelope::parse(envelope)?;
        let checked = envelope.verify(PAYLOAD_TYPE, keys)?;
        Ok((from_jcs(checked.payload, MAX_BYTES)?, checked.by))
    }
}
