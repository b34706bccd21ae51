//! The HTTP client for model servers: sends requests of the core and streams the responses.

mod body;
mod download;
mod failure;
pub(crate) mod tls;

use std::{path::PathBuf, sync::Arc, time::Duration};

use futures_util::{Stream, stream};
use reqwest::{
    Client, Method, RequestBuilder, Response, StatusCode, Url,
    header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue},
    redirect,
};
use secrecy::{ExposeSecret, SecretString};
use windlass_core::effect::{ADDRESS_HEADER, Answer, HttpFailure, HttpFailureKind, HttpRequest};

use self::body::Pieces;
pub use self::download::{DownloadError, download, download_client};
pub(crate) use self::failure::root_cause;
use crate::redact::{RedactedStream, Redactor};

/// The default address of the Messages API.
pub const DEFAULT_BASE_URL: &str = "https://api.anthropic.com";

/// How requests authenticate. Debug output never shows a key.
#[derive(Debug, Clone)]
pub enum Auth {
    /// The header `x-api-key`.
    ApiKey(SecretString),
    /// The header `authorization: Bearer …`.
    Bearer(SecretString),
    /// No authentication, for servers that need none.
    None,
}

impl Auth {
    /// Checks that a header can carry the secret.
    ///
    /// # Errors
    /// [`EndpointError::Key`].
    #[cfg(feature = "engine")]
    pub(crate) fn check(&self) -> Result<(), EndpointError> {
        key_header(self).map(drop)
    }

    /// The secret, if there is one.
    pub(crate) fn secret(&self) -> Option<&SecretString> {
        match self {
            Self::ApiKey(secret) | Self::Bearer(secret) => Some(secret),
            Self::None => None,
        }
    }
}

/// The address of the model server, with credentials and limits.
#[derive(Debug, Clone)]
pub struct EndpointConfig {
    /// `http://` or `https://` with a host and optionally a port and a path prefix.
    pub base_url: String,
    /// How requests authenticate.
    pub auth: Auth,
    /// PEM files of certificates that are trusted in addition to those of the system.
    pub extra_ca: Vec<PathBuf>,
    /// The timeout for establishing a connection.
    pub connect_timeout: Duration,
    /// The longest time without data from the server, before or during its response.
    pub idle_timeout: Duration,
    /// The maximum size of a response, in bytes.
    pub max_response: usize,
    /// A comment for the `user-agent` header, in parentheses after this program's name and version: on whose behalf
    /// it sends requests. Characters that are invalid there are left out.
    pub client: Option<String>,
}

impl EndpointConfig {
    /// An endpoint with the default limits: 30 s to connect, 10 minutes without data, 64 MiB.
    #[must_use]
    pub fn new(base_url: impl Into<String>, auth: Auth) -> Self {
        Self {
            base_url: base_url.into(),
            auth,
            extra_ca: Vec::new(),
            connect_timeout: Duration::from_secs(30),
            idle_timeout: Duration::from_mins(10),
            max_response: 64 << 20,
            client: None,
        }
    }

    /// Also trusts the certificates in `NODE_EXTRA_CA_CERTS`. (`SSL_CERT_FILE` and `SSL_CERT_DIR` replace the
    /// system's certificates anyway.)
    #[must_use]
    pub fn with_extra_ca_of_environment(mut self) -> Self {
        let named = std::env::var_os("NODE_EXTRA_CA_CERTS").filter(|v| !v.is_empty());
        self.extra_ca.extend(named.map(PathBuf::from));
        self
    }

    /// The parsed address of the server.
    ///
    /// # Errors
    /// [`EndpointError::Address`] if it is invalid.
    pub fn url(&self) -> Result<Url, EndpointError> {
        address(&self.base_url)
    }
}

/// The endpoint configuration is invalid.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EndpointError {
    /// The address is invalid.
    #[error(
        "the model endpoint{} is not a usable address: {reason}; it looks like https://api.anthropic.com",
        shown_address(url)
    )]
    Address {
        /// Its scheme and host, which contain no key; empty if it has none.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The key contains characters that are invalid in a header.
    #[error(
        "the key for the model endpoint contains characters that no key has (a line end?): check where it was copied from"
    )]
    Key,
    /// A certificate file cannot be used.
    #[error("the certificates in `{}` cannot be used: {reason}; name a file with certificates in PEM form", .file.display())]
    Certificates {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// TLS cannot be set up.
    #[error("TLS cannot be set up: {0}")]
    Tls(String),
    /// The HTTP client cannot be set up.
    #[error(
        "the HTTP client cannot be set up: {0}; check the proxy variables (HTTPS_PROXY, NO_PROXY)"
    )]
    Client(String),
}

/// How often a request is sent again to a server on this machine if nothing listens there. A program that is about to start is
/// there by then; anything else that refuses connections will go on to.
const RETRIES_HERE: u32 = 2;

/// A client for a model server. Connections are pooled. Cloning is cheap.
#[derive(Debug, Clone)]
pub struct ModelEndpoint {
    client: Client,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    /// Without a trailing slash.
    base: String,
    /// The server as named in messages: scheme, host and port.
    server: String,
    /// Whether the server is on this machine.
    is_here: bool,
    idle_timeout: Duration,
    max_response: usize,
    /// Removes the key from responses: the server received it and may echo it.
    redactor: Redactor,
}

impl Shared {
    /// The address of a request without the path of the base address, which may contain a key.
    fn shown(&self, url: &Url) -> String {
        let path = url.as_str().strip_prefix(&self.base).unwrap_or_default();
        let hidden = match self.base == self.server {
            true => "",
            false => "/…",
        };
        format!("{}{hidden}{path}", self.server)
    }
}

impl ModelEndpoint {
    /// Checks the configuration and prepares the client. Does not connect; reads the system's certificates only for
    /// an `https` address.
    ///
    /// `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY` apply, except to servers on this machine.
    ///
    /// # Errors
    /// [`EndpointError`], which says what to change.
    pub fn new(config: &EndpointConfig) -> Result<Self, EndpointError> {
        let base = address(&config.base_url)?;
        let tls = if base.scheme() == "https" || proxy_speaks_tls() {
            tls::trusting(&config.extra_ca)?
        } else {
            tls::unused()?
        };
        let mut builder = Client::builder()
            .tls_backend_preconfigured(tls)
            .default_headers(key_header(&config.auth)?)
            .user_agent(user_agent(config.client.as_deref()))
            // No redirects: the key is meant for the configured server only.
            .redirect(redirect::Policy::none())
            .connect_timeout(config.connect_timeout)
            .read_timeout(config.idle_timeout);
        let is_here = is_this_machine(&base);
        if is_here {
            builder = builder.no_proxy();
        }
        let client = builder
            .build()
            .map_err(|error| EndpointError::Client(failure::root_cause(&error)))?;
        let shared = Shared {
            base: base.as_str().trim_end_matches('/').to_owned(),
            server: base.origin().ascii_serialization(),
            is_here,
            idle_timeout: config.idle_timeout,
            max_response: config.max_response,
            redactor: Redactor::new(config.auth.secret()),
        };
        Ok(Self {
            client,
            shared: Arc::new(shared),
        })
    }

    /// The server's address as named in messages: scheme, host and port.
    #[must_use]
    pub fn server(&self) -> &str {
        &self.shared.server
    }

    /// Sends a request. The stream yields the head, the body in pieces, and one end: [`Answer::HttpEnd`] or
    /// [`Answer::HttpFailed`]. Dropping it closes the connection.
    pub fn send(&self, request: HttpRequest) -> impl Stream<Item = Answer> + Send + use<> {
        self.send_again(request, 1)
    }

    /// The same for an attempt of a request, counted from 1. After two retries, a server on this machine that refuses the
    /// connection counts as absent ([`HttpFailureKind::Refused`]).
    pub fn send_again(
        &self,
        request: HttpRequest,
        attempt: u32,
    ) -> impl Stream<Item = Answer> + Send + use<> {
        let shared = Arc::clone(&self.shared);
        let is_last = shared.is_here && attempt > RETRIES_HERE;
        let first = match self.prepare(request) {
            Ok(request) => Step::Send { request, is_last },
            Err(failure) => Step::Fail(failure),
        };
        stream::unfold(first, move |step| {
            let shared = Arc::clone(&shared);
            async move { step.take(&shared).await }
        })
    }

    /// Takes these keys out of what the server says, in place of the one that it is configured with.
    #[cfg(feature = "engine")]
    pub(crate) fn redacting(mut self, redactor: Redactor) -> Self {
        if let Some(shared) = Arc::get_mut(&mut self.shared) {
            shared.redactor = redactor;
        }
        self
    }

    fn prepare(&self, request: HttpRequest) -> Result<RequestBuilder, HttpFailure> {
        let refused = |what: &str| {
            let text = format!(
                "The request to {} cannot be sent: {what}.",
                self.shared.server
            );
            HttpFailure::new(HttpFailureKind::Refused, &text)
        };
        if !request.path.starts_with('/') {
            return Err(refused("its path does not begin with a slash"));
        }
        let method = Method::from_bytes(request.method.as_bytes())
            .map_err(|_| refused("its method is no HTTP method"))?;
        let mut headers = HeaderMap::with_capacity(request.headers.len());
        for (name, value) in &request.headers {
            let name = HeaderName::from_bytes(name.as_bytes())
                .map_err(|_| refused(&format!("the header name {name:?} is none")))?;
            let mut value = HeaderValue::from_str(value)
                .map_err(|_| refused(&format!("the value of the header `{name}` is none")))?;
            value.set_sensitive(matches!(name.as_str(), "x-api-key" | "authorization"));
            headers.append(name, value);
        }
        let url = format!("{}{}", self.shared.base, request.path);
        let prepared = self.client.request(method, url).headers(headers);
        Ok(prepared.body(reqwest::Body::wrap(Pieces::new(request.body))))
    }
}

/// The state of an exchange.
enum Step {
    Fail(HttpFailure),
    Send {
        request: RequestBuilder,
        /// Whether it is not worth another attempt if nothing listens.
        is_last: bool,
    },
    Receive {
        response: Response,
        received: usize,
        clean: RedactedStream,
    },
    /// The response is complete.
    End,
    Over,
}

impl Step {
    async fn take(self, shared: &Shared) -> Option<(Answer, Self)> {
        let failed = |mut failure: HttpFailure| {
            failure.message = shared.redactor.owned(failure.message);
            Some((Answer::HttpFailed(failure), Self::Over))
        };
        match self {
            Self::Over => None,
            Self::End => Some((Answer::HttpEnd, Self::Over)),
            Self::Fail(failure) => failed(failure),
            Self::Send { request, is_last } => match request.send().await {
                Ok(response) => Some((
                    head(&response, shared),
                    Self::Receive {
                        clean: match is_event_stream(&response) {
                            true => shared.redactor.events(),
                            false => shared.redactor.stream(),
                        },
                        response,
                        received: 0,
                    },
                )),
                Err(error) => {
                    let mut failure = failure::of(&error, &shared.server, shared.idle_timeout);
                    if is_last && failure::nothing_listens(&error) {
                        failure.kind = HttpFailureKind::Refused;
                    }
                    failed(failure)
                }
            },
            Self::Receive {
                mut response,
                mut received,
                mut clean,
            } => loop {
                let (piece, end) = match response.chunk().await {
                    Ok(Some(piece)) => {
                        received = received.saturating_add(piece.len());
                        if received > shared.max_response {
                            return failed(failure::too_large(&shared.server, shared.max_response));
                        }
                        (clean.take(piece), None)
                    }
                    Ok(None) => (clean.finish(), Some(Self::End)),
                    Err(error) => {
                        let failure = failure::of(&error, &shared.server, shared.idle_timeout);
                        (clean.finish(), Some(Self::Fail(failure)))
                    }
                };
                let next = match end {
                    Some(end) => end,
                    // All of it may be the beginning of a key, so it is held back.
                    None if piece.is_empty() => continue,
                    None => Self::Receive {
                        response,
                        received,
                        clean,
                    },
                };
                return match (piece.is_empty(), next) {
                    (false, next) => Some((Answer::HttpBody(piece), next)),
                    (true, Self::Fail(failure)) => failed(failure),
                    (true, _) => Some((Answer::HttpEnd, Self::Over)),
                };
            },
        }
    }
}

fn is_event_stream(response: &Response) -> bool {
    let kind = response.headers().get(CONTENT_TYPE);
    kind.and_then(|kind| kind.to_str().ok())
        .and_then(|kind| kind.split(';').next())
        .is_some_and(|kind| kind.trim().eq_ignore_ascii_case("text/event-stream"))
}

/// The status, and the headers that the core uses. A 404 is usually caused by a wrong address, so the address is included.
fn head(response: &Response, shared: &Shared) -> Answer {
    let wanted = |name: &str| {
        matches!(name, "content-type" | "request-id" | "x-should-retry")
            || name.starts_with("retry-after")
            || name.starts_with("anthropic-")
    };
    let address = (response.status() == StatusCode::NOT_FOUND)
        .then(|| (ADDRESS_HEADER.to_owned(), shared.shown(response.url())));
    let sent = response.headers().iter();
    Answer::HttpHead {
        status: response.status().as_u16(),
        headers: sent
            .filter(|(name, _)| wanted(name.as_str()))
            .filter_map(|(name, value)| {
                let value = shared.redactor.text(value.to_str().ok()?);
                Some((name.to_string(), value.into_owned()))
            })
            .chain(address)
            .collect(),
    }
}

/// Parses an address. Errors do not quote it, because keys may be in user names, paths and queries.
fn address(text: &str) -> Result<Url, EndpointError> {
    let unusable = |shown: &str, reason: &str| EndpointError::Address {
        url: shown.to_owned(),
        reason: reason.to_owned(),
    };
    // `localhost:11434` would be parsed as a URL with scheme `localhost`.
    if !text.contains("://") {
        let meant = machine_without_scheme(text.trim());
        let meant = meant.map_or_else(
            || "write http:// or https:// before it".to_owned(),
            |machine| format!("write http://{machine} or https://{machine}"),
        );
        let reason = format!("it does not say how the server is spoken to: {meant}");
        return Err(unusable("", &reason));
    }
    let url = Url::parse(text.trim()).map_err(|error| unusable("", &error.to_string()))?;
    let shown = match url.host_str() {
        Some(host) => format!("{}://{host}", url.scheme()),
        None => String::new(),
    };
    if !url.username().is_empty() || url.password().is_some() {
        return Err(unusable(&shown, "it contains a user name or password"));
    }
    if !matches!(url.scheme(), "http" | "https") {
        return Err(unusable(&shown, "only http and https are spoken"));
    }
    if url.query().is_some() || url.fragment().is_some() {
        let reason = "it has a query or a fragment, and paths are appended to it";
        return Err(unusable(&shown, reason));
    }
    Ok(url)
}

/// The address for an error message; empty if no part of it may be shown.
fn shown_address(url: &str) -> String {
    match url {
        "" => String::new(),
        url => format!(" `{url}`"),
    }
}

/// Recognizes a local or numeric address that only lacks the scheme. Any other text may be a key.
fn machine_without_scheme(text: &str) -> Option<String> {
    let url = Url::parse(&format!("http://{text}")).ok()?;
    let is_plain = url.username().is_empty() && url.password().is_none();
    let host = url.host_str().filter(|_| is_plain)?;
    let is_number = host
        .trim_matches(['[', ']'])
        .parse::<std::net::IpAddr>()
        .is_ok();
    match (host == "localhost" || is_number, url.port()) {
        (false, _) => None,
        (true, Some(port)) => Some(format!("{host}:{port}")),
        (true, None) => Some(host.to_owned()),
    }
}

fn user_agent(client: Option<&str>) -> String {
    let program = concat!("windlass/", env!("CARGO_PKG_VERSION"));
    let allowed =
        |letter: &char| (' '..='~').contains(letter) && !matches!(letter, '(' | ')' | '\\');
    let client: String = client
        .into_iter()
        .flat_map(str::chars)
        .filter(allowed)
        .collect();
    match client.trim() {
        "" => program.to_owned(),
        client => format!("{program} ({client})"),
    }
}

fn key_header(auth: &Auth) -> Result<HeaderMap, EndpointError> {
    let (name, value) = match auth {
        Auth::ApiKey(key) => ("x-api-key", key.expose_secret().to_owned()),
        Auth::Bearer(token) => ("authorization", format!("Bearer {}", token.expose_secret())),
        Auth::None => return Ok(HeaderMap::new()),
    };
    let mut value = HeaderValue::from_str(value.trim()).map_err(|_| EndpointError::Key)?;
    // Keeps the key out of debug output and of HTTP/2 compression tables.
    value.set_sensitive(true);
    Ok(HeaderMap::from_iter([(
        HeaderName::from_static(name),
        value,
    )]))
}

/// Whether a server is on this machine. A proxy could not reach it, and local model servers rarely require a key.
#[must_use]
pub fn is_this_machine(url: &Url) -> bool {
    let Some(host) = url.host_str() else {
        return false;
    };
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost"
        || host
            .parse::<std::net::IpAddr>()
            .is_ok_and(|ip| ip.is_loopback())
}

/// Whether a proxy for plain HTTP is itself reached over TLS.
fn proxy_speaks_tls() -> bool {
    ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"]
        .into_iter()
        .filter_map(std::env::var_os)
        .any(|proxy| proxy.to_string_lossy().starts_with("https:"))
}
