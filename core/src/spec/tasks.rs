//! How background tasks and subagents are reported.

use alloc::string::String;

use serde::{Deserialize, Serialize};

/// How background tasks and subagents are reported.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "TaskPolicyForm")]
pub struct TaskPolicy {
    /// Whether the end of a background task starts a turn when the session is idle. Otherwise the model is told of it with the
    /// next prompt.
    pub wake: bool,
    /// Whether only the tool calls of a subagent's responses are forwarded, without its text and thinking.
    pub tool_calls_only: bool,
    /// Whether subagents that the caller waits for are reported as tasks, too: [`TaskStarted`](crate::message::TaskStarted),
    /// [`TaskProgress`](crate::message::TaskProgress), [`TaskNotification`](crate::message::TaskNotification).
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub announce_agents: bool,
    /// The name under which the model is offered the tool that starts subagents. Calls are accepted under both names.
    #[serde(skip_serializing_if = "AgentToolName::is_usual")]
    pub agent_tool: AgentToolName,
}

/// A name of the tool that starts subagents. Lists of tools, such as that of [`Init`](crate::message::Init), and denials always
/// name it `Task`; rules and hook matchers may use both names.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentToolName {
    /// `Task` (Agent SDK reference, `AgentInput`).
    #[default]
    Task,
    /// `Agent`, as the engine of the official SDKs offers it.
    Agent,
}

impl AgentToolName {
    /// The name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Task => "Task",
            Self::Agent => "Agent",
        }
    }

    fn is_usual(&self) -> bool {
        *self == Self::default()
    }
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct TaskPolicyForm {
    wake: bool,
    tool_calls_only: bool,
    announce_agents: bool,
    agent_tool: AgentToolName,
    /// Read for compatibility and ignored: the first journals name a folder here. The location of transcripts follows from
    /// [`Environment::transcript`](crate::environment::Environment::transcript).
    #[serde(rename = "transcripts")]
    _transcripts: Option<String>,
}

impl From<TaskPolicyForm> for TaskPolicy {
    fn from(form: TaskPolicyForm) -> Self {
        Self {
            wake: form.wake,
            tool_calls_only: form.tool_calls_only,
            announce_agents: form.announce_agents,
            agent_tool: form.agent_tool,
        }
    }
}
