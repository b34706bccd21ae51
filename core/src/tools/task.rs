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

/// What Task is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskInput {
    /// A few words for whoever watches.
    pub description: String,
    /// The task.
    pub prompt: String,
    /// The agent, by name.
    pub subagent_type: String,
    /// Another model than the agent's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<AgentModel>,
    /// An agent of this session that shall go on, by the id it gave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume: Option<String>,
    /// Answered at once; the agent works on beside the conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_in_background: Option<bool>,
    /// Tool rounds it may take; the agent's own limit still holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_turns: Option<u32>,
    /// A name for this agent, by which it can be resumed and stopped as by its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The team it works for; reported, and without effect: there are no teams here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub team_name: Option<String>,
    /// A permission mode for it. A call must be allowed in this mode and in the session's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// Where it works.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub isolation: Option<TaskIsolation>,
}

/// Where an agent works if not where its parent does.
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

/// What the model reads about the tool; [`list`] follows it.
pub(super) const DESCRIPTION: &str = "Starts an agent that does a task by itself and reports once, at its end. It begins with an empty conversation: it sees nothing of this one, \
only the prompt you give it, so put everything it must know into that, and say what its report shall contain and whether it may change files. \
You read its report, the person does not: pass on what matters. Several agents run side by side when you start them in one response. \
Do not start an agent for what one or two direct tool calls would do. An agent that has ended can be given more to do with `resume` and its id.";

/// The agents that a session can start: those that no rule denies.
pub(super) fn startable(spec: &Spec) -> impl Iterator<Item = &AgentProfile> {
    let rules = &spec.policy.permissions.rules;
    (spec.tools.agents.iter()).filter(|agent| !rules.denies_subject("Task", &agent.name))
}

/// What there is to choose from, for the tool's description.
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

/// The agent a call is about: what rules such as `Task(Explore)` compare.
pub(super) fn name_in(input: &RawJson) -> Option<String> {
    RawObject::parse(input.get())
        .ok()?
        .get_string("subagent_type")
}

/// What became of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum AgentOutput {
    /// The agent ended and reported.
    #[serde(rename_all = "camelCase")]
    Completed {
        /// Its id, for `resume`.
        agent_id: String,
        /// Text blocks: its last message.
        content: Vec<RawJson>,
        /// Tool calls it made.
        total_tool_use_count: u32,
        /// From its start to its end.
        total_duration_ms: u64,
        /// Tokens of all kinds in all its requests and responses.
        total_tokens: u64,
        /// The same by kind.
        usage: AgentUsage,
        /// What it was asked.
        prompt: String,
    },
    /// It works on in the background.
    #[serde(rename_all = "camelCase")]
    AsyncLaunched {
        /// Its id; the task's as well.
        agent_id: String,
        /// The task in a few words.
        description: String,
        /// What it was asked.
        prompt: String,
        /// Where its transcript is being written; empty where none is.
        output_file: String,
        /// Whether the model has a tool to read that file with.
        #[serde(skip_serializing_if = "Option::is_none")]
        can_read_output_file: Option<bool>,
    },
    /// The person talks to it. Part of the shape; nothing here answers so, for who talks to an agent is the
    /// application's matter (the `agent` option).
    SubAgentEntered {
        /// The task in a few words.
        description: String,
        /// What to tell.
        message: String,
    },
}

/// Tokens of an agent, with the nulls of the Agent SDK reference.
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
    /// What the provider's own tools did.
    pub server_tool_use: Option<ServerToolUse>,
    /// Not known over several responses: null.
    pub service_tier: Option<String>,
    /// Not known by kind: null.
    pub cache_creation: Option<CacheCreation>,
}

/// Tokens written to the cache by how long they stay.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CacheCreation {
    /// An hour.
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
