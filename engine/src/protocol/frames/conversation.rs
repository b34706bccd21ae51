//! The conversation: responses and results of calls.

use serde_json::{Map, Value, json};
use windlass_core::{
    Message, RawJson,
    content::Block,
    context::interruption::{BUDGET_USED_UP, INTERRUPTED_IN_CALLS},
    message::{AssistantMessage, UserMessage},
};

use super::{
    Facts, Frames, api_error,
    measured::{AssistantFrame, kept_an_hour},
    with,
};
use crate::{block_uuid, protocol::line::to_line};

impl Frames {
    /// Creates one frame for each content block, as the official engine does.
    pub(super) fn assistant(
        &mut self,
        mut assistant: AssistantMessage,
        facts: Facts,
    ) -> Vec<String> {
        let mut more = Map::new();
        let error = assistant.error.map(|class| {
            let error = api_error::told(class, facts.http_status, &mut assistant.message.content);
            more.insert("is_api_error_message".to_owned(), true.into());
            if let Some(status) = facts.http_status {
                more.insert("api_error_status".to_owned(), status.into());
            }
            error
        });
        let on_main = assistant.parent_tool_use_id.is_none();
        if on_main {
            self.turn.assistant(&assistant, &mut self.subagents);
            let uuids = self.turn.given_uuids();
            if !self.turn.has_answered && !uuids.is_empty() {
                more.insert("user_message_uuid".to_owned(), json!(uuids[0]));
                more.insert("user_message_uuids".to_owned(), json!(uuids));
            }
            self.turn.has_answered = true;
        }
        self.turn.kept_an_hour += kept_an_hour(&assistant.message);
        let mut common = self.said_by(assistant.parent_tool_use_id.as_deref(), &facts);
        if let Some(id) = facts.request_id {
            common.insert("request_id".to_owned(), id.into());
        }
        let blocks = assistant.message.content.len();
        let mut lines = Vec::with_capacity(blocks);
        for (index, block) in assistant.message.content.iter().enumerate() {
            let mut frame = assistant.clone();
            // Only the last block of an aborted response is incomplete.
            frame.aborted &= index + 1 == blocks;
            frame.uuid = block_uuid(assistant.uuid, index);
            frame.message.content = vec![block.clone()];
            if error.is_none() {
                // The final values are part of the result.
                frame.message.stop_reason = None;
                frame.message.stop_sequence = None;
            }
            let mut more = std::mem::take(&mut more);
            more.extend(common.clone());
            lines.push(to_line(&AssistantFrame::new(&frame, error, more)));
        }
        lines
    }

    pub(super) fn user(&mut self, mut user: UserMessage, facts: Facts) -> Vec<String> {
        let mut more = Map::new();
        if let Some((call, mut result)) = tool_result(&user) {
            if user.parent_tool_use_id.is_none()
                && self.turn.answered(&call)
                && let Some(blocks) = as_blocks(&mut user)
            {
                result = blocks;
            }
            if user.tool_use_result.is_none() {
                more.insert("tool_use_result".to_owned(), result);
            }
        }
        if is_unpaid(&user) {
            // The result says it: the call has none, as its turn has no further request.
            return Vec::new();
        }
        if user.parent_tool_use_id.is_none() && !user.is_replay {
            self.turn.user_frames += 1;
            self.turn.cut_in_calls |= is_text(&user, INTERRUPTED_IN_CALLS);
        }
        more.extend(self.said_by(user.parent_tool_use_id.as_deref(), &facts));
        vec![with(&Message::User(user), more)]
    }
}

/// The call that a user message answers, and the value for applications if the tool gives no structured one: the content, or
/// the error as text.
fn tool_result(user: &UserMessage) -> Option<(String, Value)> {
    #[derive(serde::Deserialize)]
    struct Block {
        tool_use_id: String,
        #[serde(default)]
        content: Option<RawJson>,
        #[serde(default)]
        is_error: bool,
    }
    let [block] = user.message.content.as_slice() else {
        return None;
    };
    let block: Block = block.decode().ok()?;
    let content: Value = block
        .content
        .and_then(|raw| raw.decode().ok())
        .unwrap_or_default();
    let result = match block.is_error {
        true => format!("Error: {}", words_of(&content)).into(),
        false => content,
    };
    Some((block.tool_use_id, result))
}

/// Whether a user message is the result of a call that did not run because the budget was used up.
fn is_unpaid(user: &UserMessage) -> bool {
    let Some((_, result)) = tool_result(user) else {
        return false;
    };
    let error = result
        .as_str()
        .and_then(|text| text.strip_prefix("Error: "));
    error == Some(BUDGET_USED_UP)
}

/// Whether a user message consists of exactly this text.
fn is_text(user: &UserMessage, text: &str) -> bool {
    let says = |block: &RawJson| Block::from_raw(block.clone()) == Block::text(text);
    matches!(user.message.content.as_slice(), [block] if says(block))
}

/// Converts the content of a result to a list of blocks and returns it, because results of MCP servers are always lists.
/// `None` if it is a list already, or an error text.
fn as_blocks(user: &mut UserMessage) -> Option<Value> {
    let [block] = user.message.content.as_mut_slice() else {
        return None;
    };
    let mut fields: Map<String, Value> = block.decode().ok()?;
    let text = match fields.get("content")? {
        Value::String(text) if fields.get("is_error") != Some(&Value::Bool(true)) => text,
        _ => return None,
    };
    let blocks = json!([{"type": "text", "text": text}]);
    fields.insert("content".to_owned(), blocks.clone());
    *block = RawJson::encode(&fields).ok()?;
    Some(blocks)
}

/// The texts in the content of a result.
fn words_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts: Vec<&str> = blocks
                .iter()
                .filter_map(|block| block["text"].as_str())
                .collect();
            texts.join("\n")
        }
        _ => String::new(),
    }
}
