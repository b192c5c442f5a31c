//! The borrowed tree that a strict parse gives.

use std::borrow::Cow;

/// A JSON value as the strict parser accepts it; strings borrow from the input where nothing was escaped.
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'a> {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number written as an integer, within ±(2^53−1).
    Int(i64),
    /// Any other number; finite.
    Float(f64),
    /// A string without lone surrogates.
    String(Cow<'a, str>),
    /// An array, in its order.
    Array(Vec<Self>),
    /// An object without duplicate members.
    Object(Object<'a>),
}

/// The members of an object, sorted by UTF-16 code units (RFC 8785, section 3.2.3), names unique.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Object<'a> {
    pub(super) members: Vec<(Cow<'a, str>, Value<'a>)>,
}

impl<'a> Value<'a> {
    /// The text, if this is a string.
    pub fn as_str(&self) -> Option<&str> {
        if let Self::String(text) = self { Some(text) } else { None }
    }

    /// The members, if this is an object.
    pub const fn as_object(&self) -> Option<&Object<'a>> {
        if let Self::Object(object) = self { Some(object) } else { None }
    }

    /// The elements, if this is an array.
    pub fn as_array(&self) -> Option<&[Self]> {
        if let Self::Array(items) = self { Some(items) } else { None }
    }

    /// The member of this name, if this is an object that has it.
    pub fn get(&self, name: &str) -> Option<&Self> {
        self.as_object()?.get(name)
    }
}

impl<'a> Object<'a> {
    /// The value of this member.
    pub fn get(&self, name: &str) -> Option<&Value<'a>> {
        self.iter().find(|(k, _)| *k == name).map(|(_, v)| v)
    }

    /// All members in canonical order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Value<'a>)> {
        self.members.iter().map(|(k, v)| (k.as_ref(), v))
    }

    /// How many members there are.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }
}
