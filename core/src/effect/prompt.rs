//! User messages.

use alloc::{string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use crate::{content::Block, hook::input::UserPromptExpansion, id::Uuid, json::RawJson};

/// A user message.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prompt {
    /// Content blocks of the Messages API, each one a JSON object.
    pub content: Vec<RawJson>,
    /// The message's id, if the sender chose one.
    #[serde(default)]
    pub uuid: Option<Uuid>,
    /// When it enters the conversation.
    #[serde(default)]
    pub delivery: Delivery,
    /// If the sender expanded a command into this prompt: that command. Hooks receive it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expanded_from: Option<UserPromptExpansion>,
}

/// When a prompt enters the conversation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Delivery {
    /// After the prompts before it are answered. It gets an answer of its own.
    #[default]
    FollowUp,
    /// With the next tool results of the current answer, so that the model takes it into account. If no answer is in progress, or
    /// no more tool results come, as a follow-up.
    Steer,
    /// As a follow-up, but without a request to the model. The model reads it together with the next prompt.
    Append,
}

impl Prompt {
    /// A prompt of plain text, delivered as a follow-up.
    #[must_use]
    pub fn text(text: &str) -> Self {
        let block = Block::text(text).to_raw();
        Self {
            content: alloc::vec![block],
            ..Self::default()
        }
    }

    /// A prompt of content blocks, delivered as a follow-up.
    #[must_use]
    pub fn blocks(content: Vec<RawJson>) -> Self {
        Self {
            content,
            ..Self::default()
        }
    }

    /// The text, if the prompt consists of exactly one text block.
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

    /// Sets when the prompt enters the conversation.
    #[must_use]
    pub fn delivered(mut self, delivery: Delivery) -> Self {
        self.delivery = delivery;
        self
    }

    /// Sets the message's id.
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
