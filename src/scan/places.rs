//! Every string of a descriptor, and every member name, at any depth, with its place.

use crate::canon::Value;

/// What a string is for, as far as its place in the descriptor says.
#[derive(Clone, Copy, Debug, serde::Deserialize, Eq, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Role {
    /// What the descriptor is called: its `name`, `uri` or `uriTemplate`.
    Name,
    /// The name of a parameter: a member name under a schema's `properties`, the `name` of a prompt's argument.
    Parameter,
    /// The same, where the schema says that it must be given.
    RequiredParameter,
    /// Any other member name.
    Member,
    /// A value that a schema offers or demands: `enum`, `const`, `default`, `examples`, `pattern`.
    Data,
    /// Any other string.
    Prose,
}

/// One string at its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'p, 'v> {
    pub(super) role: Role,
    /// Whether the string is a member's name, not its value.
    pub(super) is_name: bool,
    pub(super) text: &'v str,
    pub(super) path: Path<'p, 'v>,
}

/// The way from the root to a value, written out only for a finding.
#[derive(Clone, Copy, Debug)]
pub(super) struct Path<'p, 'v> {
    parent: Option<&'p Self>,
    step: Step<'v>,
}

#[derive(Clone, Copy, Debug)]
enum Step<'v> {
    Root,
    Member(&'v str),
    Item(usize),
}

impl Path<'_, '_> {
    /// The JSON pointer (RFC 6901).
    pub(super) fn pointer(&self) -> String {
        let mut steps = Vec::new();
        let mut path = Some(self);
        while let Some(at) = path {
            match at.step {
                Step::Root => {}
                Step::Member(name) => steps.push(name.replace('~', "~0").replace('/', "~1")),
                Step::Item(index) => steps.push(index.to_string()),
            }
            path = at.parent;
        }
        steps.iter().rev().flat_map(|step| ["/", step]).collect()
    }
}

impl Place<'_, '_> {
    /// Whether this is the text that says what the descriptor is for.
    pub(super) fn is_description(&self) -> bool {
        !self.is_name
            && matches!(
                self.path,
                Path { step: Step::Member("description"), parent: Some(Path { step: Step::Root, .. }) }
            )
    }
}

/// Visits every string and member name in document order (members sorted).
pub(super) fn visit<'v>(value: &'v Value<'v>, visitor: &mut dyn FnMut(Place<'_, 'v>)) {
    walk(value, Path { parent: None, step: Step::Root }, Around::Descriptor, &[], visitor);
}

/// What the value being walked is, which decides what its strings are for.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Around {
    Descriptor,
    Properties,
    Arguments,
    Argument,
    Data,
    Other,
}

fn walk<'v>(
    value: &'v Value<'v>,
    path: Path<'_, 'v>,
    around: Around,
    required: &[Value<'v>],
    visitor: &mut dyn FnMut(Place<'_, 'v>),
) {
    match value {
        Value::String(text) => {
            let role = if around == Around::Data { Role::Data } else { Role::Prose };
            visitor(Place { role, is_name: false, text, path });
        }
        Value::Array(items) => {
            let around = if around == Around::Arguments { Around::Argument } else { around };
            for (index, item) in items.iter().enumerate() {
                walk(item, Path { parent: Some(&path), step: Step::Item(index) }, around, &[], visitor);
            }
        }
        Value::Object(object) => {
            // For the names under this object's own `properties`.
            let mandatory = object.get("required").and_then(Value::as_array).unwrap_or_default();
            for (name, item) in object.iter() {
                let path = Path { parent: Some(&path), step: Step::Member(name) };
                let must = || required.iter().any(|one| one.as_str() == Some(name));
                let role = match around {
                    Around::Properties if must() => Role::RequiredParameter,
                    Around::Properties => Role::Parameter,
                    _ => Role::Member,
                };
                visitor(Place { role, is_name: true, text: name, path });
                match (around, item.as_str()) {
                    (Around::Descriptor, Some(text)) if matches!(name, "name" | "uri" | "uriTemplate") => {
                        visitor(Place { role: Role::Name, is_name: false, text, path });
                    }
                    (Around::Argument, Some(text)) if name == "name" => {
                        visitor(Place { role: Role::Parameter, is_name: false, text, path });
                    }
                    _ => walk(item, path, inside(around, name), mandatory, visitor),
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) => {}
    }
}

/// What a member's value is. A parameter may be called `default`: under `properties` names mean nothing.
fn inside(around: Around, name: &str) -> Around {
    match (around, name) {
        (Around::Data, _) => Around::Data,
        (Around::Properties, _) => Around::Other,
        (_, "properties" | "patternProperties") => Around::Properties,
        (Around::Descriptor, "arguments") => Around::Arguments,
        (_, "enum" | "const" | "default" | "examples" | "example" | "pattern") => Around::Data,
        _ => Around::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_string_and_member_name_is_visited_with_its_place() {
        let json = br#"{"name":"n","description":"d","inputSchema":{"properties":{"default":{"title":"t","enum":["e"]},
            "a/b":{"default":{"deep":["x"]}}}},"arguments":[{"name":"arg","description":"y"}],"_meta":{"k":[1,null,"z"]}}"#;
        let value = crate::canon::parse(json).expect("strict JSON");
        let mut seen = Vec::new();
        visit(&value, &mut |place| {
            if !matches!(place.text, "name" | "description" | "properties" | "title" | "enum" | "arguments") {
                seen.push(format!("{:?} {} {}", place.role, place.text, place.path.pointer()));
            }
        });
        assert_eq!(
            seen,
            [
                "Member _meta /_meta",
                "Member k /_meta/k",
                "Prose z /_meta/k/2",
                "Prose y /arguments/0/description",
                "Parameter arg /arguments/0/name",
                "Prose d /description",
                "Member inputSchema /inputSchema",
                "Parameter a/b /inputSchema/properties/a~1b",
                "Member default /inputSchema/properties/a~1b/default",
                "Member deep /inputSchema/properties/a~1b/default/deep",
                "Data x /inputSchema/properties/a~1b/default/deep/0",
                "Parameter default /inputSchema/properties/default",
                "Data e /inputSchema/properties/default/enum/0",
                "Prose t /inputSchema/properties/default/title",
                "Name n /name",
            ]
        );
    }
}
