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

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;
    use crate::canon::Code;

    #[derive(Debug, Deserialize, PartialEq, Serialize)]
    #[serde(deny_unknown_fields)]
    struct Note {
        name: String,
        count: u32,
    }

    #[test]
    fn a_document_has_one_spelling_and_any_other_is_refused() {
        let note = Note { name: "é\u{1f600}".to_owned(), count: 7 };
        let bytes = to_jcs(&note);
        assert_eq!(bytes, "{\"count\":7,\"name\":\"é\u{1f600}\"}".as_bytes());
        assert_eq!(from_jcs::<Note>(&bytes, bytes.len()).expect("canonical"), note);
        for other in [
            r#"{"name":"a","count":7}"#,
            r#"{"count":7, "name":"a"}"#,
            r#"{"count":7,"name":"\u0061"}"#,
            r#"{"count":7.0,"name":"a"}"#,
            "{\"count\":7,\"name\":\"a\"}\n",
        ] {
            assert!(matches!(from_jcs::<Note>(other.as_bytes(), 99), Err(NotCanonical::Form)), "{other}");
        }
    }

    #[test]
    fn a_document_of_another_shape_or_length_is_refused() {
        let shape = |text: &str| from_jcs::<Note>(text.as_bytes(), 99).expect_err(text).to_string();
        assert!(shape(r#"{"count":7,"name":"a","x":1}"#).contains("unknown field `x`"));
        assert!(shape(r#"{"Name":"b","count":7,"name":"a"}"#).contains("unknown field `Name`"));
        assert!(shape(r#"{"count":7}"#).contains("missing field `name`"));
        assert!(shape(r#"{"count":-7,"name":"a"}"#).contains("invalid value"));
        let refused = |text: &str, max| match from_jcs::<Note>(text.as_bytes(), max) {
            Err(NotCanonical::Refused(refused)) => Some(refused.code),
            _ => None,
        };
        assert_eq!(refused(r#"{"count":7,"count":7,"name":"a"}"#, 99), Some(Code::DuplicateKey));
        assert_eq!(refused(r#"{"count":7,"name":"a"}"#, 21), Some(Code::TooLarge));
        assert_eq!(refused(r#"{"count":7,"name":"a"}"#, 22), None);
    }
}
