//! Mail addresses (RFC 5321, section 4.1.2) and URIs (RFC 3986, appendix A).

use core::net::{Ipv4Addr, Ipv6Addr};

pub(super) fn is_email(text: &str) -> bool {
    let domain = match text.strip_prefix('"') {
        Some(quoted) => behind_quotes(quoted).and_then(|rest| rest.strip_prefix('@')),
        None => text
            .split_once('@')
            .filter(|(name, _)| name.split('.').all(is_atom))
            .map(|(_, domain)| domain),
    };
    domain.is_some_and(is_domain)
}

/// The rest after a quoted text, whose opening quotation mark was removed.
fn behind_quotes(text: &str) -> Option<&str> {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            ' '..='~' if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return text.get(at + 1..),
            ' '..='~' => {}
            _ => return None,
        }
    }
    None
}

fn is_atom(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-/=?^_`{|}~".contains(c);
    !text.is_empty() && text.chars().all(is_part)
}

fn is_domain(text: &str) -> bool {
    let literal = text.strip_prefix('[').and_then(|t| t.strip_suffix(']'));
    if let Some(literal) = literal {
        return match literal.strip_prefix("IPv6:") {
            Some(address) => address.parse::<Ipv6Addr>().is_ok(),
            None => literal.parse::<Ipv4Addr>().is_ok(),
        };
    }
    text.split('.').all(|label| {
        !label.is_empty()
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
    })
}

pub(super) fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else {
        return false;
    };
    let (rest, fragment) = rest.split_once('#').unwrap_or((rest, ""));
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let path = match rest.strip_prefix("//") {
        Some(behind) => {
            let (authority, path) = behind.split_at(behind.find('/').unwrap_or(behind.len()));
            if !is_authority(authority) {
                return false;
            }
            path
        }
        None => rest,
    };
    scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
        && is_of(path, ":@/")
        && is_of(query, ":@/?")
        && is_of(fragment, ":@/?")
}

fn is_authority(text: &str) -> bool {
    let (user, place) = text.split_once('@').unwrap_or(("", text));
    let (host_fits, port) = match place.strip_prefix('[') {
        Some(literal) => {
            let Some((address, port)) = literal.split_once(']') else {
                return false;
            };
            (is_literal(address), port)
        }
        None => {
            let (host, port) = place.split_at(place.find(':').unwrap_or(place.len()));
            (is_of(host, ""), port)
        }
    };
    let digits = if port.is_empty() {
        Some("")
    } else {
        port.strip_prefix(':')
    };
    is_of(user, ":") && host_fits && digits.is_some_and(|d| d.bytes().all(|b| b.is_ascii_digit()))
}

/// Whether a text is a valid host in brackets.
fn is_literal(text: &str) -> bool {
    let Some(future) = text.strip_prefix(['v', 'V']) else {
        return text.parse::<Ipv6Addr>().is_ok();
    };
    future.split_once('.').is_some_and(|(version, address)| {
        !version.is_empty()
            && version.bytes().all(|b| b.is_ascii_hexdigit())
            && !address.is_empty()
            && !address.contains('%')
            && is_of(address, ":")
    })
}

/// Whether a text consists of unreserved characters, sub-delimiters, escapes, and these characters.
fn is_of(text: &str, more: &str) -> bool {
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        let fits = match c {
            '%' => {
                let mut is_digit = || rest.next().is_some_and(|c| c.is_ascii_hexdigit());
                is_digit() && is_digit()
            }
            c => c.is_ascii_alphanumeric() || "-._~!$&'()*+,;=".contains(c) || more.contains(c),
        };
        if !fits {
            return false;
        }
    }
    true
}
