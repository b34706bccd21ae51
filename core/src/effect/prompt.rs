//! User messages.

use alloc::{string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use crate::{content::Block, hook::input::UserPromptExpansion, id::Uuid, json::RawJson};

/// A user message.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prompt {
    /// Content blocks of the Messages API, each one a JSON object.
    pub content: Vec<RawJson>,
    /// The message's id, where whoever sent it gave it one.
    #[serde(default)]
    pub uuid: Option<Uuid>,
    /// When it enters the conversation.
    #[serde(default)]
    pub delivery: Delivery,
    /// The command that it was before whoever sends it put in its place what it stands for: hooks are told of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expanded_from: Option<UserPromptExpansion>,
}

/// When a prompt enters the conversation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Delivery {
    /// After the prompts before it are answered; it is answered by itself.
    #[default]
    FollowUp,
    /// With the next tool results of the answer under way, which goes on with it in mind; where there is
    /// none any more, as a follow-up.
    Steer,
    /// As a follow-up, but the model is not asked: it reads it with the next prompt.
    Append,
}

impl Prompt {
    /// Plain text, answered by itself.
    #[must_use]
    pub fn text(text: &str) -> Self {
        let block = Block::text(text).to_raw();
        Self {
            content: alloc::vec![block],
            ..Self::default()
        }
    }

    /// Content blocks, answered by themselves.
    #[must_use]
    pub fn blocks(content: Vec<RawJson>) -> Self {
        Self {
            content,
            ..Self::default()
        }
    }

    /// The text, where it is one and nothing else.
    #[must_use]
    pub fn plain_text(&self) -> Option<String> {
        let [block] = self.content.as_slice() else {
            return None;
        };
        match Block::from_raw(block.clone()) {
            Block::Text { text, .. } => Some(text),
            _ => None,
        }
    }

    /// The same, delivered in another way.
    #[must_use]
    pub fn delivered(mut self, delivery: Delivery) -> Self {
        self.delivery = delivery;
        self
    }

    /// The same under an id of the sender's.
    #[must_use]
    pub fn with_uuid(mut self, uuid: Uuid) -> Self {
        self.uuid = Some(uuid);
        self
    }
}

impl From<&str> for Prompt {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<String> for Prompt {
    fn from(text: String) -> Self {
        Self::text(&text)
    }
}
