//! Why the strict parser turned bytes away, and where.

use std::fmt;

/// Why bytes were refused and where.
///
/// Of several faults the first in reading order is reported, but for two: bytes that aren't UTF-8 are found before
/// anything is read, and a duplicate member when its object ends.
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
    /// Nested more than [`MAX_DEPTH`](super::MAX_DEPTH) levels.
    TooDeep,
    /// Longer than [`MAX_BYTES`](super::MAX_BYTES).
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
