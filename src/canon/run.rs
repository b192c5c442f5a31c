//! Runs of bytes that stand for themselves in a JSON string.

const ONES: u64 = u64::from_ne_bytes([1; 8]);
const HIGHS: u64 = ONES << 7;

/// Where the run that starts at `from` ends: at the first quote, backslash or control character, or at the end.
pub(super) fn plain_run(bytes: &[u8], from: usize) -> usize {
    run(bytes, from, special, |byte| matches!(byte, b'"' | b'\\' | 0..0x20))
}

/// As [`plain_run`], ending at anything beyond printable ASCII, too.
pub(super) fn printable_run(bytes: &[u8], from: usize) -> usize {
    let wide_or_delete = |word| word | zeros(word ^ (ONES * 0x7f));
    run(
        bytes,
        from,
        |word| special(word) | wide_or_delete(word),
        |byte| matches!(byte, b'"' | b'\\' | 0..0x20 | 0x7f..),
    )
}

/// Eight bytes at a time. In a hit's byte the high bit is set; the lowest one is always right.
fn run(bytes: &[u8], from: usize, hits: impl Fn(u64) -> u64, ends: impl Fn(u8) -> bool) -> usize {
    let mut at = from;
    while let Some(eight) = bytes.get(at..).and_then(<[u8]>::first_chunk::<8>) {
        let hits = hits(u64::from_le_bytes(*eight)) & HIGHS;
        if hits != 0 {
            return at + hits.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    let rest = bytes.get(at..).unwrap_or_default();
    at + rest.iter().position(|byte| ends(*byte)).unwrap_or(rest.len())
}

fn special(word: u64) -> u64 {
    let controls = word.wrapping_sub(ONES * u64::from(b' ')) & !word;
    zeros(word ^ (ONES * u64::from(b'"'))) | zeros(word ^ (ONES * u64::from(b'\\'))) | controls
}

/// Sets the high bit of zero bytes: subtracting one borrows it. A borrow only reaches bytes above a hit.
fn zeros(word: u64) -> u64 {
    word.wrapping_sub(ONES) & !word
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Mostly bytes that don't end a run, so that runs of more than eight are common.
    fn byte() -> impl Strategy<Value = u8> {
        prop_oneof![9 => b' '..=b'~', 1 => any::<u8>(), 1 => prop::sample::select(b"\"\\\x1f\x20\x7e\x7f\x80".to_vec())]
    }

    proptest! {
        #[test]
        fn a_run_ends_where_a_slow_search_says(bytes in prop::collection::vec(byte(), 0..40), from in 0_usize..8) {
            let from = from.min(bytes.len());
            let slow = bytes[from..].iter().position(|b| matches!(b, b'"' | b'\\' | 0..0x20));
            prop_assert_eq!(plain_run(&bytes, from), slow.map_or(bytes.len(), |n| from + n));
            let slow = bytes[from..].iter().position(|b| !matches!(b, b' '..=b'~') || matches!(b, b'"' | b'\\'));
            prop_assert_eq!(printable_run(&bytes, from), slow.map_or(bytes.len(), |n| from + n));
        }
    }
}
