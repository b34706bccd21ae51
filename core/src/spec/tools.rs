//! What the model can call: tools, agents, skills.

use alloc::{string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use super::{TaskPolicy, ToolSearchSetting};
use crate::{
    agent::Agents,
    skill::{self, Skill},
    sorted::SortedMap,
    tool::ToolDefinition,
};

/// What the model can call: tools, agents, skills.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolSpec {
    /// The tools. [`Spec::offer`](super::Spec::offer) adds those that the core runs itself.
    #[serde(rename = "tools", serialize_with = "of_the_host")]
    pub definitions: Vec<ToolDefinition>,
    /// Replacements for tools, by the name that the model calls. A replacement is not replaced again (Agent SDK reference,
    /// `toolAliases`).
    #[serde(rename = "tool_aliases")]
    pub aliases: SortedMap<String, String>,
    /// Whether all tools run one after another, including read-only ones.
    #[serde(rename = "sequential_tools")]
    pub sequential: bool,
    /// When tool definitions are deferred until ToolSearch finds them. Without that tool none is deferred.
    #[serde(rename = "tool_search")]
    pub search: ToolSearchSetting,
    /// Agents that the Task tool can start. Default: the built-in ones. Without that tool no agent can be started.
    pub agents: Agents,
    /// The name of the agent that the main thread runs as, if any ([`Spec::run_as`](super::Spec::run_as)).
    pub agent: Option<String>,
    /// How background tasks and subagents are reported.
    pub tasks: TaskPolicy,
    /// The skills that the Skill tool offers.
    pub skills: Vec<Skill>,
    /// Maximum length of the list of skills in characters.
    pub skill_list_budget: u32,
}

impl Default for ToolSpec {
    fn default() -> Self {
        Self {
            definitions: Vec::new(),
            aliases: SortedMap::new(),
            sequential: false,
            search: ToolSearchSetting::default(),
            agents: Agents::built_in(),
            agent: None,
            tasks: TaskPolicy::default(),
            skills: Vec::new(),
            skill_list_budget: skill::DEFAULT_LIST_BUDGET,
        }
    }
}

/// Serialises the tools that the host runs. Tools that the core runs are serialised by name only ([`super::json`]).
fn of_the_host<S: serde::Serializer>(
    tools: &[ToolDefinition],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(tools.iter().filter(|tool| tool.core.is_none()))
}
