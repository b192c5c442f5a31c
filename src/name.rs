//! The names of servers, releases and descriptors, and the rules that keep two names from being taken for each other.
//!
//! A name is checked once, where it comes in, and is a type from there on. A qualified name is made by joining an alias
//! and a descriptor's own name; nothing in this crate takes a joined name apart again to find out whose it is, because
//! the same text can be joined in two ways (`crm__eu` + `list`, `crm` + `eu__list`). Look the whole string up.
//!
//! # Text forms
//!
//! | name | form |
//! |---|---|
//! | [`ServerName`] | namespace, `/`, one or more of `A-Z a-z 0-9 . _ -`; at most 200 |
//! | [`Namespace`] | 1 to 128 of `A-Z a-z 0-9 . -`; compared exactly, unique without regard to case |
//! | [`Version`] | 1 to 255 visible ASCII characters; none of `^ ~ < > =` at the start, no `* \| ,` inside, not `latest` |
//! | [`Variant`] | at most 64 of `A-Z a-z 0-9 . _ -`; empty for the usual list |
//! | [`Alias`], [`SetName`] | 1 to 32 of `a-z 0-9 -`, no hyphen at either end, no two in a row |
//! | [`Kind`] | `tool`, `prompt`, `resource`, `resource-template`, `instructions` |
//! | [`DescriptorName`] | tool, prompt: 1 to 128 of `A-Z a-z 0-9 _ . -`, no dot first; resource, template: its URI, 1 to 1,024 visible ASCII characters; instructions: the word `instructions` |
//! | [`QualifiedName`] | alias, `.`, descriptor name; at most 128 for a tool or prompt |
//! | [`WireName`] | tool, prompt: alias, `__`, descriptor name with each `.` as `_`; at most 64. Other kinds have none |
//!
//! Server names follow the public MCP registry (`com.example/notes`); names of tools and prompts follow the MCP
//! specification's tool-name rule. [`Names`] holds what one pin set already uses and refuses what could be confused
//! with it.

mod clash;
mod qualified;
mod server;

pub use clash::{Clash, Names};
pub use qualified::{Alias, DescriptorName, Kind, QualifiedName, SetName, WireName};
pub use server::{Namespace, ServerName, Variant, Version};

/// The text is not such a name; the message says which rule it breaks.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{what} {}: {rule}", text.escape_debug())]
pub struct BadName {
    /// What the text should have been, as "server name".
    pub what: &'static str,
    /// The rule that it breaks, for a person to read.
    pub rule: &'static str,
    /// The text itself, cut to 120 characters.
    pub text: String,
}

impl BadName {
    fn new(what: &'static str, rule: &'static str, text: &str) -> Self {
        Self { what, rule, text: text.chars().take(120).collect() }
    }
}

/// Implements `Display`, `as_str`, and serde by the string, for a newtype over `String` that has `FromStr`.
macro_rules! text {
    ($name:ident) => {
        impl $name {
            /// The name as it was written.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                <String as serde::Deserialize>::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}
use text;
