//! Background tasks: start, progress, end.

use alloc::string::String;

use serde::{Deserialize, Serialize};

use crate::id::{SessionId, Uuid};

/// A background task started, or an agent that the caller waits for
/// ([`TaskPolicy::announce_agents`](crate::spec::TaskPolicy::announce_agents)). An agent that is moved to the background is
/// announced again as a background task (Agent SDK reference, `SDKTaskStartedMessage`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskStarted {
    /// The task.
    pub task_id: String,
    /// The call that started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<String>,
    /// A short description.
    pub description: String,
    /// The kind of task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_type: Option<TaskKind>,
    /// For an agent: its type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subagent_type: Option<String>,
    /// For an agent: its prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// False if the caller waits for the task; none means true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_backgrounded: Option<bool>,
    /// This message.
    pub uuid: Uuid,
    /// The session.
    pub session_id: SessionId,
}

/// A background task is running (Agent SDK reference, `SDKTaskProgressMessage`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskProgress {
    /// The task.
    pub task_id: String,
    /// The call that started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<String>,
    /// A short description.
    pub description: String,
    /// What it has used so far: tokens, tool calls, time.
    pub usage: TaskUsage,
    /// The tool it called last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_tool_name: Option<String>,
    /// This message.
    pub uuid: Uuid,
    /// The session.
    pub session_id: SessionId,
}

/// A background task ended (Agent SDK reference, `SDKTaskNotificationMessage`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskNotification {
    /// The task.
    pub task_id: String,
    /// The call that started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<String>,
    /// How it ended.
    pub status: TaskEnd,
    /// The file with its whole output; empty if there is none.
    pub output_file: String,
    /// A summary in one sentence.
    pub summary: String,
    /// What it has used: tokens, tool calls, time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<TaskUsage>,
    /// This message.
    pub uuid: Uuid,
    /// The session.
    pub session_id: SessionId,
}

/// The tokens, tool calls and time of a task.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskUsage {
    /// Tokens of all kinds.
    pub total_tokens: u64,
    /// Tool calls.
    pub tool_uses: u32,
    /// Milliseconds since it started.
    pub duration_ms: u64,
}

/// How a task ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskEnd {
    /// It succeeded.
    Completed,
    /// It failed.
    Failed,
    /// It was stopped.
    Stopped,
}

impl TaskEnd {
    /// Its name in messages.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Stopped => "stopped",
        }
    }
}

/// The kinds of background tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TaskKind {
    /// A subagent.
    LocalAgent,
    /// A command.
    LocalBash,
    /// A call of any other tool.
    LocalTool,
}

impl TaskKind {
    /// Its name in messages.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::LocalAgent => "local_agent",
            Self::LocalBash => "local_bash",
            Self::LocalTool => "local_tool",
        }
    }
}
