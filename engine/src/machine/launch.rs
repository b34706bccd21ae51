//! What an engine is told before the first line.

use std::{borrow::Cow, fmt, sync::Arc};

use windlass_core::SessionId;

use crate::protocol::{flags::Flags, frames::StateFrames};

/// Who stands in front of an engine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Face {
    /// An SDK or the command line: everything comes and goes in lines.
    #[default]
    Lines,
    /// The program that the host is part of: prompts and messages are values ([`Input::Prompt`](super::Input::Prompt),
    /// [`Output::Message`](super::Output::Message)), and the host performs questions and all hooks.
    Program,
}

/// Everything that an engine knows from the beginning.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Launch {
    /// Who stands in front of it.
    pub face: Face,
    /// The command line.
    pub flags: Flags,
    /// The working directory: absolute and real.
    pub cwd: String,
    /// The branch of the repository around it, as transcripts name it.
    pub git_branch: Option<String>,
    /// Who starts the engine (`CLAUDE_CODE_ENTRYPOINT`): `sdk-py`, `sdk-ts`.
    pub entrypoint: String,
    /// Its version and that of its protocol are for whoever asks; this is the version of the program.
    pub version: String,
    /// The process that it runs in, as the SDKs are told; 0 where there are no processes.
    pub pid: u32,
    /// Where the bearer token comes from; `none` where there is none.
    pub token_source: &'static str,
    /// The id of a session that begins, where it was said which one.
    pub session_id: Option<SessionId>,
    /// The seed of the first session that begins, where it was said which one; one that goes on has one made of it.
    pub session_seed: Option<[u8; 32]>,
    /// Why no session begins is said to the person too, beside the result: SDKs look there.
    pub tells_refusals: bool,
    /// Somebody is there whom the model can ask.
    pub has_person: bool,
    /// No session begins without the MCP tool that is to be asked for permission. An SDK hears of it when something is asked.
    pub needs_prompt_tool: bool,
    /// Who reads state frames.
    pub states: StateFrames,
    /// What files hold is kept before they are changed.
    pub file_checkpoints: bool,
    /// How long background work may go on after the input has ended, in milliseconds; none for as long as it takes.
    pub background_ceiling_ms: Option<u64>,
    /// How long hooks may take that hear of the session's end, in milliseconds.
    pub last_hooks_ms: u64,
    /// Bytes that a frame may have; none for as many as it has.
    pub longest_frame: Option<usize>,
    /// A journal is kept of each session that begins.
    pub records: bool,
    /// Whether anybody reads what the engine does ([`Output::Note`](super::Output::Note)).
    pub notes: bool,
    /// Takes keys out of what servers say.
    pub redaction: Redaction,
}

impl Launch {
    /// With these flags in this directory, and nothing else.
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
            token_source: "none",
            session_id: None,
            session_seed: None,
            tells_refusals: true,
            has_person: true,
            needs_prompt_tool: false,
            states: StateFrames::default(),
            file_checkpoints: false,
            background_ceiling_ms: None,
            last_hooks_ms: 1_500,
            longest_frame: None,
            records: false,
            notes: false,
            redaction: Redaction::default(),
        }
    }
}

/// A function of texts that takes out what nobody is to read: keys, which the engine itself does not know.
#[derive(Clone, Default)]
pub struct Redaction(Option<Arc<Redact>>);

type Redact = dyn Fn(&str) -> Option<String> + Send + Sync;

impl Redaction {
    /// A function that gives the text without keys, or nothing where none is in it.
    pub fn new(redact: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(redact)))
    }

    /// The text without keys.
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
