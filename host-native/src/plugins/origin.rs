//! Where requests of a plugin may go: origins, and the methods for each.

use std::{collections::BTreeSet, fmt, net::IpAddr, str::FromStr};

use serde::{
    Deserialize, Deserializer, Serialize,
    de::{self, MapAccess, Visitor, value::MapAccessDeserializer},
};
use url::{Host, Url};

/// A scheme, a host and a port, such as `https://api.example.com`. It stands for exactly this host, never for those below it.
///
/// `https`, or `http` for this machine (`http://localhost:8080`, `http://127.0.0.1:8080`). It is written the way that URLs are
/// compared: in small letters, without user, path, final slash or the usual port.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Origin {
    text: String,
    host: String,
    port: u16,
}

/// A text that is not an [`Origin`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidOrigin {
    /// It is no URL of a host.
    #[error("`{0}` is no origin: write `https://` and a host, such as `https://api.example.com`")]
    NotOrigin(String),
    /// It is one that is written in another way, or has more than an origin has.
    #[error(
        "`{text}` is no origin: if `{origin}` is meant, write that, without path, user, final slash or usual port"
    )]
    Spelling {
        /// The text.
        text: String,
        /// The origin of the URL that it is.
        origin: String,
    },
    /// What goes to another machine must be encrypted.
    #[error("`{0}` is not encrypted: write `https://`; `http://` is for this machine only")]
    Plain(String),
}

impl Origin {
    /// The origin of a URL, if it has one of these kinds and names no user.
    pub(super) fn of(url: &Url) -> Option<Self> {
        if !url.username().is_empty() || url.password().is_some() {
            return None;
        }
        let host = url.host()?;
        let has_dot = matches!(&host, Host::Domain(name) if name.ends_with('.'));
        if has_dot || !(url.scheme() == "https" || url.scheme() == "http" && is_here(&host)) {
            return None;
        }
        Some(Self {
            text: url.origin().ascii_serialization(),
            host: host.to_string(),
            port: url.port_or_known_default()?,
        })
    }

    /// The origin as URLs are compared.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The host; an IPv6 address stands in brackets.
    pub(super) fn host(&self) -> &str {
        &self.host
    }

    /// The port, the usual one too.
    pub(super) fn port(&self) -> u16 {
        self.port
    }

    /// Whether what is sent there is encrypted.
    pub(super) fn is_encrypted(&self) -> bool {
        self.text.starts_with("https:")
    }
}

/// Whether a host is this machine, by its name.
fn is_here(host: &Host<&str>) -> bool {
    match host {
        Host::Domain(name) => *name == "localhost",
        Host::Ipv4(address) => IpAddr::from(*address).is_loopback(),
        Host::Ipv6(address) => IpAddr::from(*address).is_loopback(),
    }
}

impl FromStr for Origin {
    type Err = InvalidOrigin;

    fn from_str(text: &str) -> Result<Self, InvalidOrigin> {
        let not_origin = || InvalidOrigin::NotOrigin(text.to_owned());
        let url = Url::parse(text).map_err(|_| not_origin())?;
        if text.contains('*') || !matches!(url.scheme(), "http" | "https") {
            return Err(not_origin());
        }
        let written = url.origin().ascii_serialization();
        if written != text {
            return Err(InvalidOrigin::Spelling {
                text: text.to_owned(),
                origin: written,
            });
        }
        match (Self::of(&url), url.scheme()) {
            (Some(origin), _) => Ok(origin),
            (None, "http") => Err(InvalidOrigin::Plain(text.to_owned())),
            (None, _) => Err(not_origin()),
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Serialize for Origin {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for Origin {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?
            .parse()
            .map_err(de::Error::custom)
    }
}

/// A method of HTTP that a plugin can be granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
#[allow(missing_docs, reason = "they are called what they are")]
pub enum Method {
    Get,
    Head,
    Options,
    Post,
    Put,
    Patch,
    Delete,
}

impl Method {
    const ALL: [Self; 7] = [
        Self::Get,
        Self::Head,
        Self::Options,
        Self::Post,
        Self::Put,
        Self::Patch,
        Self::Delete,
    ];

    /// As requests spell it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Head => "HEAD",
            Self::Options => "OPTIONS",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }

    /// The method that is spelled like this: methods are compared letter by letter.
    pub(super) fn of(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.as_str() == text)
    }
}

/// An origin with the methods that may be used there. In JSON `{"origin": "https://api.example.com", "methods": ["GET"]}`; the
/// origin alone, as a text, stands for `GET`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OriginMethods {
    /// Where requests go.
    pub origin: Origin,
    /// The methods.
    pub methods: BTreeSet<Method>,
}

impl OriginMethods {
    /// An origin with methods.
    pub fn new(origin: Origin, methods: impl IntoIterator<Item = Method>) -> Self {
        Self {
            origin,
            methods: methods.into_iter().collect(),
        }
    }
}

impl fmt::Display for OriginMethods {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let methods: Vec<&str> = self.methods.iter().map(|method| method.as_str()).collect();
        write!(f, "{} ({})", self.origin, methods.join(", "))
    }
}

impl<'de> Deserialize<'de> for OriginMethods {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(TextOrMap)
    }
}

/// Reads both spellings. An untagged enum would not say what is wrong with either.
struct TextOrMap;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Spelled {
    origin: Origin,
    methods: BTreeSet<Method>,
}

impl<'de> Visitor<'de> for TextOrMap {
    type Value = OriginMethods;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an origin, or an object with `origin` and `methods`")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<OriginMethods, E> {
        let origin = text.parse().map_err(E::custom)?;
        Ok(OriginMethods::new(origin, [Method::Get]))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<OriginMethods, A::Error> {
        let Spelled { origin, methods } = Spelled::deserialize(MapAccessDeserializer::new(map))?;
        if methods.is_empty() {
            return Err(de::Error::custom(format!("`{origin}` has no `methods`")));
        }
        Ok(OriginMethods { origin, methods })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn card_5_an_origin_is_written_in_one_way() {
        for text in [
            "https://api.example.com",
            "https://api.example.com:8443",
            "https://xn--bcher-kva.example",
            "https://192.168.1.5",
            "http://localhost:8080",
            "http://127.0.0.1:8080",
            "http://[::1]:8080",
        ] {
            assert_eq!(text.parse::<Origin>().unwrap().to_string(), text);
        }
        for text in [
            "",
            "api.example.com",
            "https://",
            "https://api.example.com/",
            "https://api.example.com/v1",
            "https://api.example.com?x",
            "https://api.example.com#x",
            "https://api.example.com:443",
            "https://API.example.com",
            "https://api.example.com.",
            "https://user@api.example.com",
            "https://user:word@api.example.com",
            "https://api.example.com@evil.test",
            "https:api.example.com",
            "https:\\\\api.example.com",
            " https://api.example.com",
            "https://*.example.com",
            "https://*",
            "*",
            "https://bücher.example",
            "https://0x7f.1",
            "https://2130706433",
            "http://api.example.com",
            "http://192.168.1.5",
            "http://localhost.",
            "ftp://api.example.com",
            "file:///etc/passwd",
            "data:text/plain,x",
            "wss://api.example.com",
        ] {
            text.parse::<Origin>().expect_err(text);
        }
    }

    #[test]
    fn card_5_an_origin_alone_stands_for_get() {
        let read = |json: &str| serde_json::from_str::<OriginMethods>(json);
        let alone = read("\"https://a.example\"").unwrap();
        assert_eq!(alone.to_string(), "https://a.example (GET)");
        let json = serde_json::to_string(&alone).unwrap();
        assert_eq!(read(&json).unwrap(), alone);
        for wrong in [
            "{\"origin\": \"https://a.example\"}",
            "{\"origin\": \"https://a.example\", \"methods\": []}",
            "{\"origin\": \"https://a.example\", \"methods\": [\"get\"]}",
            "{\"origin\": \"https://a.example\", \"methods\": [\"CONNECT\"]}",
            "{\"origin\": \"https://a.example\", \"methods\": [\"GET\"], \"path\": \"/\"}",
            "1",
        ] {
            read(wrong).expect_err(wrong);
        }
    }
}
