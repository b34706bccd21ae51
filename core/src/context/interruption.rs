//! What an interrupted answer leaves in the conversation.

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::{content::Block, json::RawJson};

/// The note after a response that an interrupt has cut off, in the form that readers of transcripts know (the Agent SDKs do not
/// treat a message with this beginning as a prompt).
pub const INTERRUPTED: &str = "[Request interrupted by user]";

/// The same for an interrupt during tool calls.
pub const INTERRUPTED_IN_CALLS: &str = "[Request interrupted by user for tool use]";

/// The result of a call that did not run because the budget was used up before it.
pub const BUDGET_USED_UP: &str = "The call was not run: the budget is used up.";

/// What stays in the conversation of an interrupted answer on the main thread. A response that breaks off by itself never leaves
/// anything: it is requested again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InterruptedAnswer {
    /// Only what was complete: nothing of a response that was cut off.
    #[default]
    Dropped,
    /// Also the text of the response that was cut off and, after it or after the results of the calls, a note about the
    /// interrupt. Both are sent to the application, written to the transcript and included in the next request.
    Kept,
}

impl InterruptedAnswer {
    /// Whether more than the complete parts are kept.
    #[must_use]
    pub fn is_kept(self) -> bool {
        self == Self::Kept
    }

    /// Whether this is the default.
    #[must_use]
    pub fn is_usual(&self) -> bool {
        *self == Self::default()
    }
}

/// The text blocks of a response that was cut off, without citations, whose sources may be missing. Thinking has no signature
/// yet, and an incomplete call is not a call.
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
