//! Lists of allowed and denied domains.

use std::net::IpAddr;

use url::Host;

use super::target::{Target, TargetError};

/// The allowed and denied domains.
#[derive(Debug, Clone, Default)]
pub(crate) struct DomainList {
    allowed: Vec<DomainEntry>,
    denied: Vec<DomainEntry>,
}

/// `example.com`, `*.example.com`, `*`, or an address; each optionally with a port.
#[derive(Debug, Clone, PartialEq, Eq)]
struct DomainEntry {
    hosts: Hosts,
    port: Option<u16>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Hosts {
    Any,
    One(Host),
    /// The subdomains of this one.
    Below(String),
}

/// The text is not a valid entry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no domain: write `example.com` for one host, `*.example.com` for those below it, and no scheme or path"
)]
pub(crate) struct InvalidDomain(String);

impl DomainList {
    /// Parses both lists.
    pub(crate) fn parse(allowed: &[String], denied: &[String]) -> Result<Self, InvalidDomain> {
        let entries = |texts: &[String]| -> Result<Vec<DomainEntry>, InvalidDomain> {
            texts.iter().map(|text| DomainEntry::parse(text)).collect()
        };
        Ok(Self {
            allowed: entries(allowed)?,
            denied: entries(denied)?,
        })
    }

    /// Checks whether a host is allowed, by its name.
    pub(crate) fn judge(&self, target: &Target) -> Result<(), TargetError> {
        if self.denied.iter().any(|entry| entry.covers(target)) {
            return Err(TargetError::Denied(target.to_string()));
        }
        if self.allowed.iter().any(|entry| entry.covers(target)) {
            return Ok(());
        }
        Err(TargetError::NotAllowed(target.to_string()))
    }

    /// Whether the list allows this very host, and not only with others.
    pub(crate) fn names(&self, target: &Target) -> bool {
        self.allowed.iter().any(|entry| {
            matches!(&entry.hosts, Hosts::One(host) if *host == target.host) && entry.covers(target)
        })
    }

    /// Whether the list explicitly names an address that is not public: as this address, or as `localhost`. Any other
    /// name could resolve to anything.
    pub(super) fn names_locally(&self, target: &Target, address: IpAddr) -> bool {
        self.names(target)
            && match &target.host {
                Host::Domain(name) => name == "localhost" && address.is_loopback(),
                Host::Ipv4(_) | Host::Ipv6(_) => true,
            }
    }
}

impl DomainEntry {
    fn parse(text: &str) -> Result<Self, InvalidDomain> {
        let invalid = || InvalidDomain(text.to_owned());
        // Colons within brackets belong to an address.
        let (host, port) = match text.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => {
                (host, Some(port.parse().map_err(|_| invalid())?))
            }
            _ => (text, None),
        };
        let read = |host: &str| Target::new(host, 0).map_err(|_| invalid());
        let hosts = match host.strip_prefix("*.") {
            _ if host == "*" => Hosts::Any,
            None => Hosts::One(read(host)?.host),
            Some(rest) => match read(rest)?.host {
                Host::Domain(name) => Hosts::Below(name),
                _ => return Err(invalid()),
            },
        };
        let has_stars = |name: &str| name.contains('*');
        match &hosts {
            Hosts::One(Host::Domain(name)) | Hosts::Below(name) if has_stars(name) => {
                Err(invalid())
            }
            _ => Ok(Self { hosts, port }),
        }
    }

    fn covers(&self, target: &Target) -> bool {
        if self.port.is_some_and(|port| port != target.port) {
            return false;
        }
        match (&self.hosts, &target.host) {
            (Hosts::Any, _) => true,
            (Hosts::One(host), wanted) => host == wanted,
            (Hosts::Below(name), Host::Domain(wanted)) => {
                let before = wanted.strip_suffix(name.as_str());
                before.is_some_and(|before| before.len() > 1 && before.ends_with('.'))
            }
            (Hosts::Below(_), _) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(allowed: &[&str], denied: &[&str]) -> DomainList {
        let owned = |texts: &[&str]| texts.iter().map(ToString::to_string).collect::<Vec<_>>();
        DomainList::parse(&owned(allowed), &owned(denied)).unwrap()
    }

    /// Ways to write one host and mean another.
    #[test]
    fn a_host_is_compared_as_what_it_is_however_it_is_written() {
        let list = list(
            &[
                "example.com",
                "*.example.org",
                "api.example.net:8443",
                "xn--bcher-kva.example",
            ],
            &["bad.example.org"],
        );
        let table = [
            ("https://example.com/x", true),
            ("https://EXAMPLE.com", true),
            ("https://example.com.", true),
            ("https://example.com:8443", true),
            ("http://example.com", true),
            ("https://sub.example.com", false),
            ("https://example.com.evil.test", false),
            ("https://notexample.com", false),
            ("https://a.example.org", true),
            ("https://a.b.example.org", true),
            ("https://example.org", false),
            ("https://.example.org", false),
            ("https://xexample.org", false),
            ("https://a.example.org.evil.test", false),
            ("https://bad.example.org", false),
            ("https://BAD.example.org.", false),
            ("https://api.example.net:8443", true),
            ("https://api.example.net", false),
            ("https://bücher.example", true),
            // A letter of another script that looks the same.
            ("https://еxample.com", false),
            ("https://example.com@evil.test", false),
            ("https://user:pass@example.com", false),
            ("https://evil.test#@example.com", false),
            ("https://evil.test\\@example.com", false),
            ("https://evil.test?x=.example.org", false),
            ("ftp://example.com", false),
            ("file:///etc/passwd", false),
            ("gopher://example.com", false),
            ("https://2130706433", false),
            ("https://0x7f.1", false),
            ("https://0177.0.0.1", false),
            ("https://[::1]", false),
            ("https://[::ffff:7f00:1]", false),
            ("https://", false),
        ];
        for (url, expected) in table {
            let target = Target::of_url(url);
            let allowed = target.is_ok_and(|target| list.judge(&target).is_ok());
            assert_eq!(allowed, expected, "{url}");
        }
    }

    /// Even if every name is allowed, the address is checked.
    #[tokio::test]
    async fn an_address_in_any_spelling_is_judged_as_an_address() {
        let all = list(&["*"], &[]);
        let hosts = [
            "127.0.0.1",
            "2130706433",
            "0x7f000001",
            "0177.0.0.1",
            "0x7f.1",
            "127.1",
            "0",
            "0.0.0.0",
            "169.254.169.254",
            "0xa9fea9fe",
            "10.1",
            "192.168.257",
            "100.64.0.1",
            "[::1]",
            "[::]",
            "[::ffff:127.0.0.1]",
            "[::ffff:a9fe:a9fe]",
            "[64:ff9b::7f00:1]",
            "[2002:7f00:1::]",
            "[fe80::1]",
            "[fd00::1]",
            "localhost",
            "localhost.",
        ];
        for host in hosts {
            let target = Target::new(host, 80).unwrap();
            let refused = target.resolve(&all).await.expect_err(host);
            assert!(
                matches!(refused, TargetError::Address { .. }),
                "{host}: {refused}"
            );
        }
        let public = Target::new("134744072", 80).unwrap();
        assert_eq!(
            public.resolve(&all).await.unwrap(),
            ["8.8.8.8:80".parse().unwrap()]
        );
    }

    #[tokio::test]
    async fn this_machine_is_reached_only_where_the_list_names_it() {
        let local = list(&["localhost:8080", "127.0.0.2"], &[]);
        let resolve =
            async |host: &str, port| Target::new(host, port).unwrap().resolve(&local).await;
        assert!(resolve("localhost", 8080).await.is_ok());
        assert!(resolve("localhost", 8081).await.is_err());
        assert!(resolve("127.0.0.2", 1).await.is_ok());
        assert!(resolve("127.0.0.1", 8080).await.is_err());
    }

    #[test]
    fn what_is_no_domain_is_refused() {
        for text in [
            "",
            "https://example.com",
            "example.com/x",
            "a*b.com",
            "*.*.com",
            "*.127.0.0.1",
            "a b",
            "x:y",
            "*.",
            "u@h",
        ] {
            let owned = [text.to_owned()];
            DomainList::parse(&owned, &[]).expect_err(text);
        }
    }
}
