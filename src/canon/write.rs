//! Canonical bytes of a parsed value: RFC 8785, which decides.

use super::{Digest, Recipe, Sha256, Value, run::plain_run};

/// A value's canonical bytes with the digests by both recipes.
#[derive(Clone, Debug)]
pub struct Canonical {
    /// What RFC 8785 writes.
    pub bytes: Vec<u8>,
    /// The digest of these bytes: it alone decides equality.
    pub digest: Digest,
    /// Whether recipe two writes the very same bytes: no number with a fraction or exponent, nothing but printable
    /// ASCII. Most descriptors are like that, and then their second digest costs nothing.
    same_in_python: bool,
}

impl Value<'_> {
    /// The value as RFC 8785 writes it.
    pub fn to_jcs(&self) -> Vec<u8> {
        let mut bytes = self.written().0;
        bytes.shrink_to_fit();
        bytes
    }

    /// The digest that decides equality: SHA-256 over [`Value::to_jcs`].
    pub fn digest(&self) -> Digest {
        Digest::jcs(Sha256::of(&self.written().0))
    }

    /// Canonical bytes and deciding digest in one go, for who needs both.
    pub fn canonical(&self) -> Canonical {
        let (mut bytes, has_floats) = self.written();
        bytes.shrink_to_fit();
        let digest = Digest::jcs(Sha256::of(&bytes));
        let same_in_python = !has_floats && bytes.is_ascii() && !bytes.contains(&0x7f);
        Canonical { bytes, digest, same_in_python }
    }

    fn written(&self) -> (Vec<u8>, bool) {
        let mut writer = Writer { out: Vec::with_capacity(ROOM), has_floats: false };
        writer.value(self);
        (writer.out, writer.has_floats)
    }
}

impl Canonical {
    /// The digest by recipe two, if these bytes are already what it writes; else the value has to be written anew
    /// ([`Value::python_digest`]).
    pub fn python_digest(&self) -> Option<Digest> {
        self.same_in_python.then_some(Digest { recipe: Recipe::PythonSortedSha256, sha256: self.digest.sha256 })
    }
}

/// Most descriptors fit without growing; who keeps the bytes gives the rest back.
const ROOM: usize = 32 << 10;

struct Writer {
    out: Vec<u8>,
    has_floats: bool,
}

impl Writer {
    fn value(&mut self, value: &Value<'_>) {
        match value {
            Value::Null => self.out.extend_from_slice(b"null"),
            Value::Bool(true) => self.out.extend_from_slice(b"true"),
            Value::Bool(false) => self.out.extend_from_slice(b"false"),
            Value::Int(n) => integer(&mut self.out, *n),
            Value::Float(n) => {
                self.has_floats = true;
                self.out.extend_from_slice(ryu_js::Buffer::new().format_finite(*n).as_bytes());
            }
            Value::String(text) => string(&mut self.out, text),
            Value::Array(items) => {
                self.out.push(b'[');
                for (i, item) in items.iter().enumerate() {
                    if i > 0 {
                        self.out.push(b',');
                    }
                    self.value(item);
                }
                self.out.push(b']');
            }
            Value::Object(object) => {
                self.out.push(b'{');
                for (i, (name, item)) in object.iter().enumerate() {
                    if i > 0 {
                        self.out.push(b',');
                    }
                    string(&mut self.out, name);
                    self.out.push(b':');
                    self.value(item);
                }
                self.out.push(b'}');
            }
        }
    }
}

/// An integer in decimal; both recipes write it alike.
pub(super) fn integer(out: &mut Vec<u8>, n: i64) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    let mut rest = n.unsigned_abs();
    loop {
        at -= 1;
        digits[at] = b"0123456789"[(rest % 10) as usize];
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if n < 0 {
        out.push(b'-');
    }
    out.extend_from_slice(&digits[at..]);
}

fn string(out: &mut Vec<u8>, text: &str) {
    let bytes = text.as_bytes();
    out.push(b'"');
    let mut from = 0;
    loop {
        let end = plain_run(bytes, from);
        out.extend_from_slice(&bytes[from..end]);
        let Some(byte) = bytes.get(end) else { break };
        escape(out, *byte);
        from = end + 1;
    }
    out.push(b'"');
}

/// A quote, a backslash or a control character, in the form that RFC 8785 and CPython share.
pub(super) fn escape(out: &mut Vec<u8>, byte: u8) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let short = match byte {
        b'"' => b'"',
        b'\\' => b'\\',
        0x08 => b'b',
        0x09 => b't',
        0x0a => b'n',
        0x0c => b'f',
        0x0d => b'r',
        _ => {
            out.extend_from_slice(b"\\u00");
            out.extend_from_slice(&[HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
            return;
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}
