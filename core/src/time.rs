//! Points in time, as the caller of core states them.

use std::{fmt, time::Duration};

use serde::{Deserialize, Serialize};

/// A point in time: milliseconds since the Unix epoch, never negative.
///
/// Seconds and milliseconds can't be mixed up, since every way in and out names its unit.
///
/// ```
/// use std::time::Duration;
/// use pup_extension::time::Timestamp;
///
/// let start = Timestamp::from_secs(1_785_196_800);
/// assert_eq!(start.as_millis(), 1_785_196_800_000);
/// assert_eq!((start + Duration::from_millis(1_500)).as_secs(), 1_785_196_801);
/// assert_eq!(start.since(start + Duration::from_secs(1)), Duration::ZERO);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(u64);

impl Timestamp {
    /// The epoch, the earliest time there is.
    pub const EPOCH: Self = Self(0);

    /// From whole seconds since the epoch. Saturates (in the year 584,556,019).
    #[must_use]
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs.saturating_mul(1_000))
    }

    /// From milliseconds since the epoch.
    #[must_use]
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis)
    }

    /// Whole seconds since the epoch, rounded down.
    #[must_use]
    pub const fn as_secs(self) -> u64 {
        self.0 / 1_000
    }

    /// Milliseconds since the epoch.
    #[must_use]
    pub const fn as_millis(self) -> u64 {
        self.0
    }

    /// The time from `earlier` to this one; zero if `earlier` is in fact later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }
}

impl std::ops::Add<Duration> for Timestamp {
    type Output = Self;

    /// Saturates; parts of a millisecond are dropped.
    fn add(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)))
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:03}", self.0 / 1_000, self.0 % 1_000)
    }
}
