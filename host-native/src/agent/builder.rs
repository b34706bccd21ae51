//! What an agent is, said step by step.

use std::{
    collections::BTreeMap, env, fmt, future::Future, path::PathBuf, sync::Arc, time::Duration,
};

use windlass_core::{
    Message, SessionId, Spec,
    agent::AgentDefinition,
    context::{ContextPolicy, MemoryFile, OutputStyle, SystemPrompt},
    effect::{PermissionRequest, PermissionResponse},
    hook::{HookInput, HookMatcher},
    money::Usd,
    output::OutputFormat,
    permission::{Layer, Mode},
    provider::Provider,
    spec::{Effort, ResponseLimits, RetryPolicy, Thinking},
    tools::{CoreTool, tool_search::ToolSearchSetting},
};
use windlass_engine::transcript::Which;

use super::{
    BuildError, HookContext, IntoHookAnswer, McpServer, MessageCallback, RecordTo, Tool,
    begin::Resumes,
    builtin::Selection,
    components::Components,
    hook::HookClosure,
    settings::{ReadSettings, Variables},
};
use crate::{
    host::{DEFAULT_TOOL_TIMEOUT, PermissionCallback, RunHook, Transport},
    http::{Auth, EndpointConfig},
    sandbox::SandboxSettings,
    store::{SendStore, SharedStore},
};

/// Describes an agent. Made by [`Agent::builder`](super::Agent::builder); [`build`](Self::build) checks all of it at
/// once.
///
/// What is not said: the model is [`DEFAULT_MODEL`](windlass_core::spec::DEFAULT_MODEL); there is no system prompt;
/// **no built-in tool** is there, only what is added; every call needs
/// permission, and without [`on_permission`](Self::on_permission) what no rule allows is denied; there is no limit of
/// turns or money; the working directory is that of the process; settings files are not read
/// ([`setting_sources`](Self::setting_sources) reads them), and no transcript is
/// written unless [`store`](Self::store) says where.
#[must_use = "a builder does nothing until `build`"]
pub struct AgentBuilder {
    pub(super) spec: Spec,
    pub(super) endpoint: Option<EndpointConfig>,
    pub(super) base_url: Option<String>,
    pub(super) auth: Option<Auth>,
    pub(super) transport: Option<Arc<dyn Transport>>,
    pub(super) append_system: Vec<String>,
    pub(super) builtin: Selection,
    pub(super) tools: Vec<Tool>,
    pub(super) mcp_servers: Vec<McpServer>,
    #[cfg(all(unix, feature = "mcp"))]
    pub(super) processes: Vec<crate::mcp::StdioServer>,
    pub(super) agents: Vec<(String, AgentDefinition)>,
    pub(super) run_as: Option<String>,
    pub(super) components: Components,
    pub(super) tool_timeout: Duration,
    pub(super) allow: Vec<String>,
    pub(super) ask: Vec<String>,
    pub(super) deny: Vec<String>,
    pub(super) layers: Vec<Layer>,
    pub(super) mode: Option<Mode>,
    pub(super) bypass: bool,
    pub(super) hooks: BTreeMap<String, Arc<dyn RunHook>>,
    pub(super) permission: Option<Arc<PermissionCallback>>,
    pub(super) on_message: Option<Arc<MessageCallback>>,
    pub(super) record: Option<Arc<RecordTo>>,
    pub(super) budget: Option<f64>,
    pub(super) price_files: Vec<PathBuf>,
    pub(super) sandbox: SandboxSettings,
    pub(super) settings: ReadSettings,
    /// What settings set for the programs that are started.
    pub(super) variables: Variables,
    pub(super) cwd: Option<PathBuf>,
    pub(super) directories: Vec<PathBuf>,
    pub(super) own_directories: Vec<PathBuf>,
    /// The commands of hooks and servers.
    pub(super) started: Vec<String>,
    pub(super) session_id: Option<SessionId>,
    pub(super) store: Option<SharedStore>,
    pub(super) resumes: Resumes,
    pub(super) file_checkpoints: bool,
    pub(super) seed: Option<[u8; 32]>,
}

impl AgentBuilder {
    pub(super) fn new() -> Self {
        Self {
            spec: Spec::default(),
            endpoint: None,
            base_url: None,
            auth: None,
            transport: None,
            append_system: Vec::new(),
            builtin: Selection::None,
            tools: Vec::new(),
            mcp_servers: Vec::new(),
            #[cfg(all(unix, feature = "mcp"))]
            processes: Vec::new(),
            agents: Vec::new(),
            run_as: None,
            components: Components::default(),
            tool_timeout: DEFAULT_TOOL_TIMEOUT,
            allow: Vec::new(),
            ask: Vec::new(),
            deny: Vec::new(),
            layers: Vec::new(),
            mode: None,
            bypass: false,
            hooks: BTreeMap::new(),
            permission: None,
            on_message: None,
            record: None,
            budget: None,
            price_files: Vec::new(),
            sandbox: SandboxSettings::default(),
            settings: ReadSettings::default(),
            variables: Variables::new(),
            cwd: None,
            directories: Vec::new(),
            own_directories: Vec::new(),
            started: Vec::new(),
            session_id: None,
            store: None,
            resumes: Resumes::default(),
            file_checkpoints: false,
            seed: None,
        }
    }
}

/// The model and the way to it.
impl AgentBuilder {
    /// The model, exactly as the API names it.
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.spec.model = model.into();
        self
    }

    /// The API key, sent as `x-api-key`.
    pub fn api_key(self, key: impl Into<String>) -> Self {
        self.auth(Auth::ApiKey(key.into().into()))
    }

    /// How requests prove who they are from: a key, a bearer token, nothing.
    pub fn auth(mut self, auth: Auth) -> Self {
        self.auth = Some(auth);
        self
    }

    /// Takes `ANTHROPIC_API_KEY`, or else `ANTHROPIC_AUTH_TOKEN` as bearer token, from the environment; and, if
    /// [`base_url`](Self::base_url) was not called before, `ANTHROPIC_BASE_URL`.
    ///
    /// # Errors
    /// [`BuildError::NoKeyInEnvironment`] when both are missing or empty.
    pub fn api_key_from_env(mut self) -> Result<Self, BuildError> {
        let variable = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
        let key = variable("ANTHROPIC_API_KEY").map(|key| Auth::ApiKey(key.into()));
        let token = || variable("ANTHROPIC_AUTH_TOKEN").map(|token| Auth::Bearer(token.into()));
        self.auth = Some(key.or_else(token).ok_or(BuildError::NoKeyInEnvironment)?);
        self.base_url = self.base_url.or_else(|| variable("ANTHROPIC_BASE_URL"));
        Ok(self)
    }

    /// The server's address, in place of Anthropic's. Such a server may do without a key.
    pub fn base_url(mut self, url: impl Into<String>) -> Self {
        self.base_url = Some(url.into());
        self
    }

    /// Address, key, certificates, timeouts and size limits at once; [`base_url`](Self::base_url) and
    /// [`auth`](Self::auth), if called, replace its own.
    pub fn endpoint(mut self, endpoint: EndpointConfig) -> Self {
        self.endpoint = Some(endpoint);
        self
    }

    /// Another way to the model than HTTP from this process. Key and address are its own affair then.
    pub fn transport(mut self, transport: impl Transport + 'static) -> Self {
        self.transport = Some(Arc::new(transport));
        self
    }

    /// Another wire format than that of the Messages API.
    pub fn provider(mut self, provider: impl Provider + 'static) -> Self {
        self.spec.provider = Arc::new(provider);
        self
    }

    /// Extended thinking. Default: adaptive where the model supports it.
    pub fn thinking(mut self, thinking: Thinking) -> Self {
        self.spec.thinking = thinking;
        self
    }

    /// How much work goes into a response. Default: the API's.
    pub fn effort(mut self, effort: Effort) -> Self {
        self.spec.effort = Some(effort);
        self
    }

    /// The most tokens a response may hold. Default: the model's limit, at most 32,768.
    pub fn max_tokens(mut self, tokens: u32) -> Self {
        self.spec.max_tokens = Some(tokens);
        self
    }

    /// Beta features of the API, by name; added to those named before.
    pub fn betas<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.spec.betas.extend(names.into_iter().map(Into::into));
        self
    }

    /// When a failed model call is asked again. Default: ten times, from half a second, doubling.
    pub fn retry(mut self, policy: RetryPolicy) -> Self {
        self.spec.retry = policy;
        self
    }

    /// How long a model server may take over a response, and how much it may send. Default: five minutes without content, two
    /// hours in all, 64 MiB. The endpoint has limits of its own, which know nothing of content
    /// ([`EndpointConfig`](crate::http::EndpointConfig)).
    pub fn response_limits(mut self, limits: ResponseLimits) -> Self {
        self.spec.response = limits;
        self
    }

    /// Whether raw stream events are handed on as messages. Default: no.
    pub fn partial_messages(mut self, on: bool) -> Self {
        self.spec.partial_messages = on;
        self
    }

    /// Whether the model is asked after each answer what the person might say next. The message comes after the result, so
    /// [`on_message`](Self::on_message) is who sees it. Default: no, for it is a request of its own.
    pub fn prompt_suggestions(mut self, on: bool) -> Self {
        self.spec.prompt_suggestions = on;
        self
    }

    /// Whether each round of tools is followed by a message that sums it up. No model is asked for it. Default: no.
    pub fn tool_use_summaries(mut self, on: bool) -> Self {
        self.spec.tool_use_summaries = on;
        self
    }

    /// How often a call that is running is reported (`tool_progress`). Default: every ten seconds; zero is never.
    pub fn progress_interval(mut self, interval: Duration) -> Self {
        let ms = u64::try_from(interval.as_millis()).unwrap_or(u64::MAX);
        self.spec.progress_interval_ms = (ms > 0).then_some(ms);
        self
    }

    /// Whether responses are streamed. Default: yes.
    pub fn stream(mut self, on: bool) -> Self {
        self.spec.stream = on;
        self
    }
}

/// The prompt, the tools, the workspace.
impl AgentBuilder {
    /// The system prompt: a text to which nothing is added, or [`SystemPrompt::Preset`]. Default: none.
    pub fn system_prompt(mut self, prompt: impl Into<SystemPrompt>) -> Self {
        self.spec.system = prompt.into();
        self
    }

    /// Text after the system prompt, with an empty line between.
    pub fn append_system_prompt(mut self, text: impl Into<String>) -> Self {
        self.append_system.push(text.into());
        self
    }

    /// How the agent writes, where the system prompt is the preset.
    pub fn output_style(mut self, style: OutputStyle) -> Self {
        self.spec.output_style = Some(style);
        self
    }

    /// Standing instructions (CLAUDE.md) that were read already; they are part of every request.
    pub fn memory(mut self, file: MemoryFile) -> Self {
        self.spec.memory.push(file);
        self
    }

    /// How the context is kept within the model's window: compaction, clearing of old tool results.
    pub fn context(mut self, policy: ContextPolicy) -> Self {
        self.spec.context = policy;
        self
    }

    /// Adds a tool of this program, under exactly the name it has.
    pub fn tool(mut self, tool: Tool) -> Self {
        self.tools.push(tool);
        self
    }

    /// Adds tools of this program under the name of a server: the model calls them as `mcp__server__tool`.
    pub fn mcp_server(mut self, server: McpServer) -> Self {
        self.mcp_servers.push(server);
        self
    }

    /// Adds an MCP server that is a program: started for each session, ended with it. The model calls its tools as
    /// `mcp__server__tool`. A session whose server does not start or does not answer says so and answers nothing
    /// ([`RunError::McpServer`](super::RunError::McpServer)).
    #[cfg(all(unix, feature = "mcp"))]
    pub fn mcp_server_process(mut self, server: crate::mcp::StdioServer) -> Self {
        self.started.push(server.line());
        self.processes.push(server);
        self
    }

    /// Offers tools that work on the session itself: the list of what is to be done, questions to the person, agents and
    /// background tasks. They need nothing of the system. With [`CoreTool::Task`] the model can start agents.
    pub fn core_tools(mut self, tools: impl IntoIterator<Item = CoreTool>) -> Self {
        self.spec.offer(tools);
        self
    }

    /// When the definitions of tools of servers wait until the model searches for them, with [`CoreTool::ToolSearch`] among the
    /// [`core_tools`](Self::core_tools). Default: where together they are larger than a tenth of the model's context window.
    pub fn tool_search(mut self, setting: ToolSearchSetting) -> Self {
        self.spec.tool_search = setting;
        self
    }

    /// Adds an agent that Task can start, beside those built in; one of the same name takes its place. Task itself is offered
    /// by [`core_tools`](Self::core_tools). Servers that its `mcp_servers` bring along with their configuration are started by the
    /// engine of the SDKs alone: here, name one of [`mcp_server`](Self::mcp_server).
    pub fn subagent(mut self, name: impl Into<String>, definition: AgentDefinition) -> Self {
        self.agents.push((name.into(), definition));
        self
    }

    /// Has the conversation itself run as one of the agents: with its prompt, tools, model and limit.
    pub fn run_as(mut self, agent: impl Into<String>) -> Self {
        self.run_as = Some(agent.into());
        self
    }

    /// Offers just these of the built-in tools (`Read`, `Write`, `Edit`, `Glob`, `Grep`, `Bash`); an empty list is
    /// none, which is the default. What was added otherwise is there in any case. Without
    /// the feature `plugins` there is only `Bash`.
    pub fn tools<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.builtin = Selection::Named(names.into_iter().map(Into::into).collect());
        self
    }

    /// Offers all built-in tools, and with Bash what reads and stops the commands that it runs in the background
    /// (TaskOutput, TaskStop).
    pub fn builtin_tools(mut self) -> Self {
        self.builtin = Selection::All;
        self
    }

    /// Adds the tools of a component file. It reaches the files that its calls name and that the rules let it
    /// reach, and nothing else: no other file, no network, no environment, no process.
    #[cfg(feature = "plugins")]
    pub fn plugin(mut self, path: impl Into<PathBuf>) -> Self {
        self.components.files.push(path.into());
        self
    }

    /// Where components run: to set limits, to see what they log, to share compiled components between agents.
    /// Default: one of its own, with compiled components kept in the user's cache directory.
    #[cfg(feature = "plugins")]
    pub fn plugin_host(mut self, host: crate::plugins::PluginHost) -> Self {
        self.components.host = Some(host);
        self
    }

    /// How long a call of this program's own tools may take when the tool does not say. Default:
    /// [`DEFAULT_TOOL_TIMEOUT`].
    pub fn tool_timeout(mut self, timeout: Duration) -> Self {
        self.tool_timeout = timeout;
        self
    }

    /// The working directory: where relative paths start, and what belongs to the workspace. Default: that of the
    /// process.
    pub fn cwd(mut self, path: impl Into<PathBuf>) -> Self {
        self.cwd = Some(path.into());
        self
    }

    /// A further directory that belongs to the workspace.
    pub fn add_dir(mut self, path: impl Into<PathBuf>) -> Self {
        self.directories.push(path.into());
        self
    }

    /// A directory of the program itself, such as its configuration: never changed without a person, and closed to confined
    /// commands. One in which the agent works is no such directory.
    pub fn own_directory(mut self, path: impl Into<PathBuf>) -> Self {
        self.own_directories.push(path.into());
        self
    }
}

/// What may run, and when to stop.
impl AgentBuilder {
    /// What happens to calls that no rule decides. Default: [`Mode::Default`], which asks.
    pub fn permission_mode(mut self, mode: Mode) -> Self {
        self.mode = Some(mode);
        self
    }

    /// Calls that run unasked, by rules such as `Read`, `Edit(src/**)` or `Bash(npm test:*)`. This approves; it
    /// does not choose which tools are offered.
    pub fn allowed_tools<S: Into<String>>(mut self, rules: impl IntoIterator<Item = S>) -> Self {
        self.allow.extend(rules.into_iter().map(Into::into));
        self
    }

    /// Calls that never run, whatever else is said. A tool that is named without parentheses is not even offered.
    pub fn disallowed_tools<S: Into<String>>(mut self, rules: impl IntoIterator<Item = S>) -> Self {
        self.deny.extend(rules.into_iter().map(Into::into));
        self
    }

    /// Calls that are asked about in every mode.
    pub fn ask_tools<S: Into<String>>(mut self, rules: impl IntoIterator<Item = S>) -> Self {
        self.ask.extend(rules.into_iter().map(Into::into));
        self
    }

    /// Permissions of settings files, the strongest first ([`SettingsPlaces`](crate::settings::SettingsPlaces) reads them). Rules
    /// of all of them count beside those that are said here, the mode only where
    /// [`permission_mode`](Self::permission_mode) says none. What a folder's own files widen counts once a person has trusted the folder
    /// ([`Layer::trusted`]).
    pub fn permission_layers(mut self, layers: impl IntoIterator<Item = Layer>) -> Self {
        self.layers.extend(layers);
        self
    }

    /// Who is asked about calls that nothing else decides. Without it they are denied.
    pub fn on_permission<F, Fut>(mut self, callback: F) -> Self
    where
        F: Fn(PermissionRequest) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = PermissionResponse> + Send + 'static,
    {
        self.permission = Some(Arc::new(move |request| Box::pin(callback(request))));
        self
    }

    /// A closure that runs at an event, for some tools or for all:
    ///
    /// ```
    /// use windlass::{Agent, core::hook::{HookEvent, HookInput, HookMatcher, HookOutput, Matcher, Occurrence}};
    ///
    /// let mut bash = HookMatcher::of(HookEvent::PreToolUse);
    /// bash.matcher = Matcher::parse("Bash")?;
    /// let agent = Agent::builder().hook(bash, |input: HookInput, _context| async move {
    ///     match &input.event {
    ///         Occurrence::PreToolUse(call) if call.tool_input.get().contains("rm -rf") => {
    ///             HookOutput::deny("nothing is removed here")
    ///         }
    ///         _ => HookOutput::default(),
    ///     }
    /// });
    /// # let _ = agent;
    /// # Ok::<(), windlass::core::hook::MatcherError>(())
    /// ```
    ///
    /// It is asked to stop when its time is over ([`HookContext::cancelled`](super::HookContext::cancelled)). A
    /// panic or an error means what the matcher's failure policy says: by default, a call is asked about and everything
    /// else goes on.
    pub fn hook<F, Fut>(self, matcher: impl Into<HookMatcher>, handler: F) -> Self
    where
        F: Fn(HookInput, HookContext) -> Fut + Send + Sync + 'static,
        Fut: Future + Send + 'static,
        Fut::Output: IntoHookAnswer,
    {
        self.registered(matcher.into(), Arc::new(HookClosure::new(handler)))
    }

    /// A program that runs at an event, as settings files name them: it reads what happened as JSON from its standard input and
    /// answers by its exit code and what it writes ([`HookCommand`](crate::hooks::HookCommand)).
    #[cfg(unix)]
    pub fn hook_command(
        mut self,
        matcher: impl Into<HookMatcher>,
        command: crate::hooks::HookCommand,
    ) -> Self {
        self.started.push(command.command().to_owned());
        self.registered(matcher.into(), Arc::new(command))
    }

    /// With a hook, under a name of its own.
    fn registered(mut self, mut matcher: HookMatcher, hook: Arc<dyn RunHook>) -> Self {
        let name = format!("hook_{}", self.hooks.len());
        self.hooks.insert(name.clone(), hook);
        matcher.hooks = vec![name];
        self.spec.hooks.push(matcher);
        self
    }

    /// How commands of Bash are confined by the operating system (Agent SDK reference, option `sandbox`). Default: they are not.
    ///
    /// [`build`](Self::build) tries out what the kernel gives. Where something is missing that the settings ask for, commands are
    /// judged and run as if there were no sandbox, which [`Agent::sandbox_lacks`](super::Agent::sandbox_lacks) tells; with
    /// `fail_if_unavailable` no agent is built.
    pub fn sandbox(mut self, settings: SandboxSettings) -> Self {
        self.sandbox = settings;
        self
    }

    /// Whether reading tools run unasked inside the workspace. Default: no.
    pub fn free_workspace_reads(mut self, free: bool) -> Self {
        self.spec.permissions.free_workspace_reads = free;
        self
    }

    /// Opens [`Mode::BypassPermissions`], now or for a later switch. Never for root.
    pub fn allow_dangerously_skip_permissions(mut self, allow: bool) -> Self {
        self.bypass = allow;
        self
    }

    /// Looks at every message before it is handed on. Called on the session's task: be quick.
    pub fn on_message(mut self, callback: impl Fn(&Message) + Send + Sync + 'static) -> Self {
        self.on_message = Some(Arc::new(callback));
        self
    }

    /// The answer as a value of a JSON Schema: it is in the result's `structured_output`, or the result is an error.
    pub fn output(mut self, format: OutputFormat) -> Self {
        self.spec.output = Some(format);
        self
    }

    /// Writes a journal of every session, to be replayed by [`Journal`](windlass_core::testkit::Journal): gives, for a
    /// session that begins, what takes its lines (without their line ends). It holds the whole conversation, and no key.
    /// Called on the session's task: be quick.
    pub fn record<S: FnMut(&str) + Send + 'static>(
        mut self,
        open: impl Fn(SessionId) -> S + Send + Sync + 'static,
    ) -> Self {
        self.record = Some(Arc::new(move |id| Box::new(open(id))));
        self
    }

    /// Tool rounds for one prompt. Default: no limit.
    pub fn max_turns(mut self, rounds: u32) -> Self {
        self.spec.limits.max_turns = Some(rounds);
        self
    }

    /// What a session may cost, in dollars. Default: no limit. The price of the model must be known.
    pub fn max_budget_usd(mut self, dollars: f64) -> Self {
        self.budget = Some(dollars);
        self
    }

    /// The same as an exact amount.
    pub fn max_budget(mut self, amount: Usd) -> Self {
        self.budget = None;
        self.spec.limits.max_budget = Some(amount);
        self
    }

    /// A file of model prices, added to the built-in ones and stronger than they.
    pub fn prices_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.price_files.push(path.into());
        self
    }

    /// Where the ids in messages and the jitter of retries come from. With a fixed seed every session of the agent has
    /// the same ones, its own id included: for tests. Default: the system's randomness.
    pub fn seed(mut self, seed: [u8; 32]) -> Self {
        self.seed = Some(seed);
        self
    }

    /// The id of the agent's sessions: for an agent that has one. Default: drawn anew for each.
    pub fn session_id(mut self, id: SessionId) -> Self {
        self.session_id = Some(id);
        self
    }
}

/// Sessions that outlive the program.
impl AgentBuilder {
    /// Where the transcripts of its sessions are kept. Default: nowhere.
    ///
    /// With [`FileStore`](crate::store::FileStore) they are the sessions of the command line and of the SDKs, who can go on with
    /// them; [`MemoryStore`](crate::store::MemoryStore) is for tests; a database is a [`SendStore`] of your own.
    pub fn store(mut self, store: impl SendStore + Sync + 'static) -> Self {
        self.store = Some(SharedStore::new(store));
        self
    }

    /// Goes on with a session that was kept: its sessions begin with what was said in that one. While one of them runs, another
    /// that begins is refused ([`RunError::NotResumed`](super::RunError::NotResumed)); those of a [`fork`](Self::fork) are not.
    pub fn resume(mut self, session: impl Into<String>) -> Self {
        self.resumes.session = Some(Which::Session(session.into()));
        self
    }

    /// Goes on with the session of the store that was written to last; with a new one where there is none.
    pub fn continue_latest(mut self) -> Self {
        self.resumes.session = Some(Which::Latest);
        self
    }

    /// Whether what goes on is a session of its own, under a new id, that begins with a copy: the one that was kept stays as it
    /// is. Default: no.
    pub fn fork(mut self, fork: bool) -> Self {
        self.resumes.is_fork = fork;
        self
    }

    /// Keeps what files hold before tools change them, so that [`Session::rewind_files`](super::Session::rewind_files) can take
    /// them back (Agent SDK reference, option `enableFileCheckpointing`). It is kept in the [`store`](Self::store), with the session;
    /// without one, for as long as the session runs. Default: false.
    pub fn file_checkpoints(mut self, keep: bool) -> Self {
        self.file_checkpoints = keep;
        self
    }
}

impl fmt::Debug for AgentBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentBuilder")
            .field("model", &self.spec.model)
            .field("builtin", &self.builtin)
            .field("tools", &self.tools)
            .finish_non_exhaustive()
    }
}
