//! `windlass:host/http` during a call: which requests are sent, and what a component sees of the answers.

use bytes::Bytes;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use url::Url;
use wasmtime::component::Resource;

use super::{
    bindings::windlass::host::http,
    call_state::CallState,
    disguise::{ask_plainly, check_plain},
    network::{Answered, Outgoing, Unanswered},
    origin::{Method, Origin},
    outcome::Stopped,
    resources::Body,
};

/// Headers that belong to the connection, or that decide where a request leads.
const HEADERS_OF_HOST: [&str; 10] = [
    "connection",
    "content-length",
    "expect",
    "host",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "http2-settings",
];

/// Headers of an answer that describe how it came, not what it is.
const HEADERS_OF_CONNECTION: [&str; 4] = [
    "connection",
    "content-length",
    "keep-alive",
    "transfer-encoding",
];

/// The most headers of a request, and the most bytes of all of them.
const MOST_HEADERS: usize = 100;
const MOST_HEADER_BYTES: usize = 32 << 10;

/// Bytes of the longest URL.
const LONGEST_URL: usize = 8 << 10;

/// The most answers that a component has not dropped.
const MOST_OPEN: usize = 10_000;

type Sent = Result<http::Response, http::Failure>;

impl http::Host for CallState {
    fn send(&mut self, request: http::Request) -> wasmtime::Result<Sent> {
        self.may_go_on()?;
        match self.judged(request) {
            Ok(outgoing) => Ok(self.exchange(outgoing)?),
            Err(refused) => Ok(Err(refused)),
        }
    }
}

impl http::HostBody for CallState {
    fn read(
        &mut self,
        body: Resource<Body>,
        max: u32,
    ) -> wasmtime::Result<Result<Vec<u8>, http::Failure>> {
        self.may_go_on()?;
        Ok(Ok(self.call.exchanges.read(body.rep(), max).to_vec()))
    }

    fn drop(&mut self, body: Resource<Body>) -> wasmtime::Result<()> {
        self.call.exchanges.close(body.rep());
        self.instance.let_go();
        Ok(())
    }
}

impl CallState {
    /// The request, if it may be sent: its origin and method are granted, and its headers are its own.
    pub(super) fn judged(&mut self, request: http::Request) -> Result<Outgoing, http::Failure> {
        if !self.call.bound.authority.has_network() {
            self.note("refused a request: no network is granted");
            return Err(refused("this component was granted no network"));
        }
        if request.url.len() > LONGEST_URL {
            return Err(refused("the URL is too long"));
        }
        // Parsers leave such characters out, and readers do not expect that.
        let is_odd = |c: char| c.is_control() || c == ' ' || c == '\\';
        let url = Url::parse(&request.url)
            .ok()
            .filter(|_| !request.url.contains(is_odd));
        let url = url.ok_or_else(|| refused("the URL is none: it must be absolute"))?;
        let granted = Origin::of(&url).zip(Method::of(&request.method));
        let granted =
            granted.filter(|(origin, method)| self.call.bound.authority.lets_send(origin, *method));
        let Some((origin, method)) = granted else {
            let shown: String = url
                .origin()
                .ascii_serialization()
                .chars()
                .take(200)
                .collect();
            self.note(&format!("refused a request to {shown}: not granted"));
            return Err(refused(
                "this component was not granted this origin with this method",
            ));
        };
        let headers = headers(&request.headers)?;
        // Before the pieces are put together.
        let length = request.body.iter().map(Vec::len).sum();
        let Some(left) = self.call.exchanges.bytes_left.checked_sub(length) else {
            return Err(refused("the body is longer than what is left to this call"));
        };
        self.call.exchanges.bytes_left = left;
        let body = Bytes::from(request.body.concat());
        Ok(Outgoing {
            origin,
            url,
            method,
            headers,
            body,
        })
    }

    /// Sends a request. Every exchange of a plugin is this function: what comes back is searched for all of its secrets before
    /// anything else sees it, and is refused in a form in which they would not be found.
    pub(super) fn exchange(&mut self, mut outgoing: Outgoing) -> Result<Sent, Stopped> {
        if self.call.exchanges.open() >= MOST_OPEN {
            return Err(Stopped::Handles);
        }
        let has_secrets = self.call.bound.authority.secrets().next().is_some();
        if has_secrets && let Err(failure) = self.prepare(&mut outgoing) {
            return Ok(Err(failure));
        }
        let left = self.call.exchanges.bytes_left;
        let (answered, received) = self.instance.network.exchange(
            outgoing,
            left,
            &self.instance.component,
            &self.call.watch,
        );
        self.call.exchanges.bytes_left = left.saturating_sub(received);
        let redactor = self.call.bound.known_secrets.redactor();
        let answered = match answered? {
            Ok(answered) => answered,
            Err(unanswered) => {
                let told = redactor.owned(unanswered.to_string());
                if let Unanswered::Unreachable { reason, .. } = &unanswered {
                    self.note(&redactor.owned(format!("{told}: {reason}")));
                }
                return Ok(Err(match unanswered {
                    Unanswered::Unreachable { .. } => http::Failure::Connect(told),
                    Unanswered::Broken { .. } => http::Failure::Interrupted(told),
                    Unanswered::TooLong { .. } => http::Failure::TooLarge(told),
                }));
            }
        };
        if has_secrets && let Err(disguise) = check_plain(&answered) {
            return Ok(Err(refused(disguise)));
        }
        let Answered {
            status,
            headers,
            body,
        } = answered;
        let shown = headers
            .iter()
            .filter(|(name, _)| !HEADERS_OF_CONNECTION.contains(&name.as_str()));
        let headers = shown.map(|(name, value)| http::Header {
            name: redactor.owned(name.to_string()),
            value: redactor.owned(String::from_utf8_lossy(value.as_bytes()).into_owned()),
        });
        let headers = headers.collect();
        // One that was given before, to a body of another call or not, is never given again.
        let number = u32::try_from(self.instance.number()).map_err(|_| Stopped::Handles)?;
        self.instance.hold()?;
        self.call.exchanges.keep(number, redactor.bytes(body));
        Ok(Ok(http::Response {
            status,
            headers,
            body: Resource::new_own(number),
        }))
    }

    /// What is done before every request of a plugin that has secrets.
    fn prepare(&self, outgoing: &mut Outgoing) -> Result<(), http::Failure> {
        self.know_secrets()?;
        ask_plainly(&mut outgoing.headers).map_err(|name| {
            refused(&format!(
                "a component with secrets cannot set the header `{name}`"
            ))
        })
    }
}

pub(super) fn refused(reason: &str) -> http::Failure {
    http::Failure::Refused(reason.to_owned())
}

/// Whether a component, or the header of a secret, may set this header.
pub(super) fn is_free(name: &HeaderName) -> bool {
    !HEADERS_OF_HOST.contains(&name.as_str()) && !name.as_str().starts_with("proxy-")
}

fn headers(given: &[http::Header]) -> Result<HeaderMap, http::Failure> {
    let bytes: usize = given
        .iter()
        .map(|header| header.name.len() + header.value.len())
        .sum();
    if given.len() > MOST_HEADERS || bytes > MOST_HEADER_BYTES {
        return Err(refused("the headers are too many or too long"));
    }
    let mut headers = HeaderMap::with_capacity(given.len());
    for header in given {
        let name = HeaderName::from_bytes(header.name.as_bytes());
        let name = name.map_err(|_| refused("the name of a header is none"))?;
        let value = HeaderValue::from_str(&header.value);
        let value =
            value.map_err(|_| refused(&format!("the value of the header `{name}` is none")))?;
        if !is_free(&name) {
            return Err(refused(&format!("the header `{name}` is set by the host")));
        }
        headers.append(name, value);
    }
    Ok(headers)
}
