//! Lists in pieces: where a piece begins is a cursor that only its own list understands.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde::{Deserialize, Deserializer, Serialize, de::DeserializeOwned};
use utoipa::ToSchema;

use crate::web::{Kind, Problem};

/// One piece of a list.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Page<T> {
    /// What is in this piece.
    pub(super) items: Vec<T>,
    /// Where the next piece begins; null after the last one.
    pub(super) next_cursor: Option<String>,
}

/// How many items a piece has.
#[derive(Clone, Copy, Debug, ToSchema)]
#[schema(value_type = u32, minimum = 1, maximum = 200, default = 50)]
pub(super) struct Limit(u32);

/// What fits a screen many times over; a client that wants all of them follows cursors.
const MAX_LIMIT: u32 = 200;
const DEFAULT_LIMIT: u32 = 50;
/// Cursors of ours are shorter.
const MAX_CURSOR: usize = 2_048;

impl<T> Page<T> {
    /// All there is.
    pub(super) const fn whole(items: Vec<T>) -> Self {
        Self { items, next_cursor: None }
    }

    /// A piece of rows that were asked for with one more than `limit`: if that one came, another piece follows.
    pub(super) fn of<R, K: Serialize>(
        mut rows: Vec<R>,
        limit: Limit,
        key: impl Fn(&R) -> K,
        item: impl FnMut(R) -> T,
    ) -> Self {
        let size = limit.0 as usize;
        let more = rows.len() > size;
        rows.truncate(size);
        let next_cursor = rows.last().filter(|_| more).map(|last| cursor(&key(last)));
        Self { items: rows.into_iter().map(item).collect(), next_cursor }
    }
}

impl Limit {
    /// How many rows to ask for: one more shows whether there are more.
    pub(super) const fn rows(self) -> u32 {
        self.0 + 1
    }
}

impl Default for Limit {
    fn default() -> Self {
        Self(DEFAULT_LIMIT)
    }
}

impl<'de> Deserialize<'de> for Limit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match u32::deserialize(deserializer)? {
            n @ 1..=MAX_LIMIT => Ok(Self(n)),
            _ => Err(serde::de::Error::custom("limit must be 1 to 200")),
        }
    }
}

/// A place in a list, as text for an address.
pub(crate) fn cursor<K: Serialize>(key: &K) -> String {
    URL_SAFE_NO_PAD.encode(serde_json::to_vec(key).unwrap_or_default())
}

/// Where a piece begins, or `start`.
pub(crate) fn after<K: DeserializeOwned>(cursor: Option<&str>, start: K) -> Result<K, Problem> {
    let Some(text) = cursor else { return Ok(start) };
    let key = (text.len() <= MAX_CURSOR).then(|| URL_SAFE_NO_PAD.decode(text).ok()).flatten();
    key.and_then(|key| serde_json::from_slice(&key).ok()).ok_or_else(|| Problem::new(Kind::CursorMalformed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_read_through_in_pieces() {
        let rows = |after: u32, limit: Limit| (after + 1..=5).take(limit.rows() as usize).collect::<Vec<u32>>();
        let (limit, mut seen, mut cursor) = (Limit(2), vec![], None);
        loop {
            let from = after(cursor.as_deref(), 0_u32).expect("its own cursor");
            let page = Page::of(rows(from, limit), limit, |row| *row, |row| row);
            seen.push(page.items);
            cursor = page.next_cursor;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(seen, [vec![1, 2], vec![3, 4], vec![5]]);
    }

    #[test]
    fn limits_and_cursors_have_bounds() {
        for (text, ok) in [("1", true), ("200", true), ("0", false), ("201", false), ("-1", false), ("x", false)] {
            assert_eq!(serde_json::from_str::<Limit>(text).is_ok(), ok, "{text}");
        }
        for text in ["!", "AAAA", &"A".repeat(2_049)] {
            assert!(after::<(i64, String)>(Some(text), (0, String::new())).is_err(), "{text}");
        }
    }
}
