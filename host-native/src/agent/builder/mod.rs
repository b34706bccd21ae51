//! The builder of agents.

mod permissions;
mod tools;

use std::{collections::BTreeMap, env, fmt, path::PathBuf, sync::Arc, time::Duration};

use windlass_core::{
    SessionId, Spec,
    agent::AgentDefinition,
    permission::{Layer, Mode},
    provider::Provider,
    spec::{Effort, ResponseLimits, RetryPolicy, Thinking},
};
use windlass_engine::transcript::Which;

use super::{
    BuildError, McpServer, MessageCallback, RecordTo, Tool,
    begin::Resumes,
    builtin::Selection,
    components::Components,
    read_settings::{ReadSettings, Variables},
};
use crate::{
    host::{DEFAULT_TOOL_TIMEOUT, PermissionCallback, RunHook, Transport},
    http::{Auth, EndpointConfig},
    redact::Redactor,
    sandbox::SandboxSettings,
    store::{SendStore, SharedStore},
};

/// Describes an agent. Created by [`Agent::builder`](super::Agent::builder); [`build`](Self::build) checks the whole
/// description at once.
///
/// Defaults: the model is [`DEFAULT_MODEL`](windlass_core::spec::DEFAULT_MODEL); there is no system prompt; there is
/// **no built-in tool**, only the tools that are added; every tool call needs permission, and without
/// [`on_permission`](Self::on_permission) a call that no rule allows is denied; there is no limit on turns or money;
/// the working directory is that of the process; settings files are not read
/// ([`setting_sources`](Self::setting_sources) enables them); and no transcript is written unless
/// [`store`](Self::store) is called.
#[must_use = "a builder does nothing until `build`"]
pub struct AgentBuilder {
    pub(super) spec: Spec,
    pub(super) endpoint: Option<EndpointConfig>,
    pub(super) base_url: Option<String>,
    pub(super) auth: Option<Auth>,
    pub(super) transport: Option<Arc<dyn Transport>>,
    #[cfg(feature = "engine")]
    pub(super) redactor: Option<Redactor>,
    pub(super) append_system: Vec<String>,
    pub(super) builtin: Selection,
    pub(super) tools: Vec<Tool>,
    pub(super) mcp_servers: Vec<McpServer>,
    #[cfg(all(unix, feature = "mcp"))]
    pub(super) outside_servers: Vec<crate::mcp::ServerConfig>,
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
    /// Environment variables from settings, for the processes that are started.
    pub(super) variables: Variables,
    pub(super) cwd: Option<PathBuf>,
    pub(super) directories: Vec<PathBuf>,
    pub(super) own_directories: Vec<PathBuf>,
    /// The command lines of hooks and MCP servers.
    pub(super) started: Vec<String>,
    pub(super) session_id: Option<SessionId>,
    pub(super) store: Option<SharedStore>,
    pub(super) resumes: Resumes,
    pub(super) file_checkpoints: bool,
    pub(super) web_private_hosts: Vec<String>,
    pub(super) small_fast_model: Option<String>,
    #[cfg(unix)]
    pub(super) outputs: Option<crate::bash::OutputDirectory>,
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
            #[cfg(feature = "engine")]
            redactor: None,
            append_system: Vec::new(),
            builtin: Selection::None,
            tools: Vec::new(),
            mcp_servers: Vec::new(),
            #[cfg(all(unix, feature = "mcp"))]
            outside_servers: Vec::new(),
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
            web_private_hosts: Vec::new(),
            small_fast_model: None,
            #[cfg(unix)]
            outputs: None,
            seed: None,
        }
    }
}

/// The model and how it is reached.
impl AgentBuilder {
    /// The model id, exactly as the API names it.
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.spec.model.name = model.into();
        self
    }

    /// The API key, sent as `x-api-key`.
    pub fn api_key(self, key: impl Into<String>) -> Self {
        self.auth(Auth::ApiKey(key.into().into()))
    }

    /// How requests authenticate: with an API key, a bearer token, or not at all.
    pub fn auth(mut self, auth: Auth) -> Self {
        self.auth = Some(auth);
        self
    }

    /// Takes the API key from `ANTHROPIC_API_KEY`, or else a bearer token from `ANTHROPIC_AUTH_TOKEN`. Also takes
    /// `ANTHROPIC_BASE_URL`, unless [`base_url`](Self::base_url) was called before.
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

    /// The server's address, instead of Anthropic's. With another server, no key is required.
    pub fn base_url(mut self, url: impl Into<String>) -> Self {
        self.base_url = Some(url.into());
        self
    }

    /// Sets address, key, certificates, timeouts and size limits at once. [`base_url`](Self::base_url) and
    /// [`auth`](Self::auth), if called, replace its address and key.
    pub fn endpoint(mut self, endpoint: EndpointConfig) -> Self {
        self.endpoint = Some(endpoint);
        self
    }

    /// Takes these keys out of what the model server says.
    #[cfg(feature = "engine")]
    pub(crate) fn redacting(mut self, redactor: Redactor) -> Self {
        self.redactor = Some(redactor);
        self
    }

    /// Reaches the model by another transport than HTTP from this process. The key and the address are then up to the transport.
    pub fn transport(mut self, transport: impl Transport + 'static) -> Self {
        self.transport = Some(Arc::new(transport));
        self
    }

    /// Uses another wire format than that of the Messages API.
    pub fn provider(mut self, provider: impl Provider + 'static) -> Self {
        self.spec.model.provider = Arc::new(provider);
        self
    }

    /// Extended thinking. Default: adaptive where the model supports it.
    pub fn thinking(mut self, thinking: Thinking) -> Self {
        self.spec.model.thinking = thinking;
        self
    }

    /// How much effort the model spends on a response. Default: the API's.
    pub fn effort(mut self, effort: Effort) -> Self {
        self.spec.model.effort = Some(effort);
        self
    }

    /// The maximum number of tokens in a response. Default: the model's limit, at most 32,768.
    pub fn max_tokens(mut self, tokens: u32) -> Self {
        self.spec.model.max_tokens = Some(tokens);
        self
    }

    /// Beta features of the API, by name. Repeated calls add to the list.
    pub fn betas<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.spec
            .model
            .betas
            .extend(names.into_iter().map(Into::into));
        self
    }

    /// When and how often a failed model request is retried. Default: ten times, starting at half a second and doubling.
    pub fn retry(mut self, policy: RetryPolicy) -> Self {
        self.spec.model.retry = policy;
        self
    }

    /// Limits on the time and size of a model response. Default: five minutes without content, two hours in total, 64
    /// MiB. The endpoint has separate limits that do not look at the content
    /// ([`EndpointConfig`](crate::http::EndpointConfig)).
    pub fn response_limits(mut self, limits: ResponseLimits) -> Self {
        self.spec.model.response = limits;
        self
    }

    /// Whether raw stream events are delivered as messages. Default: no.
    pub fn partial_messages(mut self, on: bool) -> Self {
        self.spec.stream.partial_messages = on;
        self
    }

    /// Whether the model is asked after each answer to suggest the person's next prompt. The suggestion is a message
    /// after the result, so only [`on_message`](Self::on_message) receives it. Default: no, since it costs an
    /// additional request.
    pub fn prompt_suggestions(mut self, on: bool) -> Self {
        self.spec.stream.prompt_suggestions = on;
        self
    }

    /// Whether a message that summarizes the calls follows each round of tools. It needs no request to the model. Default: no.
    pub fn tool_use_summaries(mut self, on: bool) -> Self {
        self.spec.stream.tool_use_summaries = on;
        self
    }

    /// The interval at which a running tool call is reported (`tool_progress`). Default: ten seconds. Zero turns it off.
    pub fn progress_interval(mut self, interval: Duration) -> Self {
        let ms = u64::try_from(interval.as_millis()).unwrap_or(u64::MAX);
        self.spec.stream.progress_interval_ms = (ms > 0).then_some(ms);
        self
    }

    /// Whether responses are streamed. Default: yes.
    pub fn stream(mut self, on: bool) -> Self {
        self.spec.model.stream = on;
        self
    }
}

/// Sessions that outlive the process.
impl AgentBuilder {
    /// Where the transcripts of the agent's sessions are stored. Default: nowhere.
    ///
    /// With [`FileStore`](crate::store::FileStore), the command line and the SDKs share the sessions and can resume
    /// them. [`MemoryStore`](crate::store::MemoryStore) is for tests. For a database, implement [`SendStore`].
    pub fn store(mut self, store: impl SendStore + Sync + 'static) -> Self {
        self.store = Some(SharedStore::new(store));
        self
    }

    /// Resumes a stored session: the agent's sessions start with its conversation. While one of them runs, starting
    /// another one is refused ([`RunError::NotResumed`](super::RunError::NotResumed)); this does not apply to a
    /// [`fork`](Self::fork).
    pub fn resume(mut self, session: impl Into<String>) -> Self {
        self.resumes.session = Some(Which::Session(session.into()));
        self
    }

    /// Resumes the session of the store that was written to last, or starts a new one if there is none.
    pub fn continue_latest(mut self) -> Self {
        self.resumes.session = Some(Which::Latest);
        self
    }

    /// Whether a resumed session is forked: it becomes a new session with its own id that starts with a copy of the
    /// conversation, and the stored session is left unchanged. Default: no.
    pub fn fork(mut self, fork: bool) -> Self {
        self.resumes.is_fork = fork;
        self
    }

    /// Saves the contents of files before tools change them, so that
    /// [`Session::rewind_files`](super::Session::rewind_files) can restore them (Agent SDK reference, option
    /// `enableFileCheckpointing`). The contents are saved in the [`store`](Self::store), with the session; without a
    /// store, for as long as the session runs. Default: false.
    pub fn file_checkpoints(mut self, keep: bool) -> Self {
        self.file_checkpoints = keep;
        self
    }
}

impl fmt::Debug for AgentBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentBuilder")
            .field("model", &self.spec.model.name)
            .field("builtin", &self.builtin)
            .field("tools", &self.tools)
            .finish_non_exhaustive()
    }
}
