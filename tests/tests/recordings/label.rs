//! What frames are called: by their type, and by whatever else decides which fields they have.

use std::collections::BTreeMap;

use serde_json::Value;

/// Names the lines of one process, in the order in which they are written.
#[derive(Default)]
pub(crate) struct Labels {
    /// What the SDK has asked for, by the ids of its requests.
    requested: BTreeMap<String, String>,
    /// What the engine has asked for, by the ids of its requests.
    asked: BTreeMap<String, String>,
    /// The names of tools, by the ids of their calls.
    tools: BTreeMap<String, String>,
    /// The ids of prompts, in their order.
    prompts: Vec<String>,
}

/// Where a frame of this name belongs: things in one lane are ordered among themselves; between lanes the order is free,
/// as it follows from who was faster.
pub(crate) fn lane(label: &str) -> &str {
    let (kind, _) = label.split_once('/').unwrap_or((label, ""));
    match kind {
        "reply" => REPLIES,
        "echo" => "echoes",
        "transcript_mirror" => "mirror",
        // A question that is taken back, and what follows from that, are two tasks.
        "control_cancel_request" => "cancellations",
        // Acquaintance with the SDK's own servers.
        _ if label.starts_with("ask/mcp_message:") && !label.ends_with(":tools/call") => "servers",
        // What becomes of a prompt: a lane for each.
        _ if kind.starts_with("command_lifecycle") => kind,
        _ => CONVERSATION,
    }
}

/// The conversation, and questions that hold it up.
pub(crate) const CONVERSATION: &str = "conversation";

/// Replies to the SDK.
pub(crate) const REPLIES: &str = "replies";

/// Whether several frames of this name in a row mean the same as one: how a text is cut into pieces is free.
pub(crate) fn is_piece(label: &str) -> bool {
    label.starts_with("stream_event/content_block_delta") || label == "transcript_mirror"
}

impl Labels {
    /// The SDK says something.
    pub(crate) fn heard(&mut self, frame: &Value) {
        if let Some(id) = frame["request_id"].as_str() {
            let subtype = text(&frame["request"]["subtype"]).to_owned();
            self.requested.insert(id.to_owned(), subtype);
        }
        if let (Some("user"), Some(id)) = (frame["type"].as_str(), frame["uuid"].as_str()) {
            self.prompts.push(id.to_owned());
        }
    }

    /// The request of the engine that an answer of the SDK is for.
    pub(crate) fn answered(&self, frame: &Value) -> Option<&str> {
        let id = frame["response"]["request_id"].as_str()?;
        self.asked.get(id).map(String::as_str)
    }

    /// The name of the next frame of the engine.
    pub(crate) fn name(&mut self, frame: &Value) -> String {
        let kind = text(&frame["type"]);
        let subtype = text(&frame["subtype"]);
        match kind {
            "control_response" => self.reply(&frame["response"]),
            "control_request" => {
                let label = asking(&frame["request"]);
                let id = text(&frame["request_id"]).to_owned();
                self.asked.insert(id, label.clone());
                label
            }
            "system" if subtype == "session_state_changed" => {
                format!("system/{subtype}:{}", text(&frame["state"]))
            }
            "system" => format!("system/{subtype}"),
            "assistant" => self.assistant(frame),
            "user" => self.user(frame),
            "result" if frame["local_command"].is_string() => format!("result/{subtype}:local"),
            "result" if subtype == "success" && frame["is_error"] == true => {
                "result/success:error".to_owned()
            }
            "result" => format!("result/{subtype}"),
            "command_lifecycle" => {
                let id = frame["command_uuid"].as_str();
                let number = self
                    .prompts
                    .iter()
                    .position(|prompt| Some(prompt.as_str()) == id);
                let number = number.map_or(0, |index| index + 1);
                format!("command_lifecycle:{number}/{}", text(&frame["state"]))
            }
            "stream_event" => {
                let event = &frame["event"];
                let mut label = format!("stream_event/{}", text(&event["type"]));
                let detail = match &event["delta"]["type"] {
                    Value::String(delta) => Some(delta.as_str()),
                    _ => event["content_block"]["type"].as_str(),
                };
                if let Some(detail) = detail {
                    label.push(':');
                    label.push_str(detail);
                }
                label
            }
            _ => kind.to_owned(),
        }
    }

    fn reply(&self, response: &Value) -> String {
        let id = text(&response["request_id"]);
        if let Some(asked) = self.asked.get(id) {
            return asked.replacen("ask/", "echo/", 1);
        }
        let request = self.requested.get(id).map_or("?", String::as_str);
        match text(&response["subtype"]) {
            "success" => format!("reply/{request}"),
            _ => format!("reply/{request}:error"),
        }
    }

    fn assistant(&mut self, frame: &Value) -> String {
        let block = &frame["message"]["content"][0];
        if let (Some(id), Some(name)) = (block["id"].as_str(), block["name"].as_str()) {
            self.tools.insert(id.to_owned(), name.to_owned());
        }
        let what = match frame["message"]["model"] == "<synthetic>" {
            true => "synthetic",
            false => text(&block["type"]),
        };
        of_agent(format!("assistant/{what}"), frame)
    }

    fn user(&self, frame: &Value) -> String {
        let block = &frame["message"]["content"][0];
        let what = if frame["isReplay"] == true {
            "replay".to_owned()
        } else if frame["isSynthetic"] == true {
            "synthetic".to_owned()
        } else if block["type"] == "tool_result" {
            let id = text(&block["tool_use_id"]);
            let tool = self.tools.get(id).map_or("?", String::as_str);
            // Two names of one tool.
            let tool = if tool == "Task" { "Agent" } else { tool };
            match block["is_error"] == true {
                true => format!("tool_result:{tool}:error"),
                false => format!("tool_result:{tool}"),
            }
        } else {
            "text".to_owned()
        };
        of_agent(format!("user/{what}"), frame)
    }
}

fn asking(request: &Value) -> String {
    let subtype = text(&request["subtype"]);
    let detail = match subtype {
        "hook_callback" => &request["input"]["hook_event_name"],
        "mcp_message" => &request["message"]["method"],
        _ => &Value::Null,
    };
    match detail.as_str() {
        Some(detail) => format!("ask/{subtype}:{detail}"),
        None => format!("ask/{subtype}"),
    }
}

fn of_agent(label: String, frame: &Value) -> String {
    match frame["parent_tool_use_id"].is_string() {
        true => format!("{label}@agent"),
        false => label,
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("?")
}
