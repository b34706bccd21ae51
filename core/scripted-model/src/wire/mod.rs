//! Encodes scripted responses in a wire format.

mod messages;
mod openai;

use alloc::{borrow::ToOwned, format, string::String, vec::Vec};

use bytes::Bytes;

use super::script::{BlockScript, ErrorScript, MessageScript};

/// Bytes per token, if a script sets no usage.
const BYTES_A_TOKEN: usize = 4;

/// The format of a request and its response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WireFormat {
    /// The Messages API.
    Messages,
    /// OpenAI's chat completions.
    ChatCompletions,
}

/// Values that a response needs in addition to its own script.
#[derive(Debug)]
pub(super) struct Context<'a> {
    /// The exchange and its use (`2`, or `2r3` for its third use), from which all ids are derived.
    pub(super) key: &'a str,
    /// The model to name if the response names none.
    pub(super) model: &'a str,
    /// The size of the request in bytes, from which input tokens are computed.
    pub(super) request_bytes: usize,
    /// Whether a stream of chat completions ends with token counts.
    pub(super) include_usage: bool,
}

impl WireFormat {
    /// The format used at this path.
    pub(super) fn of(route: &str) -> Self {
        match route.ends_with("/chat/completions") {
            true => Self::ChatCompletions,
            false => Self::Messages,
        }
    }

    /// The response as a list of events.
    pub(super) fn events(self, script: &MessageScript, context: &Context<'_>) -> Vec<Bytes> {
        match self {
            Self::Messages => messages::events(script, context),
            Self::ChatCompletions => openai::events(script, context),
        }
    }

    /// The response as one JSON object.
    pub(super) fn json(self, script: &MessageScript, context: &Context<'_>) -> Bytes {
        match self {
            Self::Messages => messages::json(script, context),
            Self::ChatCompletions => openai::json(script, context),
        }
    }

    /// The body of an error response.
    pub(super) fn error_object(self, error: &ErrorScript) -> String {
        match self {
            Self::Messages => messages::error_object(error),
            Self::ChatCompletions => openai::error_object(error),
        }
    }

    /// An error within a stream: both formats contain the same object.
    pub(super) fn error_event(self, error: &ErrorScript) -> Bytes {
        let object = self.error_object(error);
        match self {
            Self::Messages => messages::event("error", &object),
            Self::ChatCompletions => openai::event(&object),
        }
    }
}

/// Token counts of a response.
struct Usage {
    input: u64,
    output: u64,
    cache_read: u64,
    cache_creation: u64,
    searches: u64,
}

/// The script's counts, or counts computed from the bytes.
fn usage(script: &MessageScript, context: &Context<'_>) -> Usage {
    let told = &script.usage;
    Usage {
        input: (told.input_tokens).unwrap_or_else(|| tokens(context.request_bytes)),
        output: (told.output_tokens)
            .unwrap_or_else(|| tokens(script.content.iter().map(content_bytes).sum())),
        cache_read: told.cache_read_input_tokens,
        cache_creation: told.cache_creation_input_tokens,
        searches: told.web_search_requests,
    }
}

/// The id of a tool call: its own, or one derived from the exchange and the block.
fn call_id(key: &str, block: usize, id: Option<&str>) -> String {
    match id {
        Some(id) => id.to_owned(),
        None => format!("toolu_{key}_{}", block + 1),
    }
}

/// Events with pings between them.
struct Paced {
    events: Vec<Bytes>,
    ping: Bytes,
    /// Whether a ping follows the second event although the script does not ask for it.
    usual: bool,
    every: Option<usize>,
    since_ping: usize,
    pinged: bool,
}

impl Paced {
    fn new(every: Option<usize>, ping: Bytes, usual: bool) -> Self {
        Self {
            events: Vec::new(),
            ping,
            usual,
            every,
            since_ping: 0,
            pinged: false,
        }
    }

    fn push(&mut self, next: Bytes) {
        self.events.push(next);
        self.since_ping += 1;
        let due = match self.every {
            Some(0) => false,
            Some(every) if self.pinged => self.since_ping >= every,
            None if self.pinged || !self.usual => false,
            _ => self.events.len() == 2,
        };
        if due {
            self.events.push(self.ping.clone());
            self.since_ping = 0;
            self.pinged = true;
        }
    }
}

/// The text in pieces of this many characters; in one piece if the size is 0.
fn pieces(text: &str, chars: usize) -> impl Iterator<Item = &str> {
    let mut rest = text;
    core::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = match chars {
            0 => rest.len(),
            _ => rest
                .char_indices()
                .nth(chars)
                .map_or(rest.len(), |(i, _)| i),
        };
        let (piece, after) = rest.split_at(end);
        rest = after;
        Some(piece)
    })
}

fn content_bytes(block: &BlockScript) -> usize {
    match block {
        BlockScript::Text(text) => text.len(),
        BlockScript::Thinking { thinking, .. } => thinking.len(),
        BlockScript::ToolUse { name, input, .. } => name.len() + input.as_str().len(),
        BlockScript::Raw { block, .. } => block.get().len(),
    }
}

fn tokens(bytes: usize) -> u64 {
    bytes.div_ceil(BYTES_A_TOKEN).max(1) as u64
}
