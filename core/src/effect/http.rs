//! Exchanges with a model endpoint.

use alloc::{borrow::ToOwned, string::String, vec::Vec};

use bytes::Bytes;
use serde::{Deserialize, Serialize, Serializer};

/// A request to a model endpoint. It names no host and carries no secret: the host knows both.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HttpRequest {
    /// Always `POST` today.
    pub method: &'static str,
    /// Path and query below the endpoint's base address (`/v1/messages`).
    pub path: String,
    /// Header names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body in pieces, to be sent one after another; shared with the history, never re-encoded.
    /// As JSON it is one text.
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

/// Pieces of a text as one string.
fn as_text<S: Serializer>(pieces: &[Bytes], serializer: S) -> Result<S::Ok, S::Error> {
    let mut whole = Vec::with_capacity(pieces.iter().map(Bytes::len).sum());
    for piece in pieces {
        whole.extend_from_slice(piece);
    }
    serializer.serialize_str(&String::from_utf8_lossy(&whole))
}

/// A host puts the address that nothing was found at under this name among the headers of a 404, without what may be secret in it:
/// whoever reads the error sees which address to correct.
pub const ADDRESS_HEADER: &str = "windlass-address";

/// How an exchange failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HttpFailure {
    /// What kind of failure.
    pub kind: HttpFailureKind,
    /// What happened, where, and what to do about it.
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

/// The kinds of failure that are treated differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HttpFailureKind {
    /// Nothing was reached: worth another try.
    Connect,
    /// The connection broke or timed out: worth another try.
    Interrupted,
    /// The host refuses to send it (no key, an address that is no address): another try changes nothing.
    Refused,
    /// The answer exceeded the host's size limit: another try changes nothing.
    TooLarge,
}
