//! How a registry wants to be told who asks (`WWW-Authenticate`), and the tokens that it has given out for that.
//!
//! The registry names the server of its tokens itself, and that one is told the login. So it counts only where it is the registry, is
//! known to belong to it, or was named by the person: nobody else is sent anything, a login or not.

use reqwest::{
    Client, StatusCode, Url,
    header::{HeaderMap, HeaderValue, WWW_AUTHENTICATE},
};
use serde::Deserialize;
use windlass::http::is_this_machine;

use super::{
    registry_body::{Deadline, MANIFEST, refusal, whole},
    registry_fault::{RegistryError, shown},
    registry_login::Login,
};

/// Bytes of the largest answer with a token.
const LARGEST_TOKEN: usize = 64 << 10;

/// Registries whose tokens another host gives out, and that host.
const KNOWN: [(&[&str], &str); 2] = [
    (
        &["docker.io", "index.docker.io", "registry-1.docker.io"],
        "auth.docker.io",
    ),
    (&["registry.gitlab.com"], "gitlab.com"),
];

/// How a registry wants to be told who asks.
#[derive(Debug, PartialEq)]
pub(super) enum Challenge {
    /// By name and password.
    Basic,
    /// By a token of this server.
    Bearer {
        /// Its address.
        realm: String,
        /// What the registry is called there.
        service: Option<String>,
    },
}

impl Challenge {
    /// What an answer asks for: a token if that is possible, as others do it.
    pub(super) fn of(headers: &HeaderMap) -> Option<Self> {
        let values = headers.get_all(WWW_AUTHENTICATE).iter();
        let offers: Vec<Offer> = values
            .filter_map(|value| value.to_str().ok())
            .flat_map(offers)
            .collect();
        let of_scheme = |scheme: &str| offers.iter().find(|offer| offer.scheme == scheme);
        let bearer = of_scheme("bearer").and_then(|offer| {
            let realm = offer.parameter("realm")?;
            let service = offer.parameter("service");
            Some(Self::Bearer { realm, service })
        });
        bearer.or_else(|| of_scheme("basic").map(|_| Self::Basic))
    }
}

/// A scheme with its parameters, both names in small letters.
struct Offer {
    scheme: String,
    parameters: Vec<(String, String)>,
}

impl Offer {
    fn parameter(&self, name: &str) -> Option<String> {
        let found = self.parameters.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.clone())
    }
}

/// The schemes of a header, up to where it is not written as one.
fn offers(header: &str) -> Vec<Offer> {
    let mut offers: Vec<Offer> = Vec::new();
    let mut rest = header;
    loop {
        rest = rest.trim_start_matches([' ', '\t', ',']);
        let (name, after) = token(rest);
        if name.is_empty() {
            return offers;
        }
        let value = after.trim_start().strip_prefix('=').map(str::trim_start);
        match (value, offers.last_mut()) {
            (Some(value), Some(offer)) => {
                let (value, after) = parameter_value(value);
                offer.parameters.push((name.to_ascii_lowercase(), value));
                rest = after;
            }
            (Some(_), None) => return offers,
            (None, _) => {
                offers.push(Offer {
                    scheme: name.to_ascii_lowercase(),
                    parameters: Vec::new(),
                });
                rest = after;
            }
        }
    }
}

/// The token at the beginning, and what follows.
fn token(text: &str) -> (&str, &str) {
    let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    text.split_at(text.find(|c| !is_token(c)).unwrap_or(text.len()))
}

/// A token or a string in quotes, and what follows.
fn parameter_value(text: &str) -> (String, &str) {
    let Some(quoted) = text.strip_prefix('"') else {
        let (value, after) = token(text);
        return (value.to_owned(), after);
    };
    let mut value = String::new();
    let mut letters = quoted.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return (value, &quoted[at + 1..]),
            '\\' => value.extend(letters.next().map(|(_, escaped)| escaped)),
            letter => value.push(letter),
        }
    }
    (value, "")
}

/// The address where a registry wants to be asked for a token, if it may be.
///
/// # Errors
/// [`RegistryError`]: it is none, others could read along, or it is that of a host that nobody has named.
pub(super) fn address(realm: &str, registry: &Url, named: &[String]) -> Result<Url, RegistryError> {
    let url = Url::parse(realm)
        .map_err(|_| RegistryError::not_answer("it sends for a token to what is no address"))?;
    if !is_protected(&url, registry) {
        return Err(RegistryError::UnsafeRealm(shown(&url)));
    }
    let host = url.host_str().unwrap_or_default();
    let port = url.port_or_known_default();
    let is_at =
        |other: &Url| other.host_str() == Some(host) && other.port_or_known_default() == port;
    let is_known = || {
        let registry_host = registry.host_str().unwrap_or_default();
        let has_default_ports = registry.port().is_none() && url.port().is_none();
        let mut known = KNOWN.iter();
        has_default_ports
            && known
                .any(|(registries, giver)| registries.contains(&registry_host) && *giver == host)
    };
    let is_named = || {
        let as_url = |name: &String| Url::parse(&format!("{}://{name}/", url.scheme())).ok();
        named.iter().filter_map(as_url).any(|named| is_at(&named))
    };
    if is_at(registry) || is_known() || is_named() {
        return Ok(url);
    }
    let with_port = url.port().map(|port| format!("{host}:{port}"));
    Err(RegistryError::Realm {
        address: shown(&url),
        host: with_port.unwrap_or_else(|| host.to_owned()),
    })
}

/// Whether nobody else can read what is sent to an address: it is encrypted, or stays on this machine where the person has asked for
/// plain HTTP with a registry there. A name of a user in it would be sent as a login.
pub(super) fn is_protected(url: &Url, registry: &Url) -> bool {
    let is_encrypted = url.scheme() == "https";
    let stays_here = url.scheme() == "http" && registry.scheme() == "http" && is_this_machine(url);
    (is_encrypted || stays_here) && url.username().is_empty() && url.password().is_none()
}

/// What a server of tokens answers: the name of the field is one or the other.
#[derive(Deserialize)]
struct Answer {
    token: Option<String>,
    access_token: Option<String>,
}

/// Fetches a token for pulling from a repository. Its server leads to no other one.
///
/// # Errors
/// [`RegistryError`].
pub(super) async fn fetch(
    client: &Client,
    mut address: Url,
    service: Option<&str>,
    repository: &str,
    login: Option<&Login>,
) -> Result<HeaderValue, RegistryError> {
    let deadline = Deadline::after(MANIFEST);
    let scope = format!("repository:{repository}:pull");
    address
        .query_pairs_mut()
        .extend_pairs(service.map(|service| ("service", service)))
        .append_pair("scope", &scope);
    let mut request = client.get(address);
    if let Some(Login { name, password }) = login {
        request = request.basic_auth(name, Some(password));
    }
    let response = deadline.keep("a token", request.send()).await?;
    if response.status() != StatusCode::OK {
        return Err(refusal(response, deadline).await);
    }
    let body = whole(response, "the answer with a token", LARGEST_TOKEN, deadline).await?;
    // What serde says quotes values.
    let none = || RegistryError::not_answer("where it sends for a token, none is given out");
    let answer: Answer = serde_json::from_slice(&body).map_err(|_| none())?;
    let token = [answer.token, answer.access_token].into_iter().flatten();
    let token = token.into_iter().find(|token| !token.is_empty());
    let header = format!("Bearer {}", token.ok_or_else(none)?);
    let mut header = HeaderValue::from_str(&header).map_err(|_| none())?;
    header.set_sensitive(true);
    Ok(header)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn challenge(values: &[&'static str]) -> Option<Challenge> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(WWW_AUTHENTICATE, HeaderValue::from_static(value));
        }
        Challenge::of(&headers)
    }

    #[test]
    fn card_5_a_challenge_is_read_as_it_is_written() {
        let bearer = |realm: &str, service: Option<&str>| {
            Some(Challenge::Bearer {
                realm: realm.to_owned(),
                service: service.map(str::to_owned),
            })
        };
        for (values, expected) in [
            (
                &[r#"Bearer realm="https://a/t",service="a b",scope="x,y""#][..],
                bearer("https://a/t", Some("a b")),
            ),
            (
                &[r#"bearer  REALM = "https://a/\"t\"" , error=x"#],
                bearer(r#"https://a/"t""#, None),
            ),
            (
                &[r#"Basic realm="Bearer realm=https://b/""#],
                Some(Challenge::Basic),
            ),
            (
                &["Basic realm=x, Bearer realm=\"https://a/t\""],
                bearer("https://a/t", None),
            ),
            (
                &["Basic", "Bearer realm=\"https://a/t"],
                bearer("https://a/t", None),
            ),
            // The first counts, where a name comes twice.
            (
                &[r#"Bearer realm="https://a/",realm="https://b/""#],
                bearer("https://a/", None),
            ),
            (&["Bearer service=x"], None),
            (&["Negotiate YWJj=="], None),
            (&["realm=x", "", "\"", "=,="], None),
            (&[], None),
        ] {
            assert_eq!(challenge(values), expected, "{values:?}");
        }
    }

    #[test]
    fn card_5_a_token_is_asked_for_at_a_host_that_belongs_to_the_registry_or_was_named() {
        let named = [
            "auth.example.com".to_owned(),
            "b.example.com:8443".to_owned(),
        ];
        let may = |registry: &str, realm: &str| {
            address(realm, &Url::parse(registry).unwrap(), &named)
                .map_err(|error| error.to_string())
        };
        for (registry, realm) in [
            ("https://r.example.com/", "https://r.example.com/token"),
            (
                "https://r.example.com/",
                "https://R.example.com:443/token?a=b",
            ),
            ("https://r.example.com/", "https://auth.example.com/token"),
            ("https://r.example.com/", "https://b.example.com:8443/"),
            ("https://index.docker.io/", "https://auth.docker.io/token"),
            (
                "https://registry.gitlab.com/",
                "https://gitlab.com/jwt/auth",
            ),
            ("http://127.0.0.1:5000/", "http://127.0.0.1:5000/token"),
        ] {
            may(registry, realm).unwrap();
        }
        for (registry, realm, part) in [
            (
                "https://r.example.com/",
                "https://evil.example.com/",
                "--auth-host evil.example.com",
            ),
            (
                "https://r.example.com/",
                "https://r.example.com:444/",
                "--auth-host r.example.com:444",
            ),
            (
                "https://r.example.com/",
                "https://b.example.com/",
                "--auth-host b.example.com",
            ),
            (
                "https://r.example.com/",
                "https://auth.docker.io/",
                "--auth-host",
            ),
            (
                "https://index.docker.io:444/",
                "https://auth.docker.io/",
                "--auth-host",
            ),
            (
                "https://r.example.com/",
                "https://gitlab.com/",
                "--auth-host",
            ),
            (
                "http://127.0.0.1:5000/",
                "http://127.0.0.1:5001/",
                "--auth-host 127.0.0.1:5001",
            ),
            (
                "http://127.0.0.1:5000/",
                "http://auth.example.com/",
                "its owner",
            ),
            (
                "https://r.example.com/",
                "http://r.example.com/",
                "its owner",
            ),
            (
                "https://127.0.0.1:5000/",
                "http://127.0.0.1:5000/",
                "its owner",
            ),
            (
                "https://r.example.com/",
                "https://me@r.example.com/",
                "its owner",
            ),
            (
                "https://r.example.com/",
                "https://r.example.com@evil.example.com/",
                "its owner",
            ),
            ("https://r.example.com/", "file:///etc/passwd", "its owner"),
            ("https://r.example.com/", "/token", "check the address"),
        ] {
            let said = may(registry, realm).unwrap_err();
            assert!(said.contains(part), "{realm}: {said}");
        }
    }
}
