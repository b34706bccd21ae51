//! What the machine asks of the world, and what the world answers.
//!
//! Every effect is answered to its end exactly once. [`Answer::is_last`] says which answers end one.

mod entry;
mod http;
mod id;
mod input;
mod permission;
mod prompt;

use alloc::{string::String, vec::Vec};

use bytes::Bytes;
use serde::{Deserialize, Serialize};

pub use self::{
    entry::{Entry, EntryCompaction, EntryOrigin},
    http::{ADDRESS_HEADER, HttpFailure, HttpFailureKind, HttpRequest},
    id::{EffectId, Stage},
    input::{Input, Notice},
    permission::{PermissionRequest, PermissionResponse},
    prompt::{Delivery, Prompt},
};
pub use crate::permission::{ResolvePath, ResolvedPath};
use crate::{
    hook::{HookAnswer, HookCall},
    message::Message,
    permission::UpdateError,
    tool::{ToolCall, ToolResult},
};

/// What comes out of the machine.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Output {
    /// Do this and answer.
    Effect(EffectId, Effect),
    /// Stop this: sockets are dropped at once, tools get a signal. It is still answered.
    Cancel(EffectId),
    /// The grace period is over: drop it. The machine counts it as cancelled and expects no answer.
    Abandon(EffectId),
    /// A message for the application.
    Message(Message),
    /// A change of the permissions was refused; nothing has changed, and the session goes on.
    Refused(UpdateError),
}

/// Something only a host can do.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Effect {
    /// Send a request to the model endpoint. Answered by head, body and end, or by a failure.
    Http(HttpRequest),
    /// Make paths absolute and real. Answered by [`Answer::Resolved`].
    Resolve(Vec<ResolvePath>),
    /// Run a tool. Answered by any number of [`Answer::Progress`], then [`Answer::Tool`].
    CallTool(ToolCall),
    /// Find out what became of a call that was lost with the program that ran it
    /// ([`RetryClass::Probe`](crate::tool::RetryClass::Probe)). It changes nothing. Answered by [`Answer::Probed`].
    ProbeTool(Probe),
    /// Ask whoever decides. Answered by [`Answer::Permission`].
    AskPermission(PermissionRequest),
    /// Run a hook. Answered by any number of [`Answer::HookProgress`], then [`Answer::Hook`].
    RunHook(HookCall),
    /// Append to the transcript. Answered by [`Answer::Persisted`] once it is safe.
    Persist(Vec<Entry>),
}

/// The question what became of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Probe {
    /// The effect under which it was run: its idempotency key, by which whoever ran it may know it.
    pub lost: EffectId,
    /// The call as it was made.
    pub call: ToolCall,
}

/// What became of a call that was lost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Probed {
    /// It came to its end with this result.
    Done(ToolResult),
    /// It did nothing, and nothing of it goes on: it is run now, under its old name.
    NotDone,
    /// Nobody can tell: the model hears that the outcome is unknown.
    Unknown,
}

/// What a host says to an effect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Answer {
    /// Status line and headers (names in lower case).
    HttpHead {
        /// The status code.
        status: u16,
        /// The headers the core may need (`retry-after`, `request-id`, `content-type`), and [`ADDRESS_HEADER`].
        headers: Vec<(String, String)>,
    },
    /// A piece of the body, of any size.
    HttpBody(#[serde(with = "crate::bytes_json")] Bytes),
    /// The body is complete.
    HttpEnd,
    /// The exchange failed: no connection, cut in the middle, too large.
    HttpFailed(HttpFailure),
    /// The real paths, in the order asked.
    Resolved(Vec<Result<ResolvedPath, String>>),
    /// A tool says what it is doing.
    Progress(String),
    /// A piece of what a running tool puts out, kept for whoever reads the background task it may be.
    Output(String),
    /// A tool is done.
    Tool(ToolResult),
    /// What became of a call that was lost.
    Probed(Probed),
    /// The decision.
    Permission(PermissionResponse),
    /// A hook has written something.
    HookProgress {
        /// To standard output, since the last time.
        stdout: String,
        /// To standard error, since the last time.
        stderr: String,
    },
    /// A hook is done.
    Hook(HookAnswer),
    /// The entries are safe.
    Persisted,
    /// The entries could not be written; the reason.
    PersistFailed(String),
    /// A cancelled effect ended without an outcome.
    Cancelled,
}

impl Answer {
    /// Whether the effect is over with this answer.
    #[must_use]
    pub fn is_last(&self) -> bool {
        !matches!(
            self,
            Self::HttpHead { .. }
                | Self::HttpBody(_)
                | Self::Progress(_)
                | Self::Output(_)
                | Self::HookProgress { .. }
        )
    }
}
