//! What no pattern over one string can see: a descriptor's structure, and descriptors side by side.

use serde::Deserialize;

use super::places;
use crate::{canon::Value, descriptor::Descriptor};

/// A check of the engine, as a pack's rule names it.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Check {
    /// A token that turned out to be text in base64 or hex; reported by the engine.
    EncodedText,
    /// `x-mcp-header` in a place or form that the protocol doesn't allow.
    HeaderInvalid,
    /// `x-mcp-header` on a parameter that holds a secret.
    HeaderSensitive,
    /// A member's name that is a sentence.
    ProseName,
    /// `$ref` to another document.
    ExternalRef,
    /// An icon that is no https or inline raster image.
    IconSource,
    /// `readOnlyHint` on a tool that is called after destruction.
    ReadOnlyDestroys,
    /// A name with letters of another script than ASCII's.
    NameScript,
    /// Two names that look the same.
    NameLookAlike,
    /// `_meta.ui`: the server brings pages of its own.
    MetaUi,
}

/// Where a check found something.
pub(super) struct Hit {
    pub(super) pointer: String,
    pub(super) in_name: bool,
}

impl Hit {
    fn at(pointer: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), in_name: false }
    }
}

/// Verbs that destroy. A tool named after one changes something, whatever its annotations say.
const DESTRUCTION: &[&str] =
    &["delete", "destroy", "drop", "erase", "kill", "purge", "remove", "terminate", "truncate", "wipe"];
/// Words in the names of parameters whose values belong in no header: headers are logged on every hop.
const SENSITIVE: &[&str] = &[
    "apikey",
    "auth",
    "authorization",
    "cookie",
    "credential",
    "credentials",
    "passphrase",
    "passwd",
    "password",
    "pin",
    "secret",
    "ssn",
    "token",
];

/// Names of members have up to five words ("Date of last contact").
const PROSE: usize = 5;

impl Check {
    /// Runs the check; `earlier` are the descriptors that the server listed before this one.
    pub(super) fn run(self, descriptor: &Descriptor, value: &Value<'_>, earlier: &[&Descriptor]) -> Vec<Hit> {
        let mut hits = Vec::new();
        match self {
            Self::EncodedText => {}
            Self::HeaderInvalid | Self::HeaderSensitive | Self::ExternalRef if !self.concerns(descriptor) => {}
            Self::HeaderInvalid => headers(value, &mut |header| {
                if !header.valid {
                    hits.push(Hit::at(header.pointer));
                }
            }),
            Self::HeaderSensitive => headers(value, &mut |header| {
                if spaced(header.parameter).split(' ').any(|word| SENSITIVE.contains(&word)) {
                    hits.push(Hit::at(header.pointer));
                }
            }),
            Self::ProseName => places::visit(value, &mut |place| {
                if place.is_name && place.text.split_whitespace().filter(|word| word.len() > 1).count() > PROSE {
                    hits.push(Hit { pointer: place.path.pointer(), in_name: true });
                }
            }),
            Self::ExternalRef => references(value, "", &mut hits),
            Self::IconSource => icons(value, &mut hits),
            Self::ReadOnlyDestroys => {
                let read_only =
                    value.get("annotations").and_then(|a| a.get("readOnlyHint")) == Some(&Value::Bool(true));
                let destroys =
                    spaced(descriptor.listed_name()).split(' ').next().is_some_and(|verb| DESTRUCTION.contains(&verb));
                if read_only && destroys {
                    hits.push(Hit::at("/annotations/readOnlyHint"));
                }
            }
            Self::NameScript => {
                if !descriptor.listed_name().is_ascii() {
                    hits.push(Hit::at(name_pointer(value)));
                }
            }
            Self::NameLookAlike => {
                let name = descriptor.listed_name();
                let same = |other: &&&Descriptor| {
                    other.kind() == descriptor.kind()
                        && other.listed_name() != name
                        && looks(other.listed_name()) == looks(name)
                };
                if !name.is_empty() && earlier.iter().find(same).is_some() {
                    hits.push(Hit::at(name_pointer(value)));
                }
            }
            Self::MetaUi => {
                if value.get("_meta").and_then(|meta| meta.get("ui")).is_some() {
                    hits.push(Hit::at("/_meta/ui"));
                }
            }
        }
        hits
    }

    /// Whether the member that the check is about occurs at all; nearly always not.
    fn concerns(self, descriptor: &Descriptor) -> bool {
        // `ef":` ends both `$ref` and `$dynamicRef`.
        let name: &[u8] = if self == Self::ExternalRef { b"ef\":" } else { b"\"x-mcp-header\":" };
        memchr::memmem::find(descriptor.canonical(), name).is_some()
    }
}

fn name_pointer(value: &Value<'_>) -> &'static str {
    ["name", "uri", "uriTemplate"]
        .iter()
        .zip(["/name", "/uri", "/uriTemplate"])
        .find(|(member, _)| value.get(member).is_some())
        .map_or("", |(_, pointer)| pointer)
}

/// The form in which letters that look alike are the same, whatever their case.
fn looks(name: &str) -> String {
    unicode_security::skeleton(&name.to_lowercase()).collect::<String>().to_lowercase()
}

/// A name in any of the usual spellings as words in lower case.
pub(super) fn spaced(name: &str) -> String {
    let mut spaced = String::with_capacity(name.len() + 8);
    let mut lower = false;
    for c in name.chars() {
        if c.is_uppercase() && lower {
            spaced.push(' ');
        }
        lower = c.is_lowercase() || c.is_ascii_digit();
        if c.is_alphanumeric() {
            spaced.extend(c.to_lowercase());
        } else {
            spaced.push(' ');
        }
    }
    spaced
}

/// One `x-mcp-header` declaration.
struct Header<'v> {
    pointer: String,
    parameter: &'v str,
    valid: bool,
}

/// Visits every declaration in the input schema. One is valid on a primitive parameter that only `properties` lead to,
/// as an HTTP token that no other declaration uses in any letter case (MCP 2026-07-28, "custom headers").
fn headers<'v>(value: &'v Value<'v>, visitor: &mut dyn FnMut(Header<'v>)) {
    let mut seen = Vec::new();
    if let Some(schema) = value.get("inputSchema") {
        header_walk(schema, "/inputSchema", "", true, &mut seen, visitor);
    }
}

fn header_walk<'v>(
    value: &'v Value<'v>,
    pointer: &str,
    parameter: &'v str,
    reachable: bool,
    seen: &mut Vec<String>,
    visitor: &mut dyn FnMut(Header<'v>),
) {
    if let Some(items) = value.as_array() {
        for (index, item) in items.iter().enumerate() {
            header_walk(item, &format!("{pointer}/{index}"), parameter, false, seen, visitor);
        }
    }
    let Some(object) = value.as_object() else { return };
    for (name, item) in object.iter() {
        let here = format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"));
        if name == "x-mcp-header" {
            let primitive =
                matches!(value.get("type").and_then(Value::as_str), Some("string" | "integer" | "number" | "boolean"));
            let token = item.as_str().filter(|text| !text.is_empty() && text.bytes().all(token_char));
            let fresh = token.is_some_and(|text| {
                let text = text.to_ascii_lowercase();
                let fresh = !seen.contains(&text);
                seen.push(text);
                fresh
            });
            visitor(Header {
                pointer: here,
                parameter,
                valid: reachable && primitive && fresh && !parameter.is_empty(),
            });
        } else if name == "properties" {
            for (parameter, schema) in item.as_object().into_iter().flat_map(|o| o.iter()) {
                let at = format!("{here}/{}", parameter.replace('~', "~0").replace('/', "~1"));
                header_walk(schema, &at, parameter, reachable, seen, visitor);
            }
        } else {
            header_walk(item, &here, parameter, false, seen, visitor);
        }
    }
}

/// RFC 9110, section 5.6.2.
const fn token_char(b: u8) -> bool {
    b.is_ascii_alphanumeric()
        || matches!(
            b,
            b'!' | b'#' | b'$' | b'%' | b'&' | b'\'' | b'*' | b'+' | b'-' | b'.' | b'^' | b'_' | b'`' | b'|' | b'~'
        )
}

fn references(value: &Value<'_>, pointer: &str, hits: &mut Vec<Hit>) {
    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
        references(item, &format!("{pointer}/{index}"), hits);
    }
    for (name, item) in value.as_object().into_iter().flat_map(|object| object.iter()) {
        let here = format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"));
        match item.as_str() {
            Some(target) if matches!(name, "$ref" | "$dynamicRef") && !target.starts_with('#') => {
                hits.push(Hit::at(here));
            }
            Some(_) => {}
            None => references(item, &here, hits),
        }
    }
}

fn icons(value: &Value<'_>, hits: &mut Vec<Hit>) {
    for (index, icon) in value.get("icons").and_then(Value::as_array).into_iter().flatten().enumerate() {
        let Some(source) = icon.get("src").and_then(Value::as_str) else { continue };
        let source = source.trim_start().to_ascii_lowercase();
        let inert = source.starts_with("https://")
            || source
                .strip_prefix("data:image/")
                .is_some_and(|rest| ["png", "jpeg", "jpg", "gif", "webp"].iter().any(|kind| rest.starts_with(kind)));
        if !inert {
            hits.push(Hit::at(format!("/icons/{index}/src")));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::name::Kind;

    fn hits(check: Check, json: &str) -> Vec<String> {
        let descriptor = Descriptor::parse(Kind::Tool, json.as_bytes()).expect("strict JSON");
        check.run(&descriptor, &descriptor.value(), &[]).into_iter().map(|hit| hit.pointer).collect()
    }

    #[test]
    fn a_header_is_valid_on_a_primitive_parameter_that_only_properties_lead_to() {
        let schema = |schema: &str| format!(r#"{{"name":"a","inputSchema":{schema}}}"#);
        let header = r#"{"type":"string","x-mcp-header":"Region"}"#;
        for (json, expected) in [
            (schema(&format!(r#"{{"properties":{{"r":{header}}}}}"#)), None),
            (schema(&format!(r#"{{"properties":{{"o":{{"properties":{{"r":{header}}}}}}}}}"#)), None),
            (
                schema(&format!(r#"{{"properties":{{"l":{{"items":{header}}}}}}}"#)),
                Some("/inputSchema/properties/l/items/x-mcp-header"),
            ),
            (schema(&format!(r#"{{"$defs":{{"r":{header}}}}}"#)), Some("/inputSchema/$defs/r/x-mcp-header")),
            (schema(&format!(r#"{{"anyOf":[{header}]}}"#)), Some("/inputSchema/anyOf/0/x-mcp-header")),
            (schema(header), Some("/inputSchema/x-mcp-header")),
            (
                schema(r#"{"properties":{"r":{"type":"array","x-mcp-header":"R"}}}"#),
                Some("/inputSchema/properties/r/x-mcp-header"),
            ),
            (
                schema(r#"{"properties":{"r":{"type":"string","x-mcp-header":"R\r\nHost"}}}"#),
                Some("/inputSchema/properties/r/x-mcp-header"),
            ),
            (
                schema(r#"{"properties":{"r":{"type":"string","x-mcp-header":""}}}"#),
                Some("/inputSchema/properties/r/x-mcp-header"),
            ),
            (
                schema(r#"{"properties":{"r":{"type":"string","x-mcp-header":7}}}"#),
                Some("/inputSchema/properties/r/x-mcp-header"),
            ),
        ] {
            assert_eq!(hits(Check::HeaderInvalid, &json), Vec::from_iter(expected), "{json}");
        }
    }

    #[test]
    fn names_are_read_as_words() {
        for (name, expected) in [
            ("apiToken", "api token"),
            ("API_key", "api key"),
            ("delete-note", "delete note"),
            ("user2Name", "user2 name"),
            ("tokenizer", "tokenizer"),
        ] {
            assert_eq!(spaced(name), expected);
        }
    }

    #[test]
    fn references_are_found_at_any_depth() {
        let json = r##"{"name":"a","inputSchema":{"allOf":[{"$ref":"#/x"},{"$dynamicRef":"other.json#a"}]},
            "outputSchema":{"properties":{"$ref":{"type":"string"}}}}"##;
        assert_eq!(hits(Check::ExternalRef, json), ["/inputSchema/allOf/1/$dynamicRef"]);
    }
}
