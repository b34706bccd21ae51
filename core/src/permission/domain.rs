//! Domain patterns in rules, and the host of a URL.

use alloc::{
    borrow::ToOwned,
    string::{String, ToString},
};

/// `example.com` (with its subdomains), `*.example.com` (only its subdomains), each with a port or any port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DomainPattern {
    host: String,
    port: Option<u16>,
    subdomains_only: bool,
}

impl DomainPattern {
    /// Parses the part after `domain:`.
    pub(super) fn parse(text: &str) -> Result<Self, &'static str> {
        let text = text.trim();
        if text.contains("://") || text.contains('/') {
            return Err("a domain has no scheme and no path: domain:example.com");
        }
        let (host, subdomains_only) = match text.strip_prefix("*.") {
            Some(host) => (host, true),
            None => (text, false),
        };
        let (host, port) = match host.rsplit_once(':') {
            Some((host, port)) if !host.contains(':') || host.ends_with(']') => {
                let port = port.parse().map_err(|_| "the port is not a number")?;
                (host, Some(port))
            }
            _ => (host, None),
        };
        let host = plain_host(host).ok_or(
            "that is not a domain: letters, digits, `-` and `.`; other alphabets in their xn-- form",
        )?;
        Ok(Self {
            host,
            port,
            subdomains_only,
        })
    }

    /// Whether the host of a URL is in the domain; none if the host cannot be determined.
    pub(super) fn covers(&self, url: &str) -> Option<bool> {
        let (host, port) = target(url)?;
        let below = host
            .strip_suffix(self.host.as_str())
            .is_some_and(|rest| rest.ends_with('.'));
        let is_host = below || (!self.subdomains_only && host == self.host);
        // What is written without a port may be fetched by https.
        let secured = (port == 80).then_some(443);
        let is_port = |wanted| wanted == port || Some(wanted) == secured;
        Some(is_host && self.port.is_none_or(is_port))
    }

    /// Whether this pattern covers everything that the other one does.
    pub(super) fn includes(&self, other: &Self) -> bool {
        let below = other
            .host
            .strip_suffix(self.host.as_str())
            .is_some_and(|rest| rest.ends_with('.'));
        let host =
            below || (self.host == other.host && (!self.subdomains_only || other.subdomains_only));
        host && (self.port.is_none() || self.port == other.port)
    }
}

/// The host and port of an `http` or `https` URL. None for a URL that programs parse differently (backslashes, escapes, non-ASCII
/// letters).
fn target(url: &str) -> Option<(String, u16)> {
    let url = url.trim();
    if !url.is_ascii() || url.bytes().any(|b| b <= b' ' || b == b'\\' || b == 0x7f) {
        return None;
    }
    let (scheme, rest) = url.split_once("://")?;
    let usual = match scheme.to_ascii_lowercase().as_str() {
        "http" => 80,
        "https" => 443,
        _ => return None,
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    // Everything before the last @ is user name and password.
    let authority = rest[..end].rsplit('@').next().unwrap_or_default();
    let (host, port) = if authority.starts_with('[') {
        let (host, port) = authority.split_at(authority.find(']')? + 1);
        (host, port.strip_prefix(':'))
    } else {
        match authority.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (authority, None),
        }
    };
    let port = match port {
        None | Some("") => usual,
        Some(port) => port.parse().ok()?,
    };
    Some((plain_host(host)?, port))
}

/// The host of a URL, for a rule about it.
pub(super) fn host_of(url: &str) -> Option<String> {
    target(url).map(|(host, _)| host)
}

/// A host in lower case, without a final dot.
fn plain_host(host: &str) -> Option<String> {
    let host = host.strip_suffix('.').unwrap_or(host);
    let literal = host.strip_prefix('[').and_then(|h| h.strip_suffix(']'));
    let valid = match literal {
        Some(address) => address
            .bytes()
            .all(|b| b.is_ascii_hexdigit() || matches!(b, b':' | b'.')),
        None => {
            host.bytes()
                .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_'))
                && !host.starts_with('.')
                && !host.contains("..")
        }
    };
    (valid && !host.is_empty()).then(|| host.to_ascii_lowercase())
}

impl core::fmt::Display for DomainPattern {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let star = if self.subdomains_only { "*." } else { "" };
        let port = self
            .port
            .map_or_else(String::new, |port| ":".to_owned() + &port.to_string());
        write!(f, "{star}{}{port}", self.host)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_in_a_domain_or_not_or_unclear() {
        for (pattern, url, expected) in [
            ("example.com", "https://example.com", Some(true)),
            ("example.com", "http://EXAMPLE.com:8080/a?b#c", Some(true)),
            ("example.com", "https://docs.example.com./x", Some(true)),
            ("example.com", "https://example.com.evil.org/", Some(false)),
            ("example.com", "https://badexample.com/", Some(false)),
            ("example.com", "https://example.com@evil.org/", Some(false)),
            (
                "example.com",
                "https://evil.org/?u=https://example.com",
                Some(false),
            ),
            ("example.com", "https://evil.org#@example.com", Some(false)),
            ("example.com", "https://u:p@example.com/", Some(true)),
            ("example.com", "https://evil.org\\@example.com", None),
            ("example.com", "https://ex\u{e4}mple.com", None),
            ("example.com", "https://example%2ecom", None),
            ("example.com", "ftp://example.com", None),
            ("example.com", "example.com", None),
            ("*.example.com", "https://example.com", Some(false)),
            ("*.example.com", "https://a.b.example.com", Some(true)),
            ("example.com:8443", "https://example.com:8443", Some(true)),
            ("example.com:443", "https://example.com", Some(true)),
            ("example.com:443", "http://example.com", Some(true)),
            ("example.com:80", "https://example.com", Some(false)),
            ("example.com:8443", "https://example.com", Some(false)),
            ("[::1]:80", "http://[::1]/", Some(true)),
            ("127.0.0.1", "http://127.0.0.1:3000", Some(true)),
        ] {
            let pattern = DomainPattern::parse(pattern).unwrap();
            assert_eq!(pattern.covers(url), expected, "{pattern} {url}");
        }
        for bad in [
            "https://example.com",
            "example.com/a",
            "",
            "a b",
            "ex\u{e4}mple.com",
            "a:b",
            "*",
        ] {
            assert!(DomainPattern::parse(bad).is_err(), "{bad}");
        }
    }
}
