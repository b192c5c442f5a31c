//! One item of a list, accepted or refused.

use std::{borrow::Cow, fmt, sync::Arc};

use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};

use super::Descriptor;
use crate::{canon::Refused, name::Kind};

/// One item as a server listed it. A refused one keeps its bytes, so that people can see what was refused.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    /// Which list it stood in.
    pub kind: Kind,
    /// The bytes as they were received.
    pub raw: Arc<[u8]>,
    /// The descriptor, or why the strict parser refused it.
    pub parsed: Result<Descriptor, Refused>,
}

impl Listed {
    /// Takes one item's bytes, whatever they are.
    pub fn new(kind: Kind, raw: &[u8]) -> Self {
        let raw: Arc<[u8]> = raw.into();
        Self { kind, parsed: Descriptor::from_shared(kind, Arc::clone(&raw)), raw }
    }

    /// What to call it on a page: the listed name or, of a refused item, the first thing in it that looks like one.
    ///
    /// For display alone. A refused item has no name: two readers may see two different ones in it.
    pub fn display_name(&self) -> Cow<'_, str> {
        match (&self.parsed, self.kind) {
            (Ok(descriptor), _) => Cow::Borrowed(descriptor.listed_name()),
            (Err(_), Kind::Instructions) => Cow::Borrowed("instructions"),
            (Err(_), kind) => Cow::Owned(first_named(&self.raw, kind).unwrap_or_default()),
        }
    }
}

/// The member that names a descriptor of this kind.
pub(super) const fn naming_member(kind: Kind) -> &'static str {
    match kind {
        Kind::Tool | Kind::Prompt | Kind::Instructions => "name",
        Kind::Resource => "uri",
        Kind::ResourceTemplate => "uriTemplate",
    }
}

/// Reads only as far as the naming member, so a fault after it doesn't matter.
fn first_named(raw: &[u8], kind: Kind) -> Option<String> {
    struct First(&'static str, Option<String>);

    impl<'de> Visitor<'de> for &mut First {
        type Value = ();

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
            while let Some(name) = members.next_key::<Cow<'de, str>>()? {
                if self.1.is_none() && name == self.0 {
                    self.1 = Some(members.next_value()?);
                } else {
                    members.next_value::<IgnoredAny>()?;
                }
            }
            Ok(())
        }
    }

    let mut first = First(naming_member(kind), None);
    // An error after the name was seen is the expected case, and one before it leaves the item nameless.
    let _ = serde_json::Deserializer::from_slice(raw).deserialize_map(&mut first);
    first.1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canon::Code;

    #[test]
    fn a_refused_item_keeps_its_bytes_and_something_to_call_it() {
        const CASES: &[(&[u8], Code, &str)] = &[
            (br#"{"name":"wipe","x":1,"x":2}"#, Code::DuplicateKey, "wipe"),
            (br#"{"name":"one","name":"two"}"#, Code::DuplicateKey, "one"),
            (br#"{"x":9007199254740993,"name":"count"}"#, Code::IntegerUnsafe, "count"),
            (br#"{"name":"\ud800"}"#, Code::LoneSurrogate, ""),
            (br#"{"name":7,"a":1,"a":2}"#, Code::DuplicateKey, ""),
            (b"{", Code::Syntax, ""),
            (b"", Code::Syntax, ""),
        ];
        for (raw, code, name) in CASES {
            let listed = Listed::new(Kind::Tool, raw);
            assert_eq!(listed.parsed.as_ref().map_err(|r| r.code), Err(*code), "{}", raw.escape_ascii());
            assert_eq!(listed.display_name(), *name, "{}", raw.escape_ascii());
            assert_eq!(&*listed.raw, *raw);
        }
    }
}
