//! What an interrupt leaves in the conversation.

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::{content::Block, json::RawJson};

/// The word behind a response that an interrupt has cut, as the readers of transcripts know it (the Agent SDKs take no message
/// that begins so for a prompt).
pub const INTERRUPTED: &str = "[Request interrupted by user]";

/// The same where calls of the model were open.
pub const INTERRUPTED_IN_CALLS: &str = "[Request interrupted by user for tool use]";

/// What stays in the conversation of an answer that somebody interrupts, on the main thread. A response that breaks off by
/// itself leaves nothing either way: it is asked for again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InterruptedAnswer {
    /// What had come to its end: nothing of a response that was cut.
    #[default]
    Dropped,
    /// Also the texts of the response that was cut, and behind them, or behind what the calls came to, a word that it was
    /// interrupted. Both are told to the application, written into the transcript and sent with the next request.
    Kept,
}

impl InterruptedAnswer {
    /// Whether anything is kept beyond what came to its end.
    #[must_use]
    pub fn is_kept(self) -> bool {
        self == Self::Kept
    }

    /// Whether it is what holds where nothing is said.
    #[must_use]
    pub fn is_usual(&self) -> bool {
        *self == Self::default()
    }
}

/// The words of a response that was cut: its texts, without what they cite, for the results that they cite may be missing.
/// Thoughts have no signature yet, and a call that was not written to its end is none.
pub(crate) fn words_of(content: &[Block]) -> Vec<RawJson> {
    let texts = content.iter().filter_map(|block| match block {
        Block::Text { text, .. } => Some(Block::text(text)),
        _ => None,
    });
    texts
        .filter(Block::belongs_in_history)
        .map(|block| block.to_raw())
        .collect()
}
