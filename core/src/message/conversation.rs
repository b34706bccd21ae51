//! The conversation: responses, tool results, raw stream events.

use alloc::{borrow::ToOwned, string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use crate::{
    id::{SessionId, Uuid},
    json::RawJson,
    model::{ErrorClass, StopReason, Usage},
};

/// `type: "assistant"`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AssistantMessage {
    /// The response in Messages API form.
    pub message: ApiMessage,
    /// The Task call this belongs to; null on the main thread.
    pub parent_tool_use_id: Option<String>,
    /// Set if this message stands for a failed response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorClass>,
    /// Set if an interrupt cut off the response; the message then holds the part that stays in the conversation.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub aborted: bool,
    /// This message.
    pub uuid: Uuid,
    /// The session.
    pub session_id: SessionId,
}

/// A response of the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ApiMessage {
    /// The provider's id of the response.
    pub id: String,
    /// Always `message`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Always `assistant`.
    pub role: String,
    /// The model that answered.
    pub model: String,
    /// Content blocks; unknown kinds are unchanged.
    pub content: Vec<RawJson>,
    /// Why the response stopped.
    pub stop_reason: Option<StopReason>,
    /// The stop sequence, if one ended the response.
    pub stop_sequence: Option<String>,
    /// Token counts.
    pub usage: Usage,
}

/// `type: "user"`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UserMessage {
    /// The message in Messages API form.
    pub message: UserContent,
    /// The Task call this belongs to; null on the main thread.
    pub parent_tool_use_id: Option<String>,
    /// The tool's structured output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_use_result: Option<RawJson>,
    /// Written by the engine, not by a person.
    #[serde(
        rename = "isSynthetic",
        default,
        skip_serializing_if = "core::ops::Not::not"
    )]
    pub is_synthetic: bool,
    /// A repetition of a prompt, which tells the sender that it was accepted (`SDKUserMessageReplay`).
    #[serde(
        rename = "isReplay",
        default,
        skip_serializing_if = "core::ops::Not::not"
    )]
    pub is_replay: bool,
    /// This message.
    pub uuid: Uuid,
    /// The session.
    pub session_id: SessionId,
}

/// Role and blocks of a user message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserContent {
    /// Always `user`.
    pub role: String,
    /// Content blocks.
    pub content: Vec<RawJson>,
}

impl UserContent {
    /// A user message of these blocks.
    #[must_use]
    pub fn new(content: Vec<RawJson>) -> Self {
        Self {
            role: "user".to_owned(),
            content,
        }
    }
}

/// `type: "stream_event"`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamEvent {
    /// The event as it came over the wire.
    pub event: RawJson,
    /// The Task call this belongs to; null on the main thread.
    pub parent_tool_use_id: Option<String>,
    /// This message.
    pub uuid: Uuid,
    /// The session.
    pub session_id: SessionId,
}
