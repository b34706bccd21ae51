//! The interface between the loop and a model's wire format.
//!
//! The loop works with requests and responses; a [`Provider`] works with bytes. Another wire format is another implementation,
//! never a branch in the loop.

use alloc::{borrow::ToOwned, boxed::Box, string::String, vec::Vec};
use core::fmt::{self, Debug};

pub use crate::history::{HistoryView, Translator};
pub use crate::model::{ServerToolUse, StopReason, Usage};
use crate::{
    content::Block, effect::HttpRequest, json::RawJson, message::RateLimitInfo, model::ErrorClass,
    price::ModelFacts,
};
use bytes::Bytes;

mod error_response;
pub mod messages;
mod model_request;
pub(crate) mod named;
pub mod openai;
mod whole;

pub use model_request::{ModelRequest, Opening, ToolOffer};

/// Encodes requests and decodes responses of one wire format. A pure function of its arguments.
pub trait Provider: Send + Sync {
    /// Its name in JSON ([`ModelSpec::provider`](crate::spec::ModelSpec)). None (the default): it has no name.
    fn json_form(&self) -> Option<RawJson> {
        None
    }

    /// The part of a request that is the same for every turn until a setting changes: encoded once and kept.
    fn prefix(&self, opening: &Opening<'_>) -> Prefix;

    /// The translator for formats whose messages differ from those of the Messages API. None (the default): messages are sent as
    /// they are stored.
    fn translator(&self) -> Option<&dyn Translator> {
        None
    }

    /// Builds a request from the prefix and the history's pieces.
    fn request(
        &self,
        request: &ModelRequest<'_>,
        prefix: &Prefix,
        history: HistoryView<'_>,
    ) -> HttpRequest;

    /// Whether it supports deferred definitions, which the model sees only once a `tool_reference` block in the history names
    /// them. If not, a tool's definition is added to the request when it is found. `facts`: the catalogue entry of the model.
    fn takes_deferred_tools(&self, facts: Option<&ModelFacts>) -> bool {
        let _ = facts;
        false
    }

    /// A decoder for one successful response. `wants_events`: also collect the raw stream events.
    fn decoder(&self, content_type: &str, wants_events: bool) -> Box<dyn Decoder>;

    /// The state of the rate limit according to a response's status and headers, if they contain it.
    fn rate_limit(&self, status: u16, headers: &[(String, String)]) -> Option<RateLimitInfo> {
        let _ = (status, headers);
        None
    }

    /// Whether it clears old tool results itself if the request asks for it ([`Clearing`](crate::context::Clearing)). If not, the
    /// core does.
    fn clears_tool_results(&self) -> bool {
        false
    }

    /// The same request, but the model may not call tools. Formats that cannot express this return it unchanged.
    fn forbid_tools(&self, request: HttpRequest) -> HttpRequest {
        request
    }

    /// Interprets an error response.
    fn error(&self, status: u16, body: &[u8]) -> ApiError;
}

/// Shows the JSON name. (`Debug` is not a supertrait, since the derived implementations would increase the download size of web
/// pages.)
impl Debug for dyn Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.json_form() {
            Some(form) => f.write_str(form.get()),
            None => f.write_str("a provider without a name"),
        }
    }
}

/// The encoded beginning of a request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Prefix {
    /// Everything before the first message.
    pub bytes: Bytes,
    /// Beta features that it requires, in addition to those of the request.
    pub betas: Vec<String>,
}

impl From<Bytes> for Prefix {
    fn from(bytes: Bytes) -> Self {
        Self {
            bytes,
            betas: Vec::new(),
        }
    }
}

impl Debug for dyn Decoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = if self.is_complete() {
            "complete"
        } else {
            "incomplete"
        };
        write!(f, "Decoder({state})")
    }
}

/// Decodes one response as its bytes arrive, split at any boundary.
pub trait Decoder: Send {
    /// Adds the next bytes.
    ///
    /// # Errors
    /// [`WireError`] if the stream reports an error or is malformed; the response is lost.
    fn feed(&mut self, bytes: &[u8]) -> Result<(), WireError>;

    /// The raw events since the last call, if they were wanted.
    fn take_events(&mut self) -> Vec<RawJson>;

    /// Whether the response is complete; further bytes are ignored.
    fn is_complete(&self) -> bool;

    /// A number that grows with every piece of content, and with nothing else: keep-alives do not count. None (the default):
    /// every byte counts.
    fn progress(&self) -> Option<u64> {
        None
    }

    /// The complete response.
    ///
    /// # Errors
    /// [`WireError::Cut`] if the stream ended too early.
    fn finish(self: Box<Self>) -> Result<Response, WireError>;

    /// What was received of a response that is abandoned: incomplete blocks, and the usage reported so far. None (the default) if
    /// nothing is known before the end.
    fn so_far(self: Box<Self>) -> Option<Response> {
        None
    }
}

/// The most content blocks in a response: the data structure for them is meant for a few.
pub(crate) const MOST_BLOCKS: usize = 50_000;

/// A complete response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// The provider's id of the response.
    pub id: String,
    /// The model that answered.
    pub model: String,
    /// Content blocks in order.
    pub content: Vec<Block>,
    /// Why the response stopped.
    pub stop_reason: Option<StopReason>,
    /// The stop sequence, if one ended the response.
    pub stop_sequence: Option<String>,
    /// Token counts.
    pub usage: Usage,
}

/// An error the provider reported.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ApiError {
    /// Its class.
    pub class: ErrorClass,
    /// The HTTP status; none for an error inside a stream.
    pub status: Option<u16>,
    /// The provider's message, with the status and what to do.
    pub message: String,
    /// Whether the same request may succeed later.
    pub retryable: bool,
    /// Whether the conversation is longer than the model or the server accepts; a shorter one may succeed.
    pub too_long: bool,
}

/// An unusable response.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// The provider reported an error inside the stream.
    #[error(transparent)]
    Api(ApiError),
    /// The stream ended before the response was complete.
    #[error("the model server closed the stream before the response was complete")]
    Cut,
    /// The bytes do not follow the wire format.
    #[error("the model server sent something that is not a response: {reason}")]
    Garbled {
        /// What was found, and where.
        reason: String,
    },
}

impl WireError {
    pub(crate) fn garbled(reason: &str) -> Self {
        Self::Garbled {
            reason: reason.to_owned(),
        }
    }

    /// Converts it to an API error, for the result and the retry policy.
    #[must_use]
    pub fn into_api_error(self) -> ApiError {
        match self {
            Self::Api(error) => error,
            // Both may be temporary: a restarting server, a proxy.
            cut @ (Self::Cut | Self::Garbled { .. }) => ApiError {
                class: ErrorClass::ServerError,
                status: None,
                message: alloc::format!("{cut}"),
                retryable: true,
                too_long: false,
            },
        }
    }
}
