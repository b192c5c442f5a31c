//! What a descriptor has to keep so that it may be pinned, beside what the strict parser already asks.
//!
//! Breaking a rule doesn't sink a release: the descriptor is attested and listed with the rule and the place, and can't be
//! approved. The rules are few on purpose. They cover what makes a name, what a schema-reading gateway relies on, and what
//! could make a pinned object mean something else tomorrow; the rest of the MCP schema is the server's business.

use std::fmt;

use serde::{Serialize, Serializer};

use super::listed::naming_member;
use crate::{
    canon::{Value, pointer::push_token},
    name::{DescriptorName, Kind},
};

/// The first rule that a descriptor breaks, and where.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, thiserror::Error)]
#[error("{code} at {pointer:?}")]
pub struct Unpinnable {
    /// Which rule.
    pub code: Rule,
    /// JSON pointer to what breaks it; where something is missing, to where it should be.
    pub pointer: String,
}

/// A rule of pinnable descriptors, named by how it is broken.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Rule {
    /// A tool, prompt, resource or template that is no object.
    NotAnObject,
    /// Instructions that are no string.
    NotAString,
    /// The naming member (`name`, `uri`, `uriTemplate`) is missing or no string.
    NameMissing,
    /// The name can't be a name of its kind.
    NameIllegal,
    /// A top-level member is `null`: some readers see it, some see nothing.
    NullMember,
    /// A tool without `inputSchema`.
    SchemaMissing,
    /// A tool's `inputSchema` that is no object.
    SchemaNotObject,
    /// A tool's `inputSchema` whose root type isn't `object`.
    SchemaRootNotObject,
    /// A `$ref` that leads out of the document, to a schema that no digest covers.
    ExternalRef,
    /// A prompt's `arguments` that aren't a list of objects with a string `name` each.
    ArgumentsIllegal,
    /// The same kind and name is listed twice in one release.
    DuplicateName,
}

impl Rule {
    /// The stable code, as `schema-missing`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotAnObject => "not-an-object",
            Self::NotAString => "not-a-string",
            Self::NameMissing => "name-missing",
            Self::NameIllegal => "name-illegal",
            Self::NullMember => "null-member",
            Self::SchemaMissing => "schema-missing",
            Self::SchemaNotObject => "schema-not-object",
            Self::SchemaRootNotObject => "schema-root-not-object",
            Self::ExternalRef => "external-ref",
            Self::ArgumentsIllegal => "arguments-illegal",
            Self::DuplicateName => "duplicate-name",
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Rule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl Unpinnable {
    pub(super) fn new(code: Rule, pointer: &str) -> Self {
        Self { code, pointer: pointer.to_owned() }
    }
}

/// The name as it stands in the descriptor, legal or not.
pub(super) fn listed_name<'a>(kind: Kind, value: &'a Value<'_>) -> Option<&'a str> {
    match kind {
        Kind::Instructions => Some("instructions"),
        _ => value.get(naming_member(kind))?.as_str(),
    }
}

/// The first broken rule: name first, because everything else is said about a name.
pub(super) fn first_broken(kind: Kind, value: &Value<'_>) -> Option<Unpinnable> {
    if kind == Kind::Instructions {
        return value.as_str().is_none().then(|| Unpinnable::new(Rule::NotAString, ""));
    }
    let Some(object) = value.as_object() else {
        return Some(Unpinnable::new(Rule::NotAnObject, ""));
    };
    let naming = format!("/{}", naming_member(kind));
    let Some(name) = listed_name(kind, value) else {
        return Some(Unpinnable::new(Rule::NameMissing, &naming));
    };
    if DescriptorName::new(kind, name).is_err() {
        return Some(Unpinnable::new(Rule::NameIllegal, &naming));
    }
    if let Some((null, _)) = object.iter().find(|(_, value)| value.is_null()) {
        let mut pointer = String::new();
        push_token(&mut pointer, null);
        return Some(Unpinnable { code: Rule::NullMember, pointer });
    }
    match kind {
        Kind::Tool => tool(value),
        Kind::Prompt => arguments(value),
        Kind::Resource | Kind::ResourceTemplate | Kind::Instructions => None,
    }
}

fn tool(value: &Value<'_>) -> Option<Unpinnable> {
    let Some(schema) = value.get("inputSchema") else {
        return Some(Unpinnable::new(Rule::SchemaMissing, "/inputSchema"));
    };
    if schema.as_object().is_none() {
        return Some(Unpinnable::new(Rule::SchemaNotObject, "/inputSchema"));
    }
    if schema.get("type").and_then(Value::as_str) != Some("object") {
        return Some(Unpinnable::new(Rule::SchemaRootNotObject, "/inputSchema/type"));
    }
    ["inputSchema", "outputSchema"].into_iter().find_map(|member| {
        let mut pointer = format!("/{member}");
        external_ref(value.get(member)?, &mut pointer).then_some(Unpinnable { code: Rule::ExternalRef, pointer })
    })
}

fn arguments(value: &Value<'_>) -> Option<Unpinnable> {
    let arguments = value.get("arguments")?;
    let Some(items) = arguments.as_array() else {
        return Some(Unpinnable::new(Rule::ArgumentsIllegal, "/arguments"));
    };
    let nameless = items.iter().position(|item| item.get("name").and_then(Value::as_str).is_none())?;
    Some(Unpinnable { code: Rule::ArgumentsIllegal, pointer: format!("/arguments/{nameless}") })
}

/// Looks for a reference that isn't a fragment of this document, and leaves the pointer at it.
///
/// Every string member named like a reference counts, in data (`default`, `const`) too: which keywords hold schemas and
/// which hold data differs between dialects, and a gateway may read another one than we do.
fn external_ref(value: &Value<'_>, pointer: &mut String) -> bool {
    const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];
    let before = pointer.len();
    let mut inside = |token: &str, value: &Value<'_>| {
        push_token(pointer, token);
        let leaves = REFERENCES.contains(&token) && value.as_str().is_some_and(|to| !to.starts_with('#'));
        if leaves || external_ref(value, pointer) {
            return true;
        }
        pointer.truncate(before);
        false
    };
    // Most values are leaves that refer to nothing; a place is written down only for the others.
    let has_parts = |value: &Value<'_>| matches!(value, Value::Object(_) | Value::Array(_));
    match value {
        Value::Object(object) => {
            object.iter().any(|(name, value)| (has_parts(value) || REFERENCES.contains(&name)) && inside(name, value))
        }
        Value::Array(items) => {
            items.iter().enumerate().any(|(i, item)| has_parts(item) && inside(&i.to_string(), item))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::descriptor::Descriptor;

    #[test]
    fn each_rule_has_a_code_and_a_place() {
        const SCHEMA: &str = r#""inputSchema":{"type":"object"}"#;
        type Case = (Kind, &'static str, Option<(&'static str, &'static str)>);
        const CASES: &[Case] = &[
            (Kind::Tool, r#"{"name":"a",SCHEMA}"#, None),
            (Kind::Tool, r#"{"name":"a",SCHEMA,"x-new":{"deep":null},"_meta":{"k":null}}"#, None),
            (Kind::Tool, "[]", Some(("not-an-object", ""))),
            (Kind::Tool, r#"{SCHEMA}"#, Some(("name-missing", "/name"))),
            (Kind::Tool, r#"{"name":7,SCHEMA}"#, Some(("name-missing", "/name"))),
            (Kind::Tool, r#"{"name":null,SCHEMA}"#, Some(("name-missing", "/name"))),
            (Kind::Tool, r#"{"name":"",SCHEMA}"#, Some(("name-illegal", "/name"))),
            (Kind::Tool, r#"{"name":"a b",SCHEMA}"#, Some(("name-illegal", "/name"))),
            (Kind::Tool, r#"{"name":" a",SCHEMA}"#, Some(("name-illegal", "/name"))),
            (Kind::Tool, r#"{"name":".a",SCHEMA}"#, Some(("name-illegal", "/name"))),
            (Kind::Tool, r#"{"name":"a",SCHEMA,"title":null}"#, Some(("null-member", "/title"))),
            (Kind::Tool, r#"{"name":"a",SCHEMA,"x/y":null}"#, Some(("null-member", "/x~1y"))),
            (Kind::Tool, r#"{"name":"a"}"#, Some(("schema-missing", "/inputSchema"))),
            (Kind::Tool, r#"{"name":"a","inputSchema":[]}"#, Some(("schema-not-object", "/inputSchema"))),
            (Kind::Tool, r#"{"name":"a","inputSchema":true}"#, Some(("schema-not-object", "/inputSchema"))),
            (Kind::Tool, r#"{"name":"a","inputSchema":{}}"#, Some(("schema-root-not-object", "/inputSchema/type"))),
            (
                Kind::Tool,
                r#"{"name":"a","inputSchema":{"type":["object"]}}"#,
                Some(("schema-root-not-object", "/inputSchema/type")),
            ),
            (
                Kind::Tool,
                r##"{"name":"a","inputSchema":{"type":"object","properties":{"p":{"$ref":"#/$defs/P"},"$ref":{"type":"string"}}}}"##,
                None,
            ),
            (
                Kind::Tool,
                r#"{"name":"a","inputSchema":{"type":"object","allOf":[{},{"$ref":"https://example.com/s"}]}}"#,
                Some(("external-ref", "/inputSchema/allOf/1/$ref")),
            ),
            (
                Kind::Tool,
                r#"{"name":"a",SCHEMA,"outputSchema":{"$dynamicRef":"other.json#/a"}}"#,
                Some(("external-ref", "/outputSchema/$dynamicRef")),
            ),
            (Kind::Prompt, r#"{"name":"a"}"#, None),
            (Kind::Prompt, r#"{"name":"a","arguments":[{"name":"x"}]}"#, None),
            (Kind::Prompt, r#"{"name":"a","arguments":{}}"#, Some(("arguments-illegal", "/arguments"))),
            (
                Kind::Prompt,
                r#"{"name":"a","arguments":[{"name":"x"},{}]}"#,
                Some(("arguments-illegal", "/arguments/1")),
            ),
            (Kind::Resource, r#"{"uri":"file:///a","name":"A"}"#, None),
            (Kind::Resource, r#"{"name":"A"}"#, Some(("name-missing", "/uri"))),
            (Kind::Resource, r#"{"uri":"file:///a b"}"#, Some(("name-illegal", "/uri"))),
            (Kind::Resource, r#"{"uri":"file:///a","mimeType":null}"#, Some(("null-member", "/mimeType"))),
            (Kind::ResourceTemplate, r#"{"uriTemplate":"file:///{path}","name":"A"}"#, None),
            (Kind::ResourceTemplate, r#"{"uri":"file:///a"}"#, Some(("name-missing", "/uriTemplate"))),
            (Kind::Instructions, r#""Use it well.""#, None),
            (Kind::Instructions, r#""""#, None),
            (Kind::Instructions, "null", Some(("not-a-string", ""))),
        ];
        for (kind, text, expected) in CASES {
            let text = text.replace("SCHEMA", SCHEMA.trim_start_matches(','));
            let descriptor = Descriptor::parse(*kind, text.as_bytes()).expect("strict JSON");
            let broken = descriptor.unpinnable().map(|u| (u.code.as_str(), u.pointer.as_str()));
            assert_eq!(broken, *expected, "{kind} {text}");
        }
    }
}
