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

    /// As RFC 3339 has it, in UTC and to the millisecond.
    ///
    /// ```
    /// use pup_extension::time::Timestamp;
    ///
    /// assert_eq!(Timestamp::from_millis(1_785_196_800_042).to_rfc3339(), "2026-07-28T00:00:00.042Z");
    /// ```
    #[must_use]
    pub fn to_rfc3339(self) -> String {
        let (days, millis) = (self.0 / 86_400_000, self.0 % 86_400_000);
        let (year, month, day) = civil(days);
        let (hour, minute) = (millis / 3_600_000, millis / 60_000 % 60);
        let (second, milli) = (millis / 1_000 % 60, millis % 1_000);
        format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z")
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
        Self(
            self.0
                .saturating_add(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)),
        )
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:03}", self.0 / 1_000, self.0 % 1_000)
    }
}

/// Year, month and day of a number of days since the epoch, in the Gregorian calendar.
///
/// Years are counted from March, so that the day which leap years add is the last of its year, and in eras of 400
/// years, which are all of the same length.
fn civil(days: u64) -> (u64, u64, u64) {
    // From the first of March of the year 0.
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_come_out_right_around_leap_days_and_centuries() {
        for (secs, date) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_399, "2000-02-28T23:59:59.000Z"),
            (951_782_400, "2000-02-29T00:00:00.000Z"),
            (951_868_800, "2000-03-01T00:00:00.000Z"),
            (1_709_251_199, "2024-02-29T23:59:59.000Z"),
            (1_735_689_599, "2024-12-31T23:59:59.000Z"),
            (1_785_196_800, "2026-07-28T00:00:00.000Z"),
            (4_107_542_399, "2100-02-28T23:59:59.000Z"),
            (4_107_542_400, "2100-03-01T00:00:00.000Z"),
            (253_402_300_799, "9999-12-31T23:59:59.000Z"),
        ] {
            assert_eq!(Timestamp::from_secs(secs).to_rfc3339(), date);
        }
        assert_eq!(
            Timestamp::from_millis(1_007).to_rfc3339(),
            "1970-01-01T00:00:01.007Z"
        );
    }

    #[test]
    fn the_last_time_there_is_has_a_date() {
        assert!(
            Timestamp::from_millis(u64::MAX)
                .to_rfc3339()
                .starts_with("584556019-")
        );
    }
}
