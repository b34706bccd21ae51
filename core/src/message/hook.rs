//! Messages about hooks (Agent SDK reference, `SDKHookStartedMessage`, `SDKHookProgressMessage`, `SDKHookResponseMessage`).

use alloc::string::String;

use serde::{Deserialize, Serialize};

use crate::{
    hook::HookEvent,
    id::{SessionId, Uuid},
};

/// A hook started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookStarted {
    /// The id of this run of the hook: its effect id.
    pub hook_id: String,
    /// The event with its subject (`PreToolUse:Bash`).
    pub hook_name: String,
    /// The event.
    pub hook_event: HookEvent,
    /// This message.
    pub uuid: Uuid,
    /// The session.
    pub session_id: SessionId,
}

/// A hook wrote output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookProgress {
    /// This run of the hook.
    pub hook_id: String,
    /// The event with its subject.
    pub hook_name: String,
    /// The event.
    pub hook_event: HookEvent,
    /// Standard output since the last message.
    pub stdout: String,
    /// Standard error since the last message.
    pub stderr: String,
    /// Both, concatenated.
    pub output: String,
    /// This message.
    pub uuid: Uuid,
    /// The session.
    pub session_id: SessionId,
}

/// A hook finished.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookResponse {
    /// This run of the hook.
    pub hook_id: String,
    /// The event with its subject.
    pub hook_name: String,
    /// The event.
    pub hook_event: HookEvent,
    /// The whole output; empty if the hook asked to suppress it.
    pub output: String,
    /// Its standard output, or its answer.
    pub stdout: String,
    /// Its standard error, or why it gave no answer.
    pub stderr: String,
    /// The exit code, if the hook is a program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// How it ended.
    pub outcome: HookOutcome,
    /// This message.
    pub uuid: Uuid,
    /// The session.
    pub session_id: SessionId,
}

/// How a hook ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HookOutcome {
    /// With an answer.
    Success,
    /// It crashed, ended with an error, or answered nonsense.
    Error,
    /// It timed out, or the run was interrupted.
    Cancelled,
}
