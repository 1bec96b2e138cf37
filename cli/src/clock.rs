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

#[cfg(test)]
mod tests {
    use super::*;

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
