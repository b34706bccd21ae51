//! Definitions of agents (Agent SDK reference, `AgentDefinition`).

use alloc::{
    borrow::ToOwned,
    string::{String, ToString},
    vec::Vec,
};
use core::fmt;

use serde::{Deserialize, Serialize};

use crate::{
    json::RawJson,
    permission::{Mode, Rule, misspelt_tool, nearest_name},
    sorted::SortedMap,
};

/// An agent's prompt and what it may use. Unknown fields are ignored.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentDefinition {
    /// When to use the agent, for the model that may start it.
    pub description: String,
    /// The names of its tools; none means all tools of its parent. `mcp__server` stands for all tools of a server, `*` for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<String>>,
    /// Tools it does not get. For an entry with a specifier (`Bash(rm *)`) it gets the tool, and such calls are denied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disallowed_tools: Option<Vec<String>>,
    /// Its system prompt.
    pub prompt: String,
    /// Its model; none means the model of the main thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<AgentModel>,
    /// Its MCP servers; none means those of its parent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mcp_servers: Option<Vec<AgentMcpServer>>,
    /// Skills whose text is part of its prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skills: Option<Vec<String>>,
    /// Maximum number of tool rounds; none is no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_turns: Option<u32>,
    /// Its permission mode, applied if it allows no more than the mode of its parent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<Mode>,
    /// Text added at the end of its system prompt.
    #[serde(
        rename = "criticalSystemReminder_EXPERIMENTAL",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub critical_system_reminder: Option<String>,
}

impl AgentDefinition {
    /// Reads a definition that a person or program wrote.
    ///
    /// # Errors
    /// What is wrong, for people. A probable misspelling of a field that restricts the agent is an error, too: without that field
    /// the agent could do more than was intended.
    pub fn read(json: &RawJson) -> Result<Self, String> {
        let definition: Self = json.decode().map_err(|error| error.to_string())?;
        let fields: SortedMap<String, serde::de::IgnoredAny> = json.decode().unwrap_or_default();
        match Self::misspelt(fields.iter().map(|(key, _)| key.as_str())) {
            None => Ok(definition),
            Some((key, meant)) => Err(alloc::format!(
                "it has no field `{key}`: did you mean `{meant}`?"
            )),
        }
    }

    /// The first of these fields that is probably a misspelling of a restricting one, with the correct name.
    #[must_use]
    pub fn misspelt<'k>(
        mut fields: impl Iterator<Item = &'k str>,
    ) -> Option<(&'k str, &'static str)> {
        const NARROWING: [&str; 4] = ["disallowedTools", "maxTurns", "permissionMode", "tools"];
        fields.find_map(|key| {
            let meant = nearest_name(key, &NARROWING).filter(|meant| *meant != key)?;
            Some((key, meant))
        })
    }

    /// An agent with all tools and the model of its parent.
    pub fn new(description: impl Into<String>, prompt: impl Into<String>) -> Self {
        Self {
            description: description.into(),
            prompt: prompt.into(),
            ..Self::default()
        }
    }

    /// Checks that an agent with this name and definition can be started.
    pub(super) fn check(&self, name: &str) -> Result<(), AgentError> {
        let fault = |field, problem: &str| AgentError {
            agent: name.to_owned(),
            field,
            problem: problem.to_owned(),
        };
        if name.trim().is_empty() || name.chars().any(char::is_control) {
            return Err(fault("name", "must be a name on one line"));
        }
        if self.max_turns == Some(0) {
            return Err(fault(
                "maxTurns",
                "must be at least 1, or absent for no limit",
            ));
        }
        for tool in self.tools.iter().flatten() {
            if tool.contains('(') {
                let problem = alloc::format!(
                    "takes names of tools, and {tool} is more than a name: name the tool here, and put what it must not do into disallowedTools or the permission rules"
                );
                return Err(fault("tools", &problem));
            }
        }
        for rule in self.disallowed_tools.iter().flatten() {
            let wrong = |problem: &str| fault("disallowedTools", problem);
            let rule = Rule::parse(rule).map_err(|error| wrong(&error.to_string()))?;
            if let Some(meant) = misspelt_tool(&rule) {
                let problem =
                    alloc::format!("names no tool by {}: did you mean {meant}?", rule.tool());
                return Err(wrong(&problem));
            }
        }
        Ok(())
    }
}

/// An invalid agent definition.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the agent {agent} cannot be used: its field `{field}` {problem}")]
pub struct AgentError {
    /// The agent.
    pub agent: String,
    /// The field.
    pub field: &'static str,
    /// What is wrong with it, and what would be valid.
    pub problem: String,
}

/// The model of an agent. In JSON a string.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum AgentModel {
    /// The medium model ([`ModelAliases`]).
    Sonnet,
    /// The largest model.
    Opus,
    /// The smallest model.
    Haiku,
    /// The model of the main thread.
    Inherit,
    /// A model by its full name.
    Id(String),
}

impl AgentModel {
    /// The name of the model to use. `main` is the model of the main thread. A name that is no alias stays as it is.
    #[must_use]
    pub fn resolve<'a>(&'a self, main: &'a str, aliases: &'a ModelAliases) -> &'a str {
        let name = match self {
            Self::Sonnet => "sonnet",
            Self::Opus => "opus",
            Self::Haiku => "haiku",
            Self::Inherit => return main,
            Self::Id(name) => name,
        };
        aliases.get(name).map_or(name, String::as_str)
    }
}

impl From<String> for AgentModel {
    fn from(name: String) -> Self {
        match name.as_str() {
            "sonnet" => Self::Sonnet,
            "opus" => Self::Opus,
            "haiku" => Self::Haiku,
            "inherit" | "" => Self::Inherit,
            _ => Self::Id(name),
        }
    }
}

impl From<AgentModel> for String {
    fn from(model: AgentModel) -> Self {
        model.to_string()
    }
}

impl fmt::Display for AgentModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sonnet => "sonnet",
            Self::Opus => "opus",
            Self::Haiku => "haiku",
            Self::Inherit => "inherit",
            Self::Id(name) => name,
        })
    }
}

/// The models that short names stand for (`sonnet`, `opus`, `haiku`). A name that is not here is sent as it is.
pub type ModelAliases = SortedMap<String, String>;

/// An MCP server of an agent (Agent SDK reference, `AgentMcpServerSpec`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum AgentMcpServer {
    /// A server of the parent, by name.
    Named(String),
    /// Servers of its own with their configurations. The host connects them and gives the agent their tools
    /// ([`AgentProfile::own_tools`](super::AgentProfile::own_tools)).
    Inline(SortedMap<String, RawJson>),
}

impl<'de> Deserialize<'de> for AgentMcpServer {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // The implementation that serde derives for untagged enums would parse and rebuild the configurations.
        let raw = RawJson::deserialize(deserializer)?;
        if let Ok(name) = raw.read() {
            return Ok(Self::Named(name));
        }
        raw.read().map(Self::Inline).map_err(|_| {
            serde::de::Error::custom(
                "a server of an agent is a name, or an object of names and configurations",
            )
        })
    }
}

impl AgentMcpServer {
    /// The names of the servers.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let (named, inline) = match self {
            Self::Named(name) => (Some(name), None),
            Self::Inline(servers) => (None, Some(servers.keys())),
        };
        (named.into_iter().chain(inline.into_iter().flatten())).map(String::as_str)
    }
}
