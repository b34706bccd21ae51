//! Moments as texts: RFC 3339, the form that transcripts and headers use.

use alloc::{format, string::String};

use crate::id::UnixMillis;

const DAY: u64 = 86_400;

impl UnixMillis {
    /// The moment in UTC with milliseconds (`2026-01-02T03:04:05.678Z`).
    #[must_use]
    pub fn to_rfc3339(self) -> String {
        let (seconds, millis) = (self.0 / 1000, self.0 % 1000);
        let (days, time) = (seconds / DAY, seconds % DAY);
        let (year, month, day) = civil(days);
        let (hour, minute, second) = (time / 3600, time / 60 % 60, time % 60);
        format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
    }

    /// Reads a moment with any offset; none for what is not one, or before 1970.
    #[must_use]
    pub fn parse_rfc3339(text: &str) -> Option<Self> {
        let (date, rest) = text.split_at_checked(10)?;
        let rest = rest.strip_prefix(['T', 't', ' '])?;
        let zone = rest.find(['Z', 'z', '+', '-'])?;
        let (time, zone) = rest.split_at(zone);
        let (year, month, day) = (
            number(date.get(..4)?)?,
            number(date.get(5..7)?)?,
            number(date.get(8..)?)?,
        );
        let separated = date.get(4..5)? == "-" && date.get(7..8)? == "-";
        let valid = separated && (1..=12).contains(&month) && (1..=31).contains(&day);
        let (clock, fraction) = time.split_once('.').unwrap_or((time, "0"));
        let mut parts = clock.split(':').map(number);
        let (hour, minute, second) = (parts.next()??, parts.next()??, parts.next()??);
        if !valid || parts.next().is_some() || hour > 23 || minute > 59 || second > 60 {
            return None;
        }
        let millis = number(&format!("{:0<3}", fraction.get(..fraction.len().min(3))?))?;
        let local = days_since_1970(year, month, day)?
            .checked_mul(DAY)?
            .checked_add(hour * 3600 + minute * 60 + second)?;
        let utc = shift(local, zone)?;
        utc.checked_mul(1000)?.checked_add(millis).map(Self)
    }
}

fn number(digits: &str) -> Option<u64> {
    let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    plain.then(|| digits.parse().ok()).flatten()
}

/// Local seconds into UTC by an offset such as `+02:00`.
fn shift(local: u64, zone: &str) -> Option<u64> {
    if zone.eq_ignore_ascii_case("z") {
        return Some(local);
    }
    let (hours, minutes) = zone.get(1..)?.split_once(':')?;
    let offset = number(hours)? * 3600 + number(minutes)? * 60;
    match zone.as_bytes().first()? {
        b'+' => local.checked_sub(offset),
        _ => local.checked_add(offset),
    }
}

/// Days of a date in the Gregorian calendar. Years begin in March here, so that a leap day is a year's last.
fn days_since_1970(year: u64, month: u64, day: u64) -> Option<u64> {
    let year = if month <= 2 {
        year.checked_sub(1)?
    } else {
        year
    };
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let days = year * 365 + year / 4 - year / 100 + year / 400 + of_year;
    days.checked_sub(719_468)
}

fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = (from_march + 2) % 12 + 1;
    (era * 400 + year + u64::from(month <= 2), month, day)
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
        ] {
            assert_eq!(UnixMillis::parse_rfc3339(text), None, "{text}");
        }
    }
}
