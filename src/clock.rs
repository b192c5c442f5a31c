//! Points in time and lengths of time, as numbers.
//!
//! Nothing here reads a clock: whoever needs "now" takes a [`Timestamp`] as an argument, and only `env` asks the
//! system for one. A timestamp counts microseconds since the Unix epoch, which is what the log and the database store;
//! documents show it as RFC 3339 in UTC with six fractional digits (`2026-11-30T09:20:00.000000Z`), so that equal times
//! have equal bytes and times compare as texts do. The last one is `9999-12-30T21:59:59.999999Z`.

use std::{fmt, ops::Add, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Microseconds since 1970-01-01T00:00:00Z, between the years 1970 and 9999.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Timestamp(i64);

/// A length of time in microseconds, never negative.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Span(i64);

/// The text or number is no time between 1970 and 9999.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("not a UTC time of the form 2026-11-30T09:20:00.000000Z")]
pub struct NotATime;

impl Timestamp {
    /// The first moment a timestamp can name; useful as "always".
    pub const EPOCH: Self = Self(0);
    /// The last moment a timestamp can name: one day before the year 9999 ends (jiff's bound).
    pub const MAX: Self = Self(253_402_207_199_999_999);

    /// The time that is `micros` microseconds after the epoch, if a timestamp can name it.
    pub const fn from_micros(micros: i64) -> Option<Self> {
        if micros < 0 || micros > Self::MAX.0 { None } else { Some(Self(micros)) }
    }

    /// Microseconds since the epoch.
    pub const fn micros(self) -> i64 {
        self.0
    }

    /// How long `earlier` lies before `self`; zero if it doesn't.
    pub const fn since(self, earlier: Self) -> Span {
        if self.0 > earlier.0 { Span(self.0 - earlier.0) } else { Span(0) }
    }

    /// `span` before `self`, and the epoch where that would be earlier.
    pub const fn minus(self, span: Span) -> Self {
        if self.0 > span.0 { Self(self.0 - span.0) } else { Self::EPOCH }
    }
}

/// Saturates at [`Timestamp::MAX`]: a lifetime added to a time never wraps into the past.
impl Add<Span> for Timestamp {
    type Output = Self;

    fn add(self, span: Span) -> Self {
        Self(self.0.saturating_add(span.0).min(Self::MAX.0))
    }
}

impl Span {
    /// No time at all.
    pub const ZERO: Self = Self(0);

    /// `n` microseconds.
    pub const fn micros(n: u32) -> Self {
        Self(n as i64)
    }

    /// `n` milliseconds.
    pub const fn millis(n: u32) -> Self {
        Self(n as i64 * 1_000)
    }

    /// `n` seconds.
    pub const fn seconds(n: u32) -> Self {
        Self(n as i64 * 1_000_000)
    }

    /// `n` minutes.
    pub const fn minutes(n: u32) -> Self {
        Self(n as i64 * 60_000_000)
    }

    /// `n` hours.
    pub const fn hours(n: u32) -> Self {
        Self(n as i64 * 3_600_000_000)
    }

    /// `n` days of 24 hours.
    pub const fn days(n: u32) -> Self {
        Self(n as i64 * 86_400_000_000)
    }

    /// The length in microseconds.
    pub const fn as_micros(self) -> i64 {
        self.0
    }

    /// The length in whole seconds, rounded down.
    pub const fn as_seconds(self) -> i64 {
        self.0 / 1_000_000
    }
}

impl From<Span> for std::time::Duration {
    fn from(span: Span) -> Self {
        Self::from_micros(span.0.unsigned_abs())
    }
}

/// RFC 3339 in UTC, always with six fractional digits.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = jiff::Timestamp::from_microsecond(self.0).map_err(|_| fmt::Error)?;
        write!(f, "{at:.6}")
    }
}

/// Only the form that [`Display`](fmt::Display) writes, so that a signed time has one spelling.
impl FromStr for Timestamp {
    type Err = NotATime;

    fn from_str(text: &str) -> Result<Self, NotATime> {
        let at: jiff::Timestamp = text.parse().map_err(|_| NotATime)?;
        let at = Self::from_micros(at.as_microsecond()).ok_or(NotATime)?;
        if at.to_string() == text { Ok(at) } else { Err(NotATime) }
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_one_spelling() {
        let at = Timestamp::from_micros(1_796_025_600_000_001).expect("in range");
        assert_eq!(at.to_string(), "2026-11-30T08:00:00.000001Z");
        assert_eq!("2026-11-30T08:00:00.000001Z".parse(), Ok(at));
        for other in [
            "2026-11-30T08:00:00Z",
            "2026-11-30T08:00:00.0000010Z",
            "2026-11-30T09:00:00.000001+01:00",
            "2026-11-30t08:00:00.000001z",
            "2026-11-30T08:00:00.000001",
            "1969-12-31T23:59:59.000000Z",
            "",
        ] {
            assert_eq!(other.parse::<Timestamp>(), Err(NotATime), "{other}");
        }
    }

    #[test]
    fn the_range_ends_with_the_year_9999_and_sums_stay_inside_it() {
        assert_eq!(Timestamp::MAX.to_string(), "9999-12-30T21:59:59.999999Z");
        assert_eq!(Timestamp::from_micros(Timestamp::MAX.micros() + 1), None);
        assert_eq!(Timestamp::from_micros(-1), None);
        assert_eq!(Timestamp::MAX + Span::days(1), Timestamp::MAX);
        assert_eq!(Timestamp::EPOCH.minus(Span::days(1)), Timestamp::EPOCH);
        assert_eq!(Timestamp::EPOCH.since(Timestamp::MAX), Span::ZERO);
    }
}
