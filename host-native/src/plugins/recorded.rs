//! Answers in place of the network, for tests of plugins: a request is judged as ever, and not sent.

use std::{fmt, sync::Arc};

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

/// A request that would be sent: its origin and method are granted, and the headers of its secrets are set.
#[derive(Clone, Copy)]
pub struct RecordedRequest<'a> {
    /// The method, in capital letters.
    pub method: &'a str,
    /// The URL.
    pub url: &'a str,
    pub(super) headers: &'a HeaderMap,
    /// The body.
    pub body: &'a [u8],
}

impl RecordedRequest<'_> {
    /// The values of a header, in whatever letters, as far as they are text.
    pub fn header(&self, name: &str) -> impl Iterator<Item = &str> {
        let values = self.headers.get_all(name).iter();
        values.filter_map(|value| value.to_str().ok())
    }
}

/// An answer that a server gave, or could have given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecordedAnswer {
    /// The status.
    pub status: u16,
    /// Headers: name and value. What is no header is left out.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl RecordedAnswer {
    /// The headers, as a client has them.
    pub(super) fn header_map(&self) -> HeaderMap {
        let parsed = self.headers.iter().filter_map(|(name, value)| {
            let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
            Some((name, HeaderValue::from_str(value).ok()?))
        });
        let mut headers = HeaderMap::new();
        for (name, value) in parsed {
            headers.append(name, value);
        }
        headers
    }
}

type Answer = dyn Fn(RecordedRequest<'_>) -> Result<RecordedAnswer, String> + Send + Sync;

/// Answers requests of components in place of the network
/// ([`PluginHostConfig::recorded`](super::PluginHostConfig::recorded)).
#[derive(Clone)]
pub struct RecordedNetwork(Arc<Answer>);

impl RecordedNetwork {
    /// A network that asks a function, which says why there is no answer if it has none.
    pub fn new(
        answer: impl Fn(RecordedRequest<'_>) -> Result<RecordedAnswer, String> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(answer))
    }

    /// The answer, or why there is none.
    pub(super) fn answer(&self, request: RecordedRequest<'_>) -> Result<RecordedAnswer, String> {
        (self.0)(request)
    }
}

impl fmt::Debug for RecordedNetwork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RecordedNetwork")
    }
}
