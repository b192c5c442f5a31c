//! Which keys count when: the part of a trust file that the log repeats, so that the fold knows what signs.
//!
//! Keys stand in the order in which they begin to count. Of the keys that sign heads one counts at any moment, the newest
//! that has begun. Keys that sign the log overlap: the one before counts until its `until`, which is not before the next
//! one's `from`, so that a reader who only knows the one before still verifies for that long.

use serde::{Deserialize, Serialize};

use crate::{canon::Sha256, clock::Timestamp, keys::KeyId};

/// Two keys overlap during a change; more than eight is no change. Keys that count no more stay listed, so that what they
/// signed can be verified; the oldest leave when there are more.
pub const MAX_KEYS: usize = 8;

/// The keys of a registry.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Keys {
    /// Signs trust files.
    pub root: KeyId,
    /// Sign checkpoints.
    pub logs: Vec<LogTerm>,
    /// Sign heads.
    pub heads: Vec<HeadTerm>,
}

/// When a key that signs the log counts.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct LogTerm {
    /// The key.
    pub key: KeyId,
    /// The first moment at which it counts; the epoch stands for "from the beginning".
    pub from: Timestamp,
    /// The first moment at which it counts no more; only the newest key has none.
    pub until: Option<Timestamp>,
}

/// When a key that signs heads counts: from then until the next one's time.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct HeadTerm {
    /// The key.
    pub key: KeyId,
    /// The first moment at which it counts.
    pub from: Timestamp,
}

/// A version of the trust file, as the log names it.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct TrustFile {
    /// Its version.
    pub version: u64,
    /// SHA-256 of the signed note.
    pub sha256: Sha256,
    /// The keys in it.
    pub keys: Keys,
}

impl Keys {
    /// Whether at every moment from the first key's on there is one that counts, of either kind, and no key stands twice.
    pub fn is_sound(&self) -> bool {
        let mut ids = vec![self.root];
        ids.extend(self.logs.iter().map(|log| log.key));
        ids.extend(self.heads.iter().map(|head| head.key));
        ids.sort_unstable();
        let once = ids.windows(2).all(|pair| pair[0] != pair[1]);
        let few = |n: usize| (1..=MAX_KEYS).contains(&n);
        let overlaps = |pair: &[LogTerm]| pair[0].from < pair[1].from && pair[0].until >= Some(pair[1].from);
        once && few(self.logs.len())
            && few(self.heads.len())
            && self.logs.windows(2).all(overlaps)
            && self.logs.last().is_some_and(|newest| newest.until.is_none())
            && self.heads.windows(2).all(|pair| pair[0].from < pair[1].from)
    }

    /// The keys that sign a checkpoint made at `at`.
    pub fn logs_at(&self, at: Timestamp) -> impl Iterator<Item = KeyId> {
        self.logs.iter().filter(move |log| log.counts_at(at)).map(|log| log.key)
    }

    /// The key that signs a head issued at `at`; none before the first one's time.
    pub fn head_at(&self, at: Timestamp) -> Option<KeyId> {
        self.heads.iter().rev().find(|head| head.from <= at).map(|head| head.key)
    }

    /// Every key in it.
    pub fn all(&self) -> impl Iterator<Item = KeyId> {
        let (logs, heads) = (self.logs.iter().map(|log| log.key), self.heads.iter().map(|head| head.key));
        std::iter::once(self.root).chain(logs).chain(heads)
    }
}

impl LogTerm {
    /// Whether it counts at `at`.
    pub fn counts_at(&self, at: Timestamp) -> bool {
        self.from <= at && self.until.is_none_or(|until| at < until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{clock::Span, keys::SigningKey};

    fn key(n: u8) -> KeyId {
        SigningKey::from_seed(&[n; 32]).verifying().id()
    }

    fn at(hours: u32) -> Timestamp {
        Timestamp::EPOCH + Span::hours(hours)
    }

    fn keys(logs: &[(u8, u32, Option<u32>)], heads: &[(u8, u32)]) -> Keys {
        let log =
            |&(n, from, until): &(u8, u32, Option<u32>)| LogTerm { key: key(n), from: at(from), until: until.map(at) };
        let head = |&(n, from): &(u8, u32)| HeadTerm { key: key(n), from: at(from) };
        Keys { root: key(1), logs: logs.iter().map(log).collect(), heads: heads.iter().map(head).collect() }
    }

    #[test]
    fn at_every_moment_some_key_counts() {
        let rows = [
            ("one of each", keys(&[(2, 0, None)], &[(3, 0)]), true),
            ("two that overlap", keys(&[(2, 0, Some(9)), (4, 5, None)], &[(3, 0), (5, 5)]), true),
            ("two that meet", keys(&[(2, 0, Some(5)), (4, 5, None)], &[(3, 0)]), true),
            ("a gap", keys(&[(2, 0, Some(4)), (4, 5, None)], &[(3, 0)]), false),
            ("one that never ends before another", keys(&[(2, 0, None), (4, 5, None)], &[(3, 0)]), false),
            ("the newest ends", keys(&[(2, 0, Some(9))], &[(3, 0)]), false),
            ("out of order", keys(&[(2, 5, Some(9)), (4, 5, None)], &[(3, 0)]), false),
            ("two heads at once", keys(&[(2, 0, None)], &[(3, 5), (5, 5)]), false),
            ("no log key", keys(&[], &[(3, 0)]), false),
            ("no head key", keys(&[(2, 0, None)], &[]), false),
            ("one key for two things", keys(&[(2, 0, None)], &[(2, 0)]), false),
            ("the root key for heads", keys(&[(2, 0, None)], &[(1, 0)]), false),
        ];
        for (what, keys, sound) in rows {
            assert_eq!(keys.is_sound(), sound, "{what}");
        }
        let many = |n: u8| keys(&[(2, 0, None)], &(0..n).map(|i| (i + 3, u32::from(i))).collect::<Vec<_>>());
        assert!(many(8).is_sound() && !many(9).is_sound());
    }

    #[test]
    fn keys_of_the_log_overlap_and_keys_of_heads_follow_each_other() {
        let keys = keys(&[(2, 0, Some(9)), (4, 5, None)], &[(3, 1), (5, 5)]);
        let logs = |hours| keys.logs_at(at(hours)).collect::<Vec<_>>();
        assert_eq!(
            (logs(4), logs(5), logs(8), logs(9)),
            (vec![key(2)], vec![key(2), key(4)], vec![key(2), key(4)], vec![key(4)])
        );
        let heads = [0, 1, 4, 5, 99].map(|hours| keys.head_at(at(hours)));
        assert_eq!(heads, [None, Some(key(3)), Some(key(3)), Some(key(5)), Some(key(5))]);
    }
}
