//! Agents that a session can start as subagents: definitions, sources, and what they may use.
//!
//! A subagent is a separate conversation inside the session. It starts with only its own prompt, the project's instructions and
//! its task. Its tools, rules and mode are those of the session or fewer, never more. It cannot start subagents.

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
    /// The name by which the model calls it (`subagent_type`).
    pub name: String,
    /// Who defined it.
    pub source: AgentSource,
    /// Its definition.
    pub definition: AgentDefinition,
    /// Tools of MCP servers that only this agent has (the inline ones of its `mcpServers`), as far as the host has connected
    /// them: `mcp__server__tool`.
    pub own_tools: Vec<ToolDefinition>,
    /// Whether the host is asked for `own_tools` whenever the agent starts: by a call of Task in
    /// [`Stage::Provision`](crate::effect::Stage::Provision), answered with the definitions as structured output. The servers
    /// then run only where they are needed.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub brings_tools: bool,
    /// Whether it gets only the read-only ones of the parent's tools.
    pub reads_only: bool,
}

/// Who defined an agent. If two agents have the same name, the later source in this order wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum AgentSource {
    /// Built in.
    BuiltIn,
    /// A file in the user's own folder.
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

    /// An agent from any source.
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

/// Serialises the definitions by name, without the built-in agents.
impl Serialize for Agents {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let own = self
            .iter()
            .filter(|agent| agent.source != AgentSource::BuiltIn);
        serializer.collect_map(own.map(|agent| (&agent.name, &agent.definition)))
    }
}

/// Reads definitions by name and adds them to the built-in agents.
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
    /// The built-in agents: general-purpose, Explore and Plan.
    #[must_use]
    pub fn built_in() -> Self {
        let mut agents = Self::default();
        built_in::agents().for_each(|agent| agents.add(agent));
        agents
    }

    /// Adds an agent. It replaces an agent of the same name unless that one comes from a stronger source: the option is stronger
    /// than a file of the project, which is stronger than a file of the user, which is stronger than a built-in agent.
    pub fn add(&mut self, agent: AgentProfile) {
        let stays = (self.0.get(&agent.name)).is_some_and(|known| known.source > agent.source);
        if !stays {
            self.0.insert(agent.name.clone(), agent);
        }
    }

    /// Removes the agents of this name from sources no stronger than `source`. Used if a definition from `source` is invalid:
    /// falling back to another agent, which may do more, would be wrong.
    pub fn close(&mut self, name: &str, source: AgentSource) {
        while let Some(known) = self.get(name) {
            if known.source > source {
                return;
            }
            let name = known.name.clone();
            self.0.remove(&name);
        }
    }

    /// An agent by name. Without an exact match, the comparison ignores case (ASCII).
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&AgentProfile> {
        self.0.get(name).or_else(|| {
            let same = |agent: &&AgentProfile| agent.name.eq_ignore_ascii_case(name);
            self.0.values().find(same)
        })
    }

    /// All agents, in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = &AgentProfile> {
        self.0.values()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The agents in the form that an application can show (`supportedAgents`).
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

/// An agent as shown to an application (Agent SDK reference, `AgentInfo`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentInfo {
    /// Its name.
    pub name: String,
    /// When to use it.
    pub description: String,
    /// Its model; absent if it uses the session's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

#[cfg(test)]
mod tests;
