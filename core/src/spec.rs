//! What a session is told once: shared between sessions, never changed by one.

use alloc::{borrow::ToOwned, string::String, sync::Arc, vec::Vec};

use serde::{Deserialize, Serialize};

use crate::{
    agent::{Agents, ModelAliases},
    context::{
        ClearedBy, Clearing, ContextPolicy, InterruptedAnswer, MemoryFile, OutputStyle,
        PlanReminder, SystemPrompt,
    },
    hook::HookMatcher,
    id::SessionId,
    initialization::SlashCommand,
    message::{McpServer, PluginInfo},
    money::Usd,
    output::{self, OutputFormat},
    permission::{CommandConfinement, Mode, Rules, ToolSet, present_tool_name},
    price::Catalogue,
    provider::{Provider, messages::MessagesApi},
    schema::{Schema, SchemaError},
    sorted::SortedMap,
    tool::ToolDefinition,
    tools::{
        CoreTool,
        skill::{self, Skill},
        tool_search::ToolSearchSetting,
    },
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

    /// Adds tools that the core runs itself. A tool of the same name that is there already stays.
    pub fn offer(&mut self, tools: impl IntoIterator<Item = CoreTool>) {
        for tool in tools {
            if self.tool(tool.name()).is_none() {
                self.tools.push(tool.definition());
            }
        }
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

/// When a run stops although the model would go on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Tool rounds for one prompt; none is no limit.
    pub max_turns: Option<u32>,
    /// What the session may cost; none is no limit.
    pub max_budget: Option<Usd>,
}

/// What background tasks and subagents let be heard.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "TaskPolicyForm")]
pub struct TaskPolicy {
    /// The end of a background task begins a turn of its own when the conversation is quiet. Without, the model
    /// hears of it with the next prompt.
    pub wake: bool,
    /// Of a subagent's responses only the tool calls are handed on, not its words and thoughts.
    pub tool_calls_only: bool,
    /// Subagents that are waited for are told of as tasks, too: [`TaskStarted`](crate::message::TaskStarted),
    /// [`TaskProgress`](crate::message::TaskProgress), [`TaskNotification`](crate::message::TaskNotification).
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub announce_agents: bool,
    /// The name by which the model is offered the tool that starts subagents. Calls are understood under both.
    #[serde(skip_serializing_if = "AgentToolName::is_usual")]
    pub agent_tool: AgentToolName,
}

/// A name of the tool that starts subagents. Lists of tools, such as that of [`Init`](crate::message::Init), and denials
/// name it `Task` either way; rules and matchers of hooks may use both.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentToolName {
    /// `Task` (Agent SDK reference, `AgentInput`).
    #[default]
    Task,
    /// `Agent`, as the engine of the official SDKs offers it.
    Agent,
}

impl AgentToolName {
    /// The name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Task => "Task",
            Self::Agent => "Agent",
        }
    }

    fn is_usual(&self) -> bool {
        *self == Self::default()
    }
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct TaskPolicyForm {
    wake: bool,
    tool_calls_only: bool,
    announce_agents: bool,
    agent_tool: AgentToolName,
    /// The first journals name a folder here; where transcripts are follows from [`Environment::transcript`].
    #[serde(rename = "transcripts")]
    _transcripts: Option<String>,
}

impl From<TaskPolicyForm> for TaskPolicy {
    fn from(form: TaskPolicyForm) -> Self {
        Self {
            wake: form.wake,
            tool_calls_only: form.tool_calls_only,
            announce_agents: form.announce_agents,
            agent_tool: form.agent_tool,
        }
    }
}

/// Extended thinking (Agent SDK reference, `ThinkingConfig`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Thinking {
    /// Adaptive where the model supports it, else not sent.
    #[default]
    Default,
    /// The model decides when and how much.
    Adaptive,
    /// With a budget.
    Enabled {
        /// Tokens; none takes 10,000.
        budget_tokens: Option<u32>,
    },
    /// Off.
    Disabled,
}

impl Thinking {
    /// What the older option, a number of tokens, means: none at all is off. An explicit setting beats it
    /// (Agent SDK reference, `maxThinkingTokens`).
    #[must_use]
    pub fn from_options(thinking: Option<Self>, max_thinking_tokens: Option<u32>) -> Self {
        match (thinking, max_thinking_tokens) {
            (Some(thinking), _) => thinking,
            (None, None) => Self::Default,
            (None, Some(0)) => Self::Disabled,
            (None, Some(tokens)) => Self::Enabled {
                budget_tokens: Some(tokens),
            },
        }
    }
}

/// How much of the model's thinking is shown (Agent SDK reference, `ThinkingConfig`, `display`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ThinkingDisplay {
    /// A summary.
    Summarized,
    /// Nothing but its signature.
    Omitted,
}

impl ThinkingDisplay {
    /// The display of a name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "summarized" => Some(Self::Summarized),
            "omitted" => Some(Self::Omitted),
            _ => None,
        }
    }
}

/// How much work goes into a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Effort {
    /// Least.
    Low,
    /// Between.
    Medium,
    /// Thorough.
    High,
    /// All there is.
    Max,
}

impl Effort {
    /// Every effort, from least to most.
    pub const ALL: [Self; 4] = [Self::Low, Self::Medium, Self::High, Self::Max];

    /// The name in options and requests.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Max => "max",
        }
    }

    /// The effort of a name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|effort| effort.name() == name)
    }
}

/// When a failed model call is asked again. A value: two programs may want different ones.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RetryPolicy {
    /// Retries after the first attempt.
    pub max_retries: u32,
    /// Milliseconds before the first retry; doubled for each further one.
    pub base_ms: u64,
    /// The longest wait in milliseconds.
    pub max_ms: u64,
    /// Up to so many percent are added at random, so that many clients do not return at once.
    pub jitter_percent: u8,
    /// Retry rate limits (429) only.
    pub only_rate_limits: bool,
    /// Wait as long as the server's `retry-after` asks for, within reason (at most five minutes).
    pub honour_retry_after: bool,
    /// Where there is a fallback model: retries before it takes over.
    pub retries_before_fallback: u32,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            max_retries: 10,
            base_ms: 500,
            max_ms: 32_000,
            jitter_percent: 25,
            only_rate_limits: false,
            honour_retry_after: true,
            retries_before_fallback: 3,
        }
    }
}

/// How long a model server may take over a response, and how much it may send. What is over a limit of time counts as a failed
/// call that may succeed later ([`RetryPolicy`]); what is too large does not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ResponseLimits {
    /// Milliseconds in which something of the response must come: its head, then piece after piece of its content. Signs of
    /// life without content (`ping`, comments, white space, empty deltas) are none. 0 is no limit.
    pub idle_ms: u64,
    /// Milliseconds from the request to the end of the response. 0 is no limit.
    pub total_ms: u64,
    /// Bytes of the whole response. 0 is no limit.
    pub max_bytes: u64,
}

impl ResponseLimits {
    /// No limits: a response may take as long, and be as long, as it likes.
    #[must_use]
    pub fn none() -> Self {
        Self {
            idle_ms: 0,
            total_ms: 0,
            max_bytes: 0,
        }
    }
}

impl Default for ResponseLimits {
    /// Five minutes without content, two hours in all, 64 MiB.
    fn default() -> Self {
        Self {
            idle_ms: 5 * 60_000,
            total_ms: 2 * 60 * 60_000,
            max_bytes: 64 << 20,
        }
    }
}

/// What may run.
#[derive(Debug, Clone, Default)]
pub struct PermissionPolicy {
    /// The mode a session starts in.
    pub mode: Mode,
    /// Allow, ask and deny rules.
    pub rules: Rules,
    /// Whether somebody can be asked. Without, what would be asked is denied.
    pub can_ask: bool,
    /// Whether calls that are denied without anybody being asked are told of when that happens
    /// ([`PermissionDenied`](crate::message::PermissionDenied)). Results tell of all denials either way.
    pub tell_denials: bool,
    /// Whether reading tools run unasked inside the working directory and the additional ones, and shell lines that
    /// only say what is written in them (`echo done`).
    /// Off in the library, on in the command line.
    pub free_workspace_reads: bool,
    /// Whether the mode may be switched to [`Mode::BypassPermissions`] later on.
    pub allow_bypass: bool,
    /// Which tools there are at all, before any rule.
    pub tools: ToolSet,
    /// The MCP tool that is asked where a callback would be (Agent SDK reference, `permissionPromptToolName`).
    pub prompt_tool: Option<String>,
    /// How the host confines commands; none where it does not.
    pub confinement: Option<CommandConfinement>,
}

/// Facts about the host that messages and judgements need.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Environment {
    /// The working directory: absolute, links resolved.
    pub cwd: String,
    /// The file of the transcript, for hooks; `{session_id}` in it stands for the session's id, since many
    /// sessions share these facts. Empty where none is kept.
    pub transcript: String,
    /// The person's home directory, for rules that begin with `~/`.
    pub home: Option<String>,
    /// Whether the program runs with all rights (root on Unix): [`Mode::BypassPermissions`] is refused then.
    pub is_root: bool,
    /// Further directories that belong to the workspace: absolute, links resolved.
    pub additional_directories: Vec<String>,
    /// Directories of the program itself, its configuration and caches: absolute, links resolved. They are never changed
    /// without a person.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub own_directories: Vec<String>,
    /// Files and folders of the program itself that no tool reads or changes without a person, in any mode: absolute, links
    /// resolved. What is executed as the program's own, and the key that says so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub closed_places: Vec<String>,
    /// The operating system, in words the model understands; empty when not told.
    pub platform: String,
    /// Whether the working directory lies in a git repository; none when not told.
    pub git_repository: Option<bool>,
    /// The day on which the session begins, as the host writes days; empty when not told. It stays the same
    /// while the session lives: a prompt that changed every day would be cached for a day at most.
    pub date: String,
    /// The version to report.
    pub version: String,
    /// Where the API key comes from.
    pub api_key_source: String,
    /// MCP servers.
    pub mcp_servers: Vec<McpServer>,
    /// Commands a prompt may begin with.
    pub commands: Vec<SlashCommand>,
    /// Further commands by name alone.
    pub slash_commands: Vec<String>,
    /// The output style.
    pub output_style: String,
    /// Agents.
    pub agents: Vec<String>,
    /// Skills.
    pub skills: Vec<String>,
    /// Plugins.
    pub plugins: Vec<PluginInfo>,
}

impl Environment {
    /// Every command by name.
    #[must_use]
    pub fn command_names(&self) -> Vec<String> {
        let described = self.commands.iter().map(|command| command.name.clone());
        described
            .chain(self.slash_commands.iter().cloned())
            .collect()
    }

    /// The file of a session's transcript; empty where none is kept.
    #[must_use]
    pub fn transcript_of(&self, session: SessionId) -> String {
        self.transcript
            .replace("{session_id}", &alloc::format!("{session}"))
    }
}
