//! Short forms of values and lists for sentences.

use crate::canon::Value;

/// What fits a table cell; the whole value stands beside the sentence.
const MAX_CHARS: usize = 60;
/// More items than these are counted instead of named.
const MAX_ITEMS: usize = 6;

/// A value as JSON, or a word for nothing.
pub(super) fn short(value: Option<&Value<'_>>) -> String {
    match value {
        None => "absent".to_owned(),
        Some(Value::Object(object)) if !object.is_empty() => {
            format!("an object with {}", names(object.iter().map(|(name, _)| name)))
        }
        Some(value) => cut(&String::from_utf8_lossy(&value.to_jcs())),
    }
}

/// A name or text, cut, on one line.
pub(super) fn cut(text: &str) -> String {
    let mut out = String::new();
    for (i, c) in text.chars().enumerate() {
        if i == MAX_CHARS {
            out.push('…');
            break;
        }
        if c.is_control() { out.extend(c.escape_default()) } else { out.push(c) }
    }
    out
}

/// Names in a row: `a, b and 3 more`.
pub(super) fn names<'a>(all: impl ExactSizeIterator<Item = &'a str>) -> String {
    let count = all.len();
    let shown: Vec<String> = all.take(MAX_ITEMS).map(cut).collect();
    match count.checked_sub(MAX_ITEMS) {
        Some(more @ 1..) => format!("{} and {more} more", shown.join(", ")),
        _ => shown.join(", "),
    }
}

/// `old → new`.
pub(super) fn arrow(old: Option<&Value<'_>>, new: Option<&Value<'_>>) -> String {
    format!("{} → {}", short(old), short(new))
}
