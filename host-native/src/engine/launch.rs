//! The launch options of an engine: its command line and environment.

use std::{
    collections::HashMap,
    fmt,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use windlass_core::SessionId;
use windlass_engine::{
    machine::{self, Redaction},
    project_config::Brought,
    protocol::{
        flags::{FlagError, Flags, Provider},
        frame_limit::LONGEST_FRAME,
        frames::StateFrames,
    },
    settings::SandboxSettings,
};

use super::{key_helper::LearnedKeys, variables::Variables};
use crate::{
    agent::{JournalSink, RecordTo},
    credentials::Credentials,
    http::{Auth, DEFAULT_BASE_URL, EndpointConfig},
    project_config::ProjectTrust,
    redact::Redactor,
    settings::managed_settings_file,
    store::{ConfigDir, FileStore, NoConfigDir, SharedStore, git_branch},
};

/// The address of OpenAI's API.
const OPENAI_BASE_URL: &str = "https://api.openai.com/v1";

/// The default time limit for background work after the input has ended: ten minutes.
const BACKGROUND_CEILING: Duration = Duration::from_secs(600);

/// The default time limit for the hooks of a session's end: an SDK kills an engine after two seconds.
const LAST_HOOKS: Duration = Duration::from_millis(1500);

/// Opens the journal of a session when it starts.
#[derive(Clone)]
pub struct Recording(pub(super) Arc<RecordTo>);

impl Recording {
    /// `open` returns the sink for a session's journal.
    pub fn new(open: impl Fn(SessionId) -> JournalSink + Send + Sync + 'static) -> Self {
        Self(Arc::new(open))
    }
}

impl fmt::Debug for Recording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Recording")
    }
}

/// Everything that an engine gets before its first input line.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Launch {
    /// The command line.
    pub flags: Flags,
    /// The working directory; `None` for that of the process.
    pub cwd: Option<PathBuf>,
    /// The user's configuration directory (`CLAUDE_CONFIG_DIR`, else `~/.claude`).
    pub config: ConfigDir,
    /// The user's home directory.
    pub home: Option<PathBuf>,
    /// The organisation's settings file, which takes precedence over all others and is read whatever the flags say.
    pub managed_settings: Option<PathBuf>,
    /// What starts the engine (`CLAUDE_CODE_ENTRYPOINT`): `sdk-py`, `sdk-ts`.
    pub entrypoint: String,
    /// On whose behalf requests are sent, for the header `user-agent`: what starts the engine, the SDK's version
    /// (`CLAUDE_AGENT_SDK_VERSION`) and the application (`CLAUDE_AGENT_SDK_CLIENT_APP`).
    pub client: String,
    /// How requests to the model server authenticate.
    pub auth: Auth,
    /// The keys from the environment. An MCP server gets a key that its configuration names. Keys are removed from
    /// whatever servers send.
    pub keys: Credentials,
    /// The model server's address; `None` for the default of its provider.
    pub base_url: Option<String>,
    /// Addresses of this machine or of a private network from which WebFetch may fetch pages (`WINDLASS_WEB_PRIVATE_HOSTS`).
    pub web_private_hosts: Vec<String>,
    /// Where commands leave output that is longer.
    #[cfg(unix)]
    pub(super) outputs: crate::bash::OutputDirectory,
    /// What applies of a project that nobody has trusted.
    pub trust: ProjectTrust,
    /// What the project's files provide, as shown to the person who agreed to it. If the files provide something else
    /// when the engine reads them, it does not start. `None` if nobody was asked.
    pub agreed: Option<Vec<Brought>>,
    /// Whether the reason why no session starts is also printed on standard error, where SDKs look for it.
    pub tells_refusals: bool,
    /// Whether a plugin that cannot be loaded keeps the engine from starting. SDKs expect that it is left out, with a warning.
    pub needs_plugins: bool,
    /// Whether there is a person whom the model can ask.
    pub has_person: bool,
    /// Whether a session requires the MCP tool for permission prompts at its start. An SDK gets the error only when
    /// permission is needed.
    pub needs_prompt_tool: bool,
    /// Sandbox settings in addition to those of settings files.
    pub sandbox: Option<SandboxSettings>,
    /// Files of model prices, in addition to the built-in ones.
    pub price_files: Vec<PathBuf>,
    /// Where journals of sessions are written.
    pub recording: Option<Recording>,
    /// Who receives state frames.
    pub states: StateFrames,
    /// How often a failed model request is retried; `None` for what the environment says.
    pub max_retries: Option<u32>,
    /// What the environment says about models and the way to them.
    pub(super) variables: Variables,
    /// Keys of settings, and what their command prints.
    pub(super) learned: LearnedKeys,
    /// Whether `auth` is the token of a subscription (`CLAUDE_CODE_OAUTH_TOKEN`).
    pub(super) is_subscription: bool,
    /// The environment is a sandbox, so root may bypass permissions.
    pub is_sandbox: bool,
    /// Whether prompts may be suggested (`CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION`), where an SDK asks for that.
    pub suggests: bool,
    /// Whether the contents of files are saved before they are changed, so that they can be restored
    /// (`CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING`).
    pub file_checkpoints: bool,
    /// How long background work may continue after the input has ended; `None` for no limit.
    pub background_ceiling: Option<Duration>,
    /// The time limit for hooks of the session's end (`CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS`).
    pub last_hooks: Duration,
    /// The maximum size of a frame in bytes, for readers that accept no longer lines: the Python SDK
    /// (`max_buffer_size`) and unknown readers; `WINDLASS_MAX_FRAME_BYTES` overrides it, 0 for no limit.
    pub longest_frame: Option<usize>,
}

/// Why an engine cannot be started with these options.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// A flag is invalid.
    #[error(transparent)]
    Flag(#[from] FlagError),
    /// The configuration directory cannot be determined.
    #[error(transparent)]
    NoConfigDir(#[from] NoConfigDir),
}

impl Launch {
    /// Reads a command line (without the program's name) and an environment.
    ///
    /// # Errors
    /// [`LaunchError`]: the first invalid flag, or no configuration directory.
    pub fn read(
        words: &[String],
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, LaunchError> {
        Ok(Self::with_flags(Flags::parse(words)?, variable)?)
    }

    /// Reads an environment, with parsed flags.
    ///
    /// # Errors
    /// [`NoConfigDir`] if the configuration directory cannot be determined.
    pub fn with_flags(
        mut flags: Flags,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, NoConfigDir> {
        let variable = |name: &str| variable(name).filter(|value| !value.is_empty());
        let is_on = |name: &str| {
            variable(name)
                .is_some_and(|value| !matches!(value.as_str(), "0" | "false" | "no" | "off"))
        };
        let number = |name: &str| variable(name).and_then(|value| value.parse::<u32>().ok());
        let bearer = |name| variable(name).map(|token| Auth::Bearer(token.into()));
        let mut is_subscription = false;
        let (auth, base_url) = match flags.provider {
            Provider::Anthropic => {
                let key = variable("ANTHROPIC_API_KEY").map(|key| Auth::ApiKey(key.into()));
                let auth = key.or_else(|| bearer("ANTHROPIC_AUTH_TOKEN"));
                is_subscription = auth.is_none();
                let auth = auth.or_else(|| bearer("CLAUDE_CODE_OAUTH_TOKEN"));
                is_subscription &= auth.is_some();
                (auth, "ANTHROPIC_BASE_URL")
            }
            Provider::OpenAi => {
                let auth = bearer("OPENAI_API_KEY");
                (auth, "OPENAI_BASE_URL")
            }
        };
        let base_url = flags.base_url.clone().or_else(|| variable(base_url));
        let states = if is_on("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS") {
            StateFrames::ForCaller
        } else if is_on("CLAUDE_CODE_SDK_READS_SESSION_STATE") {
            StateFrames::ForSdk
        } else {
            StateFrames::Off
        };
        let home = variable("HOME")
            .map(PathBuf::from)
            .or_else(|| etcetera::home_dir().ok());
        let config_dir = variable("CLAUDE_CONFIG_DIR");
        let config = ConfigDir::find(config_dir.as_deref(), home.as_deref())?;
        let is_yes = |value: String| matches!(value.as_str(), "1" | "true" | "yes" | "on");
        // Other programs use it for lists of names, which do not refer to this one.
        flags.debug |= variable("DEBUG").is_some_and(is_yes);
        let background_ceiling = match number("CLAUDE_CODE_PRINT_BG_WAIT_CEILING_MS") {
            None => Some(BACKGROUND_CEILING),
            Some(0) => None,
            Some(ms) => Some(Duration::from_millis(ms.into())),
        };
        let entrypoint = variable("CLAUDE_CODE_ENTRYPOINT").unwrap_or_else(|| "cli".to_owned());
        let longest_frame = match number("WINDLASS_MAX_FRAME_BYTES") {
            None if entrypoint == "sdk-ts" => None,
            None => Some(LONGEST_FRAME),
            Some(bytes) => usize::try_from(bytes).ok().filter(|bytes| *bytes > 0),
        };
        let mut client = entrypoint.clone();
        for (name, what) in [
            ("CLAUDE_AGENT_SDK_VERSION", "agent-sdk"),
            ("CLAUDE_AGENT_SDK_CLIENT_APP", "client-app"),
        ] {
            if let Some(value) = variable(name) {
                client.push_str(&format!(", {what}/{value}"));
            }
        }
        let private = variable("WINDLASS_WEB_PRIVATE_HOSTS").unwrap_or_default();
        let private = private.split(',').map(str::trim);
        let web_private_hosts =
            (private.filter(|host| !host.is_empty()).map(str::to_owned)).collect();
        let sandbox = flags.sandbox.take();
        Ok(Self {
            flags,
            cwd: None,
            config,
            home,
            managed_settings: Some(managed_settings_file()),
            entrypoint,
            client,
            auth: auth.unwrap_or(Auth::None),
            keys: Credentials::read(variable),
            base_url,
            web_private_hosts,
            #[cfg(unix)]
            outputs: crate::bash::OutputDirectory::new(),
            trust: ProjectTrust::default(),
            agreed: None,
            tells_refusals: true,
            needs_plugins: false,
            has_person: true,
            needs_prompt_tool: false,
            sandbox,
            price_files: Vec::new(),
            recording: None,
            states,
            max_retries: None,
            variables: Variables::read(variable),
            learned: LearnedKeys::default(),
            is_subscription,
            is_sandbox: is_on("IS_SANDBOX"),
            suggests: variable("CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION").is_none()
                || is_on("CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION"),
            file_checkpoints: is_on("CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING"),
            background_ceiling,
            last_hooks: number("CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS")
                .map_or(LAST_HOOKS, |ms| Duration::from_millis(ms.into())),
            longest_frame,
        })
    }

    /// The launch options for the engine machine.
    pub(super) fn machine(&self) -> machine::Launch {
        let cwd = self.directory();
        let mut launch = machine::Launch::new(self.flags.clone(), cwd.display().to_string());
        let redactor = self.redactor();
        launch.git_branch = git_branch(&cwd);
        launch.entrypoint.clone_from(&self.entrypoint);
        env!("CARGO_PKG_VERSION").clone_into(&mut launch.version);
        launch.pid = std::process::id();
        launch.tells_refusals = self.tells_refusals;
        launch.has_person = self.has_person;
        launch.needs_prompt_tool = self.needs_prompt_tool;
        launch.states = self.states;
        launch.suggests = self.suggests;
        launch.file_checkpoints = self.file_checkpoints;
        let ms = |duration: Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        launch.background_ceiling_ms = self.background_ceiling.map(ms);
        launch.last_hooks_ms = ms(self.last_hooks);
        launch.longest_frame = self.longest_frame;
        launch.records = self.recording.is_some();
        launch.notes = self.flags.debug || self.flags.debug_file.is_some();
        launch.redaction = Redaction::new(move |text| match redactor.text(text) {
            std::borrow::Cow::Borrowed(_) => None,
            std::borrow::Cow::Owned(clean) => Some(clean),
        });
        launch
    }

    /// The model server's endpoint.
    #[must_use]
    pub fn endpoint(&self) -> EndpointConfig {
        let usual = match self.flags.provider {
            Provider::Anthropic => DEFAULT_BASE_URL,
            Provider::OpenAi => OPENAI_BASE_URL,
        };
        let base_url = self.base_url.as_deref().unwrap_or(usual);
        let mut endpoint = EndpointConfig::new(base_url, self.auth.clone());
        endpoint.client = Some(self.client.clone());
        match &self.flags.ca_file {
            Some(file) => endpoint.extra_ca.push(file.into()),
            None => endpoint = endpoint.with_extra_ca_of_environment(),
        }
        endpoint
    }

    /// Removes the keys from texts of others: those of the environment, and those of settings once they are read.
    pub(super) fn redactor(&self) -> Redactor {
        let redactor = self.learned.redactor();
        let named = self.keys.iter().map(|(_, key)| key);
        redactor.learn(named.chain(self.auth.secret()));
        redactor.clone()
    }

    /// The store of its sessions.
    pub(super) fn store(&self) -> SharedStore {
        let (cwd, project) = (self.directory(), self.project());
        SharedStore::new(FileStore::with_settings_of(&self.config, &cwd, &project))
    }

    /// The folder with the project's settings and files.
    pub(super) fn project(&self) -> PathBuf {
        let named = self.flags.project_config_root.as_ref().map(PathBuf::from);
        named.unwrap_or_else(|| self.directory())
    }

    /// The working directory: absolute, with links resolved if it exists.
    pub(super) fn directory(&self) -> PathBuf {
        let asked = self.cwd.clone().unwrap_or_else(|| PathBuf::from("."));
        std::fs::canonicalize(&asked).unwrap_or(asked)
    }
}

/// The journals of the sessions of an engine.
pub(super) struct Journals {
    recording: Option<Recording>,
    open: Mutex<HashMap<SessionId, JournalSink>>,
}

impl Journals {
    pub(super) fn new(recording: Option<Recording>) -> Self {
        Self {
            recording,
            open: Mutex::default(),
        }
    }

    /// Writes a line to a session's journal, which is opened with its first line.
    pub(super) fn line(&self, session: SessionId, line: &str) {
        let Some(Recording(begin)) = &self.recording else {
            return;
        };
        // A panic of one sink does not affect the others.
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let sink = open.entry(session).or_insert_with(|| begin(session));
        sink(line);
    }
}
