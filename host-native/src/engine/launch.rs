//! What an engine is started with: its command line and its environment.

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

use crate::{
    agent::{JournalSink, RecordTo},
    credentials::Credentials,
    http::{Auth, DEFAULT_BASE_URL, EndpointConfig},
    project_config::ProjectTrust,
    redact::Redactor,
    settings::managed_settings_file,
    store::{ConfigDir, FileStore, NoConfigDir, SharedStore, git_branch},
};

/// OpenAI's own server.
const OPENAI_BASE_URL: &str = "https://api.openai.com/v1";

/// How long background work may go on after the input has ended, where nothing else is said: ten minutes.
const BACKGROUND_CEILING: Duration = Duration::from_secs(600);

/// How long commands may take that hear of a session's end, where nothing else is said: an SDK ends an engine by force after
/// two seconds.
const LAST_HOOKS: Duration = Duration::from_millis(1500);

/// Gives, for a session that begins, what takes the lines of its journal.
#[derive(Clone)]
pub struct Recording(pub(super) Arc<RecordTo>);

impl Recording {
    /// Journals of sessions go where `open` says.
    pub fn new(open: impl Fn(SessionId) -> JournalSink + Send + Sync + 'static) -> Self {
        Self(Arc::new(open))
    }
}

impl fmt::Debug for Recording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Recording")
    }
}

/// Everything that an engine is told before the first line.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Launch {
    /// The command line.
    pub flags: Flags,
    /// The working directory; none for that of the process.
    pub cwd: Option<PathBuf>,
    /// Where the person's own files are (`CLAUDE_CONFIG_DIR`, else `~/.claude`).
    pub config: ConfigDir,
    /// The person's home.
    pub home: Option<PathBuf>,
    /// The organisation's settings, which are stronger than any other and read whatever flags say.
    pub managed_settings: Option<PathBuf>,
    /// Who starts the engine (`CLAUDE_CODE_ENTRYPOINT`): `sdk-py`, `sdk-ts`.
    pub entrypoint: String,
    /// On whose behalf requests are made, for the header `user-agent`: who starts the engine, the SDK's version
    /// (`CLAUDE_AGENT_SDK_VERSION`) and the application (`CLAUDE_AGENT_SDK_CLIENT_APP`).
    pub client: String,
    /// How requests to the model server prove who they are from.
    pub auth: Auth,
    /// The keys that the environment held. An MCP server is given one that its configuration names; whatever servers say is
    /// searched for them.
    pub keys: Credentials,
    /// The model server's address; none for that of whoever made its API.
    pub base_url: Option<String>,
    /// What counts of a project that nobody has trusted.
    pub trust: ProjectTrust,
    /// What the project's files bring along, as a person was shown it who said yes. Where they bring something else by the time the
    /// engine reads them, it does not start: the answer was not about that. None where nobody was asked.
    pub agreed: Option<Vec<Brought>>,
    /// Why no session begins is said on standard error too, beside the result: SDKs look there.
    pub tells_refusals: bool,
    /// Somebody is there whom the model can ask.
    pub has_person: bool,
    /// No session begins without the MCP tool that is to be asked for permission. An SDK hears of it when something is asked.
    pub needs_prompt_tool: bool,
    /// How commands are confined, beside what the settings files say of it.
    pub sandbox: Option<SandboxSettings>,
    /// Files of model prices, added to the built-in ones.
    pub price_files: Vec<PathBuf>,
    /// Where the journal of a session goes that begins.
    pub recording: Option<Recording>,
    /// Who reads state frames.
    pub states: StateFrames,
    /// How often a failed model call is asked again.
    pub max_retries: Option<u32>,
    /// For how many milliseconds a model server may send nothing of its response (`CLAUDE_STREAM_IDLE_TIMEOUT_MS`); 0 for as
    /// long as it likes.
    pub response_idle_ms: Option<u32>,
    /// The most tokens a response may hold.
    pub max_output_tokens: Option<u32>,
    /// How many tokens the model may think, where no flag says so.
    pub max_thinking_tokens: Option<u32>,
    /// When the definitions of MCP tools wait until the model searches for them (`ENABLE_TOOL_SEARCH`): `auto`, `auto:N%`, `true`
    /// or `false`; none for `auto`.
    pub tool_search: Option<String>,
    /// The surroundings are a sandbox: root may bypass permissions here.
    pub is_sandbox: bool,
    /// What files hold is kept before they are changed, so that they can be taken back
    /// (`CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING`).
    pub file_checkpoints: bool,
    /// How long background work may go on after the input has ended; none for as long as it takes.
    pub background_ceiling: Option<Duration>,
    /// How long commands may take that hear of the session's end (`CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS`).
    pub last_hooks: Duration,
    /// Bytes that a frame may have, where whoever reads takes no longer lines: the Python SDK (`max_buffer_size`) and whoever
    /// is not known; `WINDLASS_MAX_FRAME_BYTES` says otherwise, 0 for no limit.
    pub longest_frame: Option<usize>,
}

/// An engine that cannot be started as it was asked for.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// A flag cannot be followed.
    #[error(transparent)]
    Flag(#[from] FlagError),
    /// Nothing says where the user's files are.
    #[error(transparent)]
    NoConfigDir(#[from] NoConfigDir),
}

impl Launch {
    /// From a command line (without the program's name) and an environment.
    ///
    /// # Errors
    /// [`LaunchError`]: the first flag that cannot be followed, or no place for the user's files.
    pub fn read(
        words: &[String],
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, LaunchError> {
        Ok(Self::with_flags(Flags::parse(words)?, variable)?)
    }

    /// From flags and an environment.
    ///
    /// # Errors
    /// [`NoConfigDir`] where nothing says where the user's files are.
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
        let (auth, base_url) = match flags.provider {
            Provider::Anthropic => {
                let key = variable("ANTHROPIC_API_KEY").map(|key| Auth::ApiKey(key.into()));
                let auth = key.or_else(|| bearer("ANTHROPIC_AUTH_TOKEN"));
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
        // Other programs read lists of names in it: those are not about this one.
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
            trust: ProjectTrust::default(),
            agreed: None,
            tells_refusals: true,
            has_person: true,
            needs_prompt_tool: false,
            sandbox,
            price_files: Vec::new(),
            recording: None,
            states,
            max_retries: number("CLAUDE_CODE_MAX_RETRIES"),
            response_idle_ms: number("CLAUDE_STREAM_IDLE_TIMEOUT_MS"),
            max_output_tokens: number("CLAUDE_CODE_MAX_OUTPUT_TOKENS"),
            max_thinking_tokens: number("MAX_THINKING_TOKENS"),
            tool_search: variable("ENABLE_TOOL_SEARCH"),
            is_sandbox: is_on("IS_SANDBOX"),
            file_checkpoints: is_on("CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING"),
            background_ceiling,
            last_hooks: number("CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS")
                .map_or(LAST_HOOKS, |ms| Duration::from_millis(ms.into())),
            longest_frame,
        })
    }

    /// What the machine is told of it.
    pub(super) fn machine(&self) -> machine::Launch {
        let cwd = self.directory();
        let mut launch = machine::Launch::new(self.flags.clone(), cwd.display().to_string());
        let redactor = self.redactor();
        launch.git_branch = git_branch(&cwd);
        launch.entrypoint.clone_from(&self.entrypoint);
        env!("CARGO_PKG_VERSION").clone_into(&mut launch.version);
        launch.pid = std::process::id();
        launch.token_source = match self.auth {
            Auth::Bearer(_) => "ANTHROPIC_AUTH_TOKEN",
            _ => "none",
        };
        launch.tells_refusals = self.tells_refusals;
        launch.has_person = self.has_person;
        launch.needs_prompt_tool = self.needs_prompt_tool;
        launch.states = self.states;
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

    /// Where the model is and how it is spoken to.
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

    /// What takes the keys out of the words of others.
    pub(super) fn redactor(&self) -> Redactor {
        let named = self.keys.iter().map(|(_, key)| key);
        Redactor::new(named.chain(self.auth.secret()))
    }

    /// Where its sessions are kept.
    pub(super) fn store(&self) -> SharedStore {
        let (cwd, project) = (self.directory(), self.project());
        SharedStore::new(FileStore::with_settings_of(&self.config, &cwd, &project))
    }

    /// The folder whose settings and files are the project's.
    pub(super) fn project(&self) -> PathBuf {
        let named = self.flags.project_config_root.as_ref().map(PathBuf::from);
        named.unwrap_or_else(|| self.directory())
    }

    /// The working directory: absolute, links resolved where it exists.
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

    /// Writes a line of a session's journal, which begins with its first.
    pub(super) fn line(&self, session: SessionId, line: &str) {
        let Some(Recording(begin)) = &self.recording else {
            return;
        };
        // A panic of a sink leaves the others as they are.
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let sink = open.entry(session).or_insert_with(|| begin(session));
        sink(line);
    }
}
