//! Strict parsing, with a code, a pointer and an offset for whatever is refused.

use std::{borrow::Cow, cmp::Ordering, fmt};

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::{Object, Value};

/// The longest object that is read: a descriptor of 1 MiB is ten times the largest ever seen.
pub const MAX_BYTES: usize = 1 << 20;
/// The deepest nesting that is read: twice the deepest schema seen, far from any stack's end.
pub const MAX_DEPTH: usize = 100;
const SAFE: u64 = (1 << 53) - 1;

/// Why bytes were refused and where.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{code} at {pointer:?}, byte {offset}")]
pub struct Refused {
    /// What is wrong.
    pub code: Code,
    /// JSON pointer (RFC 6901) to the value that is wrong; empty for the whole document.
    pub pointer: String,
    /// Offset in bytes, counted from 0.
    pub offset: usize,
}

/// What the strict parser refuses.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Code {
    /// The bytes are not UTF-8.
    InvalidUtf8,
    /// A byte-order mark at the start.
    Bom,
    /// Not JSON.
    Syntax,
    /// Two members of one object have the same name, after unescaping.
    DuplicateKey,
    /// A `\u` escape of half a surrogate pair.
    LoneSurrogate,
    /// An integer beyond ±(2^53−1): two documents would get one digest.
    IntegerUnsafe,
    /// A number that no double holds.
    NumberOverflow,
    /// Nested more than [`MAX_DEPTH`] levels.
    TooDeep,
    /// Longer than [`MAX_BYTES`].
    TooLarge,
}

impl Code {
    /// The stable slug, as `duplicate-key`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InvalidUtf8 => "invalid-utf8",
            Self::Bom => "bom",
            Self::Syntax => "syntax",
            Self::DuplicateKey => "duplicate-key",
            Self::LoneSurrogate => "lone-surrogate",
            Self::IntegerUnsafe => "integer-unsafe",
            Self::NumberOverflow => "number-overflow",
            Self::TooDeep => "too-deep",
            Self::TooLarge => "too-large",
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Reads one JSON document of at most [`MAX_BYTES`].
///
/// # Errors
/// The first thing that [`Code`] lists.
pub fn parse(bytes: &[u8]) -> Result<Value<'_>, Refused> {
    parse_up_to(bytes, MAX_BYTES)
}

/// Reads one JSON document of at most `max` bytes.
///
/// # Errors
/// As [`parse`].
pub fn parse_up_to(bytes: &[u8], max: usize) -> Result<Value<'_>, Refused> {
    let refused = |code| Refused { code, pointer: String::new(), offset: 0 };
    if bytes.len() > max {
        return Err(refused(Code::TooLarge));
    }
    let text = std::str::from_utf8(bytes).map_err(|_| refused(Code::InvalidUtf8))?;
    if text.starts_with('\u{feff}') {
        return Err(refused(Code::Bom));
    }
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = Seed(MAX_DEPTH).deserialize(&mut reader).map_err(|_| refused(Code::Syntax))?;
    reader.end().map_err(|_| refused(Code::Syntax))?;
    Ok(value)
}

/// UTF-16 code unit order: differs from byte order only where one side has a character beyond U+FFFF.
pub(super) fn utf16_order(a: &str, b: &str) -> Ordering {
    if a.is_ascii() || b.is_ascii() { a.as_bytes().cmp(b.as_bytes()) } else { a.encode_utf16().cmp(b.encode_utf16()) }
}

struct Seed(usize);

impl<'de> DeserializeSeed<'de> for Seed {
    type Value = Value<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value<'de>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed {
    type Value = Value<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }
    fn visit_unit<E>(self) -> Result<Value<'de>, E> {
        Ok(Value::Null)
    }
    fn visit_bool<E>(self, b: bool) -> Result<Value<'de>, E> {
        Ok(Value::Bool(b))
    }
    fn visit_u64<E: Error>(self, n: u64) -> Result<Value<'de>, E> {
        if n > SAFE { Err(E::custom("integer-unsafe")) } else { Ok(Value::Int(n.cast_signed())) }
    }
    fn visit_i64<E: Error>(self, n: i64) -> Result<Value<'de>, E> {
        if n.unsigned_abs() > SAFE { Err(E::custom("integer-unsafe")) } else { Ok(Value::Int(n)) }
    }
    fn visit_f64<E: Error>(self, n: f64) -> Result<Value<'de>, E> {
        if n.is_finite() { Ok(Value::Float(n)) } else { Err(E::custom("number-overflow")) }
    }
    fn visit_borrowed_str<E>(self, s: &'de str) -> Result<Value<'de>, E> {
        Ok(Value::String(Cow::Borrowed(s)))
    }
    fn visit_str<E>(self, s: &str) -> Result<Value<'de>, E> {
        Ok(Value::String(Cow::Owned(s.to_owned())))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value<'de>, A::Error> {
        let depth = self.0.checked_sub(1).ok_or_else(|| Error::custom("too-deep"))?;
        let mut items = Vec::new();
        while let Some(item) = access.next_element_seed(Self(depth))? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value<'de>, A::Error> {
        let depth = self.0.checked_sub(1).ok_or_else(|| Error::custom("too-deep"))?;
        let mut members: Vec<(Cow<'de, str>, Value<'de>)> = Vec::new();
        while let Some(name) = access.next_key::<Cow<'de, str>>()? {
            members.push((name, access.next_value_seed(Self(depth))?));
        }
        members.sort_by(|a, b| utf16_order(&a.0, &b.0));
        if members.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            return Err(Error::custom("duplicate-key"));
        }
        Ok(Value::Object(Object { members }))
    }
}
