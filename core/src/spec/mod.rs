//! What a session is told once: shared between sessions, never changed by one.

mod agent;
mod limits;
mod tasks;
mod tool_search;

use alloc::{borrow::ToOwned, string::String, sync::Arc, vec::Vec};

pub(crate) use self::agent::{ChildOptions, child_spec};
pub use self::{
    agent::NoSuchAgent,
    limits::{Limits, ResponseLimits, RetryPolicy},
    tasks::{AgentToolName, TaskPolicy},
    tool_search::{ToolSearchSetting, ToolSearchSettingError},
};
use crate::{
    agent::{Agents, ModelAliases},
    context::{
        ClearedBy, Clearing, ContextPolicy, InterruptedAnswer, MemoryFile, OutputStyle,
        PlanReminder, SystemPrompt,
    },
    hook::HookMatcher,
    output::{self, OutputFormat},
    permission::present_tool_name,
    price::Catalogue,
    provider::{ModelRequest, Provider, messages::MessagesApi},
    schema::{Schema, SchemaError},
    skill::{self, Skill},
    sorted::SortedMap,
    tool::{CoreTool, ToolDefinition},
};
pub use crate::{
    environment::Environment,
    model::{Effort, Thinking, ThinkingDisplay},
    permission::PermissionPolicy,
};

/// The model used when none is set.
pub const DEFAULT_MODEL: &str = "claude-sonnet-4-6";

/// Everything that holds for the life of a session.
#[derive(Debug, Clone)]
pub struct Spec {
    /// The wire format.
    pub provider: Arc<dyn Provider>,
    /// Prices and limits of models.
    pub catalogue: Catalogue,
    /// The model, used exactly as it is written. Default: [`DEFAULT_MODEL`].
    pub model: String,
    /// The model that takes over for the rest of an answer when the other cannot be asked.
    pub fallback_model: Option<String>,
    /// The most a response may hold; none takes the model's limit, at most 32,768.
    pub max_tokens: Option<u32>,
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
    /// What stays in the conversation of an answer that is interrupted. Default: nothing of a response that was cut.
    pub interrupted_answer: InterruptedAnswer,
    /// How the context is kept within the model's window.
    pub context: ContextPolicy,
    /// The tools. [`Spec::offer`] adds those that the core runs itself.
    pub tools: Vec<ToolDefinition>,
    /// Tools that are called in the place of those the model calls, by the names it uses. Never more than one step (Agent SDK
    /// reference, `toolAliases`).
    pub tool_aliases: SortedMap<String, String>,
    /// Agents that the Task tool can start. Default: the built-in ones. Without that tool none is started.
    pub agents: Agents,
    /// The agent as which the main thread runs, if it does ([`Spec::run_as`]).
    pub agent: Option<String>,
    /// Which models an agent's `sonnet`, `opus` and `haiku` are.
    pub model_aliases: ModelAliases,
    /// What background tasks and subagents let be heard.
    pub tasks: TaskPolicy,
    /// When definitions wait until ToolSearch finds them. Without that tool none does.
    pub tool_search: ToolSearchSetting,
    /// What the Skill tool has to offer.
    pub skills: Vec<Skill>,
    /// Characters that the list of skills may take.
    pub skill_list_budget: u32,
    /// Extended thinking.
    pub thinking: Thinking,
    /// How much of the thinking is shown; none leaves it to the provider.
    pub thinking_display: Option<ThinkingDisplay>,
    /// How many tokens the whole task may take, for the model to plan with; nothing here counts them (Agent SDK reference,
    /// `taskBudget`).
    pub task_budget: Option<u32>,
    /// How much work goes into a response; none leaves it to the provider.
    pub effort: Option<Effort>,
    /// Beta features of the API, by name.
    pub betas: Vec<String>,
    /// Whether responses are streamed.
    pub stream: bool,
    /// Whether raw stream events are handed on as messages.
    pub partial_messages: bool,
    /// Whether each prompt is repeated in the stream when it is taken in, marked as a replay.
    pub replay_prompts: bool,
    /// Whether tools run one after another, also those that only read.
    pub sequential_tools: bool,
    /// Whether each round of tools is followed by a summary of it.
    pub tool_use_summaries: bool,
    /// Whether the model is asked after each answer what the person might say next (`prompt_suggestion`); a request of its
    /// own, which costs what it costs (Agent SDK reference, option `promptSuggestions`).
    pub prompt_suggestions: bool,
    /// After how many milliseconds, again and again, a running call is reported; none never does.
    pub progress_interval_ms: Option<u64>,
    /// When to stop.
    pub limits: Limits,
    /// What to do when a model call fails.
    pub retry: RetryPolicy,
    /// How long a model server may take, and how much it may send.
    pub response: ResponseLimits,
    /// What may run.
    pub permissions: PermissionPolicy,
    /// The form of the answer; none leaves it to the model.
    pub output: Option<OutputFormat>,
    /// What runs at the turning points of a session, in the order of its say.
    pub hooks: Vec<HookMatcher>,
    /// Whether hooks announce themselves in the stream (`hook_started`, `hook_progress`, `hook_response`).
    pub hook_messages: bool,
    /// Facts about the host.
    pub environment: Environment,
    /// Whether transcript entries are handed to the host and waited for.
    pub persist: bool,
    /// Milliseconds a cancelled tool has to end before it is dropped.
    pub cancel_grace_ms: u64,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            provider: Arc::new(MessagesApi),
            catalogue: Catalogue::built_in(),
            model: DEFAULT_MODEL.to_owned(),
            fallback_model: None,
            max_tokens: None,
            system: SystemPrompt::None,
            surroundings_apart: false,
            output_style: None,
            memory: Vec::new(),
            plan_reminder: None,
            interrupted_answer: InterruptedAnswer::default(),
            context: ContextPolicy::default(),
            tools: Vec::new(),
            tool_aliases: SortedMap::new(),
            agents: Agents::built_in(),
            agent: None,
            model_aliases: ModelAliases::default(),
            tasks: TaskPolicy::default(),
            tool_search: ToolSearchSetting::default(),
            skills: Vec::new(),
            skill_list_budget: skill::DEFAULT_LIST_BUDGET,
            thinking: Thinking::Default,
            thinking_display: None,
            task_budget: None,
            effort: None,
            betas: Vec::new(),
            stream: true,
            partial_messages: false,
            replay_prompts: false,
            sequential_tools: false,
            tool_use_summaries: false,
            prompt_suggestions: false,
            progress_interval_ms: Some(10_000),
            limits: Limits::default(),
            retry: RetryPolicy::default(),
            response: ResponseLimits::default(),
            permissions: PermissionPolicy::default(),
            output: None,
            hooks: Vec::new(),
            hook_messages: true,
            environment: Environment::default(),
            persist: false,
            cancel_grace_ms: 5_000,
        }
    }
}

impl Spec {
    /// The tools the model is shown: those that were chosen and that no deny rule closes altogether.
    pub fn offered_tools(&self) -> impl Iterator<Item = &ToolDefinition> {
        // The way to hand over the answer is nothing that rules could close.
        let output = self.output.iter().map(OutputFormat::tool);
        let is_output = |name: &str| self.output.is_some() && name == output::TOOL;
        self.tools
            .iter()
            .filter(move |tool| {
                let name = &tool.name;
                !is_output(name)
                    && self.has_tool(tool)
                    && !self.permissions.rules.denies_tool(name)
                    // Who decides about permissions is not the model's to call.
                    && self.permissions.prompt_tool.as_ref() != Some(name)
            })
            .chain(output)
    }

    /// Whether a tool is one of those that were chosen; the one for the answer always is.
    #[must_use]
    pub fn has_tool(&self, tool: &ToolDefinition) -> bool {
        let is_output = self.output.is_some() && tool.name == output::TOOL;
        is_output || self.permissions.tools.offers(&tool.name)
    }

    /// What a provider is asked for, of one model.
    #[must_use]
    pub fn model_request<'a>(&'a self, model: &'a str) -> ModelRequest<'a> {
        ModelRequest {
            model,
            facts: self.catalogue.get(model),
            max_tokens: self.max_tokens,
            thinking: self.thinking,
            thinking_display: self.thinking_display,
            effort: self.effort,
            task_budget: self.task_budget,
            betas: &self.betas,
            stream: self.stream,
            clearing: self.clearing_by_provider(),
        }
    }

    /// Whether a model takes definitions of tools that wait.
    pub(crate) fn takes_deferred_tools(&self, model: &str) -> bool {
        self.provider
            .takes_deferred_tools(self.catalogue.get(model))
    }

    /// How the provider clears old tool results; none when it does not.
    #[must_use]
    pub fn clearing_by_provider(&self) -> Option<&Clearing> {
        let clearing = self.context.clearing.as_ref()?;
        (!self.core_clears(clearing)).then_some(clearing)
    }

    /// How the core clears old tool results; none when it does not.
    #[must_use]
    pub fn clearing_by_core(&self) -> Option<&Clearing> {
        let clearing = self.context.clearing.as_ref()?;
        self.core_clears(clearing).then_some(clearing)
    }

    fn core_clears(&self, clearing: &Clearing) -> bool {
        clearing.by == ClearedBy::Core || !self.provider.clears_tool_results()
    }

    /// The name by which the model is offered a tool.
    #[must_use]
    pub fn offered_name<'a>(&self, tool: &'a ToolDefinition) -> &'a str {
        match tool.core {
            Some(CoreTool::Task) => self.tasks.agent_tool.name(),
            _ => &tool.name,
        }
    }

    /// A tool by name. Core tools are found under their older names too (`Agent` for Task, `BashOutput` for TaskOutput,
    /// `KillBash` for TaskStop).
    #[must_use]
    pub fn tool(&self, name: &str) -> Option<&ToolDefinition> {
        let output = self.output.as_ref().map(OutputFormat::tool);
        let mut all = output.into_iter().chain(&self.tools);
        let present = present_tool_name(name);
        all.find(|tool| tool.name == name || tool.name == present && tool.core.is_some())
    }

    /// Checks what only shows when a session is under way: that the input of every tool has a schema that
    /// is one. For hosts, before they make sessions of it; calls of a tool whose schema is none are refused.
    ///
    /// # Errors
    /// [`SpecError`]: the first tool of which that is not true.
    pub fn check(&self) -> Result<(), SpecError> {
        for tool in &self.tools {
            Schema::read(tool.input_schema.get()).map_err(|error| SpecError::InputSchema {
                tool: tool.name.clone(),
                error,
            })?;
        }
        Ok(())
    }
}

/// What makes a spec unusable.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SpecError {
    /// The schema of a tool's input is none.
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
