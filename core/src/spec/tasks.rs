//! What background tasks and subagents let be heard.

use alloc::string::String;

use serde::{Deserialize, Serialize};

/// What background tasks and subagents let be heard.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "TaskPolicyForm")]
pub struct TaskPolicy {
    /// The end of a background task begins a turn of its own when the conversation is quiet. Without, the model
    /// hears of it with the next prompt.
    pub wake: bool,
    /// Of a subagent's responses only the tool calls are handed on, not its words and thoughts.
    pub tool_calls_only: bool,
    /// Subagents that are waited for are told of as tasks, too: [`TaskStarted`](crate::message::TaskStarted),
    /// [`TaskProgress`](crate::message::TaskProgress), [`TaskNotification`](crate::message::TaskNotification).
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub announce_agents: bool,
    /// The name by which the model is offered the tool that starts subagents. Calls are understood under both.
    #[serde(skip_serializing_if = "AgentToolName::is_usual")]
    pub agent_tool: AgentToolName,
}

/// A name of the tool that starts subagents. Lists of tools, such as that of [`Init`](crate::message::Init), and denials
/// name it `Task` either way; rules and matchers of hooks may use both.
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
    /// The first journals name a folder here; where transcripts are follows from [`Environment::transcript`](crate::environment::Environment::transcript).
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
