//! A JSON document in the order that it was written in: for the eye only.
//!
//! The canonical tree sorts members and is what digests are made from; a reviewer reads the publisher's order. Numbers
//! are written as the canonical form writes them, so that `1.0` and `1` are no difference here either.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, SeqAccess, Visitor},
};

/// A value in its own order.
#[derive(Clone, Debug)]
pub(crate) enum Node<'a> {
    /// `null`, `true`, `false` or a number, as it is shown.
    Scalar(Cow<'static, str>),
    /// A string.
    Text(Cow<'a, str>),
    /// An array.
    Array(Vec<Self>),
    /// An object's members as they were written.
    Object(Vec<(Cow<'a, str>, Self)>),
}

/// Equal in meaning: the order of members is none.
impl PartialEq for Node<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Scalar(a), Self::Scalar(b)) => a == b,
            (Self::Text(a), Self::Text(b)) => a == b,
            (Self::Array(a), Self::Array(b)) => a == b,
            // Both were strictly parsed, so names are unique and sorting pairs them up.
            (Self::Object(a), Self::Object(b)) => a.len() == b.len() && sorted(a).eq(sorted(b)),
            _ => false,
        }
    }
}

fn sorted<'n, 'a>(members: &'n [(Cow<'a, str>, Node<'a>)]) -> impl Iterator<Item = &'n (Cow<'a, str>, Node<'a>)> {
    let mut order: Vec<&(Cow<'a, str>, Node<'a>)> = members.iter().collect();
    order.sort_by(|x, y| x.0.cmp(&y.0));
    order.into_iter()
}

impl Node<'_> {
    /// Whether it has no members or elements of its own.
    pub(super) const fn is_leaf(&self) -> bool {
        match self {
            Self::Scalar(_) | Self::Text(_) => true,
            Self::Array(items) => items.is_empty(),
            Self::Object(members) => members.is_empty(),
        }
    }

    /// The string at a JSON pointer.
    pub(crate) fn text_at(&self, pointer: &str) -> Option<&str> {
        let mut at = self;
        for step in pointer.split('/').skip(1) {
            at = match at {
                Self::Array(items) => items.get(step.parse::<usize>().ok()?)?,
                Self::Object(members) => {
                    let key = step.replace("~1", "/").replace("~0", "~");
                    members.iter().find(|(name, _)| *name == key).map(|(_, value)| value)?
                }
                Self::Scalar(_) | Self::Text(_) => return None,
            };
        }
        if let Self::Text(text) = at { Some(text) } else { None }
    }

    /// Calls `each` with every string and its JSON pointer.
    pub(crate) fn texts<'n>(&'n self, each: &mut impl FnMut(&str, &'n str)) {
        self.texts_below(&mut String::new(), each);
    }

    fn texts_below<'n>(&'n self, pointer: &mut String, each: &mut impl FnMut(&str, &'n str)) {
        let length = pointer.len();
        match self {
            Self::Scalar(_) => {}
            Self::Text(text) => each(pointer, text),
            Self::Array(items) => {
                for (i, item) in items.iter().enumerate() {
                    pointer.push_str(&format!("/{i}"));
                    item.texts_below(pointer, each);
                    pointer.truncate(length);
                }
            }
            Self::Object(members) => {
                for (key, value) in members {
                    pointer.push_str(&child("", key));
                    value.texts_below(pointer, each);
                    pointer.truncate(length);
                }
            }
        }
    }

    /// The value written so that equal meanings have equal texts.
    pub(super) fn meaning(&self, out: &mut String) {
        match self {
            Self::Scalar(text) => out.push_str(text),
            Self::Text(text) => out.push_str(&format!("{text:?}")),
            Self::Array(items) => {
                out.push('[');
                for item in items {
                    item.meaning(out);
                    out.push(',');
                }
                out.push(']');
            }
            Self::Object(members) => {
                out.push('{');
                for (key, value) in sorted(members) {
                    out.push_str(&format!("{key:?}:"));
                    value.meaning(out);
                    out.push(',');
                }
                out.push('}');
            }
        }
    }
}

/// Appends a member's name to a pointer (RFC 6901).
pub(super) fn child(pointer: &str, key: &str) -> String {
    format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"))
}

impl<'de: 'a, 'a> Deserialize<'de> for Node<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;

        impl<'de> Visitor<'de> for Read {
            type Value = Node<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON value")
            }
            fn visit_unit<E>(self) -> Result<Node<'de>, E> {
                Ok(Node::Scalar("null".into()))
            }
            fn visit_bool<E>(self, b: bool) -> Result<Node<'de>, E> {
                Ok(Node::Scalar(if b { "true" } else { "false" }.into()))
            }
            fn visit_u64<E>(self, n: u64) -> Result<Node<'de>, E> {
                Ok(Node::Scalar(n.to_string().into()))
            }
            fn visit_i64<E>(self, n: i64) -> Result<Node<'de>, E> {
                Ok(Node::Scalar(n.to_string().into()))
            }
            fn visit_f64<E>(self, n: f64) -> Result<Node<'de>, E> {
                Ok(Node::Scalar(ryu_js::Buffer::new().format(n).to_owned().into()))
            }
            fn visit_borrowed_str<E>(self, s: &'de str) -> Result<Node<'de>, E> {
                Ok(Node::Text(Cow::Borrowed(s)))
            }
            fn visit_str<E>(self, s: &str) -> Result<Node<'de>, E> {
                Ok(Node::Text(Cow::Owned(s.to_owned())))
            }
            fn visit_string<E>(self, s: String) -> Result<Node<'de>, E> {
                Ok(Node::Text(Cow::Owned(s)))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Node<'de>, A::Error> {
                let mut items = Vec::new();
                while let Some(item) = access.next_element()? {
                    items.push(item);
                }
                Ok(Node::Array(items))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Node<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some((key, value)) = access.next_entry()? {
                    members.push((key, value));
                }
                Ok(Node::Object(members))
            }
        }

        deserializer.deserialize_any(Read)
    }
}
