//! What an agent is, said step by step.

use std::{
    collections::BTreeMap,
    env, fmt, fs,
    future::Future,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use windlass_core::{
    Message, SessionId, Spec,
    effect::{PermissionRequest, PermissionResponse},
    message::PluginInfo,
    money::Usd,
    permission::{Mode, Rule, Rules},
    price::Catalogue,
    provider::Provider,
    spec::{Effort, Environment, PermissionPolicy, RetryPolicy, Thinking},
};

use super::{
    Agent, BuildError, MessageCallback, Parts, Tool,
    builtin::{Offered, Selection, default_plugin_host, of_plugin},
};
use crate::{
    host::{DEFAULT_TOOL_TIMEOUT, PermissionCallback, RunTool, Transport},
    http::{Auth, DEFAULT_BASE_URL, EndpointConfig, ModelEndpoint},
    os,
    plugins::PluginHost,
};

/// Describes an agent. Made by [`Agent::builder`]; [`build`](Self::build) checks all of it at once.
///
/// What is not said: the model is [`DEFAULT_MODEL`](windlass_core::spec::DEFAULT_MODEL); there is no system prompt;
/// **no built-in tool** is there, only what [`tool`](Self::tool) and [`plugin`](Self::plugin) add; every call needs
/// permission, and without [`on_permission`](Self::on_permission) what no rule allows is denied; there is no limit of
/// turns or money; the working directory is that of the process; settings files are not read, and no transcript is
/// written.
#[must_use = "a builder does nothing until `build`"]
pub struct AgentBuilder {
    spec: Spec,
    environment: Environment,
    endpoint: Option<EndpointConfig>,
    base_url: Option<String>,
    auth: Option<Auth>,
    transport: Option<Arc<dyn Transport>>,
    append_system: Vec<String>,
    builtin: Selection,
    tools: Vec<Tool>,
    plugins: Vec<PathBuf>,
    plugin_host: Option<PluginHost>,
    tool_timeout: Duration,
    allow: Vec<String>,
    ask: Vec<String>,
    deny: Vec<String>,
    bypass: bool,
    permission: Option<Arc<PermissionCallback>>,
    on_message: Option<Arc<MessageCallback>>,
    budget: Option<f64>,
    price_files: Vec<PathBuf>,
    cwd: Option<PathBuf>,
    directories: Vec<PathBuf>,
    session_id: Option<SessionId>,
    seed: Option<[u8; 32]>,
}

impl AgentBuilder {
    pub(super) fn new() -> Self {
        Self {
            spec: Spec::default(),
            environment: Environment::default(),
            endpoint: None,
            base_url: None,
            auth: None,
            transport: None,
            append_system: Vec::new(),
            builtin: Selection::None,
            tools: Vec::new(),
            plugins: Vec::new(),
            plugin_host: None,
            tool_timeout: DEFAULT_TOOL_TIMEOUT,
            allow: Vec::new(),
            ask: Vec::new(),
            deny: Vec::new(),
            bypass: false,
            permission: None,
            on_message: None,
            budget: None,
            price_files: Vec::new(),
            cwd: None,
            directories: Vec::new(),
            session_id: None,
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

    /// Whether raw stream events are handed on as messages. Default: no.
    pub fn partial_messages(mut self, on: bool) -> Self {
        self.spec.partial_messages = on;
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
    /// The system prompt. Nothing is added to it. Default: none.
    pub fn system_prompt(mut self, text: impl Into<String>) -> Self {
        self.spec.system = Some(text.into());
        self
    }

    /// Text after the system prompt, with an empty line between.
    pub fn append_system_prompt(mut self, text: impl Into<String>) -> Self {
        self.append_system.push(text.into());
        self
    }

    /// Adds a tool of this program, under exactly the name it has.
    pub fn tool(mut self, tool: Tool) -> Self {
        self.tools.push(tool);
        self
    }

    /// Offers just these of the built-in tools (`Read`, `Write`, `Edit`, `Glob`, `Grep`, `Bash`); an empty list is
    /// none, which is the default. Tools of [`tool`](Self::tool) and [`plugin`](Self::plugin) are there in any case.
    pub fn tools<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.builtin = Selection::Named(names.into_iter().map(Into::into).collect());
        self
    }

    /// Offers all built-in tools.
    pub fn builtin_tools(mut self) -> Self {
        self.builtin = Selection::All;
        self
    }

    /// Adds the tools of a component file. It reaches the files that its calls name and that the rules let it
    /// reach, and nothing else: no other file, no network, no environment, no process.
    pub fn plugin(mut self, path: impl Into<PathBuf>) -> Self {
        self.plugins.push(path.into());
        self
    }

    /// Where components run: to set limits, to see what they log, to share compiled components between agents.
    /// Default: one of its own, with compiled components kept in the user's cache directory.
    pub fn plugin_host(mut self, host: PluginHost) -> Self {
        self.plugin_host = Some(host);
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
}

/// What may run, and when to stop.
impl AgentBuilder {
    /// What happens to calls that no rule decides. Default: [`Mode::Default`], which asks.
    pub fn permission_mode(mut self, mode: Mode) -> Self {
        self.spec.permissions.mode = mode;
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

    /// Who is asked about calls that nothing else decides. Without it they are denied.
    pub fn on_permission<F, Fut>(mut self, callback: F) -> Self
    where
        F: Fn(PermissionRequest) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = PermissionResponse> + Send + 'static,
    {
        self.permission = Some(Arc::new(move |request| Box::pin(callback(request))));
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

    /// Milliseconds are counted, ids are drawn: with a fixed seed the ids of every session are the same each time.
    pub fn seed(mut self, seed: [u8; 32]) -> Self {
        self.seed = Some(seed);
        self
    }

    /// The id of the agent's sessions. Meant for one session.
    pub fn session_id(mut self, id: SessionId) -> Self {
        self.session_id = Some(id);
        self
    }
}

impl AgentBuilder {
    /// Checks everything and makes the agent. Connects to nothing and starts nothing.
    ///
    /// # Errors
    /// [`BuildError`]: the first thing that is wrong.
    pub fn build(mut self) -> Result<Agent, BuildError> {
        let (transport, key_source) = self.reach_model()?;
        let mut spec = std::mem::take(&mut self.spec);
        spec.permissions = self.permission_policy(spec.permissions)?;
        spec.catalogue = self.prices(spec.catalogue)?;
        if let Some(given) = self.budget {
            spec.limits.max_budget = Some(dollars(given)?);
        }
        spec.system = self.system(spec.system);
        let (offered, plugins) = self.offered()?;
        spec.environment = Environment {
            plugins,
            api_key_source: key_source.to_owned(),
            ..self.environment()?
        };
        let mut tools = BTreeMap::new();
        for tool in offered {
            let name = tool.definition.name.clone();
            if !is_tool_name(&name) {
                return Err(BuildError::ToolName { name });
            }
            if tools.insert(name.clone(), tool.runner).is_some() {
                return Err(BuildError::DuplicateTool { name });
            }
            spec.tools.push(tool.definition);
        }
        Ok(Agent {
            parts: Arc::new(Parts {
                spec: Arc::new(spec),
                transport,
                tools: Arc::new(tools),
                permission: self.permission,
                on_message: self.on_message,
                session_id: self.session_id,
                seed: self.seed,
            }),
        })
    }

    /// The way to the model, and what `system/init` says about the key.
    fn reach_model(&mut self) -> Result<(Arc<dyn Transport>, &'static str), BuildError> {
        if let Some(transport) = self.transport.take() {
            return Ok((transport, "none"));
        }
        let is_elsewhere = self.base_url.is_some() || self.endpoint.is_some();
        let mut config = self.endpoint.take().unwrap_or_else(|| {
            EndpointConfig::new(DEFAULT_BASE_URL, Auth::None).with_extra_ca_of_environment()
        });
        if let Some(url) = self.base_url.take() {
            config.base_url = url;
        }
        if let Some(auth) = self.auth.take() {
            config.auth = auth;
        }
        let has_key = !matches!(config.auth, Auth::None);
        if !has_key && !is_elsewhere {
            return Err(BuildError::MissingKey);
        }
        let endpoint = ModelEndpoint::new(&config)?;
        Ok((Arc::new(endpoint), if has_key { "user" } else { "none" }))
    }

    fn permission_policy(&self, policy: PermissionPolicy) -> Result<PermissionPolicy, BuildError> {
        let as_root = os::is_root();
        if policy.mode == Mode::BypassPermissions {
            if !self.bypass {
                return Err(BuildError::BypassNotAllowed);
            }
            if as_root {
                return Err(BuildError::BypassAsRoot);
            }
        }
        Ok(PermissionPolicy {
            rules: Rules {
                allow: rules("allowed_tools", &self.allow)?,
                ask: rules("ask_tools", &self.ask)?,
                deny: rules("disallowed_tools", &self.deny)?,
            },
            can_ask: self.permission.is_some(),
            allow_bypass: self.bypass && !as_root,
            ..policy
        })
    }

    fn prices(&self, mut catalogue: Catalogue) -> Result<Catalogue, BuildError> {
        for path in &self.price_files {
            let text = fs::read_to_string(path).map_err(|error| BuildError::PriceFile {
                path: path.clone(),
                reason: error.to_string(),
            })?;
            catalogue = catalogue
                .with_file(&text)
                .map_err(|error| BuildError::PriceFileForm {
                    path: path.clone(),
                    error,
                })?;
        }
        Ok(catalogue)
    }

    fn system(&mut self, prompt: Option<String>) -> Option<String> {
        let mut parts: Vec<String> = prompt.into_iter().collect();
        parts.append(&mut self.append_system);
        (!parts.is_empty()).then(|| parts.join("\n\n"))
    }

    /// Every tool there is, and the plugins that some of them come from.
    fn offered(&mut self) -> Result<(Vec<Offered>, Vec<PluginInfo>), BuildError> {
        let host = self.plugin_host.take().unwrap_or_else(default_plugin_host);
        let builtin = std::mem::replace(&mut self.builtin, Selection::None);
        let mut offered = builtin.take(&host)?;
        let mut plugins = Vec::new();
        for path in &self.plugins {
            let bytes = fs::read(path).map_err(|error| BuildError::PluginFile {
                path: path.clone(),
                reason: error.to_string(),
            })?;
            let plugin = host.load(&plugin_name(path), bytes)?;
            offered.extend(of_plugin(&plugin));
            plugins.push(PluginInfo {
                name: plugin.name().to_owned(),
                path: path.display().to_string(),
            });
        }
        let default_ms = u32::try_from(self.tool_timeout.as_millis()).unwrap_or(u32::MAX);
        for tool in std::mem::take(&mut self.tools) {
            let mut definition = tool.definition;
            if let Some(problem) = tool.fault {
                let tool = definition.name;
                return Err(BuildError::ToolInput { tool, problem });
            }
            definition.timeout_ms.get_or_insert(default_ms);
            let runner: Arc<dyn RunTool> = tool.handler;
            offered.push(Offered { definition, runner });
        }
        Ok((offered, plugins))
    }

    fn environment(&self) -> Result<Environment, BuildError> {
        let cwd = self.cwd.as_deref().unwrap_or(Path::new("."));
        let directories: Result<Vec<String>, BuildError> = self
            .directories
            .iter()
            .map(|path| real_directory("add_dir", path))
            .collect();
        // Rules name files by their real paths, so `~` must be one too.
        let home = etcetera::home_dir().ok().map(|home| {
            let real = fs::canonicalize(&home).unwrap_or(home);
            real.display().to_string()
        });
        Ok(Environment {
            cwd: real_directory("cwd", cwd)?,
            home,
            additional_directories: directories?,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            output_style: "default".to_owned(),
            ..self.environment.clone()
        })
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

fn rules(place: &str, texts: &[String]) -> Result<Vec<Rule>, BuildError> {
    texts
        .iter()
        .map(|text| Rule::parse(text).map_err(|error| BuildError::Rule(error.at(place))))
        .collect()
}

fn dollars(given: f64) -> Result<Usd, BuildError> {
    // Through decimal digits, which also refuses what is negative, infinite or no number.
    Usd::parse(&format!("{given:.9}")).ok_or(BuildError::Budget { given })
}

/// What the Messages API takes as a tool's name.
fn is_tool_name(name: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
    (1..=64).contains(&name.len()) && name.bytes().all(plain)
}

fn plugin_name(path: &Path) -> String {
    let name = path.file_stem().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

fn real_directory(place: &'static str, path: &Path) -> Result<String, BuildError> {
    let unusable = |reason: String| BuildError::Directory {
        place,
        path: path.to_path_buf(),
        reason,
    };
    let real = fs::canonicalize(path).map_err(|error| unusable(error.to_string()))?;
    if !real.is_dir() {
        return Err(unusable("it is not a directory".to_owned()));
    }
    match real.into_os_string().into_string() {
        Ok(real) => Ok(real),
        Err(_) => Err(unusable("its name is not UTF-8".to_owned())),
    }
}
