//! Recipe two: what CPython's `json.dumps(value, sort_keys=True, separators=(",", ":"))` writes, in UTF-8.
//!
//! For display, migration and small Python checkers; it decides nothing. It differs from RFC 8785 in three ways:
//! characters beyond printable ASCII are escaped, names are sorted by code point, and a float keeps its point.

use super::{
    Digest, Object, Recipe, Sha256, Value,
    run::printable_run,
    write::{escape, integer},
};

impl Value<'_> {
    /// What CPython writes.
    pub fn to_python_sorted(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(1 << 10);
        write(&mut out, self);
        out
    }

    /// The digest by recipe two.
    pub fn python_digest(&self) -> Digest {
        Digest { recipe: Recipe::PythonSortedSha256, sha256: Sha256::of(&self.to_python_sorted()) }
    }
}

fn write(out: &mut Vec<u8>, value: &Value<'_>) {
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Bool(true) => out.extend_from_slice(b"true"),
        Value::Bool(false) => out.extend_from_slice(b"false"),
        Value::Int(n) => integer(out, *n),
        Value::Float(n) => float(out, *n),
        Value::String(text) => string(out, text),
        Value::Array(items) => {
            out.push(b'[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push(b',');
                }
                write(out, item);
            }
            out.push(b']');
        }
        Value::Object(object) => members(out, object),
    }
}

fn members(out: &mut Vec<u8>, object: &Object<'_>) {
    out.push(b'{');
    // UTF-8 bytes sort by code point. Members come in UTF-16 order, which is the same unless names have characters beyond
    // U+FFFF, so there is nearly always nothing to sort.
    if object.iter().is_sorted_by_key(|(name, _)| name.as_bytes()) {
        object.iter().enumerate().for_each(|(i, member)| one(out, i, member));
    } else {
        let mut members: Vec<(&str, &Value<'_>)> = object.iter().collect();
        members.sort_by_key(|(name, _)| name.as_bytes());
        members.into_iter().enumerate().for_each(|(i, member)| one(out, i, member));
    }
    out.push(b'}');
}

fn one(out: &mut Vec<u8>, index: usize, (name, value): (&str, &Value<'_>)) {
    if index > 0 {
        out.push(b',');
    }
    string(out, name);
    out.push(b':');
    write(out, value);
}

fn string(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    let mut rest = text;
    loop {
        let run = printable_run(rest.as_bytes(), 0);
        out.extend_from_slice(&rest.as_bytes()[..run]);
        let mut chars = rest[run..].chars();
        match chars.next() {
            None => break,
            Some(c @ ('"' | '\\' | '\0'..=' ')) => escape(out, c as u8),
            Some(c) => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    unit_escape(out, *unit);
                }
            }
        }
        rest = chars.as_str();
    }
    out.push(b'"');
}

fn unit_escape(out: &mut Vec<u8>, unit: u16) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    out.extend_from_slice(b"\\u");
    out.extend([12, 8, 4, 0].map(|shift| HEX[usize::from(unit >> shift & 15)]));
}

/// CPython's `repr` of a float: the shortest digits that read back the same, fixed between 1e-4 and 1e16.
///
/// The digits are those of ECMAScript (`ryu-js`); Rust's own `{:e}` breaks ties between two shortest forms differently.
fn float(out: &mut Vec<u8>, n: f64) {
    if n.is_sign_negative() {
        out.push(b'-');
    }
    let mut buffer = ryu_js::Buffer::new();
    let text = buffer.format_finite(n.abs());
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all: Vec<u8> = whole.bytes().chain(fraction.bytes()).collect();
    let zeros = all.iter().take_while(|d| **d == b'0').count();
    let kept = all.iter().rposition(|d| *d != b'0').map_or(zeros, |last| last + 1);
    let digits = &all[zeros..kept];
    if digits.is_empty() {
        out.extend_from_slice(b"0.0");
        return;
    }
    // The first digit stands for digit × 10^weight. A double's exponent has three digits, so nothing here can overflow.
    let length = |n: usize| i32::try_from(n).unwrap_or(i32::MAX);
    let weight = exponent.parse::<i32>().unwrap_or_default() + length(whole.len()) - 1 - length(zeros);
    match usize::try_from(weight) {
        Ok(weight) if weight < 16 => {
            let (before, after) = digits.split_at(digits.len().min(weight + 1));
            out.extend_from_slice(before);
            out.resize(out.len() + weight + 1 - before.len(), b'0');
            out.push(b'.');
            out.extend_from_slice(if after.is_empty() { b"0" } else { after });
        }
        Err(_) if weight >= -4 => {
            out.extend_from_slice(b"0.");
            out.resize(out.len() + usize::try_from(-weight - 1).unwrap_or_default(), b'0');
            out.extend_from_slice(digits);
        }
        _ => {
            out.push(digits[0]);
            if digits.len() > 1 {
                out.push(b'.');
                out.extend_from_slice(&digits[1..]);
            }
            let sign = if weight < 0 { '-' } else { '+' };
            out.extend_from_slice(format!("e{sign}{:02}", weight.abs()).as_bytes());
        }
    }
}
