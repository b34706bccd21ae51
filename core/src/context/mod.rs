//! How the conversation is presented to the model, and how its size is managed.
//!
//! The modules only make decisions, as pure functions; the session carries them out.
//!
//! - [`system_prompt`]: the settings of the system prompt; [`prompt`](crate::prompt) builds it;
//! - [`memory`]: memory files (CLAUDE.md), in front of every request;
//! - [`plan`]: the reminder in plan mode;
//! - [`interruption`]: what an interrupted answer leaves;
//! - [`size`]: the size of a conversation in tokens;
//! - [`compaction`]: when the beginning is replaced by a summary, where it is cut, what is asked;
//! - [`clearing`]: which tool results are no longer shown.

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
