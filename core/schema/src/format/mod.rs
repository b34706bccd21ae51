//! The formats that are checked.

mod address;
mod time;

use core::net::{Ipv4Addr, Ipv6Addr};

use crate::pattern;

/// The values of `format` that are checked (2020-12 Validation, section 7.3). All others are annotations.
pub const FORMATS: [&str; 9] = [
    "date",
    "date-time",
    "email",
    "ipv4",
    "ipv6",
    "regex",
    "time",
    "uri",
    "uuid",
];

/// A description of the format, if the text does not match it; none also for formats that are not checked.
pub(crate) fn misfit(format: &str, text: &str) -> Option<&'static str> {
    let (fits, looks) = match format {
        "date" => (time::is_date(text), "a date such as 2026-01-31"),
        "time" => (
            time::is_time(text),
            "a time with its zone such as 08:30:00Z",
        ),
        "date-time" => (
            time::is_date_time(text),
            "a date and time with its zone such as 2026-01-31T08:30:00Z",
        ),
        "email" => (address::is_email(text), "an e-mail address"),
        "ipv4" => (text.parse::<Ipv4Addr>().is_ok(), "an IPv4 address"),
        "ipv6" => (text.parse::<Ipv6Addr>().is_ok(), "an IPv6 address"),
        "uri" => (
            address::is_uri(text),
            "an absolute URI such as https://example.org/",
        ),
        "uuid" => (
            is_uuid(text),
            "a UUID such as 123e4567-e89b-12d3-a456-426614174000",
        ),
        "regex" => (pattern::is_ecmascript(text), "a regular expression"),
        _ => return None,
    };
    (!fits).then_some(looks)
}

/// An RFC 4122 UUID of any version.
fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(i, b)| match i {
            8 | 13 | 18 | 23 => b == b'-',
            _ => b.is_ascii_hexdigit(),
        })
}

#[cfg(test)]
mod tests {
    use super::{FORMATS, misfit};

    #[test]
    fn the_list_of_formats_is_of_those_that_are_checked() {
        for format in FORMATS {
            assert!(misfit(format, "(").is_some(), "{format}");
        }
        for remark in ["", "hostname", "int32", "password"] {
            assert!(misfit(remark, "(").is_none(), "{remark}");
        }
    }
}
