//! Background tasks: their beginning, what they do, their end.

use alloc::string::String;

use serde::{Deserialize, Serialize};

use crate::id::{SessionId, Uuid};

/// A background task begins, or an agent that is waited for
/// ([`TaskPolicy::announce_agents`](crate::spec::TaskPolicy::announce_agents)); one that is put into the background begins
/// again as such (Agent SDK reference, `SDKTaskStartedMessage`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskStarted {
    /// The task.
    pub task_id: String,
    /// The call that started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<String>,
    /// A few words.
    pub description: String,
    /// What kind of task it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_type: Option<TaskKind>,
    /// Of an agent, which one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subagent_type: Option<String>,
    /// Of an agent, what it was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// False for what is waited for; none means true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_backgrounded: Option<bool>,
    /// This message.
    pub uuid: Uuid,
    /// The session.
    pub session_id: SessionId,
}

/// A background task goes on (Agent SDK reference, `SDKTaskProgressMessage`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskProgress {
    /// The task.
    pub task_id: String,
    /// The call that started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<String>,
    /// A few words.
    pub description: String,
    /// What it has used so far.
    pub usage: TaskUsage,
    /// The tool it called last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_tool_name: Option<String>,
    /// This message.
    pub uuid: Uuid,
    /// The session.
    pub session_id: SessionId,
}

/// A background task ends (Agent SDK reference, `SDKTaskNotificationMessage`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskNotification {
    /// The task.
    pub task_id: String,
    /// The call that started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<String>,
    /// How it ended.
    pub status: TaskEnd,
    /// The file with all it put out; empty where there is none.
    pub output_file: String,
    /// One sentence.
    pub summary: String,
    /// What it has used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<TaskUsage>,
    /// This message.
    pub uuid: Uuid,
    /// The session.
    pub session_id: SessionId,
}

/// What a task has used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskUsage {
    /// Tokens of all kinds.
    pub total_tokens: u64,
    /// Tool calls.
    pub tool_uses: u32,
    /// Milliseconds since it began.
    pub duration_ms: u64,
}

/// How a task ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskEnd {
    /// It did what it was to do.
    Completed,
    /// It could not.
    Failed,
    /// Somebody stopped it.
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
