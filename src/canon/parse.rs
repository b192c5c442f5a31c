//! The strict parser: JSON text to a borrowed tree in one pass.
//!
//! Written by hand, over text that is known to be UTF-8, because a general reader loses what must be refused or named:
//! integers wider than 64 bits come out of it as rounded doubles, `-0` as a double, and an error without its path.
//! Time is linear but for the sorting of names. The stack is bounded by [`MAX_DEPTH`].

use std::borrow::Cow;

use super::{
    Code, Object, Refused, Value, number, order::utf16_order, pointer::push_token, run::plain_run, value::Member,
};

/// The longest object that is read: a descriptor of 1 MiB is ten times the largest ever seen.
pub const MAX_BYTES: usize = 1 << 20;
/// The deepest nesting that is read: twice the deepest schema seen, far from any stack's end.
pub const MAX_DEPTH: usize = 100;

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
    let whole = |code, offset| Refused { code, pointer: String::new(), offset };
    if bytes.len() > max {
        return Err(whole(Code::TooLarge, max));
    }
    if bytes.starts_with(b"\xef\xbb\xbf") {
        return Err(whole(Code::Bom, 0));
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => Reader::new(text).document(),
        Err(e) => {
            let offset = e.valid_up_to();
            // The text before the bad byte breaks off exactly there, so reading it names the value the byte is in.
            let before = std::str::from_utf8(&bytes[..offset]).unwrap_or_default();
            let broken_off = Reader::new(before).document().err().filter(|r| r.offset == offset);
            Err(Refused { code: Code::InvalidUtf8, pointer: broken_off.map(|r| r.pointer).unwrap_or_default(), offset })
        }
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    /// Members and elements of the containers that are open, outermost first; a container takes its own when it ends,
    /// so that each tree node is allocated once and at its size.
    members: Vec<Member<'a>>,
    items: Vec<Value<'a>>,
    fault: Option<(Code, usize)>,
    /// Names and indexes from the fault outwards, gathered while the readers return.
    path: Vec<String>,
}

/// Reading has stopped; the reader's `fault` says why.
struct Stop;

impl<'a> Reader<'a> {
    const fn new(text: &'a str) -> Self {
        Self { text, at: 0, depth: 0, members: Vec::new(), items: Vec::new(), fault: None, path: Vec::new() }
    }

    fn document(mut self) -> Result<Value<'a>, Refused> {
        self.space();
        let value = self.value().and_then(|value| {
            self.space();
            if self.at == self.text.len() { Ok(value) } else { self.stop(Code::Syntax, self.at) }
        });
        value.map_err(|Stop| {
            let (code, offset) = self.fault.unwrap_or((Code::Syntax, self.at));
            let mut pointer = String::new();
            for token in self.path.iter().rev() {
                push_token(&mut pointer, token);
            }
            Refused { code, pointer, offset }
        })
    }

    fn value(&mut self) -> Result<Value<'a>, Stop> {
        match self.peek() {
            Some(b'"') => self.string().map(Value::String),
            Some(b'{') => self.object(),
            Some(b'[') => self.array(),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word("true", Value::Bool(true)),
            Some(b'f') => self.word("false", Value::Bool(false)),
            Some(b'n') => self.word("null", Value::Null),
            _ => self.stop(Code::Syntax, self.at),
        }
    }

    fn object(&mut self) -> Result<Value<'a>, Stop> {
        self.enter()?;
        let first = self.members.len();
        if !self.eat(b'}') {
            loop {
                let at = self.at;
                if self.peek() != Some(b'"') {
                    return self.stop(Code::Syntax, at);
                }
                let name = self.string()?;
                self.space();
                if !self.eat(b':') {
                    return self.stop(Code::Syntax, self.at);
                }
                self.space();
                match self.value() {
                    Ok(value) => self.members.push(Member { name, value, at }),
                    Err(Stop) => {
                        self.path.push(name.into_owned());
                        return Err(Stop);
                    }
                }
                if !self.another(b'}')? {
                    break;
                }
            }
        }
        self.depth -= 1;
        let mut members = self.members.split_off(first);
        // Stable, so that of two members with one name the later in the source stands second.
        members.sort_by(|a, b| utf16_order(&a.name, &b.name));
        let twice = members.windows(2).filter(|pair| pair[0].name == pair[1].name).map(|pair| &pair[1]);
        if let Some(member) = twice.min_by_key(|member| member.at) {
            self.path.push(member.name.clone().into_owned());
            return self.stop(Code::DuplicateKey, member.at);
        }
        Ok(Value::Object(Object { members }))
    }

    fn array(&mut self) -> Result<Value<'a>, Stop> {
        self.enter()?;
        let first = self.items.len();
        if !self.eat(b']') {
            loop {
                match self.value() {
                    Ok(value) => self.items.push(value),
                    Err(Stop) => {
                        self.path.push((self.items.len() - first).to_string());
                        return Err(Stop);
                    }
                }
                if !self.another(b']')? {
                    break;
                }
            }
        }
        self.depth -= 1;
        Ok(Value::Array(self.items.split_off(first)))
    }

    /// Steps over an opening bracket and the space behind it.
    fn enter(&mut self) -> Result<(), Stop> {
        if self.depth == MAX_DEPTH {
            return self.stop(Code::TooDeep, self.at);
        }
        self.depth += 1;
        self.at += 1;
        self.space();
        Ok(())
    }

    /// After an element: whether a comma promises another one, or the container ends.
    fn another(&mut self, end: u8) -> Result<bool, Stop> {
        self.space();
        if self.eat(b',') {
            self.space();
            return Ok(true);
        }
        if self.eat(end) { Ok(false) } else { self.stop(Code::Syntax, self.at) }
    }

    fn string(&mut self) -> Result<Cow<'a, str>, Stop> {
        let start = self.at + 1;
        let end = plain_run(self.text.as_bytes(), start);
        self.at = end;
        if self.eat(b'"') { Ok(Cow::Borrowed(&self.text[start..end])) } else { self.unescaped(start).map(Cow::Owned) }
    }

    /// The rest of a string whose first plain run, from `start`, has just been passed.
    fn unescaped(&mut self, start: usize) -> Result<String, Stop> {
        // Room for the run that follows, so that most strings with one escape are allocated once.
        let mut out = String::with_capacity(self.at - start + 64);
        out.push_str(&self.text[start..self.at]);
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(out);
                }
                Some(b'\\') => out.push(self.escape()?),
                // A control character, or the end of the text.
                _ => return self.stop(Code::Syntax, self.at),
            }
            let from = self.at;
            self.at = plain_run(self.text.as_bytes(), from);
            out.push_str(&self.text[from..self.at]);
        }
    }

    fn escape(&mut self) -> Result<char, Stop> {
        let at = self.at;
        self.at += 1;
        let c = match self.peek() {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                let Some(unit) = self.unit() else { return self.stop(Code::Syntax, at) };
                let low = match unit {
                    0xd800..0xdc00 if self.text[self.at..].starts_with("\\u") => {
                        self.at += 1;
                        self.unit()
                    }
                    _ => None,
                };
                let units = [unit, low.unwrap_or_default()];
                let decoded = char::decode_utf16(units).next();
                return match decoded {
                    Some(Ok(c)) => Ok(c),
                    _ => self.stop(Code::LoneSurrogate, at),
                };
            }
            _ => return self.stop(Code::Syntax, at),
        };
        self.at += 1;
        Ok(c)
    }

    /// The code unit of `uXXXX`, where the reader stands on the `u`.
    fn unit(&mut self) -> Option<u16> {
        let hex = self.text.as_bytes().get(self.at + 1..self.at + 5)?;
        let mut unit = 0;
        for digit in hex {
            unit = unit << 4 | u16::try_from(char::from(*digit).to_digit(16)?).ok()?;
        }
        self.at += 5;
        Some(unit)
    }

    fn number(&mut self) -> Result<Value<'a>, Stop> {
        match number::read(self.text, self.at) {
            Ok((value, end)) => {
                self.at = end;
                Ok(value)
            }
            Err((code, offset)) => self.stop(code, offset),
        }
    }

    fn word(&mut self, word: &str, value: Value<'a>) -> Result<Value<'a>, Stop> {
        if !self.text[self.at..].starts_with(word) {
            return self.stop(Code::Syntax, self.at);
        }
        self.at += word.len();
        Ok(value)
    }

    fn space(&mut self) {
        while let Some(b' ' | b'\n' | b'\t' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    fn eat(&mut self, byte: u8) -> bool {
        let there = self.peek() == Some(byte);
        self.at += usize::from(there);
        there
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    #[cold]
    fn stop<T>(&mut self, code: Code, offset: usize) -> Result<T, Stop> {
        self.fault = Some((code, offset));
        Err(Stop)
    }
}
