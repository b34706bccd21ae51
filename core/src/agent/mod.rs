//! Agents that a session can start as its subagents: what they are, where they come from, what they may use.
//!
//! A subagent is a conversation of its own inside the session. It begins with nothing but its own prompt, the
//! project's instructions and the task it was given; its tools, rules and mode are the session's, or fewer, never
//! more; it starts no agents of its own.

mod built_in;
mod definition;

use alloc::{
    borrow::ToOwned,
    string::{String, ToString},
    vec::Vec,
};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

use crate::{sorted::SortedMap, tool::ToolDefinition};
pub use definition::{AgentDefinition, AgentError, AgentMcpServer, AgentModel, ModelAliases};

/// An agent with its name and where it comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentProfile {
    /// What the model calls it by (`subagent_type`).
    pub name: String,
    /// Who defined it.
    pub source: AgentSource,
    /// What it is told.
    pub definition: AgentDefinition,
    /// Tools of servers that only this agent has (the inline ones of its `mcpServers`), as far as the host has
    /// connected them: `mcp__server__tool`.
    pub own_tools: Vec<ToolDefinition>,
    /// The host is asked for `own_tools` whenever the agent starts: with a call of Task in [`Stage::Provision`](crate::effect::Stage::Provision),
    /// answered with the definitions as structured output. So servers run only where they are needed.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub brings_tools: bool,
    /// Of the parent's tools it gets only those that change nothing.
    pub reads_only: bool,
}

/// Who defined an agent. Of two with one name the later kind counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum AgentSource {
    /// It is always there.
    BuiltIn,
    /// A file in the person's own folder.
    User,
    /// A file in the project's `.claude/agents`.
    Project,
    /// The `agents` option.
    Option,
}

impl AgentProfile {
    /// An agent of the `agents` option.
    ///
    /// # Errors
    /// [`AgentError`] naming the field.
    pub fn new(name: &str, definition: AgentDefinition) -> Result<Self, AgentError> {
        Self::from_source(name, definition, AgentSource::Option)
    }

    /// An agent from anywhere.
    ///
    /// # Errors
    /// [`AgentError`] naming the field.
    pub fn from_source(
        name: &str,
        definition: AgentDefinition,
        source: AgentSource,
    ) -> Result<Self, AgentError> {
        definition.check(name)?;
        Ok(Self {
            name: name.to_owned(),
            source,
            definition,
            own_tools: Vec::new(),
            brings_tools: false,
            reads_only: false,
        })
    }
}

/// The agents a session can start, by name.
///
/// ```
/// use windlass_core::agent::{AgentProfile, AgentDefinition, Agents};
/// let mut agents = Agents::built_in();
/// let reviewer = AgentDefinition::new("Reviews changes; use it after every edit.", "You review code.");
/// agents.add(AgentProfile::new("reviewer", reviewer)?);
/// let names: Vec<&str> = agents.iter().map(|agent| agent.name.as_str()).collect();
/// assert_eq!(names, ["Explore", "Plan", "general-purpose", "reviewer"]);
/// # Ok::<(), windlass_core::agent::AgentError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Agents(SortedMap<String, AgentProfile>);

/// Their definitions by name, without those that are built in.
impl Serialize for Agents {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let own = self
            .iter()
            .filter(|agent| agent.source != AgentSource::BuiltIn);
        serializer.collect_map(own.map(|agent| (&agent.name, &agent.definition)))
    }
}

/// Definitions by name, added to those that are built in.
impl<'de> Deserialize<'de> for Agents {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut agents = Self::built_in();
        for (name, definition) in SortedMap::<String, AgentDefinition>::deserialize(deserializer)? {
            agents.add(AgentProfile::new(&name, definition).map_err(D::Error::custom)?);
        }
        Ok(agents)
    }
}

impl Agents {
    /// general-purpose, Explore and Plan.
    #[must_use]
    pub fn built_in() -> Self {
        let mut agents = Self::default();
        built_in::agents().for_each(|agent| agents.add(agent));
        agents
    }

    /// Adds an agent. One of the same name stays only if it comes from a stronger source: an option beats a file of
    /// the project, that one a file of the person, and every one of them what is built in.
    pub fn add(&mut self, agent: AgentProfile) {
        let stays = (self.0.get(&agent.name)).is_some_and(|known| known.source > agent.source);
        if !stays {
            self.0.insert(agent.name.clone(), agent);
        }
    }

    /// Takes a name from agents that are no stronger than `source`: what was to have it there cannot be used, and another one, which
    /// may do more, is not meant.
    pub fn close(&mut self, name: &str, source: AgentSource) {
        while let Some(known) = self.get(name) {
            if known.source > source {
                return;
            }
            let name = known.name.clone();
            self.0.remove(&name);
        }
    }

    /// An agent by name. Where no name is quite the same, one that differs only in capitals counts.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&AgentProfile> {
        self.0.get(name).or_else(|| {
            let same = |agent: &&AgentProfile| agent.name.eq_ignore_ascii_case(name);
            self.0.values().find(same)
        })
    }

    /// Every agent, by name.
    pub fn iter(&self) -> impl Iterator<Item = &AgentProfile> {
        self.0.values()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What an application can show of them (`supportedAgents`).
    #[must_use]
    pub fn infos(&self) -> Vec<AgentInfo> {
        self.iter()
            .map(|agent| AgentInfo {
                name: agent.name.clone(),
                description: agent.definition.description.clone(),
                model: (agent.definition.model.as_ref())
                    .filter(|model| **model != AgentModel::Inherit)
                    .map(ToString::to_string),
            })
            .collect()
    }
}

/// An agent as an application sees it (Agent SDK reference, `AgentInfo`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentInfo {
    /// Its name.
    pub name: String,
    /// When to use it.
    pub description: String,
    /// Its model; absent if that is the session's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

#[cfg(test)]
mod tests;
