//! Facts about the host that messages and permission decisions need.

use alloc::{string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use crate::id::SessionId;

/// Facts about the host that messages and permission decisions need.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Environment {
    /// The working directory: absolute, links resolved.
    pub cwd: String,
    /// The path of the transcript file, passed to hooks. `{session_id}` in it is replaced by the session's id, since many
    /// sessions share these facts. Empty if no transcript is kept.
    pub transcript: String,
    /// The user's home directory, for rules that begin with `~/`.
    pub home: Option<String>,
    /// Whether the program runs with all rights (root on Unix): [`Mode::BypassPermissions`](crate::permission::Mode::BypassPermissions) is refused then.
    pub is_root: bool,
    /// Further directories that belong to the workspace: absolute, links resolved.
    pub additional_directories: Vec<String>,
    /// The program's own directories (configuration, caches): absolute, links resolved. They are never changed without a person's
    /// consent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub own_directories: Vec<String>,
    /// The program's own files and folders that no tool reads or changes without a person's consent, in any mode: absolute, links
    /// resolved. They hold what the program executes as its own, and the key that authenticates it.
    #[serde(
        default,
        rename = "closed_places",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub private_paths: Vec<String>,
    /// The operating system, in words the model understands; empty if unknown.
    pub platform: String,
    /// Whether the working directory is in a git repository; none if unknown.
    pub git_repository: Option<bool>,
    /// The date on which the session begins, as the host formats dates; empty if unknown. It stays the same for the life of the
    /// session: a prompt that changed every day would be cached for a day at most.
    pub date: String,
    /// The version to report.
    pub version: String,
    /// Where the API key comes from.
    pub api_key_source: String,
    /// MCP servers.
    pub mcp_servers: Vec<McpServer>,
    /// Slash commands that a prompt may begin with.
    pub commands: Vec<SlashCommand>,
    /// Further slash commands, by name only.
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
    /// The names of all slash commands.
    #[must_use]
    pub fn command_names(&self) -> Vec<String> {
        let described = self.commands.iter().map(|command| command.name.clone());
        described
            .chain(self.slash_commands.iter().cloned())
            .collect()
    }

    /// The path of a session's transcript file; empty if no transcript is kept.
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

/// A slash command (Agent SDK reference, `SlashCommand`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SlashCommand {
    /// Its name, without the slash.
    pub name: String,
    /// What it does.
    pub description: String,
    /// The arguments it takes; empty if none.
    pub argument_hint: String,
}
