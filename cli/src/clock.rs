//! The time that a request is signed with.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use pup_extension::time::Timestamp;

use crate::error::{ClientError, Inner};

#[derive(Clone, Copy, Debug)]
pub(crate) enum Clock {
    /// The system's time, this many seconds off.
    System { skew_secs: i64 },
    /// Always this time.
    Fixed(Timestamp),
}

impl Clock {
    pub(crate) fn now(self) -> Result<Timestamp, ClientError> {
        let skew_secs = match self {
            Self::Fixed(timestamp) => return Ok(timestamp),
            Self::System { skew_secs } => skew_secs,
        };
        let system = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or(Duration::ZERO);
        let skew = Duration::from_secs(skew_secs.unsigned_abs());
        let skewed = if skew_secs < 0 {
            system.checked_sub(skew)
        } else {
            system.checked_add(skew)
        };
        let millis = skewed.and_then(|time| u64::try_from(time.as_millis()).ok());
        Ok(Timestamp::from_millis(millis.ok_or(Inner::ClockRange)?))
    }
}

/// The time in the form of RFC 3339, UTC, to the millisecond: `2026-07-28T00:00:00.000Z`.
pub(crate) fn rfc3339(time: Timestamp) -> String {
    let secs = time.as_secs();
    let (year, month, day) = civil(secs / 86_400);
    let (hour, minute, second) = (secs / 3_600 % 24, secs / 60 % 60, secs % 60);
    let millis = time.as_millis() % 1_000;
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
}

/// Year, month and day of a day since 1970-01-01, counted through the 146,097 days of each 400 years. The
/// year is taken to start in March, so that the leap day comes last.
fn civil(days_since_epoch: u64) -> (u64, u64, u64) {
    let days = days_since_epoch + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 {
        march_month + 3
    } else {
        march_month - 9
    };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_rfc_3339() {
        for (secs, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_399, "2000-02-28T23:59:59.000Z"),
            (951_782_400, "2000-02-29T00:00:00.000Z"),
            (951_868_800, "2000-03-01T00:00:00.000Z"),
            (1_785_196_800, "2026-07-28T00:00:00.000Z"),
            (4_107_542_399, "2100-02-28T23:59:59.000Z"),
            (4_107_542_400, "2100-03-01T00:00:00.000Z"),
        ] {
            assert_eq!(rfc3339(Timestamp::from_secs(secs)), text);
        }
        assert_eq!(
            rfc3339(Timestamp::from_millis(1_007)),
            "1970-01-01T00:00:01.007Z"
        );
    }

    #[test]
    fn a_skew_moves_the_clock_both_ways() {
        let now = Clock::System { skew_secs: 0 }.now().unwrap();
        let late = Clock::System { skew_secs: -600 }.now().unwrap();
        let early = Clock::System { skew_secs: 600 }.now().unwrap();
        assert!((595..=600).contains(&now.since(late).as_secs()), "{late:?}");
        assert!(
            (600..=605).contains(&early.since(now).as_secs()),
            "{early:?}"
        );
        assert!(
            Clock::System {
                skew_secs: i64::MIN
            }
            .now()
            .is_err()
        );
        assert_eq!(
            Clock::Fixed(Timestamp::EPOCH).now().unwrap(),
            Timestamp::EPOCH
        );
    }
}
