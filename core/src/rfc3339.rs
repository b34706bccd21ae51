//! Moments as texts: RFC 3339, the form that transcripts and headers use.

use alloc::{format, string::String};

use time::{OffsetDateTime, format_description::well_known::Rfc3339};

use crate::id::UnixMillis;

impl UnixMillis {
    /// The last moment that RFC 3339 can write: its years have four digits.
    const LAST: Self = Self(253_402_300_799_999);

    /// The moment in UTC with milliseconds (`2026-01-02T03:04:05.678Z`).
    #[must_use]
    pub fn to_rfc3339(self) -> String {
        let UnixMillis(millis) = self.min(Self::LAST);
        // Within the years of four digits every moment is one: there is nothing that can fail.
        let at = OffsetDateTime::from_unix_timestamp_nanos(i128::from(millis) * 1_000_000)
            .unwrap_or(OffsetDateTime::UNIX_EPOCH);
        let (year, month, day) = at.to_calendar_date();
        let (hour, minute, second, milli) = at.to_hms_milli();
        let month = u8::from(month);
        format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z")
    }

    /// Reads a moment with any offset; none for what is not one, or before 1970.
    #[must_use]
    pub fn parse_rfc3339(text: &str) -> Option<Self> {
        let at = OffsetDateTime::parse(text, &Rfc3339).ok()?;
        let millis = at.unix_timestamp_nanos().div_euclid(1_000_000);
        u64::try_from(millis).ok().map(Self)
    }
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
