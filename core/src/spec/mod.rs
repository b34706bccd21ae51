//! The configuration of a session: shared between sessions, never changed by one.

mod agent;
mod json;
mod limits;
mod model;
mod policy;
mod prompt;
mod stream;
mod tasks;
mod tool_search;
mod tools;

use alloc::string::String;

pub use self::{
    agent::NoSuchAgent,
    limits::{Limits, ResponseLimits, RetryPolicy},
    model::{DEFAULT_MODEL, ModelSpec},
    policy::PolicySpec,
    prompt::PromptSpec,
    stream::StreamSpec,
    tasks::{AgentToolName, TaskPolicy},
    tool_search::{ToolSearchSetting, ToolSearchSettingError},
    tools::ToolSpec,
};
pub(crate) use self::{
    agent::{ChildOptions, child_spec},
    json::SpecJsonError,
};
use crate::{
    context::{ClearedBy, Clearing},
    output::{self, OutputFormat},
    permission::present_tool_name,
    provider::ModelRequest,
    schema::{Schema, SchemaError},
    tool::{CoreTool, ToolDefinition},
};
pub use crate::{
    environment::Environment,
    model::{Effort, Thinking, ThinkingDisplay},
    permission::PermissionPolicy,
};

/// The configuration of a session for its whole life, in six parts.
///
/// ```
/// use windlass_core::Spec;
/// let mut spec = Spec::default();
/// spec.model.name = "claude-opus-4-6".into();
/// spec.policy.limits.max_turns = Some(9);
/// ```
#[derive(Debug, Clone, Default)]
pub struct Spec {
    /// The model, how it is reached, and the limits of its responses.
    pub model: ModelSpec,
    /// The model's instructions, how the context is managed, and the format of the answer.
    pub prompt: PromptSpec,
    /// What the model can call: tools, agents, skills.
    pub tools: ToolSpec,
    /// What an application sees while the session runs.
    pub stream: StreamSpec,
    /// Permissions, hooks and limits.
    pub policy: PolicySpec,
    /// Facts about the host.
    pub environment: Environment,
}

impl Spec {
    /// The default spec with these tools.
    #[must_use]
    pub fn with_tools(tools: impl IntoIterator<Item = ToolDefinition>) -> Self {
        let mut spec = Self::default();
        spec.tools.definitions.extend(tools);
        spec
    }

    /// The tools offered to the model: those that were selected and that no deny rule excludes altogether.
    pub fn offered_tools(&self) -> impl Iterator<Item = &ToolDefinition> {
        // The tool for structured output is not subject to rules.
        let output = self.prompt.output.iter().map(OutputFormat::tool);
        let is_output = |name: &str| self.prompt.output.is_some() && name == output::TOOL;
        self.tools
            .definitions
            .iter()
            .filter(move |tool| {
                let name = &tool.name;
                !is_output(name)
                    && self.has_tool(tool)
                    && !self.policy.permissions.rules.denies_tool(name)
                    // The model must not call the tool that decides about permissions.
                    && self.policy.permissions.prompt_tool.as_ref() != Some(name)
            })
            .chain(output)
    }

    /// Whether a tool is selected. The one for structured output always is.
    #[must_use]
    pub fn has_tool(&self, tool: &ToolDefinition) -> bool {
        let is_output = self.prompt.output.is_some() && tool.name == output::TOOL;
        is_output || self.policy.permissions.tools.offers(&tool.name)
    }

    /// The settings of a request to this model, as a provider needs them.
    #[must_use]
    pub fn model_request<'a>(&'a self, model: &'a str) -> ModelRequest<'a> {
        ModelRequest {
            model,
            facts: self.model.catalogue.get(model),
            max_tokens: self.model.max_tokens,
            thinking: self.model.thinking,
            thinking_display: self.model.thinking_display,
            effort: self.model.effort,
            task_budget: self.model.task_budget,
            betas: &self.model.betas,
            stream: self.model.stream,
            clearing: self.clearing_by_provider(),
        }
    }

    /// Whether a model accepts deferred tool definitions.
    pub(crate) fn takes_deferred_tools(&self, model: &str) -> bool {
        self.model
            .provider
            .takes_deferred_tools(self.model.catalogue.get(model))
    }

    /// How the provider clears old tool results; none if it does not.
    #[must_use]
    pub fn clearing_by_provider(&self) -> Option<&Clearing> {
        let clearing = self.prompt.context.clearing.as_ref()?;
        (!self.core_clears(clearing)).then_some(clearing)
    }

    /// How the core clears old tool results; none if it does not.
    #[must_use]
    pub fn clearing_by_core(&self) -> Option<&Clearing> {
        let clearing = self.prompt.context.clearing.as_ref()?;
        self.core_clears(clearing).then_some(clearing)
    }

    fn core_clears(&self, clearing: &Clearing) -> bool {
        clearing.by == ClearedBy::Core || !self.model.provider.clears_tool_results()
    }

    /// The name under which the model is offered a tool.
    #[must_use]
    pub fn offered_name<'a>(&self, tool: &'a ToolDefinition) -> &'a str {
        match tool.core {
            Some(CoreTool::Task) => self.tools.tasks.agent_tool.name(),
            _ => &tool.name,
        }
    }

    /// A tool by name. Core tools are also found under their older names (`Agent` for Task, `BashOutput` for TaskOutput,
    /// `KillBash` for TaskStop).
    #[must_use]
    pub fn tool(&self, name: &str) -> Option<&ToolDefinition> {
        let output = self.prompt.output.as_ref().map(OutputFormat::tool);
        let mut all = output.into_iter().chain(&self.tools.definitions);
        let present = present_tool_name(name);
        all.find(|tool| tool.name == name || tool.name == present && tool.core.is_some())
    }

    /// Checks that every tool has a valid input schema. Call it before creating sessions with the spec: otherwise the error shows
    /// only during a session, where calls of a tool without a valid schema are refused.
    ///
    /// # Errors
    /// [`SpecError`]: the first tool without a valid schema.
    pub fn check(&self) -> Result<(), SpecError> {
        for tool in &self.tools.definitions {
            Schema::read(tool.input_schema.get()).map_err(|error| SpecError::InputSchema {
                tool: tool.name.clone(),
                error,
            })?;
        }
        Ok(())
    }
}

/// An unusable spec.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SpecError {
    /// The input schema of a tool is invalid.
    #[error(
        "the input schema of the tool {tool} is none: {error}; correct it, or leave the tool out"
    )]
    InputSchema {
        /// The tool.
        tool: String,
        /// What is wrong, and where.
        error: SchemaError,
    },
}
