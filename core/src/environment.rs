//! Facts about the host that messages and judgements need.

use alloc::{string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use crate::id::SessionId;

/// Facts about the host that messages and judgements need.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Environment {
    /// The working directory: absolute, links resolved.
    pub cwd: String,
    /// The file of the transcript, for hooks; `{session_id}` in it stands for the session's id, since many
    /// sessions share these facts. Empty where none is kept.
    pub transcript: String,
    /// The person's home directory, for rules that begin with `~/`.
    pub home: Option<String>,
    /// Whether the program runs with all rights (root on Unix): [`Mode::BypassPermissions`](crate::permission::Mode::BypassPermissions) is refused then.
    pub is_root: bool,
    /// Further directories that belong to the workspace: absolute, links resolved.
    pub additional_directories: Vec<String>,
    /// Directories of the program itself, its configuration and caches: absolute, links resolved. They are never changed
    /// without a person.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub own_directories: Vec<String>,
    /// Files and folders of the program itself that no tool reads or changes without a person, in any mode: absolute, links
    /// resolved. What is executed as the program's own, and the key that says so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub closed_places: Vec<String>,
    /// The operating system, in words the model understands; empty when not told.
    pub platform: String,
    /// Whether the working directory lies in a git repository; none when not told.
    pub git_repository: Option<bool>,
    /// The day on which the session begins, as the host writes days; empty when not told. It stays the same
    /// while the session lives: a prompt that changed every day would be cached for a day at most.
    pub date: String,
    /// The version to report.
    pub version: String,
    /// Where the API key comes from.
    pub api_key_source: String,
    /// MCP servers.
    pub mcp_servers: Vec<McpServer>,
    /// Commands a prompt may begin with.
    pub commands: Vec<SlashCommand>,
    /// Further commands by name alone.
    pub slash_commands: Vec<String>,
    /// The output style.
    pub output_style: String,
    /// Agents.
    pub agents: Vec<String>,
    /// Skills.
    pub skills: Vec<String>,
    /// Plugins.
    pub plugins: Vec<PluginInfo>,
}

impl Environment {
    /// Every command by name.
    #[must_use]
    pub fn command_names(&self) -> Vec<String> {
        let described = self.commands.iter().map(|command| command.name.clone());
        described
            .chain(self.slash_commands.iter().cloned())
            .collect()
    }

    /// The file of a session's transcript; empty where none is kept.
    #[must_use]
    pub fn transcript_of(&self, session: SessionId) -> String {
        self.transcript
            .replace("{session_id}", &alloc::format!("{session}"))
    }
}

/// An MCP server in [`Init`](crate::message::Init).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct McpServer {
    /// Its name in the configuration.
    pub name: String,
    /// `connected`, `failed`, `needs-auth`, `pending` or `disabled`.
    pub status: String,
}

/// A plugin in [`Init`](crate::message::Init).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PluginInfo {
    /// Its name.
    pub name: String,
    /// Where it was loaded from.
    pub path: String,
}

/// A command that a prompt may begin with (Agent SDK reference, `SlashCommand`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SlashCommand {
    /// Its name, without the slash.
    pub name: String,
    /// What it does.
    pub description: String,
    /// What may follow it; empty when nothing.
    pub argument_hint: String,
}
