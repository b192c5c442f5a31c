//! Runs of bytes that stand for themselves in a JSON string.

/// Where the run that starts at `from` ends: at the first quote, backslash or control character, or at the end.
///
/// Eight bytes at a time: the subtraction sets a byte's high bit where the byte was too small, and the lowest such bit
/// is always right (a borrow only reaches bytes above a hit).
pub(super) fn plain_run(bytes: &[u8], from: usize) -> usize {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const HIGHS: u64 = ONES << 7;
    const QUOTES: u64 = ONES * b'"' as u64;
    const BACKSLASHES: u64 = ONES * b'\\' as u64;
    const SPACES: u64 = ONES * b' ' as u64;
    let mut at = from;
    while let Some(eight) = bytes.get(at..).and_then(<[u8]>::first_chunk::<8>) {
        let word = u64::from_le_bytes(*eight);
        let (quote, backslash) = (word ^ QUOTES, word ^ BACKSLASHES);
        let hits = (quote.wrapping_sub(ONES) & !quote)
            | (backslash.wrapping_sub(ONES) & !backslash)
            | (word.wrapping_sub(SPACES) & !word);
        if hits & HIGHS != 0 {
            return at + (hits & HIGHS).trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    let rest = bytes.get(at..).unwrap_or_default();
    at + rest.iter().position(|b| matches!(b, b'"' | b'\\' | 0..0x20)).unwrap_or(rest.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_run_ends_where_a_slow_search_says(bytes in prop::collection::vec(any::<u8>(), 0..40), from in 0_usize..8) {
            let from = from.min(bytes.len());
            let slow = bytes[from..].iter().position(|b| matches!(b, b'"' | b'\\' | 0..0x20));
            prop_assert_eq!(plain_run(&bytes, from), slow.map_or(bytes.len(), |n| from + n));
        }
    }
}
