//! Outputs and effects of the state machine, and the host's answers.
//!
//! Every effect gets exactly one last answer. [`Answer::is_last`] says which answers are last.

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

/// An output of the state machine.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Output {
    /// Perform this effect and answer it.
    Effect(EffectId, Effect),
    /// Cancel this effect: sockets are dropped at once, tools get a signal. It still needs its last answer.
    Cancel(EffectId),
    /// The grace period is over: drop this effect. The session counts it as cancelled and expects no answer.
    Abandon(EffectId),
    /// A message for the application.
    Message(Message),
    /// A permission update was refused. Nothing has changed, and the session continues.
    Refused(UpdateError),
}

/// An operation that only a host can perform.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Effect {
    /// Send a request to the model endpoint. Answered by head, body and end, or by a failure.
    Http(HttpRequest),
    /// Make paths absolute and resolve links. Answered by [`Answer::Resolved`].
    Resolve(Vec<ResolvePath>),
    /// Run a tool. Answered by any number of [`Answer::Progress`], then [`Answer::Tool`].
    CallTool(ToolCall),
    /// Find out the outcome of a call that was lost because the process that ran it ended
    /// ([`RetryClass::Probe`](crate::tool::RetryClass::Probe)). It must not change anything. Answered by [`Answer::Probed`].
    ProbeTool(Probe),
    /// Ask for permission. Answered by [`Answer::Permission`].
    AskPermission(PermissionRequest),
    /// Run a hook. Answered by any number of [`Answer::HookProgress`], then [`Answer::Hook`].
    RunHook(HookCall),
    /// Append to the transcript. Answered by [`Answer::Persisted`] once the entries are durable.
    Persist(Vec<Entry>),
}

/// The query for the outcome of a lost call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Probe {
    /// The effect that ran the call. Its id is the idempotency key by which the tool can recognise the call.
    pub lost: EffectId,
    /// The call as it was made.
    pub call: ToolCall,
}

/// The outcome of a lost call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Probed {
    /// It completed with this result.
    Done(ToolResult),
    /// It did nothing and is not running. The session runs it now, under the same effect id.
    NotDone,
    /// It cannot be determined. The model is told that the outcome is unknown.
    Unknown,
}

/// A host's answer to an effect.
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
    /// The resolved paths, in the order of the request.
    Resolved(Vec<Result<ResolvedPath, String>>),
    /// What a tool is currently doing.
    Progress(String),
    /// A piece of a running tool's output, kept for readers of its background task.
    Output(String),
    /// A tool has finished.
    Tool(ToolResult),
    /// The outcome of a lost call.
    Probed(Probed),
    /// The permission decision.
    Permission(PermissionResponse),
    /// Output of a running hook.
    HookProgress {
        /// Standard output since the last answer.
        stdout: String,
        /// Standard error since the last answer.
        stderr: String,
    },
    /// A hook has finished.
    Hook(HookAnswer),
    /// The entries are durable.
    Persisted,
    /// The entries could not be written, with the reason.
    PersistFailed(String),
    /// A cancelled effect ended without a result.
    Cancelled,
}

impl Answer {
    /// Whether this is the last answer to its effect.
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
