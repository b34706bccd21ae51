//! Inputs: what the application or the host sends to the session.

use alloc::{string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use super::{Answer, EffectId, Prompt};
use crate::{
    hook::Occurrence,
    id::Uuid,
    json::JsonError,
    message::{FailedFile, PersistedFile},
    model::{Effort, Thinking},
    permission::{Mode, PermissionUpdate},
    tool::Observation,
};

/// An input from the application or the host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Input {
    /// A user message. [`Prompt::delivery`] determines what happens to it while another prompt is being answered.
    Prompt(Prompt),
    /// Withdraws a prompt that is still queued. A prompt that is being answered is not affected.
    Withdraw(Uuid),
    /// Interrupts the current run. The session stays usable, and background tasks continue.
    Interrupt,
    /// Stops the background task with this id. No effect if it is not running.
    StopTask(String),
    /// Moves a running call of the main thread (by its id), or all of them (none), to the background: the session stops waiting
    /// for them and they continue as background tasks.
    Background(Option<String>),
    /// No more input will come. Background calls that only an input could stop are stopped. Subagents run to their end.
    End,
    /// Changes the permission mode, from the next permission decision on. A refused change is reported by
    /// [`Output::Refused`](super::Output::Refused).
    SetMode(Mode),
    /// Changes rules, directories or mode, from the next permission decision on. Either all changes apply or (with
    /// [`Output::Refused`](super::Output::Refused)) none. The host writes settings files, not the session.
    UpdatePermissions(Vec<PermissionUpdate>),
    /// Starts or stops guarding an MCP server. The tools of a guarded server are judged as in mode `default` where the current
    /// mode would allow them without asking. Rules still apply; a call that no rule covers asks for permission (Agent SDK types,
    /// `setMcpPermissionModeOverride`). It may name a server that is not connected yet.
    GuardServer {
        /// The name of the server.
        server: String,
        /// Whether it is guarded.
        is_guarded: bool,
    },
    /// Changes the model from the next request on; none restores the model of the spec.
    SetModel(Option<String>),
    /// Changes how the model thinks from the next request on; none restores the setting of the spec.
    SetThinking(Option<Thinking>),
    /// Changes the effort from the next request on; none restores the setting of the spec.
    SetEffort(Option<Effort>),
    /// The model has seen a file in a way that the session did not observe. Tool calls may rely on it as if the session had read
    /// the file (Agent SDK reference, `seedReadState`).
    Seen(Observation),
    /// Something that happened at the host and that the application should be told.
    Notice(Notice),
    /// An event outside the session that hooks can be registered for: a notification, the start or end of a session, a changed
    /// setting … ([`HookEvent::comes_from_outside`](crate::hook::HookEvent::comes_from_outside)).
    Occurred(Occurrence),
    /// The first input after a restore: the effects that are still running at the host.
    Resumed {
        /// Effects that will still be answered.
        live: Vec<EffectId>,
    },
    /// A deadline may have passed.
    Tick,
    /// An answer to an effect.
    Answer(EffectId, Answer),
}

impl Input {
    /// Reads an input in its serialised form, as in journals.
    ///
    /// # Errors
    /// [`JsonError`] with the position if the text is not an input.
    pub fn parse(json: &str) -> Result<Self, JsonError> {
        crate::json::read::from_str(json).map_err(JsonError::from)
    }
}

/// Something that happened at the host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Notice {
    /// The state of the host's sign-in.
    AuthStatus {
        /// Whether signing in is still in progress.
        is_authenticating: bool,
        /// What was printed for the user.
        output: Vec<String>,
        /// Why it failed.
        error: Option<String>,
    },
    /// Files were stored.
    FilesPersisted {
        /// Files that were stored.
        files: Vec<PersistedFile>,
        /// Files that could not be stored.
        failed: Vec<FailedFile>,
        /// When, in ISO 8601.
        processed_at: String,
    },
}
