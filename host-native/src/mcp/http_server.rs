//! Configuration of MCP servers that are reached over HTTP.

use std::collections::BTreeMap;

use reqwest::{
    Url,
    header::{HeaderMap, HeaderName, HeaderValue},
};
use secrecy::SecretString;
use serde::Deserialize;
use windlass_core::RawJson;

use super::{
    stdio::{ConfigError, Limits},
    variables::{Unset, expand},
};
use crate::{
    credentials::{self, Credentials},
    redact::Redactor,
};

/// The minimum length of a header's value that is looked for in what the server says, in bytes.
const SHORTEST_SECRET: usize = 8;

/// How a server is spoken to over HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HttpTransport {
    /// Streamable HTTP: every message is a request of its own. The usual one.
    Streamable,
    /// HTTP with server-sent events, as servers from before March 2025 speak it.
    Sse,
}

/// An MCP server that is reached over HTTP (Agent SDK reference, `McpHttpServerConfig` and `McpSSEServerConfig`).
///
/// ```
/// use windlass::mcp::HttpServer;
///
/// let server = HttpServer::new("issues", "https://issues.example/mcp")?.header("Authorization", "Bearer secret")?;
/// assert_eq!(server.address(), "https://issues.example/mcp");
/// # Ok::<(), windlass::mcp::ConfigError>(())
/// ```
#[derive(Clone)]
pub struct HttpServer {
    pub(super) name: String,
    pub(super) transport: HttpTransport,
    pub(super) url: Url,
    /// The address in messages: without what may be secret.
    pub(super) address: String,
    pub(super) headers: HeaderMap,
    /// Removes keys from what the server says.
    pub(super) redactor: Redactor,
    keys: Vec<SecretString>,
    pub(super) limits: Limits,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Config {
    #[serde(rename = "type")]
    kind: Option<String>,
    url: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    headers_helper: Option<RawJson>,
}

impl HttpServer {
    /// Reads the configuration of a server: `{type: "http" | "sse", url, headers?}`. `${NAME}` and `${NAME:-default}` are expanded
    /// in the address and in the values of headers; unknown fields are ignored.
    ///
    /// # Errors
    /// [`ConfigError`]
    pub fn read(
        name: &str,
        config: &RawJson,
        value_of: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, ConfigError> {
        let form = |reason: String| http_form(name, reason);
        let config: Config = config.decode().map_err(|error| form(error.to_string()))?;
        let transport = match config.kind.as_deref() {
            Some("http" | "streamable-http") => HttpTransport::Streamable,
            Some("sse") => HttpTransport::Sse,
            kind => {
                return Err(ConfigError::OtherType {
                    server: name.to_owned(),
                    kind: kind.unwrap_or("stdio").to_owned(),
                });
            }
        };
        if config.headers_helper.is_some() {
            let reason = "`headersHelper` is not run: write `headers`, whose values may name variables as ${TOKEN}";
            return Err(form(reason.to_owned()));
        }
        let expand = |field, text: &str| {
            expand(text, value_of).map_err(|Unset(variable)| ConfigError::Unset {
                server: name.to_owned(),
                field,
                variable,
            })
        };
        let written = config
            .url
            .ok_or_else(|| form("it has no `url`".to_owned()))?;
        let mut server = Self::new(name, &expand("url", &written)?)?.transport(transport);
        if written.contains("${") {
            // What a variable stands for may be a secret; its name is none.
            let shown = written.split(['?', '#']).next().unwrap_or_default();
            shown.clone_into(&mut server.address);
        }
        for (header, value) in &config.headers {
            server = server.header(header, &expand("headers", value)?)?;
        }
        Ok(server)
    }

    /// A server of this name that speaks Streamable HTTP at an address: `http://` or `https://`.
    ///
    /// # Errors
    /// [`ConfigError::HttpForm`] if the address is none.
    pub fn new(name: impl Into<String>, url: &str) -> Result<Self, ConfigError> {
        let name = name.into();
        let form = |reason: &str| http_form(&name, reason.to_owned());
        let url: Url = (url.trim().parse())
            .map_err(|error| form(&format!("its `url` is no address: {error}")))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(form("its `url` begins with neither http:// nor https://"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(form(
                "its `url` holds a user or a password: write a header `Authorization` instead",
            ));
        }
        let keys = Credentials::read(|name| std::env::var(name).ok());
        let mut shown = url.clone();
        shown.set_query(None);
        shown.set_fragment(None);
        let mut server = Self {
            name,
            transport: HttpTransport::Streamable,
            address: shown.to_string(),
            url,
            headers: HeaderMap::new(),
            redactor: Redactor::default(),
            keys: keys.iter().map(|(_, key)| key.clone()).collect(),
            limits: Limits::default(),
        };
        server.redact();
        Ok(server)
    }

    /// Sets how the server is spoken to. Default: [`HttpTransport::Streamable`].
    #[must_use]
    pub fn transport(mut self, transport: HttpTransport) -> Self {
        self.transport = transport;
        self
    }

    /// Sends a header with every request. Values of headers that authorize are never repeated: not in messages, and not if the
    /// server says them.
    ///
    /// # Errors
    /// [`ConfigError::HttpForm`] if it is no header, or one that the protocol sets.
    pub fn header(mut self, name: &str, value: &str) -> Result<Self, ConfigError> {
        let form = |reason: String| http_form(&self.name, reason);
        let header = HeaderName::from_bytes(name.as_bytes())
            .map_err(|_| form(format!("{name:?} is no name of a header")))?;
        if is_of_the_protocol(&header) {
            return Err(form(format!(
                "the header `{header}` is set by the protocol"
            )));
        }
        let mut sent = HeaderValue::from_str(value.trim()).map_err(|_| {
            form(format!(
                "the value of the header `{header}` contains characters that none has (a line end?)"
            ))
        })?;
        sent.set_sensitive(true);
        self.headers.insert(&header, sent);
        if is_secret(&header) {
            let token = value.trim().rsplit(' ').next().unwrap_or_default();
            self.keys.push(SecretString::from(token));
            self.redact();
        }
        Ok(self)
    }

    /// Removes these keys from what the server says, too.
    pub(crate) fn hiding(mut self, keys: &Credentials) -> Self {
        self.keys.extend(keys.iter().map(|(_, key)| key.clone()));
        self.redact();
        self
    }

    /// Sets the timeouts.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Its name in the configuration.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its address as messages show it: without its query, and with the names of variables in place of their values.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Its `type` in configurations.
    pub(super) fn kind(&self) -> &'static str {
        match self.transport {
            HttpTransport::Streamable => "http",
            HttpTransport::Sse => "sse",
        }
    }

    fn redact(&mut self) {
        self.redactor = Redactor::of_secrets(&self.keys, SHORTEST_SECRET);
    }
}

impl std::fmt::Debug for HttpServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HttpServer")
            .field("name", &self.name)
            .field("transport", &self.transport)
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

/// Whether a variable's value may be given to a server: keys only if its configuration may name them.
pub(super) fn variable(
    name: &str,
    own: &BTreeMap<String, String>,
    keys: &Credentials,
    may_name_keys: bool,
) -> Option<String> {
    if credentials::is_withheld(name) && !may_name_keys {
        return None;
    }
    own.get(name)
        .cloned()
        .or_else(|| match credentials::is_credential(name) {
            true => keys.get(name).map(str::to_owned),
            false => std::env::var(name).ok(),
        })
}

fn http_form(server: &str, reason: String) -> ConfigError {
    ConfigError::HttpForm {
        server: server.to_owned(),
        reason,
    }
}

/// Whether the transport itself sets a header.
fn is_of_the_protocol(name: &HeaderName) -> bool {
    let name = name.as_str();
    let of_http = [
        "accept",
        "content-type",
        "content-length",
        "host",
        "transfer-encoding",
        "connection",
        "last-event-id",
    ];
    of_http.contains(&name) || name.starts_with("mcp-")
}

/// Whether the value of a header lets somebody in.
fn is_secret(name: &HeaderName) -> bool {
    let parts = [
        "auth",
        "cookie",
        "key",
        "token",
        "secret",
        "password",
        "credential",
    ];
    parts.iter().any(|part| name.as_str().contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<HttpServer, ConfigError> {
        let config = RawJson::parse(json).expect("a test writes JSON");
        HttpServer::read("far", &config, &|name| match name {
            "TOKEN" => Some("s3cret-of-the-server".to_owned()),
            "HOST" => Some("example.com".to_owned()),
            _ => None,
        })
    }

    #[test]
    fn mcp_1_variables_are_expanded_in_address_and_headers_and_never_shown() {
        let server = read(
            r#"{"type": "http", "url": "https://${HOST}/mcp/${TOKEN}?k=1", "headers": {"Authorization": "Bearer ${TOKEN}", "X-Mode": "${MODE:-fast}"}}"#,
        )
        .expect("it is well formed");
        assert_eq!(
            server.url.as_str(),
            "https://example.com/mcp/s3cret-of-the-server?k=1"
        );
        assert_eq!(server.address(), "https://${HOST}/mcp/${TOKEN}");
        assert_eq!(
            server.headers["authorization"],
            "Bearer s3cret-of-the-server"
        );
        assert_eq!(server.headers["x-mode"], "fast");
        assert!(!format!("{server:?} {:?}", server.headers).contains("s3cret"));
        assert_eq!(
            server.redactor.text("it is s3cret-of-the-server, fast"),
            "it is [key], fast"
        );
    }

    #[test]
    fn what_cannot_be_reached_is_refused_with_the_server_and_the_fault_named() {
        for (json, wanted) in [
            (r#"{"type": "http"}"#, "no `url`"),
            (r#"{"type": "http", "url": "far.example"}"#, "no address"),
            (
                r#"{"type": "sse", "url": "ftp://far.example"}"#,
                "neither http:// nor https://",
            ),
            (
                r#"{"type": "http", "url": "https://me:pw@far.example"}"#,
                "user or a password",
            ),
            (
                r#"{"type": "http", "url": "https://x", "headers": {"a b": "c"}}"#,
                "no name of a header",
            ),
            (
                r#"{"type": "http", "url": "https://x", "headers": {"a": "b\nc"}}"#,
                "a line end?",
            ),
            (
                r#"{"type": "http", "url": "https://x", "headers": {"Mcp-Session-Id": "1"}}"#,
                "set by the protocol",
            ),
            (
                r#"{"type": "http", "url": "https://x", "headers": {"A": "${NONE}"}}"#,
                "NONE for its headers",
            ),
            (
                r#"{"type": "http", "url": "https://x", "headersHelper": "run"}"#,
                "not run",
            ),
            (
                r#"{"type": "http", "url": "https://x", "headers": 7}"#,
                "`far`",
            ),
            (r#"{"type": "ws", "url": "wss://x"}"#, "\"ws\""),
        ] {
            let error = read(json).expect_err(json).to_string();
            assert!(error.contains("`far`") && error.contains(wanted), "{error}");
            assert!(!error.contains("pw"), "{error}");
        }
    }
}
