//! Events of a callback-style loop, derived from the message stream.

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

/// Maximum length in characters of a result shown on a web page.
const SUMMARY_CHARACTERS: usize = 200;

/// An event of the loop.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum LoopEvent {
    /// The model's text: its reasoning between calls, and the final text.
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
        /// The result: the value itself, or the text of an error.
        result: RawJson,
    },
}

impl LoopEvent {
    /// The event as a server-sent event for a web page (`agent_reasoning`, `tool_call`, `tool_result`). A result is truncated to
    /// 200 characters of its string form.
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

/// A string as it is, anything else as its JSON.
fn string_form(value: &RawJson) -> String {
    value.decode().unwrap_or_else(|_| value.get().to_owned())
}

/// A tool call with its result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCallRecord {
    /// The tool.
    pub tool: String,
    /// Its input.
    pub input: RawJson,
    /// Its result; none if it never ran.
    pub result: Option<RawJson>,
}

/// Converts messages to events. A plain value, for sessions that are driven elsewhere.
#[derive(Debug, Clone, Default)]
pub struct LoopEvents {
    final_text: String,
    calls: Vec<ToolCallRecord>,
    /// Calls of the current response that have not started.
    awaiting: VecDeque<ToolCallRecord>,
}

impl LoopEvents {
    /// The events of a message. Tools run one after another, so each call is reported when the previous one is done.
    pub fn take_in(&mut self, message: &Message) -> Vec<LoopEvent> {
        match message {
            Message::Assistant(said) if said.parent_tool_use_id.is_none() => self.response(said),
            Message::User(said) if said.parent_tool_use_id.is_none() => self.result(said),
            _ => Vec::new(),
        }
    }

    /// The last text, and all calls.
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

/// The result of a tool: the JSON that the model receives, or its text if it is not JSON.
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
