//! Exchanges with a model endpoint.

use alloc::{borrow::ToOwned, string::String, vec::Vec};

use bytes::Bytes;
use serde::{Deserialize, Serialize, Serializer};

/// A request to a model endpoint. It contains neither the host name nor credentials; the host adds both.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HttpRequest {
    /// Always `POST` today.
    pub method: &'static str,
    /// Path and query below the endpoint's base address (`/v1/messages`).
    pub path: String,
    /// Header names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body in pieces, to be sent one after another. The pieces are shared with the history and never re-encoded. Serialised
    /// as one string.
    #[serde(serialize_with = "as_text")]
    pub body: Vec<Bytes>,
}

impl HttpRequest {
    /// Length of the body in bytes.
    #[must_use]
    pub fn body_len(&self) -> usize {
        self.body.iter().map(Bytes::len).sum()
    }

    /// The body in one piece (a copy).
    #[must_use]
    pub fn body_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.body_len());
        for piece in &self.body {
            out.extend_from_slice(piece);
        }
        out
    }
}

/// Serialises the pieces of a text as one string.
fn as_text<S: Serializer>(pieces: &[Bytes], serializer: S) -> Result<S::Ok, S::Error> {
    let mut whole = Vec::with_capacity(pieces.iter().map(Bytes::len).sum());
    for piece in pieces {
        whole.extend_from_slice(piece);
    }
    serializer.serialize_str(&String::from_utf8_lossy(&whole))
}

/// Name of a header that the host adds to a 404 response: the requested address, without anything in it that may be secret. The
/// error message can then name the address to correct.
pub const ADDRESS_HEADER: &str = "windlass-address";

/// A failed exchange.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HttpFailure {
    /// The kind of failure.
    pub kind: HttpFailureKind,
    /// What happened, where, and how to fix it.
    pub message: String,
}

impl HttpFailure {
    /// A failure with its message.
    #[must_use]
    pub fn new(kind: HttpFailureKind, message: &str) -> Self {
        Self {
            kind,
            message: message.to_owned(),
        }
    }
}

/// Kinds of failure, by how they are handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HttpFailureKind {
    /// No connection was made. Retried.
    Connect,
    /// The connection broke or timed out. Retried.
    Interrupted,
    /// The host refuses to send the request (no key, an invalid address). Not retried.
    Refused,
    /// The response exceeded the host's size limit. Not retried.
    TooLarge,
}
