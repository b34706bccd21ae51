//! Requests to the origins that the plugin declares (`grants.http`) and was granted.
//!
//! ```no_run
//! use windlass_plugin::{ToolError, http};
//!
//! fn title(id: u32) -> Result<String, ToolError> {
//!     let answer = http::get(format!("https://api.example.com/posts/{id}"))?;
//!     answer.text(1 << 20)
//! }
//! # let _ = title;
//! ```
//!
//! The host follows no redirect: it gives the answer with its `location`, and a request there is judged like any other.

use crate::ToolError;
pub use crate::bindings::windlass::host::http::{Body, Failure, Header, Request, Response, send};

/// Bytes that are asked of a body at once.
const PIECE: u32 = 64 << 10;

/// Sends a `GET` request and waits for the answer, whatever its status.
///
/// # Errors
/// [`ToolError`] with what the host says: nothing was reached, or the request is not granted.
pub fn get(url: impl Into<String>) -> Result<Response, ToolError> {
    Request::new("GET", url).send()
}

/// Sends a `POST` request with a JSON body and waits for the answer, whatever its status.
///
/// # Errors
/// As [`get`], and if the value has no JSON form.
pub fn post_json<T: serde::Serialize + ?Sized>(
    url: impl Into<String>,
    value: &T,
) -> Result<Response, ToolError> {
    Request::new("POST", url).json(value)?.send()
}

impl Request {
    /// A request without headers and body. The method is in capital letters.
    pub fn new(method: impl Into<String>, url: impl Into<String>) -> Self {
        Self {
            method: method.into(),
            url: url.into(),
            headers: Vec::new(),
            body: Vec::new(),
        }
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push(Header {
            name: name.into(),
            value: value.into(),
        });
        self
    }

    /// Sets the body.
    #[must_use]
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = vec![body.into()];
        self
    }

    /// Sets a JSON body, with its `content-type`.
    ///
    /// # Errors
    /// [`ToolError`] if the value has no JSON form.
    pub fn json<T: serde::Serialize + ?Sized>(self, value: &T) -> Result<Self, ToolError> {
        let body = serde_json::to_vec(value)
            .map_err(|error| ToolError::new(format!("The request has no JSON form: {error}.")))?;
        Ok(self.header("content-type", "application/json").body(body))
    }

    /// Sends the request and waits for the answer, whatever its status.
    ///
    /// # Errors
    /// As [`get`].
    pub fn send(&self) -> Result<Response, ToolError> {
        Ok(send(self)?)
    }
}

impl Response {
    /// The first header of this name, in whatever letters.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut named = self
            .headers
            .iter()
            .filter(|header| header.name.eq_ignore_ascii_case(name));
        named.next().map(|header| header.value.as_str())
    }

    /// The body, if it has at most `limit` bytes.
    ///
    /// # Errors
    /// [`ToolError`] if it has more, or cannot be read.
    pub fn bytes(&self, limit: usize) -> Result<Vec<u8>, ToolError> {
        let mut bytes = Vec::new();
        loop {
            let piece = self.body.read(PIECE)?;
            if piece.is_empty() {
                return Ok(bytes);
            }
            bytes.extend_from_slice(&piece);
            if bytes.len() > limit {
                return Err(ToolError::new(format!(
                    "The answer has more than {limit} bytes."
                )));
            }
        }
    }

    /// The body as text, if it has at most `limit` bytes.
    ///
    /// # Errors
    /// As [`bytes`](Self::bytes), and if it is not UTF-8.
    pub fn text(&self, limit: usize) -> Result<String, ToolError> {
        String::from_utf8(self.bytes(limit)?)
            .map_err(|_| ToolError::new("The answer is not UTF-8 text."))
    }
}

impl From<Failure> for ToolError {
    fn from(failure: Failure) -> Self {
        let (Failure::Connect(reason)
        | Failure::Interrupted(reason)
        | Failure::Refused(reason)
        | Failure::TooLarge(reason)) = failure;
        Self::new(format!("The request failed: {reason}."))
    }
}
