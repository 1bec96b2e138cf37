//! Dates, times and durations: RFC 3339, whose appendix A has the durations of ISO 8601.

/// `date-time`.
pub(crate) fn is_date_time(text: &str) -> bool {
    text.split_once(['T', 't'])
        .is_some_and(|(date, time)| is_date(date) && is_time(time))
}

/// `full-date`: the day exists in its month.
pub(super) fn is_date(text: &str) -> bool {
    let &[y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = text.as_bytes() else {
        return false;
    };
    let (Some(century), Some(year), Some(month), Some(day)) =
        (two(y1, y2), two(y3, y4), two(m1, m2), two(d1, d2))
    else {
        return false;
    };
    let year = century * 100 + year;
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 => 28 + u32::from(leap),
        _ => 0,
    };
    (1..=days).contains(&day)
}

/// `full-time`: with its offset. A leap second only where there can be one: at 23:59:60 UTC.
pub(super) fn is_time(text: &str) -> bool {
    let &[h1, h2, b':', m1, m2, b':', s1, s2, ref rest @ ..] = text.as_bytes() else {
        return false;
    };
    let (Some(hour), Some(minute), Some(second)) = (two(h1, h2), two(m1, m2), two(s1, s2)) else {
        return false;
    };
    if hour > 23 || minute > 59 || second > 60 {
        return false;
    }
    let offset = match rest {
        [b'.', fraction @ ..] => {
            let offset = skip_digits(fraction);
            if offset.len() == fraction.len() {
                return false;
            }
            offset
        }
        _ => rest,
    };
    let minute_of_day = hour * 60 + minute;
    let in_utc = match *offset {
        [b'Z' | b'z'] => minute_of_day,
        [sign @ (b'+' | b'-'), h1, h2, b':', m1, m2] => match (two(h1, h2), two(m1, m2)) {
            (Some(hours @ ..=23), Some(minutes @ ..=59)) => {
                let offset = hours * 60 + minutes;
                (minute_of_day + if sign == b'+' { DAY - offset } else { offset }) % DAY
            }
            _ => return false,
        },
        _ => return false,
    };
    second < 60 || in_utc == DAY - 1
}

/// Minutes of a day.
const DAY: u32 = 24 * 60;

/// `duration`: `P` with years, months and days, then `T` with hours, minutes and seconds; or weeks alone. Units
/// come in order, and none is left out between two that are there.
pub(super) fn is_duration(text: &str) -> bool {
    let [b'P', rest @ ..] = text.as_bytes() else {
        return false;
    };
    if let Some(rest) = amount(rest, b'W') {
        return rest.is_empty();
    }
    let (date, rest) = amounts(rest, *b"YMD");
    match rest {
        [] => date,
        [b'T', rest @ ..] => amounts(rest, *b"HMS") == (true, &[]),
        _ => false,
    }
}

/// Takes amounts of successive units off the front. Whether there was any, and what is left.
fn amounts(mut rest: &[u8], units: [u8; 3]) -> (bool, &[u8]) {
    let mut any = false;
    for unit in units {
        match amount(rest, unit) {
            Some(after) => {
                any = true;
                rest = after;
            }
            None if any => break,
            None => {}
        }
    }
    (any, rest)
}

/// What follows digits and this unit.
fn amount(text: &[u8], unit: u8) -> Option<&[u8]> {
    let after = skip_digits(text);
    match after {
        [found, rest @ ..] if *found == unit && after.len() < text.len() => Some(rest),
        _ => None,
    }
}

fn skip_digits(mut text: &[u8]) -> &[u8] {
    while let [b'0'..=b'9', rest @ ..] = text {
        text = rest;
    }
    text
}

fn two(tens: u8, ones: u8) -> Option<u32> {
    Some(char::from(tens).to_digit(10)? * 10 + char::from(ones).to_digit(10)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_a_day_that_there_is() {
        for text in [
            "2026-07-28",
            "0000-01-01",
            "2024-02-29",
            "2000-02-29",
            "9999-12-31",
        ] {
            assert!(is_date(text), "{text}");
        }
        for text in [
            "2026-02-29",
            "1900-02-29",
            "2026-13-01",
            "2026-00-01",
            "2026-01-00",
            "2026-04-31",
            "26-01-01",
            "2026-1-01",
            "2026-01-01 ",
            "2026/01/01",
            "2026-01-0১",
            "+026-01-01",
            "2026-001",
            "2026-W01",
        ] {
            assert!(!is_date(text), "{text}");
        }
    }

    #[test]
    fn a_time_has_an_offset_and_leap_seconds_only_at_their_minute() {
        for text in [
            "00:00:00Z",
            "23:59:59.999999999z",
            "09:30:00+02:00",
            "23:59:60Z",
            "01:29:60+01:30",
            "15:59:60.5-08:00",
            "23:29:60+23:30",
        ] {
            assert!(is_time(text), "{text}");
        }
        for text in [
            "09:30:00",
            "24:00:00Z",
            "09:60:00Z",
            "09:30:61Z",
            "09:30:60Z",
            "22:59:60Z",
            "01:29:60+01:00",
            "09:30:00.Z",
            "09:30Z",
            "09:30:00+24:00",
            "09:30:00+01:60",
            "09:30:00+0100",
            "09:30:00 Z",
            "09:30:00Z+01:00",
            "09:30:00,5Z",
            "1২:00:00Z",
        ] {
            assert!(!is_time(text), "{text}");
        }
    }

    #[test]
    fn a_date_time_is_both() {
        assert!(is_date_time("2026-07-28T09:30:00Z"));
        assert!(is_date_time("2026-07-28t09:30:00.25+02:00"));
        for text in [
            "2026-07-28 09:30:00Z",
            "2026-07-28",
            "2026-07-28T",
            "2026-07-28T09:30:00",
            "T09:30:00Z",
        ] {
            assert!(!is_date_time(text), "{text}");
        }
    }

    #[test]
    fn a_duration_has_its_units_in_order_and_without_gaps() {
        for text in [
            "P4DT12H30M5S",
            "P1Y2M3D",
            "P3D",
            "PT36H",
            "PT0S",
            "P2W",
            "P1M",
            "PT1M",
            "PT5M7S",
        ] {
            assert!(is_duration(text), "{text}");
        }
        for text in [
            "P", "PT", "P1", "P1DT", "1D", "P1D2H", "PT1D", "P2S", "P1YT", "P1Y2W", "P1W2D",
            "P1Y2D", "PT1H2S", "P1D1D", "P1M1Y", "PT1.5S", "P-1D", "p1d", "P1W1W", "P১Y", "PT1S ",
        ] {
            assert!(!is_duration(text), "{text}");
        }
    }
}
