//! What the model is told besides the conversation, what it keeps of that, and the form of its answer.

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::{
    context::{
        ContextPolicy, InterruptedAnswer, MemoryFile, OutputStyle, PlanReminder, SystemPrompt,
    },
    output::OutputFormat,
};

/// What the model is told besides the conversation, what it keeps of that, and the form of its answer.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PromptSpec {
    /// The system prompt.
    pub system: SystemPrompt,
    /// Whether what the preset says of the place where a session runs stands in front of the conversation instead, so that the
    /// system prompt is the same everywhere and comes from a cache (Agent SDK reference, `excludeDynamicSections`).
    pub surroundings_apart: bool,
    /// How the agent writes, where the system prompt is the preset; none is the preset's own style.
    pub output_style: Option<OutputStyle>,
    /// Standing instructions (CLAUDE.md), in front of every request.
    pub memory: Vec<MemoryFile>,
    /// What goes with prompts in plan mode; without it the model hears of the mode when it is refused a call.
    pub plan_reminder: Option<PlanReminder>,
    /// How the context is kept within the model's window.
    pub context: ContextPolicy,
    /// What stays in the conversation of an answer that is interrupted. Default: nothing of a response that was cut.
    pub interrupted_answer: InterruptedAnswer,
    /// The form of the answer; none leaves it to the model.
    pub output: Option<OutputFormat>,
}
