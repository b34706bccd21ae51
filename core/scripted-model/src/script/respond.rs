//! What a request is answered.

use alloc::{collections::BTreeMap, string::String, vec::Vec};

use serde::Deserialize;

use super::{BlockScript, Payload, owned};

/// What a request is answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// The status; none means 200, or the one that belongs to the type of the error.
    pub status: Option<u16>,
    /// Headers, names in lower case; they replace those the model sends by itself.
    pub headers: BTreeMap<String, String>,
    /// The substance.
    pub action: Action,
    /// How the body is cut into pieces.
    pub chunks: Chunks,
    /// Waiting times.
    pub waits: Waits,
    /// What goes wrong on the way.
    pub faults: Vec<Fault>,
}

/// The substance of a response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// A message of the model.
    Message(MessageScript),
    /// An error of the API.
    Error(ErrorScript),
    /// Any bytes.
    Body(Payload),
    /// The connection is closed without an answer.
    Cut,
}

/// A message of the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageScript {
    /// Its id; none means `msg_<exchange>`.
    pub id: Option<String>,
    /// The model named in it; none means that of the script.
    pub model: Option<String>,
    /// Its content.
    pub content: Vec<BlockScript>,
    /// Why it ends; none means `tool_use` when there is a tool call, else `end_turn`.
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

/// Whether a message is sent as a stream or in one piece of JSON.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// As the request asks.
    #[default]
    Asked,
    /// As server-sent events.
    Sse,
    /// As plain JSON.
    Json,
}

/// Token counts. What is not given is computed: the input as a quarter of the request's bytes, the
/// output as a quarter of the content's, the cache as 0.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct UsageScript {
    /// Tokens in that were not cached.
    pub input_tokens: Option<u64>,
    /// Tokens out.
    pub output_tokens: Option<u64>,
    /// Tokens read from the cache.
    pub cache_read_input_tokens: u64,
    /// Tokens written to the cache.
    pub cache_creation_input_tokens: u64,
}

/// How a message is streamed.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StreamScript {
    /// How many characters a delta carries; 0 means all in one.
    pub delta_chars: usize,
    /// All blocks are opened at the start and filled in turns, as some servers do.
    pub interleave: bool,
    /// A `ping` after every so many events, the first one after the first `content_block_start`
    /// as the API does. 0 means none at all; without the field there is only that first one.
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

/// How a body is cut into the pieces that are sent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Chunks {
    /// One piece an event; a plain body is one piece.
    #[default]
    Event,
    /// Everything in one piece.
    Whole,
    /// Pieces of so many bytes (at least 1).
    Bytes(usize),
    /// Pieces of 1 to `max` bytes, the same ones for the same seed.
    Random {
        /// The seed.
        seed: u64,
        /// The largest piece, in bytes (at least 1).
        max: usize,
    },
}

/// Waiting times in milliseconds. The model only reports them; whoever sends the answer waits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Waits {
    /// Before the status line.
    pub head: u64,
    /// Before every piece of the body.
    pub chunk: u64,
}

/// An error of the API.
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
    /// The status that the API sends with an error of this type; 500 for a type it does not know.
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

/// Something that goes wrong while the body is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// These bytes stand between the others.
    Insert(Place, Payload),
    /// An `error` event; nothing comes after it.
    Error(Place, ErrorScript),
    /// The connection breaks.
    Cut(Place),
    /// The body ends properly, but too early.
    End(Place),
    /// Nothing more comes, and the connection stays open.
    Hang(Place),
}

/// A place in a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// After so many events. A body that is not a stream counts as one event.
    Events(usize),
    /// After so many bytes.
    Bytes(usize),
}

impl Response {
    /// A message of one text.
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
