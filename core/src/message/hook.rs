//! About hooks (Agent SDK reference, `SDKHookStartedMessage`, `SDKHookProgressMessage`, `SDKHookResponseMessage`).

use alloc::string::String;

use serde::{Deserialize, Serialize};

use crate::{
    hook::HookEvent,
    id::{SessionId, Uuid},
};

/// A hook begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookStarted {
    /// This run of the hook: the name of its effect.
    pub hook_id: String,
    /// The event with what it is about (`PreToolUse:Bash`).
    pub hook_name: String,
    /// The event.
    pub hook_event: HookEvent,
    /// This message.
    pub uuid: Uuid,
    /// The session.
    pub session_id: SessionId,
}

/// A hook has written something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookProgress {
    /// This run of the hook.
    pub hook_id: String,
    /// The event with what it is about.
    pub hook_name: String,
    /// The event.
    pub hook_event: HookEvent,
    /// To standard output, since the last time.
    pub stdout: String,
    /// To standard error, since the last time.
    pub stderr: String,
    /// Both.
    pub output: String,
    /// This message.
    pub uuid: Uuid,
    /// The session.
    pub session_id: SessionId,
}

/// A hook is done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookResponse {
    /// This run of the hook.
    pub hook_id: String,
    /// The event with what it is about.
    pub hook_name: String,
    /// The event.
    pub hook_event: HookEvent,
    /// All it wrote; empty when it asked for its output to be suppressed.
    pub output: String,
    /// What it wrote to standard output, or its answer.
    pub stdout: String,
    /// What it wrote to standard error, or why it gave no answer.
    pub stderr: String,
    /// The exit code, of a program.
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
    /// Its time was over, or the run was interrupted.
    Cancelled,
}
