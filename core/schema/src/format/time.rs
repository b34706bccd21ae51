//! Dates and times (RFC 3339, section 5.6).

/// A number with exactly this many digits.
fn digits(text: &str, count: usize) -> Option<u32> {
    let fits = text.len() == count && text.bytes().all(|b| b.is_ascii_digit());
    fits.then(|| text.parse().ok())?
}

pub(super) fn is_date(text: &str) -> bool {
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

pub(super) fn is_time(text: &str) -> bool {
    minute_and_second(text).is_some_and(|(minute, second)| match second {
        // A leap second is the last second of a day in UTC.
        60 => minute == MINUTES - 1,
        second => second < 60,
    })
}

/// The minutes of a day.
const MINUTES: u32 = 24 * 60;

/// The minute of the day in UTC, and the second.
fn minute_and_second(text: &str) -> Option<(u32, u32)> {
    let (clock, rest) = text.split_at_checked(8)?;
    let minute = minutes(clock.get(..5)?)?;
    let second = digits(clock.get(5..)?.strip_prefix(':')?, 2)?;
    let zone = match rest.strip_prefix('.') {
        Some(fraction) => {
            let behind = fraction.trim_start_matches(|c: char| c.is_ascii_digit());
            if behind.len() == fraction.len() {
                return None;
            }
            behind
        }
        None => rest,
    };
    let (sign, offset) = zone.split_at_checked(1)?;
    let utc = match (sign, offset) {
        ("Z" | "z", "") => minute,
        ("+", offset) => minute + MINUTES - minutes(offset)?,
        ("-", offset) => minute + minutes(offset)?,
        _ => return None,
    };
    Some((utc % MINUTES, second))
}

/// A time `hh:mm`, in minutes.
fn minutes(text: &str) -> Option<u32> {
    let (hours, minutes) = text.split_once(':')?;
    let (hours, minutes) = (digits(hours, 2)?, digits(minutes, 2)?);
    (hours < 24 && minutes < 60).then_some(hours * 60 + minutes)
}

pub(super) fn is_date_time(text: &str) -> bool {
    let split = text.split_at_checked(10);
    split.is_some_and(|(date, time)| {
        is_date(date) && time.strip_prefix(['T', 't']).is_some_and(is_time)
    })
}
