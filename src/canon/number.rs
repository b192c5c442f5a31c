//! Number tokens: what they may look like, and which value they have.

use super::{Code, Value};

/// The largest integer that a double and its neighbours tell apart.
const SAFE: u64 = (1 << 53) - 1;
/// 2^53 has 16 digits; a token with more is beyond it, because no token starts with a needless zero.
const SAFE_DIGITS: usize = 16;

/// Reads the token that starts at `at` with a minus or a digit: its value, and where it ends.
///
/// `-0` is the integer 0, which is how CPython reads it; RFC 8785 writes 0 for either.
pub(super) fn read(text: &str, at: usize) -> Result<(Value<'static>, usize), (Code, usize)> {
    let bytes = text.as_bytes();
    let digits = |from: usize| {
        let rest = bytes.get(from..).unwrap_or_default();
        from + rest.iter().position(|b| !b.is_ascii_digit()).unwrap_or(rest.len())
    };
    let is = |at: usize, among: &[u8]| bytes.get(at).is_some_and(|b| among.contains(b));

    let first = at + usize::from(bytes[at] == b'-');
    let mut end = digits(first);
    if end == first {
        return Err((Code::Syntax, end));
    }
    if bytes[first] == b'0' && end > first + 1 {
        return Err((Code::Syntax, first + 1));
    }
    if !is(end, b".eE") {
        return match &text[first..end] {
            long if long.len() > SAFE_DIGITS => Err((Code::IntegerUnsafe, at)),
            short => match short.bytes().fold(0, |n, digit| n * 10 + u64::from(digit - b'0')) {
                n if n > SAFE => Err((Code::IntegerUnsafe, at)),
                n if first > at => Ok((Value::Int(-n.cast_signed()), end)),
                n => Ok((Value::Int(n.cast_signed()), end)),
            },
        };
    }
    if is(end, b".") {
        let from = end + 1;
        end = digits(from);
        if end == from {
            return Err((Code::Syntax, end));
        }
    }
    if is(end, b"eE") {
        let from = end + 1 + usize::from(is(end + 1, b"+-"));
        end = digits(from);
        if end == from {
            return Err((Code::Syntax, end));
        }
    }
    match text[at..end].parse::<f64>() {
        Ok(n) if n.is_finite() => Ok((Value::Float(n), end)),
        _ => Err((Code::NumberOverflow, at)),
    }
}
