//! The text of a streaming response, in reading order.

use std::{borrow::Cow, collections::BTreeMap};

use serde::Deserialize;
use windlass_core::RawJson;

/// The text blocks of a streaming response. Only one can be shown as it arrives; if a server opens several at once,
/// the others wait.
#[derive(Debug, Default)]
pub(super) struct TextStream {
    /// Whether any text arrived.
    pub(super) has_text: bool,
    /// Whether the model is thinking.
    pub(super) is_thinking: bool,
    open: Option<u64>,
    waiting: BTreeMap<u64, String>,
}

/// The output for an event.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// Text of the open block.
    Text(String),
    /// The block is complete.
    End,
}

impl TextStream {
    /// Processes an event of the Messages API.
    pub(super) fn take(&mut self, event: &RawJson) -> Vec<Piece> {
        let Ok(event) = serde_json::from_str::<Event<'_>>(event.get()) else {
            return Vec::new(); // of a kind that is not for people
        };
        match (event.kind.as_ref(), event.content_block, event.delta) {
            ("message_start", ..) => *self = Self::default(),
            ("content_block_start", Some(block), _) => {
                self.is_thinking = block.kind == "thinking";
                if block.kind == "text" {
                    return self.start(event.index, &block.text);
                }
            }
            ("content_block_delta", _, Some(delta)) => return self.add(event.index, &delta.text),
            ("content_block_stop", ..) if self.open == Some(event.index) => {
                return self.next_block();
            }
            _ => {}
        }
        Vec::new()
    }

    /// The remaining output at the end of the response: blocks that were still waiting.
    pub(super) fn finish(&mut self) -> Vec<Piece> {
        let mut pieces = Vec::new();
        while self.open.is_some() {
            pieces.extend(self.next_block());
        }
        pieces
    }

    fn start(&mut self, index: u64, text: &str) -> Vec<Piece> {
        if self.open.is_none() {
            self.open = Some(index);
        } else {
            self.waiting.insert(index, String::new());
        }
        self.add(index, text)
    }

    fn add(&mut self, index: u64, text: &str) -> Vec<Piece> {
        if text.is_empty() {
            return Vec::new();
        }
        if self.open == Some(index) {
            self.has_text = true;
            return vec![Piece::Text(text.to_owned())];
        }
        if let Some(waiting) = self.waiting.get_mut(&index) {
            waiting.push_str(text);
        }
        Vec::new()
    }

    fn next_block(&mut self) -> Vec<Piece> {
        let mut pieces = vec![Piece::End];
        let next = self.waiting.pop_first();
        self.open = next.as_ref().map(|(index, _)| *index);
        if let Some((index, text)) = next {
            pieces.extend(self.add(index, &text));
        }
        pieces
    }
}

/// The fields of an event that are used.
#[derive(Deserialize)]
struct Event<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(default)]
    index: u64,
    #[serde(borrow, default)]
    content_block: Option<BlockStart<'a>>,
    #[serde(borrow, default)]
    delta: Option<Delta<'a>>,
}

#[derive(Deserialize)]
struct BlockStart<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    text: Cow<'a, str>,
}

#[derive(Deserialize)]
struct Delta<'a> {
    #[serde(borrow, default)]
    text: Cow<'a, str>,
}
