//! Builds a content block from its deltas.

use alloc::{
    borrow::{Cow, ToOwned},
    string::String,
    vec::Vec,
};

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{
    content::{Block, ToolUse},
    json::{JsonError, RawJson, RawObject},
};

/// The `delta` of a stream event, flat: one struct for all kinds is decoded twice as fast as a tagged enum.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Delta<'a> {
    #[serde(borrow, default)]
    pub(super) text: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) partial_json: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) thinking: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) signature: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) citation: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) stop_reason: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) stop_sequence: Option<Cow<'a, str>>,
}

/// A block that is being built.
#[derive(Debug)]
pub(super) enum Building {
    Text {
        text: String,
        citations: Vec<RawJson>,
    },
    Thinking {
        thinking: String,
        signature: String,
    },
    ToolUse {
        id: String,
        name: String,
        given: Option<RawJson>,
        streamed: String,
    },
    /// A kind that is not interpreted. Deltas of known kinds are still added to their field.
    Other {
        raw: RawJson,
        input: String,
        text: String,
    },
}

impl Building {
    /// Starts with the block of `content_block_start`.
    pub(super) fn start(raw: &RawValue) -> Result<Self, JsonError> {
        let whole = RawJson::from(raw);
        Ok(match Block::from_raw(whole) {
            Block::Text { text, citations } => Self::Text { text, citations },
            Block::Thinking {
                thinking,
                signature,
            } => Self::Thinking {
                thinking,
                signature,
            },
            Block::ToolUse(call) => Self::ToolUse {
                id: call.id,
                name: call.name,
                given: call.input.ok(),
                streamed: String::new(),
            },
            Block::Other(raw) if !raw.is_object() => {
                return Err(JsonError {
                    reason: "a block is an object".to_owned(),
                });
            }
            Block::Other(raw) => Self::Other {
                raw,
                input: String::new(),
                text: String::new(),
            },
        })
    }

    /// Adds a delta and returns how many bytes it added. A delta that does not fit the block is ignored: newer servers may send
    /// such deltas.
    pub(super) fn add(&mut self, delta: &Delta<'_>) -> usize {
        let append = |to: &mut String, more: &Option<Cow<'_, str>>| {
            let more = more.as_deref().unwrap_or_default();
            to.push_str(more);
            more.len()
        };
        match self {
            Self::Text { text, citations } => {
                citations.extend(delta.citation.map(RawJson::from));
                append(text, &delta.text) + usize::from(delta.citation.is_some())
            }
            Self::Thinking {
                thinking,
                signature,
            } => append(thinking, &delta.thinking) + append(signature, &delta.signature),
            Self::ToolUse { streamed, .. } => append(streamed, &delta.partial_json),
            Self::Other { input, text, .. } => {
                append(input, &delta.partial_json) + append(text, &delta.text)
            }
        }
    }

    /// The finished block.
    pub(super) fn finish(self) -> Block {
        match self {
            Self::Text { text, citations } => Block::Text { text, citations },
            Self::Thinking {
                thinking,
                signature,
            } => Block::Thinking {
                thinking,
                signature,
            },
            Self::ToolUse {
                id,
                name,
                given,
                streamed,
            } => Block::ToolUse(ToolUse {
                id,
                name,
                input: tool_input(given, streamed),
            }),
            // An unmodified block is kept byte for byte.
            Self::Other { raw, input, text } if input.is_empty() && text.is_empty() => {
                Block::Other(raw)
            }
            Self::Other { raw, input, text } => {
                let mut object = RawObject::parse(raw.get()).unwrap_or_default();
                if let Ok(Ok(input)) = RawJson::parse(input).map(ToolUse::checked) {
                    object.set("input", input);
                }
                if !text.is_empty() {
                    let before = object.get_string("text").unwrap_or_default();
                    object.set("text", RawJson::string(&(before + &text)));
                }
                Block::Other(object.to_raw())
            }
        }
    }
}

/// The streamed input if there was any, otherwise the one given at the start; an object or nothing.
fn tool_input(given: Option<RawJson>, streamed: String) -> Result<RawJson, String> {
    match given {
        Some(given) if streamed.trim().is_empty() => ToolUse::checked(given),
        _ => ToolUse::input_from(streamed),
    }
}
