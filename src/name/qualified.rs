//! What a descriptor is called inside a pin set: alias, descriptor name, and the two forms of joining them.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use super::{BadName, text};

/// What a descriptor describes. Names of different kinds never meet: a tool and a prompt may share one.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// An entry of `tools/list`.
    Tool,
    /// An entry of `prompts/list`.
    Prompt,
    /// An entry of `resources/list`, named by its URI.
    Resource,
    /// An entry of `resources/templates/list`, named by its URI template.
    ResourceTemplate,
    /// The text that `initialize` or `server/discover` returns as `instructions`.
    Instructions,
}

/// The short name of a server inside one pin set, as `notes`. Bound to one server for good.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Alias(String);

/// The name of a pin set, as `default` or `prod-eu`; the syntax is an alias's.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct SetName(String);

/// The name a descriptor has on its own server: a tool's or prompt's name, a resource's URI (template), or the word
/// `instructions`.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct DescriptorName {
    kind: Kind,
    text: String,
}

/// Alias, dot, descriptor name, as `notes.export`; unique within its kind and set.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct QualifiedName(String);

/// The form that fits function-name limits of model APIs, as `notes__export`; tools and prompts only.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct WireName(String);

/// A model API takes function names of at most 64 characters.
const MAX_WIRE: usize = 64;
/// Clients put prefixes of their own before a name; above this one of them is likely to shorten it.
const LONG_WIRE: usize = 40;
/// The MCP specification's bound on a tool name; a qualified name is itself one.
const MAX_NAME: usize = 128;
/// The longest URI that a resource is named by.
const MAX_URI: usize = 1_024;

text!(Alias);
text!(SetName);
text!(QualifiedName);
text!(WireName);

impl Kind {
    /// All five, in the order that documents list them.
    pub const ALL: [Self; 5] = [Self::Tool, Self::Prompt, Self::Resource, Self::ResourceTemplate, Self::Instructions];

    /// As subjects and documents write it: `tool`, `prompt`, `resource`, `resource-template`, `instructions`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Prompt => "prompt",
            Self::Resource => "resource",
            Self::ResourceTemplate => "resource-template",
            Self::Instructions => "instructions",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Kind {
    type Err = BadName;

    fn from_str(text: &str) -> Result<Self, BadName> {
        let rule = "one of tool, prompt, resource, resource-template, instructions";
        Self::ALL.into_iter().find(|k| k.as_str() == text).ok_or_else(|| BadName::new("kind", rule, text))
    }
}

impl FromStr for Alias {
    type Err = BadName;

    fn from_str(text: &str) -> Result<Self, BadName> {
        label("alias", text).map(Self)
    }
}

impl FromStr for SetName {
    type Err = BadName;

    fn from_str(text: &str) -> Result<Self, BadName> {
        label("pin set name", text).map(Self)
    }
}

/// A label without the separators of qualified and wire names.
fn label(what: &'static str, text: &str) -> Result<String, BadName> {
    let bad = |rule| Err(BadName::new(what, rule, text));
    let edge = |b: Option<&u8>| b.is_some_and(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    let bytes = text.as_bytes();
    let inside = bytes.iter().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || *b == b'-');
    if !inside || !edge(bytes.first()) || !edge(bytes.last()) || bytes.len() > 32 {
        return bad("1 to 32 lower-case letters, digits and hyphens, no hyphen at either end");
    }
    if text.contains("--") {
        return bad("no two hyphens in a row");
    }
    Ok(text.to_owned())
}

impl DescriptorName {
    /// Checks `text` against the rule of `kind`.
    ///
    /// # Errors
    /// A descriptor whose name breaks the rule can be listed and attested, but not pinned.
    pub fn new(kind: Kind, text: &str) -> Result<Self, BadName> {
        let bad = |what, rule| Err(BadName::new(what, rule, text));
        match kind {
            Kind::Tool | Kind::Prompt => {
                let legal = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-');
                if text.is_empty() || text.len() > MAX_NAME || !text.bytes().all(legal) || text.starts_with('.') {
                    let rule = "1 to 128 letters, digits, underscores, dots and hyphens, no dot at the start";
                    return bad("descriptor name", rule);
                }
            }
            Kind::Resource | Kind::ResourceTemplate => {
                if text.is_empty() || text.len() > MAX_URI || !text.bytes().all(|b| b.is_ascii_graphic()) {
                    return bad("resource URI", "1 to 1,024 visible ASCII characters without spaces");
                }
            }
            Kind::Instructions => {
                if text != "instructions" {
                    return bad("descriptor name", "instructions are named by the word 'instructions'");
                }
            }
        }
        Ok(Self { kind, text: text.to_owned() })
    }

    /// The kind whose rule the name keeps.
    pub const fn kind(&self) -> Kind {
        self.kind
    }

    /// The name as the server wrote it.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for DescriptorName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl QualifiedName {
    /// Joins alias and name.
    ///
    /// # Errors
    /// For tools and prompts, when the whole is longer than the 128 characters a tool name may have.
    pub fn join(alias: &Alias, name: &DescriptorName) -> Result<Self, BadName> {
        let joined = format!("{alias}.{name}");
        if matches!(name.kind, Kind::Tool | Kind::Prompt) && joined.len() > MAX_NAME {
            return Err(BadName::new("qualified name", "at most 128 characters with its alias", &joined));
        }
        Ok(Self(joined))
    }
}

/// Accepts any text that a join could have made; which alias it belongs to is a look-up, never a parse.
impl FromStr for QualifiedName {
    type Err = BadName;

    fn from_str(text: &str) -> Result<Self, BadName> {
        let shaped =
            text.split_once('.').is_some_and(|(alias, rest)| alias.parse::<Alias>().is_ok() && !rest.is_empty());
        if !shaped || text.len() > MAX_URI + 33 || !text.bytes().all(|b| b.is_ascii_graphic()) {
            return Err(BadName::new("qualified name", "an alias, a dot and a descriptor name, as notes.export", text));
        }
        Ok(Self(text.to_owned()))
    }
}

impl WireName {
    /// Joins alias and name for a model API: two underscores between them, dots in the name replaced by one.
    ///
    /// # Errors
    /// When the whole is longer than 64 characters.
    pub fn join(alias: &Alias, name: &DescriptorName) -> Result<Option<Self>, BadName> {
        if !matches!(name.kind, Kind::Tool | Kind::Prompt) {
            return Ok(None);
        }
        format!("{alias}__{}", name.text.replace('.', "_")).parse().map(Some)
    }

    /// Whether some client is likely to shorten the name, with its own prefix before it.
    pub fn is_long(&self) -> bool {
        self.0.len() > LONG_WIRE
    }
}

impl FromStr for WireName {
    type Err = BadName;

    fn from_str(text: &str) -> Result<Self, BadName> {
        let legal = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-');
        if text.is_empty() || text.len() > MAX_WIRE || !text.bytes().all(legal) {
            return Err(BadName::new("wire name", "at most 64 letters, digits, underscores and hyphens", text));
        }
        Ok(Self(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(text: &str) -> DescriptorName {
        DescriptorName::new(Kind::Tool, text).expect("legal")
    }

    #[test]
    fn an_alias_is_short_lower_case_and_without_a_separator() {
        for good in ["a", "notes", "crm-eu", "7z", &"a".repeat(32)] {
            assert!(good.parse::<Alias>().is_ok(), "{good}");
        }
        for bad in ["", "-a", "a-", "a--b", "a.b", "a_b", "tide__pool", "Notes", "ä", "a b", &"a".repeat(33)] {
            assert!(bad.parse::<Alias>().is_err(), "{bad}");
            assert!(bad.parse::<SetName>().is_err(), "{bad}");
        }
    }

    #[test]
    fn each_kind_has_its_own_rule() {
        for good in ["export", "a.b-c_D9", &"t".repeat(128)] {
            assert!(DescriptorName::new(Kind::Tool, good).is_ok(), "{good}");
        }
        for bad in ["", ".hidden", "a b", "naïve", "a/b", &"t".repeat(129)] {
            assert!(DescriptorName::new(Kind::Prompt, bad).is_err(), "{bad}");
        }
        assert!(DescriptorName::new(Kind::Resource, &"u".repeat(1_024)).is_ok());
        assert!(DescriptorName::new(Kind::ResourceTemplate, "file:///{path}").is_ok());
        for bad in ["", "a b", "ü", &"u".repeat(1_025)] {
            assert!(DescriptorName::new(Kind::Resource, bad).is_err(), "{bad}");
        }
        assert!(DescriptorName::new(Kind::Instructions, "instructions").is_ok());
        assert!(DescriptorName::new(Kind::Instructions, "other").is_err());
    }

    #[test]
    fn a_name_is_joined_in_two_forms() {
        let alias: Alias = "notes".parse().expect("legal");
        assert_eq!(QualifiedName::join(&alias, &tool("export.all")).expect("short").as_str(), "notes.export.all");
        let wire = WireName::join(&alias, &tool("export.all")).expect("short").expect("a tool has one");
        assert_eq!(wire.as_str(), "notes__export_all");
        let uri = DescriptorName::new(Kind::Resource, "file:///a").expect("legal");
        assert_eq!(QualifiedName::join(&alias, &uri).expect("legal").as_str(), "notes.file:///a");
        assert_eq!(WireName::join(&alias, &uri), Ok(None));
    }

    #[test]
    fn joined_names_have_bounds() {
        let alias: Alias = "notes".parse().expect("legal");
        assert!(QualifiedName::join(&alias, &tool(&"t".repeat(122))).is_ok());
        assert!(QualifiedName::join(&alias, &tool(&"t".repeat(123))).is_err());
        let wire = |n| WireName::join(&alias, &tool(&"t".repeat(n)));
        assert!(!wire(33).expect("fits").expect("a tool").is_long());
        assert!(wire(34).expect("fits").expect("a tool").is_long());
        assert!(wire(57).is_ok());
        assert!(wire(58).is_err());
    }
}
