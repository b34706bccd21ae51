//! A response that is not streamed: one JSON message.

use alloc::{borrow::ToOwned, boxed::Box, format, string::String, vec::Vec};

use serde::Deserialize;

use super::error;
use crate::{
    content::Block,
    json::RawJson,
    message::ErrorClass,
    provider::{ApiError, Decoder, Response, StopReason, Usage, WireError},
};

/// Collects the body and reads it at the end.
#[derive(Debug)]
pub(super) struct WholeDecoder {
    content_type: String,
    body: Vec<u8>,
}

#[derive(Deserialize)]
struct WholeMessage {
    #[serde(default)]
    id: String,
    model: String,
    content: Vec<RawJson>,
    stop_reason: Option<StopReason>,
    #[serde(default)]
    stop_sequence: Option<String>,
    #[serde(default)]
    usage: Option<Usage>,
}

impl WholeDecoder {
    pub(super) fn new(content_type: &str) -> Self {
        Self {
            content_type: content_type.to_owned(),
            body: Vec::new(),
        }
    }
}

impl Decoder for WholeDecoder {
    fn feed(&mut self, bytes: &[u8]) -> Result<(), WireError> {
        self.body.extend_from_slice(bytes);
        Ok(())
    }

    fn take_events(&mut self) -> Vec<RawJson> {
        Vec::new()
    }

    fn is_complete(&self) -> bool {
        false // only the end of the body says so
    }

    fn finish(self: Box<Self>) -> Result<Response, WireError> {
        let message: WholeMessage = match serde_json::from_slice(&self.body) {
            Ok(message) => message,
            // A body that breaks off is a cut; anything else is another service's answer.
            Err(e) if e.is_eof() && !self.body.is_empty() => return Err(WireError::Cut),
            Err(_) => return Err(WireError::Api(self.not_the_api())),
        };
        Ok(Response {
            id: message.id,
            model: message.model,
            content: message.content.into_iter().map(Block::from_raw).collect(),
            stop_reason: message.stop_reason,
            stop_sequence: message.stop_sequence,
            usage: message.usage.unwrap_or_default(),
        })
    }
}

impl WholeDecoder {
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
                error::excerpt(&self.body)
            ),
            retryable: false,
        }
    }
}
