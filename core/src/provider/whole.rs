//! A response that is not streamed: one JSON value.

use alloc::{borrow::ToOwned, boxed::Box, format, string::String, vec::Vec};

use super::{ApiError, Decoder, Response, WireError, error_response::excerpt};
use crate::{
    json::{self, Fault, RawJson},
    model::ErrorClass,
};

/// Collects the body and decodes it at the end.
#[derive(Debug)]
pub(super) struct WholeDecoder {
    content_type: String,
    body: Vec<u8>,
    /// The number of bytes without white space, which some servers send as a keep-alive.
    progress: u64,
    read: fn(&[u8]) -> Result<Response, Unread>,
}

/// A body that is not a response.
#[derive(Debug)]
pub(super) enum Unread {
    /// It is not JSON, or not of the wire format.
    Form,
    /// It is, but reports an error.
    Reported(ApiError),
}

impl From<Fault> for Unread {
    fn from(_: Fault) -> Self {
        Self::Form
    }
}

impl WholeDecoder {
    /// A decoder for a wire format whose responses `read` decodes.
    pub(super) fn new(content_type: &str, read: fn(&[u8]) -> Result<Response, Unread>) -> Self {
        Self {
            content_type: content_type.to_owned(),
            body: Vec::new(),
            progress: 0,
            read,
        }
    }

    fn not_the_api(&self) -> ApiError {
        let kind = if self.content_type.is_empty() {
            "no content type"
        } else {
            &self.content_type
        };
        ApiError {
            class: ErrorClass::Unknown,
            status: None,
            message: format!(
                "the server answered 200 with something that is no model response ({kind}; {}): check the base URL",
                excerpt(&self.body)
            ),
            retryable: false,
            too_long: false,
        }
    }
}

impl Decoder for WholeDecoder {
    fn feed(&mut self, bytes: &[u8]) -> Result<(), WireError> {
        self.body.extend_from_slice(bytes);
        let said = bytes.iter().filter(|byte| !byte.is_ascii_whitespace());
        self.progress += said.count() as u64;
        Ok(())
    }

    fn take_events(&mut self) -> Vec<RawJson> {
        Vec::new()
    }

    fn is_complete(&self) -> bool {
        false // only the end of the body says so
    }

    fn progress(&self) -> Option<u64> {
        Some(self.progress)
    }

    fn finish(self: Box<Self>) -> Result<Response, WireError> {
        match (self.read)(&self.body) {
            Ok(response) => Ok(response),
            // A body that breaks off is cut off; anything else is the answer of another service.
            Err(Unread::Form) if breaks_off(&self.body) => Err(WireError::Cut),
            Err(Unread::Form) => Err(WireError::Api(self.not_the_api())),
            Err(Unread::Reported(error)) => Err(WireError::Api(error)),
        }
    }
}

/// Whether the body is the beginning of a JSON value. (The error of `read` does not tell: some formats are distinguished by
/// trying, and then the unexpected end is only one of several errors. Skipping the value is not enough either: a number that ends
/// in a point would count as invalid, not as incomplete.)
fn breaks_off(body: &[u8]) -> bool {
    let read = json::read::text(body).and_then(json::read::tree);
    !body.is_empty() && read.is_err_and(|error| error.is_cut())
}

/// Whether a response of this content type is an event stream.
pub(super) fn is_event_stream(content_type: &str) -> bool {
    const STREAM: &str = "text/event-stream";
    let kind = content_type.get(..STREAM.len()).unwrap_or("");
    kind.eq_ignore_ascii_case(STREAM)
}
