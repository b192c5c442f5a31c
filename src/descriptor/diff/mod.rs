//! What moved between two descriptors, named so that a reviewer can act on it, and hiding nothing.
//!
//! [`diff`] walks two values side by side and reports each place where they differ, with a [`Class`], a sentence, and a
//! [`Growth`] where the tool can do or receive more than before, or clients will ask their user less. The sum of the
//! changes is the whole difference: [`Diff::apply`] turns the old value into exactly the new one. Classes follow the MCP
//! specification's members and JSON Schema's keywords; what neither knows is [`Class::Other`], never left out.
//!
//! Sentences quote the publisher's text, shortened but not made safe: whoever shows one escapes it as all publisher text.
//! Growth is judged cautiously: where looser and stricter can't be told apart, as with patterns, it is growth. No growth
//! proves nothing.

mod apply;
mod destination;
mod hint;
mod keyword;
mod say;
mod tree;
mod walk;

use serde::{Serialize, Serializer};

pub use apply::NotApplicable;
pub use tree::Node;

use crate::canon::Value;

/// All changes from one value to another, those of one parent together and sorted by name.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Diff {
    /// The changes; none of them lies inside another.
    pub changes: Vec<Change>,
}

/// One place where the values differ.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// JSON pointer to the place; the same in both values.
    pub pointer: String,
    /// What kind of change it is.
    pub class: Class,
    /// What was there; `None` if nothing was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<Value<'static>>,
    /// What is there now; `None` if nothing is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new: Option<Value<'static>>,
    /// How the descriptor grew by it, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub growth: Option<Growth>,
    /// The change in plain words, on one line, quoting publisher text.
    pub sentence: String,
}

/// Implements the slugs of an enum, and serde by them.
macro_rules! slugs {
    ($name:ident { $($variant:ident = $slug:literal,)* }) => {
        impl $name {
            /// The stable slug.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $slug,)* }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }
    };
}

/// What kind of change it is.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Class {
    /// The name, URI or URI template.
    Identity,
    /// Text that a model reads: descriptions, instructions.
    Wording,
    /// Text that people read as a label.
    Title,
    /// A member joined a schema's `properties`, or a prompt's arguments.
    MemberAdded,
    /// A member left.
    MemberRemoved,
    /// A member that names where data goes: a URL, host, address, recipient.
    Destination,
    /// Which members must be given.
    Required,
    /// The types a value may have.
    Type,
    /// The values it may have.
    Enum,
    /// The value it has when not given.
    Default,
    /// Lengths, ranges, patterns, formats.
    Bounds,
    /// Whether members without a schema are let in.
    AdditionalProperties,
    /// Anything else in a schema.
    Schema,
    /// A behaviour hint or another annotation; untrusted either way.
    Hint,
    /// Icons.
    Icons,
    /// `_meta`.
    Meta,
    /// Absent, `null`, `""`, `{}` and `[]` traded for each other where that changes no meaning.
    AbsenceForm,
    /// The order of a list that is a set.
    Order,
    /// Any other member.
    Other,
}

slugs!(Class {
    Identity = "identity",
    Wording = "wording",
    Title = "title",
    MemberAdded = "member-added",
    MemberRemoved = "member-removed",
    Destination = "destination",
    Required = "required",
    Type = "type",
    Enum = "enum",
    Default = "default",
    Bounds = "bounds",
    AdditionalProperties = "additional-properties",
    Schema = "schema",
    Hint = "hint",
    Icons = "icons",
    Meta = "meta",
    AbsenceForm = "absence-form",
    Order = "order",
    Other = "other",
});

/// How a descriptor's capability grew.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Growth {
    /// A behaviour hint flipped: the tool says it does more, or clients that believe it will ask less.
    HintFlipped,
    /// It can now be told where to send or fetch data, or is told so by default.
    Destination,
    /// It takes another input.
    Parameter,
    /// An input must now be given.
    Required,
    /// More types, or any.
    Type,
    /// More values, or any.
    Values,
    /// A bound fell away, moved outwards, or changed in a way that can't be compared.
    Bounds,
    /// Inputs without a schema are let in.
    AdditionalProperties,
    /// Another rule of the schema fell away or changed in a way that can't be compared.
    Schema,
    /// It brings its own user interface (`_meta.ui`).
    Interface,
    /// So much changed that it isn't described one by one.
    TooMuch,
}

slugs!(Growth {
    HintFlipped = "hint-flipped",
    Destination = "destination",
    Parameter = "parameter",
    Required = "required",
    Type = "type",
    Values = "values",
    Bounds = "bounds",
    AdditionalProperties = "additional-properties",
    Schema = "schema",
    Interface = "interface",
    TooMuch = "too-much",
});

/// All that changed from `old` to `new`; empty exactly if their canonical bytes are the same.
pub fn diff(old: &Value<'_>, new: &Value<'_>) -> Diff {
    Diff { changes: walk::changes(old, new) }
}

impl Diff {
    /// Whether nothing changed.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// The changes by which capability grew.
    pub fn growth(&self) -> impl Iterator<Item = &Change> {
        self.changes.iter().filter(|change| change.growth.is_some())
    }
}

#[cfg(test)]
mod tests;
