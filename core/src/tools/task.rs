//! The Task tool's input, output and description (Agent SDK reference, `AgentInput`, `AgentOutput`).

use alloc::{format, string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use crate::{
    agent::{AgentModel, AgentProfile},
    json::{RawJson, RawObject},
    model::{ServerToolUse, Usage},
    permission::Mode,
    spec::Spec,
};

/// The input of Task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskInput {
    /// A short description for people.
    pub description: String,
    /// The task.
    pub prompt: String,
    /// The name of the agent.
    pub subagent_type: String,
    /// A model that replaces the agent's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<AgentModel>,
    /// The id of an agent of this session that is to be resumed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume: Option<String>,
    /// Whether the call is answered at once and the agent runs in the background.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_in_background: Option<bool>,
    /// Maximum tool rounds; the agent's own limit still applies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_turns: Option<u32>,
    /// A name for this agent, by which it can be resumed and stopped like by its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The team it works for; reported but otherwise ignored, since there are no teams here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub team_name: Option<String>,
    /// A permission mode for the agent. A call must be allowed in this mode and in the session's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// Where it works; none means its parent's directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub isolation: Option<TaskIsolation>,
}

/// Where an agent works, if not in its parent's directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TaskIsolation {
    /// In a git worktree of its own.
    Worktree,
}

/// JSON Schema of [`TaskInput`].
pub(super) const SCHEMA: &str = r#"{
  "type": "object",
  "properties": {
    "description": { "type": "string", "description": "The task in three to five words" },
    "prompt": { "type": "string", "minLength": 1, "description": "The task, with everything the agent needs to know" },
    "subagent_type": { "type": "string", "description": "The agent that shall do it" },
    "model": { "type": "string", "enum": ["sonnet", "opus", "haiku"], "description": "Another model than the agent's own" },
    "resume": { "type": "string", "description": "The id of an agent that shall go on where it ended, with this prompt" },
    "run_in_background": { "type": "boolean", "description": "Do not wait for it: you hear when it is done, and TaskOutput reads what it found" },
    "max_turns": { "type": "integer", "minimum": 1, "description": "Tool rounds it may take" },
    "name": { "type": "string", "description": "A name for it, instead of its id" },
    "team_name": { "type": "string", "description": "The team it works for" },
    "mode": { "type": "string", "enum": ["acceptEdits", "bypassPermissions", "default", "dontAsk", "plan"], "description": "A stricter permission mode for it" },
    "isolation": { "type": "string", "enum": ["worktree"], "description": "worktree: it works in a git worktree of its own" }
  },
  "required": ["description", "prompt", "subagent_type"]
}"#;

/// The description for the model; [`list`] is appended to it.
pub(super) const DESCRIPTION: &str = "Starts an agent that does a task by itself and reports once, at its end. It begins with an empty conversation: it sees nothing of this one, \
only the prompt you give it, so put everything it must know into that, and say what its report shall contain and whether it may change files. \
You read its report, the person does not: pass on what matters. Several agents run side by side when you start them in one response. \
Do not start an agent for what one or two direct tool calls would do. An agent that has ended can be given more to do with `resume` and its id.";

/// The agents that can be started: those that no rule denies.
pub(super) fn startable(spec: &Spec) -> impl Iterator<Item = &AgentProfile> {
    let rules = &spec.policy.permissions.rules;
    (spec.tools.agents.iter()).filter(|agent| !rules.denies_subject("Task", &agent.name))
}

/// The list of agents for the tool's description.
pub(super) fn list(spec: &Spec) -> String {
    let mut text = String::from("The agents:");
    for agent in startable(spec) {
        let tools = match (&agent.definition.tools, agent.reads_only) {
            (Some(tools), _) => tools.join(", "),
            (None, true) => "all that change nothing".into(),
            (None, false) => "all".into(),
        };
        let description = agent.definition.description.trim();
        text.push_str(&format!(
            "\n- {}: {description} (Tools: {tools})",
            agent.name
        ));
    }
    text
}

/// The agent named in a call, for rules such as `Task(Explore)`.
pub(super) fn name_in(input: &RawJson) -> Option<String> {
    RawObject::parse(input.get())
        .ok()?
        .get_string("subagent_type")
}

/// The outcome of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum AgentOutput {
    /// The agent has ended and reported.
    #[serde(rename_all = "camelCase")]
    Completed {
        /// Its id, for `resume`.
        agent_id: String,
        /// The text blocks of its last message.
        content: Vec<RawJson>,
        /// The number of its tool calls.
        total_tool_use_count: u32,
        /// Milliseconds from its start to its end.
        total_duration_ms: u64,
        /// Tokens of all kinds in all its requests and responses.
        total_tokens: u64,
        /// The same by kind of token.
        usage: AgentUsage,
        /// Its prompt.
        prompt: String,
    },
    /// It continues in the background.
    #[serde(rename_all = "camelCase")]
    AsyncLaunched {
        /// Its id, which is also that of the task.
        agent_id: String,
        /// A short description of the task.
        description: String,
        /// Its prompt.
        prompt: String,
        /// The path of its transcript; empty if none is written.
        output_file: String,
        /// Whether the model has a tool to read that file.
        #[serde(skip_serializing_if = "Option::is_none")]
        can_read_output_file: Option<bool>,
    },
    /// The user talks to the agent. Part of the specified form, but never returned: letting the user talk to an agent is up to
    /// the application (the `agent` option).
    SubAgentEntered {
        /// A short description of the task.
        description: String,
        /// The message.
        message: String,
    },
}

/// Token counts of an agent, with the nulls of the Agent SDK reference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AgentUsage {
    /// Input tokens neither read from nor written to the cache.
    pub input_tokens: u64,
    /// Output tokens.
    pub output_tokens: u64,
    /// Input tokens written to the cache.
    pub cache_creation_input_tokens: Option<u64>,
    /// Input tokens read from the cache.
    pub cache_read_input_tokens: Option<u64>,
    /// Calls of the provider's own tools.
    pub server_tool_use: Option<ServerToolUse>,
    /// Unknown for several responses: null.
    pub service_tier: Option<String>,
    /// Unknown by kind: null.
    pub cache_creation: Option<CacheCreation>,
}

/// Tokens written to the cache, by lifetime.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CacheCreation {
    /// One hour.
    pub ephemeral_1h_input_tokens: u64,
    /// Five minutes.
    pub ephemeral_5m_input_tokens: u64,
}

impl From<&Usage> for AgentUsage {
    fn from(usage: &Usage) -> Self {
        Self {
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
            cache_creation_input_tokens: Some(usage.cache_creation_input_tokens),
            cache_read_input_tokens: Some(usage.cache_read_input_tokens),
            server_tool_use: Some(usage.server_tool_use.clone()),
            service_tier: None,
            cache_creation: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use serde_json::json;

    use super::*;

    #[test]
    fn tool_25_an_agent_that_the_person_talks_to_has_its_form_of_output() {
        let entered = AgentOutput::SubAgentEntered {
            description: "review".to_string(),
            message: "You talk to the reviewer now.".to_string(),
        };
        assert_eq!(
            serde_json::to_value(entered).unwrap(),
            json!({"status": "sub_agent_entered", "description": "review", "message": "You talk to the reviewer now."})
        );
    }
}
