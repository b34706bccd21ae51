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
    /// Tools that are called in the place of those the model calls, by the names it uses. Never more than one step (Agent SDK
    /// reference, `toolAliases`).
    #[serde(rename = "tool_aliases")]
    pub aliases: SortedMap<String, String>,
    /// Whether tools run one after another, also those that only read.
    #[serde(rename = "sequential_tools")]
    pub sequential: bool,
    /// When definitions wait until ToolSearch finds them. Without that tool none does.
    #[serde(rename = "tool_search")]
    pub search: ToolSearchSetting,
    /// Agents that the Task tool can start. Default: the built-in ones. Without that tool none is started.
    pub agents: Agents,
    /// The agent as which the main thread runs, if it does ([`Spec::run_as`](super::Spec::run_as)).
    pub agent: Option<String>,
    /// What background tasks and subagents let be heard.
    pub tasks: TaskPolicy,
    /// What the Skill tool has to offer.
    pub skills: Vec<Skill>,
    /// Characters that the list of skills may take.
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

/// Tools that the core runs itself are written down by their names alone ([`super::json`]).
fn of_the_host<S: serde::Serializer>(
    tools: &[ToolDefinition],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(tools.iter().filter(|tool| tool.core.is_none()))
}
