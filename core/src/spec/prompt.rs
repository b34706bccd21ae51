//! The model's instructions, how the context is managed, and the format of the answer.

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::{
    context::{
        ContextPolicy, InterruptedAnswer, MemoryFile, OutputStyle, PlanReminder, SystemPrompt,
    },
    output::OutputFormat,
};

/// The model's instructions, how the context is managed, and the format of the answer.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PromptSpec {
    /// The system prompt.
    pub system: SystemPrompt,
    /// Whether the section about the environment of a session is put in front of the conversation, whatever the system prompt is,
    /// and not into that of the preset. The system prompt is then the same everywhere and can be cached (Agent SDK reference,
    /// `excludeDynamicSections`).
    pub surroundings_apart: bool,
    /// The output style, if the system prompt is the preset; none is the preset's own style.
    pub output_style: Option<OutputStyle>,
    /// Memory files (CLAUDE.md), put in front of every request.
    pub memory: Vec<MemoryFile>,
    /// The reminder added to prompts in plan mode. Without it the model learns of the mode only when a call is denied.
    pub plan_reminder: Option<PlanReminder>,
    /// How the context is kept within the model's window.
    pub context: ContextPolicy,
    /// What stays in the conversation of an interrupted answer. Default: nothing of a response that was cut off.
    pub interrupted_answer: InterruptedAnswer,
    /// The format of the answer; none leaves it to the model.
    pub output: Option<OutputFormat>,
}
