//! Timestamps as texts in RFC 3339 form, which transcripts and headers use. Calendar arithmetic comes from the crate `time`; its
//! parser would be larger than this whole module.

use alloc::{format, string::String};

use time::{Date, Month, OffsetDateTime, Time};

use crate::id::UnixMillis;

impl UnixMillis {
    /// The last timestamp that RFC 3339 can represent: its years have four digits.
    const LAST: Self = Self(253_402_300_799_999);

    /// The timestamp in UTC with milliseconds (`2026-01-02T03:04:05.678Z`).
    #[must_use]
    pub fn to_rfc3339(self) -> String {
        let UnixMillis(millis) = self.min(Self::LAST);
        let (seconds, milli) = (millis / 1000, millis % 1000);
        // Every value within the four-digit years is valid: this cannot fail.
        let at = i64::try_from(seconds).ok();
        let at = at.and_then(|seconds| OffsetDateTime::from_unix_timestamp(seconds).ok());
        let at = at.unwrap_or(OffsetDateTime::UNIX_EPOCH);
        let (year, month, day) = at.to_calendar_date();
        let (hour, minute, second) = at.to_hms();
        let month = u8::from(month);
        format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z")
    }

    /// Parses a timestamp with any offset; none if it is invalid or before 1970.
    #[must_use]
    pub fn parse_rfc3339(text: &str) -> Option<Self> {
        let (date, rest) = text.split_at_checked(10)?;
        let rest = rest.strip_prefix(['T', 't', ' '])?;
        let (time, zone) = rest.split_at(rest.find(['Z', 'z', '+', '-'])?);
        let (clock, fraction) = time.split_once('.').unwrap_or((time, "0"));
        let [year, month, day] = fields(date, '-', [4, 2, 2])?;
        let [hour, minute, second] = fields(clock, ':', [2, 2, 2])?;
        // A leap second counts as the start of the next minute.
        let leap = u16::from(second == 60);
        let second = second - leap;
        let small = |number: u16| u8::try_from(number).ok();
        let month = Month::try_from(small(month)?).ok()?;
        let date = Date::from_calendar_date(i32::from(year), month, small(day)?).ok()?;
        let time = Time::from_hms(small(hour)?, small(minute)?, small(second)?).ok()?;
        let local = date.with_time(time).assume_utc().unix_timestamp();
        let seconds = local + i64::from(leap) - offset(zone)?;
        u64::try_from(seconds)
            .ok()?
            .checked_mul(1000)?
            .checked_add(millis(fraction)?)
            .map(Self)
    }
}

/// Numbers with exactly these digit counts.
fn fields<const N: usize>(text: &str, separator: char, digits: [usize; N]) -> Option<[u16; N]> {
    let mut parts = text.split(separator);
    let mut numbers = [0; N];
    for (number, digits) in numbers.iter_mut().zip(digits) {
        let part = parts.next()?;
        if part.len() != digits || !part.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        *number = part.parse().ok()?;
    }
    parts.next().is_none().then_some(numbers)
}

/// The first three digits after the decimal point.
fn millis(fraction: &str) -> Option<u64> {
    if fraction.is_empty() || !fraction.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let digits = fraction.bytes().chain([b'0'; 2]).take(3);
    Some(digits.fold(0, |sum, digit| sum * 10 + u64::from(digit - b'0')))
}

/// The seconds of an offset such as `+02:00`.
fn offset(zone: &str) -> Option<i64> {
    if zone.eq_ignore_ascii_case("z") {
        return Some(0);
    }
    let [hours, minutes] = fields(zone.get(1..)?, ':', [2, 2])?;
    if hours > 23 || minutes > 59 {
        return None;
    }
    let seconds = i64::from(hours) * 3600 + i64::from(minutes) * 60;
    Some(if zone.starts_with('-') {
        -seconds
    } else {
        seconds
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_and_read_back() {
        for (at, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_001, "2000-02-29T00:00:00.001Z"),
            (1_767_323_045_678, "2026-01-02T03:04:05.678Z"),
            (4_107_542_399_000, "2100-02-28T23:59:59.000Z"),
        ] {
            assert_eq!(UnixMillis(at).to_rfc3339(), text);
            assert_eq!(UnixMillis::parse_rfc3339(text), Some(UnixMillis(at)));
        }
        let at = Some(UnixMillis(1_767_323_045_000));
        for text in [
            "2026-01-02T03:04:05Z",
            "2026-01-02T05:04:05+02:00",
            "2026-01-01 22:34:05.0004-04:30",
        ] {
            assert_eq!(UnixMillis::parse_rfc3339(text), at, "{text}");
        }
    }

    #[test]
    fn a_leap_second_is_the_beginning_of_the_next_minute() {
        let read = |text| UnixMillis::parse_rfc3339(text).map(UnixMillis::to_rfc3339);
        let next = read("2016-12-31T23:59:60.5Z");
        assert_eq!(next.as_deref(), Some("2017-01-01T00:00:00.500Z"));
        let last = UnixMillis(u64::MAX).to_rfc3339();
        assert_eq!(last, "9999-12-31T23:59:59.999Z");
    }

    #[test]
    fn what_is_no_moment_is_none() {
        for text in [
            "",
            "2026-01-02",
            "2026-01-02T03:04:05",
            "2026-13-02T03:04:05Z",
            "2026-01-02T24:04:05Z",
            "2026/01/02T03:04:05Z",
            "1969-12-31T23:59:59Z",
            "2026-01-02T03:04:05.Zé",
            "é026-01-02T03:04:05Z",
            "99999999999-01-02T03:04:05Z",
            "2026-02-30T00:00:00Z",
            "2026-01-02T03:04:05.123abcZ",
            "2026-01-02T03:04:05.Z",
            "2026-01-02T3:04:05Z",
            "2026-01-02T03:04:61Z",
            "2026-01-02T03:04:05+2:00",
            "2026-01-02T03:04:05+24:00",
            "2026-+1-02T03:04:05Z",
        ] {
            assert_eq!(UnixMillis::parse_rfc3339(text), None, "{text}");
        }
    }
}
