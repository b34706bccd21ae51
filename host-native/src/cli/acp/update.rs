//! Frames of the engine as updates for the editor.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::tool_call::{Shown, of_text, plan, written};

/// Words of the agent.
const ANSWER: &str = "agent_message_chunk";

/// Its thinking.
const THOUGHT: &str = "agent_thought_chunk";

/// Words of the person.
const PROMPT: &str = "user_message_chunk";

/// Translates one frame after the other.
#[derive(Debug)]
pub(super) struct Translator {
    cwd: PathBuf,
    /// Whether the texts of the current response were shown as they arrived.
    has_streamed: bool,
    /// Calls that were shown as something else.
    unshown: Vec<String>,
}

impl Translator {
    /// Paths are shown relative to the working directory.
    pub(super) fn new(cwd: PathBuf) -> Self {
        Self {
            cwd,
            has_streamed: false,
            unshown: Vec::new(),
        }
    }

    /// The updates that follow from a frame.
    pub(super) fn updates(&mut self, frame: &Value) -> Vec<Value> {
        let is_of_agent = frame
            .get("parent_tool_use_id")
            .is_some_and(|id| !id.is_null());
        match text(frame, "type") {
            "stream_event" if !is_of_agent => self.piece(&frame["event"]).into_iter().collect(),
            "assistant" => self.response(&frame["message"], is_of_agent),
            "user" => self.results(&frame["message"], frame.get("tool_use_result")),
            "system" => of_system(frame).into_iter().collect(),
            "result" => {
                self.has_streamed = false;
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    /// The updates for a line of a transcript.
    pub(super) fn stored(&mut self, line: &Value) -> Vec<Value> {
        self.has_streamed = false;
        match text(line, "type") {
            "assistant" => self.response(&line["message"], false),
            "user" => {
                let message = &line["message"];
                let mut updates = prompt(&message["content"]);
                updates.extend(self.results(message, line.get("toolUseResult")));
                updates
            }
            _ => Vec::new(),
        }
    }

    /// A piece of a response.
    fn piece(&mut self, event: &Value) -> Option<Value> {
        match text(event, "type") {
            "message_start" => {
                self.has_streamed = false;
                None
            }
            "content_block_delta" => {
                let delta = &event["delta"];
                let update = match text(delta, "type") {
                    "text_delta" => chunk(ANSWER, text(delta, "text")),
                    "thinking_delta" => chunk(THOUGHT, text(delta, "thinking")),
                    _ => return None,
                };
                self.has_streamed = true;
                Some(update)
            }
            _ => None,
        }
    }

    /// A response, or a part of one. Of an agent only the calls are shown.
    fn response(&mut self, message: &Value, is_of_agent: bool) -> Vec<Value> {
        let shows_texts = !self.has_streamed && !is_of_agent;
        let mut updates = Vec::new();
        for block in message["content"].as_array().into_iter().flatten() {
            match text(block, "type") {
                "text" if shows_texts => updates.push(chunk(ANSWER, text(block, "text"))),
                "thinking" if shows_texts => updates.push(chunk(THOUGHT, text(block, "thinking"))),
                "tool_use" => updates.push(self.call(block)),
                _ => {}
            }
        }
        updates
    }

    fn call(&mut self, block: &Value) -> Value {
        let (id, tool, input) = (text(block, "id"), text(block, "name"), &block["input"]);
        if let Some(entries) = plan(tool, input) {
            self.unshown.push(id.to_owned());
            return json!({"sessionUpdate": "plan", "entries": entries});
        }
        let mut call = Shown::of(tool, input, &self.cwd).fields();
        call["sessionUpdate"] = "tool_call".into();
        call["toolCallId"] = id.into();
        call["status"] = "pending".into();
        call["rawInput"] = input.clone();
        call
    }

    /// Results of calls. `result` is the tool's own, if there is one.
    fn results(&mut self, message: &Value, result: Option<&Value>) -> Vec<Value> {
        let blocks = message["content"].as_array().into_iter().flatten();
        let results = blocks.filter(|block| text(block, "type") == "tool_result");
        let mut updates = Vec::new();
        for block in results {
            let id = text(block, "tool_use_id");
            if self.unshown.iter().any(|it| it == id) {
                self.unshown.retain(|it| it != id);
                continue;
            }
            let has_failed = block["is_error"] == true;
            let status = match has_failed {
                true => "failed",
                false => "completed",
            };
            let is_edit = result.is_some_and(|result| result.get("structuredPatch").is_some());
            let content = match result.filter(|_| is_edit && !has_failed) {
                // The diff stays, unless the result knows more.
                Some(result) => written(result).map(|diff| vec![diff]),
                None => Some(contents(&block["content"])),
            };
            let mut update = json!({
                "sessionUpdate": "tool_call_update", "toolCallId": id, "status": status,
            });
            if let Some(content) = content {
                update["content"] = content.into();
            }
            updates.push(update);
        }
        updates
    }
}

fn of_system(frame: &Value) -> Option<Value> {
    match text(frame, "subtype") {
        "status" => {
            let mode = frame.get("permissionMode")?.as_str()?;
            Some(json!({"sessionUpdate": "current_mode_update", "currentModeId": mode}))
        }
        "session_title_changed" => {
            let title = frame.get("title")?.as_str()?;
            Some(json!({"sessionUpdate": "session_info_update", "title": title}))
        }
        _ => None,
    }
}

/// What a person said, from a transcript.
fn prompt(content: &Value) -> Vec<Value> {
    if let Some(text) = content.as_str() {
        return vec![chunk(PROMPT, text)];
    }
    let blocks = content.as_array().into_iter().flatten();
    let said = blocks.filter_map(|block| match text(block, "type") {
        "text" => Some(chunk(PROMPT, text(block, "text"))),
        "image" => Some(json!({"sessionUpdate": PROMPT, "content": image(block)?})),
        _ => None,
    });
    said.collect()
}

/// The content of a result.
fn contents(content: &Value) -> Vec<Value> {
    if let Some(text) = content.as_str() {
        return vec![of_text(text)];
    }
    let blocks = content.as_array().into_iter().flatten();
    let shown = blocks.filter_map(|block| match text(block, "type") {
        "text" => Some(of_text(text(block, "text"))),
        "image" => Some(json!({"type": "content", "content": image(block)?})),
        _ => None,
    });
    shown.collect()
}

/// An image in the form of the protocol.
fn image(block: &Value) -> Option<Value> {
    let source = &block["source"];
    let data = source.get("data")?.as_str()?;
    Some(json!({"type": "image", "data": data, "mimeType": text(source, "media_type")}))
}

/// A piece of what somebody said.
fn chunk(whose: &str, text: &str) -> Value {
    json!({"sessionUpdate": whose, "content": {"type": "text", "text": text}})
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}
