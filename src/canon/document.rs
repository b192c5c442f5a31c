//! Documents of our own: structs to canonical bytes, and back only from bytes that are canonical.

use serde::{Serialize, de::DeserializeOwned};

use super::{Refused, parse_up_to};

/// The bytes are no canonical document of the expected type.
#[derive(Debug, thiserror::Error)]
pub enum NotCanonical {
    /// Not even strict JSON.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// JSON, but not as RFC 8785 writes it: somebody serialised it again.
    #[error("the document is not in canonical form (RFC 8785)")]
    Form,
    /// Canonical, but not of this type; the message names the member.
    #[error("{0}")]
    Shape(String),
}

/// The canonical bytes of a document of ours.
///
/// # Panics
/// If the type can't be written as JSON: a map with keys that aren't strings, a number that isn't finite. Both are
/// mistakes in the type, which any test that writes one document finds.
#[expect(
    clippy::expect_used,
    reason = "our own document types always serialise; there is no caller who could act on it"
)]
pub fn to_jcs<T: Serialize>(document: &T) -> Vec<u8> {
    let bytes = serde_json::to_vec(document).expect("document types serialise");
    parse_up_to(&bytes, usize::MAX).expect("serde_json writes what the strict parser reads").to_jcs()
}

/// Reads a document that must be in canonical form, of at most `max` bytes.
///
/// # Errors
/// [`NotCanonical`], most basic first. Types should refuse unknown members (`deny_unknown_fields`).
pub fn from_jcs<T: DeserializeOwned>(bytes: &[u8], max: usize) -> Result<T, NotCanonical> {
    let value = parse_up_to(bytes, max)?;
    if value.to_jcs() != bytes {
        return Err(NotCanonical::Form);
    }
    serde_json::from_slice(bytes).map_err(|e| NotCanonical::Shape(e.to_string()))
}
