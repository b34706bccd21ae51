//! What the application or the host tells the machine.

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

/// What the application or the host tells the machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Input {
    /// A user message. [`Prompt::delivery`] says what becomes of it while another is being answered.
    Prompt(Prompt),
    /// Takes a prompt back that still waits; one that is being answered is not touched.
    Withdraw(Uuid),
    /// Stop what is running. The session stays usable, and background tasks go on.
    Interrupt,
    /// Stop a background task, by its id. One that does not run is stopped already.
    StopTask(String),
    /// Do not wait for a running call of the main thread any longer, by its id, or for all of them: they go on as
    /// background tasks.
    Background(Option<String>),
    /// No more input will come: background calls that only that could stop are stopped. Agents end by themselves.
    End,
    /// Change the permission mode; holds from the next judged call on. Refused by [`Output::Refused`](super::Output::Refused).
    SetMode(Mode),
    /// Change rules, directories or mode; holds from the next judged call on, all of it or (with
    /// [`Output::Refused`](super::Output::Refused)) nothing. Writing settings files is the host's.
    UpdatePermissions(Vec<PermissionUpdate>),
    /// From now on, or no longer, the tools of an MCP server are judged as in mode `default` where the mode would let them
    /// run unasked: rules hold as ever, and what none covers is asked about (Agent SDK types,
    /// `setMcpPermissionModeOverride`). It holds also for a server that is not there yet.
    GuardServer {
        /// The server.
        server: String,
        /// Whether it is guarded.
        is_guarded: bool,
    },
    /// Change the model; none returns to the one of the spec. Holds from the next request on.
    SetModel(Option<String>),
    /// Change how the model thinks; none returns to the spec. Holds from the next request on.
    SetThinking(Option<Thinking>),
    /// Change the effort; none returns to the spec. Holds from the next request on.
    SetEffort(Option<Effort>),
    /// The model has seen a file, in a way that the session did not see itself: calls of tools may rely on it as on a
    /// reading of their own (Agent SDK reference, `seedReadState`).
    Seen(Observation),
    /// Something that happened at the host and that the application should hear of.
    Notice(Notice),
    /// Something happened outside that hooks may want to know: a notification, the start or end of a
    /// session, a changed setting … ([`HookEvent::comes_from_outside`](crate::hook::HookEvent::comes_from_outside)).
    Occurred(Occurrence),
    /// First input after a restore: the effects that the host still has running.
    Resumed {
        /// Effects whose answers will still come.
        live: Vec<EffectId>,
    },
    /// A deadline may have passed.
    Tick,
    /// An answer to an effect.
    Answer(EffectId, Answer),
}

impl Input {
    /// Reads an input as it is serialised, in journals too.
    ///
    /// # Errors
    /// [`JsonError`] with the place of what is no input.
    pub fn parse(json: &str) -> Result<Self, JsonError> {
        crate::json::read::from_str(json).map_err(JsonError::from)
    }
}

/// Something that happened at the host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Notice {
    /// It signs in.
    AuthStatus {
        /// Whether it still does.
        is_authenticating: bool,
        /// What was printed for the person.
        output: Vec<String>,
        /// Why it failed.
        error: Option<String>,
    },
    /// It stored files.
    FilesPersisted {
        /// Those that are safe.
        files: Vec<PersistedFile>,
        /// Those that are not.
        failed: Vec<FailedFile>,
        /// When, in ISO 8601.
        processed_at: String,
    },
}
