//! Canonical bytes of a parsed value, by both recipes.

use std::io::Write as _;

use super::{Digest, Sha256, Value};

impl Value<'_> {
    /// The value as RFC 8785 writes it.
    pub fn to_jcs(&self) -> Vec<u8> {
        let mut out = Vec::new();
        write(self, &mut out);
        out
    }

    /// The digest that decides equality: SHA-256 over [`Value::to_jcs`].
    pub fn digest(&self) -> Digest {
        Digest::jcs(Sha256::of(&self.to_jcs()))
    }

    /// What CPython's `json.dumps(value, sort_keys=True, separators=(",", ":"))` writes, in UTF-8.
    pub fn to_python_sorted(&self) -> Vec<u8> {
        self.to_jcs()
    }
}

fn write(value: &Value<'_>, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Bool(b) => out.extend_from_slice(if *b { b"true" } else { b"false" }),
        Value::Int(n) => write!(out, "{n}").unwrap_or_default(),
        Value::Float(n) => out.extend_from_slice(ryu_js::Buffer::new().format_finite(*n).as_bytes()),
        Value::String(s) => string(s, out),
        Value::Array(items) => {
            out.push(b'[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push(b',');
                }
                write(item, out);
            }
            out.push(b']');
        }
        Value::Object(object) => {
            out.push(b'{');
            for (i, (name, item)) in object.iter().enumerate() {
                if i > 0 {
                    out.push(b',');
                }
                string(name, out);
                out.push(b':');
                write(item, out);
            }
            out.push(b'}');
        }
    }
}

fn string(s: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    for b in s.bytes() {
        match b {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            8 => out.extend_from_slice(b"\\b"),
            9 => out.extend_from_slice(b"\\t"),
            10 => out.extend_from_slice(b"\\n"),
            12 => out.extend_from_slice(b"\\f"),
            13 => out.extend_from_slice(b"\\r"),
            0..0x20 => write!(out, "\\u{b:04x}").unwrap_or_default(),
            _ => out.push(b),
        }
    }
    out.push(b'"');
}
