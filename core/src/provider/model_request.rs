//! What a model is asked for, beside the conversation.

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
    /// What is known of the model; none where the catalogue does not have it.
    pub facts: Option<&'a ModelFacts>,
    /// The most a response may hold, in tokens; none takes the model's limit.
    pub max_tokens: Option<u32>,
    /// Extended thinking.
    pub thinking: Thinking,
    /// How much of the thinking is shown; none leaves it to the provider.
    pub thinking_display: Option<ThinkingDisplay>,
    /// How much work goes into the response; none leaves it to the provider.
    pub effort: Option<Effort>,
    /// How many tokens the whole task may take, for the model to plan with.
    pub task_budget: Option<u32>,
    /// Beta features of the API, by name.
    pub betas: &'a [String],
    /// Whether the response is streamed.
    pub stream: bool,
    /// How the provider clears old tool results; none when it does not.
    pub clearing: Option<&'a Clearing>,
}

/// What a request says before its messages.
#[derive(Debug, Clone, Copy)]
pub struct Opening<'a> {
    /// The settings.
    pub request: &'a ModelRequest<'a>,
    /// The system prompt, as blocks.
    pub system: &'a [String],
    /// What stands in front of the conversation: standing instructions, the surroundings. None when there is nothing to say.
    pub before_conversation: Option<&'a str>,
    /// The tools, in the order in which they are to be sent.
    pub tools: &'a [ToolOffer<'a>],
}

/// A tool as one request offers it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolOffer<'a> {
    /// The tool.
    pub definition: &'a ToolDefinition,
    /// The name the model calls it by: the definition's, but for [`AgentToolName`](crate::spec::AgentToolName).
    pub name: &'a str,
    /// What the model reads about it: the definition's words, and for some core tools what there is to choose from.
    pub description: Cow<'a, str>,
    /// The model is not shown it until a search has found it.
    pub deferred: bool,
}
