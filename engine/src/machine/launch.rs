//! The data that an engine is started with.

use std::{borrow::Cow, fmt, sync::Arc};

use windlass_core::SessionId;

use crate::protocol::{flags::Flags, frames::StateFrames};

/// The kind of application that uses an engine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Face {
    /// An SDK or the command line: input and output are lines.
    #[default]
    Lines,
    /// The program that embeds the host: prompts and messages are values ([`Input::Prompt`](super::Input::Prompt),
    /// [`Output::Message`](super::Output::Message)), and the host performs permission questions and all hooks.
    Program,
}

impl Face {
    /// Whether input and output are lines. Where the feature `lines` is off they never are, and a linker leaves out what reads and
    /// writes them.
    pub(super) fn has_lines(self) -> bool {
        cfg!(feature = "lines") && self == Self::Lines
    }
}

/// The data that an engine is started with.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Launch {
    /// The kind of application that uses the engine.
    pub face: Face,
    /// The command line.
    pub flags: Flags,
    /// The working directory: absolute and real.
    pub cwd: String,
    /// The branch of the surrounding git repository, as recorded in transcripts.
    pub git_branch: Option<String>,
    /// The application that starts the engine (`CLAUDE_CODE_ENTRYPOINT`): `sdk-py`, `sdk-ts`.
    pub entrypoint: String,
    /// The version of the program. The version that the engine reports is that of its protocol.
    pub version: String,
    /// The process id reported to the SDKs; 0 where there are no processes.
    pub pid: u32,
    /// The id of a new session, if one was given.
    pub session_id: Option<SessionId>,
    /// The seed of the first new session, if one was given; a resumed session derives its seed from it.
    pub session_seed: Option<[u8; 32]>,
    /// Report the reason why no session begins to the user as well as in the result. SDKs show that text.
    pub tells_refusals: bool,
    /// Whether there is a user whom the model can ask.
    pub has_person: bool,
    /// Refuse to begin a session if the MCP tool named as permission prompt tool is missing. SDKs learn of it at the first
    /// permission question instead.
    pub needs_prompt_tool: bool,
    /// The reader of state frames.
    pub states: StateFrames,
    /// Whether prompts may be suggested, where they are asked for.
    pub suggests: bool,
    /// Whether file checkpoints are enabled.
    pub file_checkpoints: bool,
    /// How long background tasks may continue after the input has ended, in milliseconds; `None` for no limit.
    pub background_ceiling_ms: Option<u64>,
    /// How long hooks may take that are told about the end of the session, in milliseconds.
    pub last_hooks_ms: u64,
    /// The maximum length of a frame in bytes; `None` for no limit.
    pub longest_frame: Option<usize>,
    /// Whether the state of the session is stored beside its transcript while a person is asked, so that another engine can go
    /// on from there ([`SessionInput::Resumed`](windlass_core::Input::Resumed)). The person is asked when it is stored.
    pub keeps_questions: bool,
    /// Whether its state is stored as well while a model or a tool is waited for, so that a turn goes on wherever it was when the
    /// engine ended. Each time the whole conversation is stored.
    pub keeps_turns: bool,
    /// Whether a journal of each new session is kept.
    pub records: bool,
    /// Whether debug lines are read by anyone ([`Output::Note`](super::Output::Note)).
    pub notes: bool,
    /// Removes API keys from the texts of servers.
    pub redaction: Redaction,
}

impl Launch {
    /// Launch data with these flags in this directory, and defaults for everything else.
    #[must_use]
    pub fn new(flags: Flags, cwd: impl Into<String>) -> Self {
        Self {
            face: Face::default(),
            flags,
            cwd: cwd.into(),
            git_branch: None,
            entrypoint: "cli".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            pid: 0,
            session_id: None,
            session_seed: None,
            tells_refusals: true,
            has_person: true,
            needs_prompt_tool: false,
            states: StateFrames::default(),
            suggests: true,
            file_checkpoints: false,
            background_ceiling_ms: None,
            last_hooks_ms: 1_500,
            longest_frame: None,
            keeps_questions: false,
            keeps_turns: false,
            records: false,
            notes: false,
            redaction: Redaction::default(),
        }
    }
}

/// A function that removes secrets from texts. The engine itself does not know any keys.
#[derive(Clone, Default)]
pub struct Redaction(Option<Arc<Redact>>);

type Redact = dyn Fn(&str) -> Option<String> + Send + Sync;

impl Redaction {
    /// Wraps a function that returns the text without secrets, or `None` if it contains none.
    pub fn new(redact: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(redact)))
    }

    /// The text without secrets.
    #[must_use]
    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self.0.as_ref().and_then(|redact| redact(text)) {
            Some(clean) => Cow::Owned(clean),
            None => Cow::Borrowed(text),
        }
    }
}

impl fmt::Debug for Redaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Redaction")
    }
}
