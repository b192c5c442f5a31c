//! The forms in which a string is looked at, each with a way back to what the publisher wrote.
//!
//! A rule reads lower-case text in which nothing hides: [`normal`], then [`folded`], then both again over [`decoded`]
//! text. Each form is made in one pass, is at most a constant times as long as what it was made from, and maps every
//! byte to the raw bytes it came from. Plain ASCII text, which most descriptors are, skips all of it but lower case.

mod decode;
mod fold;
mod normal;
mod survey;

pub(super) use decode::decoded;
pub(super) use fold::folded;
pub(super) use normal::normal;
pub(super) use survey::Survey;

/// A form of a string.
#[derive(Debug)]
pub(super) struct Text<'t> {
    pub(super) text: std::borrow::Cow<'t, str>,
    map: Map,
}

/// Where each byte of a form came from.
#[derive(Clone, Debug)]
enum Map {
    /// Byte for byte.
    Same,
    /// The raw range of each byte.
    Ranges(Vec<(u32, u32)>),
}

impl<'t> Text<'t> {
    /// A string as it stands.
    pub(super) const fn raw(text: &'t str) -> Self {
        Self { text: std::borrow::Cow::Borrowed(text), map: Map::Same }
    }

    /// The raw range that these bytes of the form came from; it covers every byte that had a part in them.
    pub(super) fn origin(&self, start: usize, end: usize) -> (usize, usize) {
        match &self.map {
            Map::Same => (start, end),
            Map::Ranges(ranges) => {
                let first = ranges.get(start).map_or(0, |r| r.0);
                let last = ranges.get(end.saturating_sub(1)).map_or(first, |r| r.1);
                (first as usize, last.max(first) as usize)
            }
        }
    }

    /// The raw range of one byte.
    fn byte(&self, at: usize) -> (u32, u32) {
        match &self.map {
            Map::Same => (offset(at), offset(at + 1)),
            Map::Ranges(ranges) => ranges.get(at).copied().unwrap_or_default(),
        }
    }
}

/// Offsets fit 32 bits: a descriptor has at most 1 MiB, and a form is at most some twenty times as long as its source.
fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// Builds a form out of what changes; what lies between is copied.
struct Builder<'s> {
    from: &'s Text<'s>,
    text: String,
    ranges: Vec<(u32, u32)>,
    /// How far the source has been taken over.
    taken: usize,
    changed: bool,
}

impl<'s> Builder<'s> {
    const fn new(from: &'s Text<'s>) -> Self {
        Self { from, text: String::new(), ranges: Vec::new(), taken: 0, changed: false }
    }

    /// Puts a piece in place of the bytes `start..end` of the source; an empty one drops them. Places come in order.
    fn put(&mut self, piece: &str, start: usize, end: usize) {
        self.copy_up_to(start);
        let range = (self.from.byte(start).0, self.from.byte(end.saturating_sub(1)).1);
        self.text.push_str(piece);
        self.ranges.resize(self.text.len(), range);
        self.taken = end;
        self.changed = true;
    }

    fn put_char(&mut self, c: char, start: usize, end: usize) {
        self.put(c.encode_utf8(&mut [0; 4]), start, end);
    }

    fn copy_up_to(&mut self, end: usize) {
        self.text.push_str(&self.from.text[self.taken..end]);
        match &self.from.map {
            Map::Same => self.ranges.extend((self.taken..end).map(|at| (offset(at), offset(at + 1)))),
            Map::Ranges(ranges) => self.ranges.extend_from_slice(&ranges[self.taken..end]),
        }
        self.taken = end;
    }

    /// The form, or `None` if nothing was put.
    fn finish<'t>(mut self) -> Option<Text<'t>> {
        if !self.changed {
            return None;
        }
        self.copy_up_to(self.from.text.len());
        Some(Text { text: std::borrow::Cow::Owned(self.text), map: Map::Ranges(self.ranges) })
    }
}
