//! Responses of a script.

use alloc::{collections::BTreeMap, string::String, vec::Vec};

use serde::Deserialize;

use super::{BlockScript, Payload, owned};

/// A response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// The status; none means 200, or the one for the type of the error.
    pub status: Option<u16>,
    /// Headers, names in lower case; they replace those sent by default.
    pub headers: BTreeMap<String, String>,
    /// The kind of response.
    pub action: Action,
    /// How the body is split into pieces.
    pub chunks: Chunks,
    /// Delays.
    pub waits: Waits,
    /// Faults during transmission.
    pub faults: Vec<Fault>,
}

/// The kinds of responses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// A model response.
    Message(MessageScript),
    /// An API error.
    Error(ErrorScript),
    /// Any bytes.
    Body(Payload),
    /// The connection is closed without an answer.
    Cut,
}

/// A model response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageScript {
    /// Its id; none means `msg_<exchange>`.
    pub id: Option<String>,
    /// The model named in it; none means that of the script.
    pub model: Option<String>,
    /// Its content.
    pub content: Vec<BlockScript>,
    /// The stop reason; none means `tool_use` if there is a tool call, otherwise `end_turn`.
    pub stop_reason: Option<String>,
    /// The stop sequence that ended it.
    pub stop_sequence: Option<String>,
    /// Token counts.
    pub usage: UsageScript,
    /// Whether it is sent as a stream.
    pub form: Form,
    /// How it is streamed.
    pub stream: StreamScript,
}

/// Whether a response is sent as a stream or as a single JSON object.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// As requested.
    #[default]
    Asked,
    /// As server-sent events.
    Sse,
    /// As plain JSON.
    Json,
}

/// Token counts. Missing counts are computed: the input as a quarter of the request's bytes, the output as a quarter of the
/// content's bytes, the cache as 0.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct UsageScript {
    /// Input tokens that were not cached.
    pub input_tokens: Option<u64>,
    /// Output tokens.
    pub output_tokens: Option<u64>,
    /// Tokens read from the cache.
    pub cache_read_input_tokens: u64,
    /// Tokens written to the cache.
    pub cache_creation_input_tokens: u64,
    /// Searches of the provider's own tool; they are told if there are any.
    pub web_search_requests: u64,
}

/// How a message is streamed.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StreamScript {
    /// The number of characters in a delta; 0 means all in one.
    pub delta_chars: usize,
    /// Whether all blocks are opened at the start and filled in turns, as some servers do.
    pub interleave: bool,
    /// A `ping` after each such number of events, the first one after the first `content_block_start`, as in the API. 0 means no
    /// `ping`; if absent, only that first one is sent.
    pub ping_every: Option<usize>,
}

impl Default for StreamScript {
    fn default() -> Self {
        Self {
            delta_chars: 24,
            interleave: false,
            ping_every: None,
        }
    }
}

/// How a body is split into pieces.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Chunks {
    /// One piece per event; a body that is not a stream is one piece.
    #[default]
    Event,
    /// Everything in one piece.
    Whole,
    /// Pieces of this many bytes (at least 1).
    Bytes(usize),
    /// Pieces of 1 to `max` bytes, the same ones for the same seed.
    Random {
        /// The seed.
        seed: u64,
        /// The largest piece, in bytes (at least 1).
        max: usize,
    },
}

/// Delays in milliseconds. The model only reports them; whoever sends the answer has to wait.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Waits {
    /// Before the status line.
    pub head: u64,
    /// Before every piece of the body.
    pub chunk: u64,
}

/// An API error.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ErrorScript {
    /// `overloaded_error`, `rate_limit_error`, `invalid_request_error` …
    #[serde(rename = "type")]
    pub kind: String,
    /// Its message.
    pub message: String,
}

impl ErrorScript {
    /// The status that the API sends with this type of error; 500 for an unknown type.
    #[must_use]
    pub fn status(&self) -> u16 {
        match self.kind.as_str() {
            "invalid_request_error" => 400,
            "authentication_error" => 401,
            "billing_error" => 402,
            "permission_error" => 403,
            "not_found_error" => 404,
            "request_too_large" => 413,
            "rate_limit_error" => 429,
            "timeout_error" => 504,
            "overloaded_error" => 529,
            _ => 500,
        }
    }
}

/// A fault while the body is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// Inserts these bytes.
    Insert(Place, Payload),
    /// An `error` event; nothing follows.
    Error(Place, ErrorScript),
    /// The connection breaks.
    Cut(Place),
    /// The body ends properly, but too early.
    End(Place),
    /// Nothing more comes, and the connection stays open.
    Hang(Place),
}

/// A position in a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// After this many events. A body that is not a stream counts as one event.
    Events(usize),
    /// After this many bytes.
    Bytes(usize),
}

impl Response {
    /// A model response with a single text.
    #[must_use]
    pub fn text(text: &str) -> Self {
        Self {
            status: None,
            headers: BTreeMap::new(),
            action: Action::Message(MessageScript {
                id: None,
                model: None,
                content: Vec::from([BlockScript::Text(owned(text))]),
                stop_reason: None,
                stop_sequence: None,
                usage: UsageScript::default(),
                form: Form::default(),
                stream: StreamScript::default(),
            }),
            chunks: Chunks::default(),
            waits: Waits::default(),
            faults: Vec::new(),
        }
    }
}
