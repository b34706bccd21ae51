//! The formats that are checked.

use core::net::{Ipv4Addr, Ipv6Addr};

use crate::pattern::Pattern;

/// What a text of this format looks like, if it is not of it; none also for formats that are remarks.
pub(super) fn misfit(format: &str, text: &str) -> Option<&'static str> {
    let (fits, looks) = match format {
        "date" => (is_date(text), "a date such as 2026-01-31"),
        "time" => (is_time(text), "a time with its zone such as 08:30:00Z"),
        "date-time" => (
            is_date_time(text),
            "a date and time with its zone such as 2026-01-31T08:30:00Z",
        ),
        "email" => (is_email(text), "an e-mail address"),
        "ipv4" => (text.parse::<Ipv4Addr>().is_ok(), "an IPv4 address"),
        "ipv6" => (text.parse::<Ipv6Addr>().is_ok(), "an IPv6 address"),
        "uri" => (is_uri(text), "an absolute URI such as https://example.org/"),
        "uuid" => (
            is_uuid(text),
            "a UUID such as 123e4567-e89b-12d3-a456-426614174000",
        ),
        "regex" => (Pattern::new(text).is_ok(), "a regular expression"),
        _ => return None,
    };
    (!fits).then_some(looks)
}

/// The number in exactly so many digits.
fn digits(text: &str, count: usize) -> Option<u32> {
    let fits = text.len() == count && text.bytes().all(|b| b.is_ascii_digit());
    fits.then(|| text.parse().ok())?
}

fn is_date(text: &str) -> bool {
    let mut parts = text.splitn(3, '-');
    let mut part = |count| digits(parts.next()?, count);
    let (Some(year), Some(month), Some(day)) = (part(4), part(2), part(2)) else {
        return false;
    };
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 => 28 + u32::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    (1..=days).contains(&day)
}

/// RFC 3339; the second 60 is a leap second.
fn is_time(text: &str) -> bool {
    let Some((clock, zone)) = text.split_at_checked(8) else {
        return false;
    };
    let zone = match zone.strip_prefix('.') {
        Some(fraction) => {
            let rest = fraction.trim_start_matches(|c: char| c.is_ascii_digit());
            if rest.len() == fraction.len() {
                return false;
            }
            rest
        }
        None => zone,
    };
    let zone = match zone {
        "Z" | "z" => Some((0, 0)),
        _ => zone.strip_prefix(['+', '-']).and_then(hours_and_minutes),
    };
    let seconds = clock.get(6..).and_then(|s| digits(s, 2));
    let (Some((hour, minute)), Some(":"), Some(second), Some((zone_hour, zone_minute))) = (
        clock.get(..5).and_then(hours_and_minutes),
        clock.get(5..6),
        seconds,
        zone,
    ) else {
        return false;
    };
    hour < 24 && minute < 60 && second <= 60 && zone_hour < 24 && zone_minute < 60
}

fn hours_and_minutes(text: &str) -> Option<(u32, u32)> {
    let (hours, minutes) = text.split_once(':')?;
    Some((digits(hours, 2)?, digits(minutes, 2)?))
}

fn is_date_time(text: &str) -> bool {
    let split = text.split_at_checked(10);
    split.is_some_and(|(date, time)| {
        is_date(date) && time.strip_prefix(['T', 't']).is_some_and(is_time)
    })
}

fn is_email(text: &str) -> bool {
    let never = |c: char| c.is_whitespace() || c.is_control() || "()<>[]:;,\\\"".contains(c);
    text.rsplit_once('@').is_some_and(|(name, domain)| {
        let dots = |part: &str| {
            part.is_empty() || part.starts_with('.') || part.ends_with('.') || part.contains("..")
        };
        !dots(name) && !dots(domain) && !text.contains(never) && !name.contains('@')
    })
}

fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else {
        return false;
    };
    let mut letters = scheme.chars();
    let mut escapes = rest.split('%').skip(1).map(str::as_bytes);
    letters.next().is_some_and(|c| c.is_ascii_alphabetic())
        && escapes.all(|after| after.len() > 1 && after[..2].iter().all(u8::is_ascii_hexdigit))
        && letters.all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
        && !rest.is_empty()
        && !rest
            .contains(|c: char| c.is_whitespace() || c.is_control() || "<>\"{}|\\^`".contains(c))
}

fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(i, b)| match i {
            8 | 13 | 18 | 23 => b == b'-',
            _ => b.is_ascii_hexdigit(),
        })
}
