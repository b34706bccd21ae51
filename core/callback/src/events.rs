//! What a callback-style loop tells while it runs, made from the message stream.

use alloc::{
    borrow::ToOwned,
    collections::VecDeque,
    format,
    string::{String, ToString},
    vec::Vec,
};

use serde::Serialize;
use windlass_core::{
    RawJson,
    content::Block,
    json::RawObject,
    message::{AssistantMessage, Message, UserMessage},
};

/// A web page is shown so many characters of a result.
const SUMMARY_CHARACTERS: usize = 200;

/// Something that happened in the loop.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum LoopEvent {
    /// The model's words: its reasoning between calls, and the final text.
    Thinking {
        /// The text of one response.
        text: String,
    },
    /// A tool is about to run.
    ToolCall {
        /// The tool.
        tool: String,
        /// Its input.
        input: RawJson,
    },
    /// A tool has run.
    ToolResult {
        /// The tool.
        tool: String,
        /// What it gave back: the value itself, or the text of an error.
        result: RawJson,
    },
}

impl LoopEvent {
    /// The event as a server-sent event for a web page (`agent_reasoning`, `tool_call`, `tool_result`). A result is
    /// cut to 200 characters of its string form.
    #[must_use]
    pub fn to_sse(&self, agent: &str) -> String {
        #[derive(Serialize)]
        struct Reasoning<'a> {
            agent: &'a str,
            text: &'a str,
        }
        #[derive(Serialize)]
        struct Call<'a> {
            tool: &'a str,
            input: &'a RawJson,
        }
        #[derive(Serialize)]
        struct Done<'a> {
            tool: &'a str,
            summary: &'a str,
        }
        let (name, data) = match self {
            Self::Thinking { text } => (
                "agent_reasoning",
                RawJson::encode(&Reasoning { agent, text }),
            ),
            Self::ToolCall { tool, input } => ("tool_call", RawJson::encode(&Call { tool, input })),
            Self::ToolResult { tool, result } => {
                let whole = string_form(result);
                let end = whole.char_indices().nth(SUMMARY_CHARACTERS);
                let summary = &whole[..end.map_or(whole.len(), |(at, _)| at)];
                ("tool_result", RawJson::encode(&Done { tool, summary }))
            }
        };
        // Strings and raw JSON on one line only: encoding cannot fail.
        let data = data.unwrap_or_else(|_| RawJson::null());
        format!("event: {name}\ndata: {data}\n\n")
    }
}

/// A text as it is, anything else as its JSON.
fn string_form(value: &RawJson) -> String {
    value.decode().unwrap_or_else(|_| value.get().to_owned())
}

/// One tool call with what came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCallRecord {
    /// The tool.
    pub tool: String,
    /// Its input.
    pub input: RawJson,
    /// What it gave back; none when it never ran.
    pub result: Option<RawJson>,
}

/// Turns messages into events. A pure value: for sessions that somebody else drives.
#[derive(Debug, Clone, Default)]
pub struct LoopEvents {
    final_text: String,
    calls: Vec<ToolCallRecord>,
    /// Calls of the response under way that have not begun.
    awaiting: VecDeque<ToolCallRecord>,
}

impl LoopEvents {
    /// What a message means. Tools run one after another, so each call is told when the one before it is over.
    pub fn take_in(&mut self, message: &Message) -> Vec<LoopEvent> {
        match message {
            Message::Assistant(said) if said.parent_tool_use_id.is_none() => self.response(said),
            Message::User(said) if said.parent_tool_use_id.is_none() => self.result(said),
            _ => Vec::new(),
        }
    }

    /// The last text, and every call.
    #[must_use]
    pub fn into_parts(self) -> (String, Vec<ToolCallRecord>) {
        (self.final_text, self.calls)
    }

    fn response(&mut self, said: &AssistantMessage) -> Vec<LoopEvent> {
        let mut text = String::new();
        self.awaiting.clear();
        for block in &said.message.content {
            match Block::from_raw(block.clone()) {
                Block::Text { text: more, .. } => text.push_str(&more),
                Block::ToolUse(call) => self.awaiting.push_back(ToolCallRecord {
                    input: call.input_or_empty(),
                    tool: call.name,
                    result: None,
                }),
                _ => {}
            }
        }
        let mut events = Vec::new();
        if !text.trim().is_empty() {
            events.push(LoopEvent::Thinking { text: text.clone() });
        }
        self.final_text = text;
        events.extend(self.next_call());
        events
    }

    fn result(&mut self, said: &UserMessage) -> Vec<LoopEvent> {
        let Some(result) = result_of(said) else {
            return Vec::new();
        };
        let Some(call) = self.calls.last_mut().filter(|call| call.result.is_none()) else {
            return Vec::new();
        };
        call.result = Some(result.clone());
        let tool = call.tool.clone();
        let mut events = alloc::vec![LoopEvent::ToolResult { tool, result }];
        events.extend(self.next_call());
        events
    }

    fn next_call(&mut self) -> Option<LoopEvent> {
        let call = self.awaiting.pop_front()?;
        self.calls.push(call.clone());
        Some(LoopEvent::ToolCall {
            tool: call.tool,
            input: call.input,
        })
    }
}

/// The value a tool gave back: the JSON that the model reads, or its text where that is none.
fn result_of(said: &UserMessage) -> Option<RawJson> {
    let block = RawObject::parse(said.message.content.first()?.get()).ok()?;
    if block.get_string("type")? != "tool_result" {
        return None;
    }
    let content = block.get("content")?;
    Some(match content.decode::<String>() {
        Ok(text) => RawJson::parse(text.to_string()).unwrap_or_else(|_| content.clone()),
        Err(_) => content.clone(),
    })
}
