//! What the model is shown of a conversation, and what of it is kept.
//!
//! Pure decisions only: the session asks them and acts.
//!
//! - [`system_prompt`]: what a system prompt is made of; [`prompt`](crate::prompt) makes it;
//! - [`memory`]: standing instructions (CLAUDE.md), in front of every request;
//! - [`plan`]: what goes with prompts in plan mode;
//! - [`interruption`]: what an interrupt leaves;
//! - [`size`]: how many tokens a conversation takes;
//! - [`compaction`]: when the beginning is replaced by a summary, where it is cut, what is asked;
//! - [`clearing`]: which tool results are shown no more.

pub mod clearing;
pub mod compaction;
pub mod interruption;
pub mod memory;
pub mod plan;
pub mod system_prompt;

use serde::{Deserialize, Serialize};

pub use self::{
    clearing::{ClearedBy, Clearing},
    compaction::Compaction,
    interruption::InterruptedAnswer,
    memory::{MemoryFile, MemoryScope},
    plan::PlanReminder,
    system_prompt::{OutputStyle, SystemPrompt},
};

pub use crate::{history::size, hook::CompactionTrigger};

/// How the context is kept within the model's window.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ContextPolicy {
    /// When the beginning of the conversation is replaced by a summary.
    pub compaction: Compaction,
    /// When old tool results are cleared; none is never.
    pub clearing: Option<Clearing>,
}
