//! The target of a connection: a host and a port.

use std::net::IpAddr;

use url::{Host, Url};

use super::address::AddressRefusal;

/// A host and a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Target {
    /// In lower case ASCII, without a trailing dot; a number in any notation is an address.
    pub(crate) host: Host,
    pub(crate) port: u16,
}

/// Why a connection is refused.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TargetError {
    /// The target cannot be parsed.
    #[error("`{0}` is no address of a host")]
    Unreadable(String),
    /// The protocol is not supported.
    #[error("`{0}:` addresses are not connected to, only http: and https:")]
    Scheme(String),
    /// The URL contains a user name or password, which can mislead readers.
    #[error("an address must not hold a user's name or password")]
    UserInfo,
    /// No list allows the host.
    #[error("{0} is not among the allowed domains")]
    NotAllowed(String),
    /// A list denies the host.
    #[error("{0} is among the denied domains")]
    Denied(String),
    /// The host resolves to an address that is not public.
    #[error("{host} is {address}, and {reason}")]
    Address {
        host: String,
        address: IpAddr,
        reason: AddressRefusal,
    },
    /// The host cannot be resolved.
    #[error("{host} cannot be resolved: {reason}")]
    Unresolved { host: String, reason: String },
}

impl Target {
    /// Parses a URL.
    pub(crate) fn of_url(text: &str) -> Result<Self, TargetError> {
        let url = Url::parse(text).map_err(|_| TargetError::Unreadable(text.to_owned()))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(TargetError::Scheme(url.scheme().to_owned()));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(TargetError::UserInfo);
        }
        let unreadable = || TargetError::Unreadable(text.to_owned());
        let port = url.port_or_known_default().ok_or_else(unreadable)?;
        Self::new(url.host_str().ok_or_else(unreadable)?, port)
    }

    /// Parses `host:port`, as in `CONNECT`.
    pub(crate) fn of_authority(text: &str) -> Result<Self, TargetError> {
        let unreadable = || TargetError::Unreadable(text.to_owned());
        if text.contains('@') {
            return Err(TargetError::UserInfo);
        }
        let (host, port) = text.rsplit_once(':').ok_or_else(unreadable)?;
        Self::new(host, port.parse().map_err(|_| unreadable())?)
    }

    /// Parses a host, with a port.
    pub(crate) fn new(host: &str, port: u16) -> Result<Self, TargetError> {
        let unreadable = || TargetError::Unreadable(host.to_owned());
        let bare = host.strip_suffix('.').unwrap_or(host);
        let host = Host::parse(bare).map_err(|_| unreadable())?;
        match &host {
            Host::Domain(name) if name.is_empty() || name.ends_with('.') => Err(unreadable()),
            _ => Ok(Self { host, port }),
        }
    }

    /// Whether the host is a name, which must be resolved, and no address.
    pub(crate) fn is_name(&self) -> bool {
        matches!(self.host, Host::Domain(_))
    }
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

#[cfg(test)]
mod tests {
    use windlass_fuzz::Mutator;

    use super::*;

    /// Inputs that a confined program may send to a proxy.
    const SEEDS: [&str; 10] = [
        "example.com:443",
        "http://example.com/a?b",
        "[::1]:80",
        "0x7f.1:80",
        "EXAMPLE.com.:8080",
        "xn--bcher-kva.example:443",
        "https://user:word@example.com:8443/",
        "127.0.0.1:65536",
        "http://[::ffff:127.0.0.1]:80/",
        "\u{ff11}27.0.0.1:80",
    ];

    /// Any request is either refused or refers to one host in canonical form, however it was written.
    #[test]
    fn conf_5_whatever_a_program_asks_a_proxy_for_is_one_host_or_none() {
        let seeds = SEEDS.map(|text| text.as_bytes().to_vec());
        let rounds = std::env::var("WINDLASS_ATTACK_ROUNDS").ok();
        let rounds = rounds.and_then(|rounds| rounds.parse().ok());
        let mut read = 0;
        for number in 0..rounds.unwrap_or(20_000_u64) {
            let bytes = Mutator::new(number).variant(&seeds);
            let text = String::from_utf8_lossy(&bytes);
            let targets = [Target::of_url(&text), Target::of_authority(&text)];
            for target in targets
                .into_iter()
                .chain([Target::new(&text, 80)])
                .flatten()
            {
                read += 1;
                let host = target.host.to_string();
                assert_eq!(host, host.to_lowercase(), "{text:?}");
                let again = Target::new(&host, target.port).unwrap();
                assert_eq!(again, target, "{text:?}");
                assert!(!host.contains(['@', '/', ' ', '\0', '%']), "{text:?}");
            }
        }
        assert!(read > 1_000, "{read}");
    }
}
