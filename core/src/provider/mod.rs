//! The seam between the loop and a model's wire format.
//!
//! The loop knows requests and responses; a [`Provider`] knows bytes. Another wire format is
//! another implementation, never a branch in the loop.

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
    /// Its name in JSON ([`ModelSpec::provider`](crate::spec::ModelSpec)). None (the default): it has none.
    fn json_form(&self) -> Option<RawJson> {
        None
    }

    /// The part of a request that is the same for every turn until a setting changes: encoded once and kept.
    fn prefix(&self, opening: &Opening<'_>) -> Prefix;

    /// How a message of the history is put for formats whose messages are not those of the Messages API.
    /// None (the default): they are sent as they are kept.
    fn translator(&self) -> Option<&dyn Translator> {
        None
    }

    /// A request from the prefix and the history's pieces.
    fn request(
        &self,
        request: &ModelRequest<'_>,
        prefix: &Prefix,
        history: HistoryView<'_>,
    ) -> HttpRequest;

    /// Whether definitions can be sent that the model sees only once a `tool_reference` block in the history
    /// names them. Without that, a tool's definition joins the request when it was found. `facts`: what is known of the model.
    fn takes_deferred_tools(&self, facts: Option<&ModelFacts>) -> bool {
        let _ = facts;
        false
    }

    /// A decoder for one successful response. `wants_events`: collect the raw stream events too.
    fn decoder(&self, content_type: &str, wants_events: bool) -> Box<dyn Decoder>;

    /// How the rate limit stands after a response with this status and these headers, if it says so.
    fn rate_limit(&self, status: u16, headers: &[(String, String)]) -> Option<RateLimitInfo> {
        let _ = (status, headers);
        None
    }

    /// Whether it clears old tool results by itself when the request says so
    /// ([`Clearing`](crate::context::Clearing)); if not, the core does.
    fn clears_tool_results(&self) -> bool {
        false
    }

    /// The same request, but the model may not call tools. Formats that cannot say that leave it as it is.
    fn forbid_tools(&self, request: HttpRequest) -> HttpRequest {
        request
    }

    /// What an error response means.
    fn error(&self, status: u16, body: &[u8]) -> ApiError;
}

/// As JSON names it. (Not by a supertrait: every implementation would carry how its fields are shown into a page.)
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
    /// Beta features that something in it needs, besides those of the request.
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

/// Decodes one response as its bytes arrive, at any boundary.
pub trait Decoder: Send {
    /// Takes the next bytes.
    ///
    /// # Errors
    /// [`WireError`] when the stream says so or makes no sense; the response is lost.
    fn feed(&mut self, bytes: &[u8]) -> Result<(), WireError>;

    /// The raw events since the last call, when they were wanted.
    fn take_events(&mut self) -> Vec<RawJson>;

    /// Whether the response is complete; what follows is ignored.
    fn is_complete(&self) -> bool;

    /// How much of the response has come: a number that grows with every piece of it, and with nothing else. A server that
    /// only says that it is still there has sent none. None (the default): every byte counts.
    fn progress(&self) -> Option<u64> {
        None
    }

    /// The response.
    ///
    /// # Errors
    /// [`WireError::Cut`] when the stream ended too early.
    fn finish(self: Box<Self>) -> Result<Response, WireError>;

    /// What has come of a response that is given up in its middle: blocks as far as they are, the usage that was told. None (the
    /// default) where nothing can be told before the end.
    fn so_far(self: Box<Self>) -> Option<Response> {
        None
    }
}

/// Content blocks that a response may have: what holds them is made for a handful.
pub(crate) const MOST_BLOCKS: usize = 50_000;

/// A complete response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// The provider's id.
    pub id: String,
    /// The model that answered.
    pub model: String,
    /// Content blocks in order.
    pub content: Vec<Block>,
    /// Why it stopped.
    pub stop_reason: Option<StopReason>,
    /// The stop sequence, when that was the reason.
    pub stop_sequence: Option<String>,
    /// Tokens.
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
    /// What the provider said, with the status and what to do.
    pub message: String,
    /// Whether the same request may succeed later.
    pub retryable: bool,
    /// Whether the conversation is longer than the model or the server takes: a shorter one may succeed.
    pub too_long: bool,
}

/// A response that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// The provider reported an error inside the stream.
    #[error(transparent)]
    Api(ApiError),
    /// The stream ended before the response did.
    #[error("the model server closed the stream before the response was complete")]
    Cut,
    /// The bytes are not of the wire format.
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

    /// The error as an API error, for the result and the retry policy.
    #[must_use]
    pub fn into_api_error(self) -> ApiError {
        match self {
            Self::Api(error) => error,
            // Both may be the fault of a moment: a server restarting, a proxy in between.
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
