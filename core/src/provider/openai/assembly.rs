//! Assembles a response from its pieces.

use alloc::{
    borrow::ToOwned,
    string::{String, ToString},
    vec::Vec,
};

use super::{
    arguments::Arguments,
    chunk::{CallPiece, Choice, Chunk, Delta, Function, usage},
    error,
    events::Events,
};
use crate::{
    content::{Block, ToolUse},
    model::{StopReason, Usage},
    provider::{MOST_BLOCKS, Response, WireError},
    sorted::SortedMap,
};

/// A response that is being built.
#[derive(Debug, Default)]
pub(super) struct Assembly {
    /// The number of pieces with content.
    progress: u64,
    id: String,
    model: String,
    /// The blocks, in the order in which they began.
    blocks: Vec<Building>,
    /// The index of the text or thinking block to which the next piece of its kind is added.
    open: Option<usize>,
    /// The block of the call with an index. Some servers begin a new call under an existing index.
    calls: SortedMap<u32, usize>,
    last_call: Option<usize>,
    /// Whether anything was answered, even an empty text.
    answered: bool,
    finish_reason: String,
    refused: bool,
    usage: Usage,
    /// Whether thinking will be sent back, and must therefore be kept.
    keeps_reasoning: bool,
}

/// A block that is being built.
#[derive(Debug)]
enum Building {
    Text(String),
    Thinking {
        text: String,
        field: &'static str,
    },
    Call {
        id: String,
        name: String,
        arguments: Arguments,
    },
}

impl Assembly {
    pub(super) fn new(keeps_reasoning: bool) -> Self {
        Self {
            keeps_reasoning,
            ..Self::default()
        }
    }

    /// Whether there is a complete answer.
    pub(super) fn is_finished(&self) -> bool {
        !self.finish_reason.is_empty()
    }

    /// Whether there is an answer at all.
    pub(super) fn is_answered(&self) -> bool {
        self.answered
    }

    /// The number of pieces with content.
    pub(super) fn progress(&self) -> u64 {
        self.progress
    }

    /// Adds a chunk, or a complete completion.
    pub(super) fn add(
        &mut self,
        chunk: &Chunk<'_>,
        events: &mut Option<Events>,
    ) -> Result<(), WireError> {
        if let Some(error) = chunk.error.filter(|raw| raw.get() != "null") {
            return Err(WireError::Api(error::in_stream(error)));
        }
        keep_first(&mut self.id, &chunk.id);
        keep_first(&mut self.model, &chunk.model);
        if let Some(usage) = chunk.usage.and_then(usage) {
            self.usage = usage;
        }
        let choices = chunk.choices.iter().flatten();
        for choice in choices.filter(|choice| choice.index.unwrap_or(0) == 0) {
            if !self.answered {
                self.answered = true;
                self.progress += 1;
                events
                    .iter_mut()
                    .for_each(|e| e.start(&self.id, &self.model));
            }
            self.choice(choice, events)?;
            if self.blocks.len() > MOST_BLOCKS {
                return Err(WireError::garbled(
                    "more content blocks than any response has",
                ));
            }
        }
        Ok(())
    }

    fn choice(
        &mut self,
        choice: &Choice<'_>,
        events: &mut Option<Events>,
    ) -> Result<(), WireError> {
        if let Some(delta) = choice.delta() {
            self.delta(delta, events);
        }
        match &*choice.finish_reason {
            "" => Ok(()),
            "error" => Err(WireError::Api(error::unexplained())),
            reason => {
                self.progress += u64::from(self.finish_reason.is_empty());
                self.finish_reason = reason.to_owned();
                Ok(())
            }
        }
    }

    fn delta(&mut self, delta: &Delta<'_>, events: &mut Option<Events>) {
        // Some servers send the same piece under both names.
        if !delta.reasoning_content.is_empty() {
            self.think(&delta.reasoning_content, "reasoning_content", events);
        } else if !delta.reasoning.is_empty() {
            self.think(&delta.reasoning, "reasoning", events);
        }
        self.say(&delta.content, events);
        if !delta.refusal.is_empty() {
            self.refused = true;
            self.say(&delta.refusal, events);
        }
        for piece in delta.tool_calls.iter().flatten() {
            self.call(piece, events);
        }
        if let Some(function) = &delta.function_call {
            self.call_function(None, "", function, events);
        }
    }

    fn say(&mut self, piece: &str, events: &mut Option<Events>) {
        if piece.is_empty() {
            return;
        }
        let index = match self.open {
            Some(index) if matches!(self.blocks[index], Building::Text(_)) => index,
            _ => self.open_block(Building::Text(String::new()), events),
        };
        self.progress += 1;
        if let Building::Text(text) = &mut self.blocks[index] {
            text.push_str(piece);
        }
        events.iter_mut().for_each(|e| e.text(index, piece));
    }

    fn think(&mut self, piece: &str, field: &'static str, events: &mut Option<Events>) {
        let index = match self.open {
            Some(index) if matches!(self.blocks[index], Building::Thinking { .. }) => index,
            _ => {
                let text = String::new();
                self.open_block(Building::Thinking { text, field }, events)
            }
        };
        self.progress += 1;
        if let Building::Thinking { text, .. } = &mut self.blocks[index] {
            text.push_str(piece);
        }
        events.iter_mut().for_each(|e| e.thinking(index, piece));
    }

    /// Begins a text or thinking block, which ends the previous one.
    fn open_block(&mut self, block: Building, events: &mut Option<Events>) -> usize {
        let index = self.blocks.len();
        if let Some(events) = events {
            if let Some(before) = self.open {
                events.stop(before);
            }
            events.open(index, matches!(block, Building::Thinking { .. }));
        }
        self.blocks.push(block);
        self.open = Some(index);
        index
    }

    fn call(&mut self, piece: &CallPiece<'_>, events: &mut Option<Events>) {
        let nothing = Function::default();
        let function = piece.function.as_ref().unwrap_or(&nothing);
        self.call_function(piece.index, &piece.id, function, events);
    }

    fn call_function(
        &mut self,
        index: Option<u32>,
        id: &str,
        function: &Function<'_>,
        events: &mut Option<Events>,
    ) {
        let more = function.arguments();
        let known = match index {
            Some(index) => self.calls.get(&index).copied(),
            None => self.last_call,
        };
        let at = match known.filter(|at| self.continues(*at, index, id, &function.name, &more)) {
            Some(at) => at,
            None => {
                let at = self.blocks.len();
                self.blocks.push(Building::Call {
                    id: id.to_owned(),
                    name: String::new(),
                    arguments: Arguments::default(),
                });
                events
                    .iter_mut()
                    .for_each(|e| e.open_call(at, id, &function.name));
                at
            }
        };
        self.last_call = Some(at);
        if let Some(index) = index {
            self.calls.insert(index, at);
        }
        if let Building::Call {
            id: known_id,
            name,
            arguments,
        } = &mut self.blocks[at]
        {
            keep_first(known_id, id);
            // Some servers repeat the name in every piece; no known server splits it.
            keep_first(name, &function.name);
            arguments.push(&more);
        }
        if !more.is_empty() {
            self.progress += 1;
            events.iter_mut().for_each(|e| e.arguments(at, &more));
        }
    }

    /// Whether a piece belongs to this call. According to the standard this is determined by its index. Servers that give all
    /// calls the same index, or none, distinguish them by their ids, or begin the next one when this one is complete.
    fn continues(&self, at: usize, index: Option<u32>, id: &str, name: &str, more: &str) -> bool {
        let Building::Call {
            id: known_id,
            name: known_name,
            arguments,
        } = &self.blocks[at]
        else {
            return false;
        };
        let differ = |a: &str, b: &str| !a.is_empty() && !b.is_empty() && a != b;
        if differ(id, known_id) || differ(name, known_name) {
            return false;
        }
        if name.is_empty() {
            return true;
        }
        let repeated = !id.is_empty() && index.is_some() && more.trim().is_empty();
        repeated || !arguments.is_whole()
    }

    /// The corresponding `stop_reason` of the Messages API.
    fn stop_reason(&self) -> Option<StopReason> {
        let calls = (self.blocks.iter()).any(|block| matches!(block, Building::Call { .. }));
        let done = match calls {
            true => StopReason::ToolUse,
            false => StopReason::EndTurn,
        };
        Some(match self.finish_reason.as_str() {
            "length" => StopReason::MaxTokens,
            "content_filter" => StopReason::Refusal,
            "" | "stop" | "tool_calls" | "function_call" if self.refused => StopReason::Refusal,
            // Whether tools are called is determined by the calls: not every server sets this reason.
            "" | "stop" | "tool_calls" | "function_call" => done,
            other => StopReason::Other(other.to_string()),
        })
    }

    /// Emits the end of the response as events.
    pub(super) fn end(&self, events: &mut Events) {
        for (index, block) in self.blocks.iter().enumerate() {
            if matches!(block, Building::Call { .. }) || self.open == Some(index) {
                events.stop(index);
            }
        }
        events.end(self.stop_reason().as_ref(), &self.usage);
    }

    /// The complete response.
    pub(super) fn finish(self) -> Response {
        let stop_reason = self.stop_reason();
        let keeps_reasoning = self.keeps_reasoning;
        Response {
            id: self.id,
            model: self.model,
            content: (self.blocks.into_iter())
                .map(|block| block.finish(keeps_reasoning))
                .collect(),
            stop_reason,
            stop_sequence: None,
            usage: self.usage,
        }
    }
}

impl Building {
    fn finish(self, keeps_reasoning: bool) -> Block {
        match self {
            Self::Text(text) => Block::text(&text),
            Self::Thinking { text, field } => Block::Thinking {
                thinking: text,
                // Thinking that is not sent back stays unsigned, and thus out of the history.
                signature: match keeps_reasoning {
                    true => field.to_owned(),
                    false => String::new(),
                },
            },
            Self::Call {
                id,
                name,
                arguments,
            } => Block::ToolUse(ToolUse {
                id,
                name,
                input: match arguments.text().trim() {
                    "null" => ToolUse::input_from(String::new()),
                    _ => ToolUse::input_from(arguments.into_text()),
                },
            }),
        }
    }
}

fn keep_first(slot: &mut String, value: &str) {
    if slot.is_empty() {
        slot.push_str(value);
    }
}
