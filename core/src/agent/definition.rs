//! What an agent is told (Agent SDK reference, `AgentDefinition`).

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

/// An agent's prompt and what it may use. Fields that this version does not know are left aside.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentDefinition {
    /// When to use the agent: the model that may start it reads this.
    pub description: String,
    /// The names of its tools; none gives it those of its parent. `mcp__server` stands for all tools of a server, `*` for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<String>>,
    /// Tools it does not get. With a specifier (`Bash(rm *)`) it gets the tool, and such calls are denied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disallowed_tools: Option<Vec<String>>,
    /// Its system prompt.
    pub prompt: String,
    /// Its model; none is that of the main thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<AgentModel>,
    /// Its MCP servers; none gives it those of its parent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mcp_servers: Option<Vec<AgentMcpServer>>,
    /// Skills whose text is in its prompt from the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skills: Option<Vec<String>>,
    /// Tool rounds it may take; none is no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_turns: Option<u32>,
    /// Its permission mode, where that allows no more than the mode of its parent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<Mode>,
    /// Stands at the end of its system prompt.
    #[serde(
        rename = "criticalSystemReminder_EXPERIMENTAL",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub critical_system_reminder: Option<String>,
}

impl AgentDefinition {
    /// Reads one that a person or program wrote.
    ///
    /// # Errors
    /// What is wrong, for people. A key whose name is nearly that of one which takes something away is wrong, too: the agent may
    /// more than was meant without it.
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

    /// The first of these fields whose name is nearly that of one which takes something away, and that one.
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

    /// Whether an agent of this name and definition can be started.
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

/// An agent's definition that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the agent {agent} cannot be used: its field `{field}` {problem}")]
pub struct AgentError {
    /// The agent.
    pub agent: String,
    /// The field.
    pub field: &'static str,
    /// What is wrong with it, and what would be right.
    pub problem: String,
}

/// The model of an agent. In JSON a string.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum AgentModel {
    /// The middle one ([`ModelAliases`]).
    Sonnet,
    /// The largest one.
    Opus,
    /// The smallest one.
    Haiku,
    /// That of the main thread.
    Inherit,
    /// A model by its own name.
    Id(String),
}

impl AgentModel {
    /// The name of the model to ask. `main` is the one of the main thread.
    #[must_use]
    pub fn resolve<'a>(&'a self, main: &'a str, aliases: &'a ModelAliases) -> &'a str {
        match self {
            Self::Sonnet => &aliases.sonnet,
            Self::Opus => &aliases.opus,
            Self::Haiku => &aliases.haiku,
            Self::Inherit => main,
            Self::Id(name) => name,
        }
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

/// Which models the short names mean.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ModelAliases {
    /// `sonnet`.
    pub sonnet: String,
    /// `opus`.
    pub opus: String,
    /// `haiku`.
    pub haiku: String,
}

impl Default for ModelAliases {
    fn default() -> Self {
        Self {
            sonnet: "claude-sonnet-4-6".to_owned(),
            opus: "claude-opus-4-6".to_owned(),
            haiku: "claude-haiku-4-5".to_owned(),
        }
    }
}

/// An MCP server of an agent (Agent SDK reference, `AgentMcpServerSpec`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum AgentMcpServer {
    /// A server of the parent, by name.
    Named(String),
    /// Servers of its own, each with its configuration: the host connects them and gives the agent their tools
    /// ([`AgentProfile::own_tools`](super::AgentProfile::own_tools)).
    Inline(SortedMap<String, RawJson>),
}

impl<'de> Deserialize<'de> for AgentMcpServer {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // What serde derives for untagged enums would take the configurations apart.
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
