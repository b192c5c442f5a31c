//! The borrowed tree that a strict parse gives.

use std::borrow::Cow;

use serde::{
    Serialize, Serializer,
    ser::{SerializeMap, SerializeSeq},
};

use super::{order::utf16_order, pointer};

/// A JSON value as the strict parser accepts it; strings borrow from the input where nothing was escaped.
///
/// Two values are equal exactly when their canonical bytes are: 1 and 1.0 are, member order in the source doesn't count.
// A tag of eight bytes takes no more room and keeps every copy of a value aligned: parsing is a tenth faster.
#[derive(Clone, Debug)]
#[repr(u64)]
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
    pub(super) members: Vec<Member<'a>>,
}

#[derive(Clone, Debug)]
pub(super) struct Member<'a> {
    pub(super) name: Cow<'a, str>,
    pub(super) value: Value<'a>,
    /// Where the name stands in the source.
    pub(super) at: usize,
}

impl<'a> Value<'a> {
    /// The truth value, if this is one.
    pub const fn as_bool(&self) -> Option<bool> {
        if let Self::Bool(b) = self { Some(*b) } else { None }
    }

    /// The number, if this is one. No integer loses anything: all are safe.
    #[expect(clippy::cast_precision_loss, reason = "the parser admits only integers that a double holds")]
    pub const fn as_f64(&self) -> Option<f64> {
        match self {
            Self::Int(n) => Some(*n as f64),
            Self::Float(n) => Some(*n),
            _ => None,
        }
    }

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

    /// Whether this is `null`.
    pub const fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// The member of this name, if this is an object that has it.
    pub fn get(&self, name: &str) -> Option<&Self> {
        self.as_object()?.get(name)
    }

    /// The value that a JSON pointer (RFC 6901) names, as `/inputSchema/properties`; the empty pointer names this one.
    pub fn pointer(&self, pointer: &str) -> Option<&Self> {
        pointer::tokens(pointer)?.iter().try_fold(self, |value, token| match value {
            Self::Object(object) => object.get(token),
            Self::Array(items) => items.get(pointer::index(token)?),
            _ => None,
        })
    }

    /// As [`Value::pointer`], to change the value in place.
    pub fn pointer_mut(&mut self, pointer: &str) -> Option<&mut Self> {
        pointer::tokens(pointer)?.iter().try_fold(self, |value, token| match value {
            Self::Object(object) => object.get_mut(token),
            Self::Array(items) => items.get_mut(pointer::index(token)?),
            _ => None,
        })
    }

    /// What a person calls this kind of value: `null`, `boolean`, `number`, `string`, `array`, `object`.
    pub const fn type_name(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "boolean",
            Self::Int(_) | Self::Float(_) => "number",
            Self::String(_) => "string",
            Self::Array(_) => "array",
            Self::Object(_) => "object",
        }
    }

    /// The same value, borrowing nothing.
    pub fn into_owned(self) -> Value<'static> {
        match self {
            Self::Null => Value::Null,
            Self::Bool(b) => Value::Bool(b),
            Self::Int(n) => Value::Int(n),
            Self::Float(n) => Value::Float(n),
            Self::String(text) => Value::String(Cow::Owned(text.into_owned())),
            Self::Array(items) => Value::Array(items.into_iter().map(Value::into_owned).collect()),
            Self::Object(object) => Value::Object(Object {
                members: object
                    .members
                    .into_iter()
                    .map(|m| Member { name: Cow::Owned(m.name.into_owned()), value: m.value.into_owned(), at: m.at })
                    .collect(),
            }),
        }
    }
}

impl<'a> Object<'a> {
    /// The value of this member.
    pub fn get(&self, name: &str) -> Option<&Value<'a>> {
        let at = self.find(name).ok()?;
        Some(&self.members[at].value)
    }

    /// The value of this member, to change it.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut Value<'a>> {
        let at = self.find(name).ok()?;
        Some(&mut self.members[at].value)
    }

    /// Puts a member in, and gives back the value it replaces. A new one counts as last in the source.
    pub fn insert(&mut self, name: Cow<'a, str>, value: Value<'a>) -> Option<Value<'a>> {
        match self.find(&name) {
            Ok(at) => Some(std::mem::replace(&mut self.members[at].value, value)),
            Err(at) => {
                let last = self.members.iter().map(|m| m.at).max();
                self.members.insert(at, Member { name, value, at: last.map_or(0, |n| n.saturating_add(1)) });
                None
            }
        }
    }

    /// Takes a member out.
    pub fn remove(&mut self, name: &str) -> Option<Value<'a>> {
        let at = self.find(name).ok()?;
        Some(self.members.remove(at).value)
    }

    /// All members in canonical order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Value<'a>)> {
        self.members.iter().map(|m| (m.name.as_ref(), &m.value))
    }

    /// All members in the order in which the source has them.
    pub fn in_source_order(&self) -> impl ExactSizeIterator<Item = (&str, &Value<'a>)> {
        let mut members: Vec<&Member<'a>> = self.members.iter().collect();
        members.sort_by_key(|m| m.at);
        members.into_iter().map(|m| (m.name.as_ref(), &m.value))
    }

    /// How many members there are.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    fn find(&self, name: &str) -> Result<usize, usize> {
        self.members.binary_search_by(|m| utf16_order(&m.name, name))
    }
}

impl PartialEq for Value<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::String(a), Self::String(b)) => a == b,
            (Self::Array(a), Self::Array(b)) => a == b,
            (Self::Object(a), Self::Object(b)) => a == b,
            (a, b) => a.as_f64().is_some_and(|n| b.as_f64() == Some(n)),
        }
    }
}

impl PartialEq for Member<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.value == other.value
    }
}

/// Written as the JSON it is, members in canonical order.
impl Serialize for Value<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(b) => serializer.serialize_bool(*b),
            Self::Int(n) => serializer.serialize_i64(*n),
            Self::Float(n) => serializer.serialize_f64(*n),
            Self::String(text) => serializer.serialize_str(text),
            Self::Array(items) => {
                let mut seq = serializer.serialize_seq(Some(items.len()))?;
                items.iter().try_for_each(|item| seq.serialize_element(item))?;
                seq.end()
            }
            Self::Object(object) => {
                let mut map = serializer.serialize_map(Some(object.len()))?;
                object.iter().try_for_each(|(name, value)| map.serialize_entry(name, value))?;
                map.end()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse;

    #[test]
    fn members_are_found_by_name_and_by_pointer_and_shown_in_source_order() {
        let text = br#"{"z":1,"a":{"b/c":[10,20]},"m":null,"":"empty"}"#;
        let value = parse(text).expect("legal");
        let object = value.as_object().expect("an object");
        assert_eq!(object.in_source_order().map(|(k, _)| k).collect::<Vec<_>>(), ["z", "a", "m", ""]);
        assert_eq!(object.iter().map(|(k, _)| k).collect::<Vec<_>>(), ["", "a", "m", "z"]);
        assert_eq!(value.pointer("/a/b~1c/1").and_then(super::Value::as_f64), Some(20.0));
        assert_eq!(value.pointer("/").and_then(super::Value::as_str), Some("empty"));
        for absent in ["/a/b", "/a/b~1c/2", "/a/b~1c/01", "/a/b~1c/-", "/z/0", "a"] {
            assert!(value.pointer(absent).is_none(), "{absent}");
        }
        assert!(value.get("z").is_some() && value.get("y").is_none());
    }

    #[test]
    fn values_are_equal_when_their_canonical_bytes_are() {
        let equal = |a: &[u8], b: &[u8]| parse(a).expect("legal") == parse(b).expect("legal");
        assert!(equal(b"[1, -0, 1e2]", b"[1.0, 0, 100]"));
        assert!(equal(br#"{"a":1,"b":2}"#, br#"{"b":2,"a":1}"#));
        assert!(!equal(b"[1]", b"[true]") && !equal(b"0", b"null") && !equal(b"[1,2]", b"[2,1]"));
    }

    #[test]
    fn a_member_that_is_put_in_keeps_the_order() {
        let mut value = parse(br#"{"b":1,"d":2}"#).expect("legal").into_owned();
        let super::Value::Object(object) = &mut value else { panic!("an object") };
        assert_eq!(object.insert("c".into(), super::Value::Null), None);
        assert_eq!(object.insert("b".into(), super::Value::Bool(true)), Some(super::Value::Int(1)));
        assert_eq!(object.remove("d"), Some(super::Value::Int(2)));
        assert_eq!(object.remove("d"), None);
        assert_eq!(value.to_jcs(), br#"{"b":true,"c":null}"#);
    }
}
