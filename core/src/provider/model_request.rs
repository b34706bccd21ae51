//! The content of a model request apart from the conversation.

use alloc::{borrow::Cow, string::String};

use crate::{
    context::Clearing,
    model::{Effort, Thinking, ThinkingDisplay},
    price::ModelFacts,
    tool::ToolDefinition,
};

/// The settings of a request.
#[derive(Debug, Clone, Copy, Default)]
pub struct ModelRequest<'a> {
    /// The model, used exactly as it is written.
    pub model: &'a str,
    /// The catalogue entry of the model; none if it has none.
    pub facts: Option<&'a ModelFacts>,
    /// Maximum output tokens of the response; none uses the model's limit.
    pub max_tokens: Option<u32>,
    /// Extended thinking.
    pub thinking: Thinking,
    /// How much of the thinking is shown; none uses the provider's default.
    pub thinking_display: Option<ThinkingDisplay>,
    /// How much effort goes into the response; none uses the provider's default.
    pub effort: Option<Effort>,
    /// The token budget of the whole task, told to the model for its planning.
    pub task_budget: Option<u32>,
    /// Beta features of the API, by name.
    pub betas: &'a [String],
    /// Whether the response is streamed.
    pub stream: bool,
    /// How the provider clears old tool results; none if it does not.
    pub clearing: Option<&'a Clearing>,
}

/// The part of a request before its messages.
#[derive(Debug, Clone, Copy)]
pub struct Opening<'a> {
    /// The settings.
    pub request: &'a ModelRequest<'a>,
    /// The system prompt, as blocks.
    pub system: &'a [String],
    /// The text in front of the conversation: memory files, the environment. None if there is none.
    pub before_conversation: Option<&'a str>,
    /// The tools, in the order in which they are to be sent.
    pub tools: &'a [ToolOffer<'a>],
}

/// A tool as offered in a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolOffer<'a> {
    /// The tool.
    pub definition: &'a ToolDefinition,
    /// The name under which the model calls it: that of the definition, except for [`AgentToolName`](crate::spec::AgentToolName).
    pub name: &'a str,
    /// The description for the model: that of the definition, and for some core tools the available choices.
    pub description: Cow<'a, str>,
    /// Whether it is hidden from the model until a search has found it.
    pub deferred: bool,
}
