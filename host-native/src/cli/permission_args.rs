//! The flags that say what may run.

use std::path::PathBuf;

use clap::{ArgAction, Args};
use windlass::sandbox::SandboxSettings;
use windlass_core::permission::Mode;

/// What may run.
#[derive(Debug, Args)]
pub(crate) struct PermissionArgs {
    /// What happens to calls that no rule decides: default, acceptEdits, auto, plan, dontAsk, bypassPermissions.
    #[arg(long, value_name = "MODE", value_parser = mode)]
    pub(crate) permission_mode: Option<Mode>,

    /// Run everything unasked but what a rule denies.
    #[arg(long, conflicts_with = "permission_mode")]
    pub(crate) dangerously_skip_permissions: bool,

    /// Calls that run unasked: Edit "Bash(npm test:*)". Takes all the words that follow.
    #[arg(long = "allowedTools", alias = "allowed-tools", value_name = "RULES", num_args = 1.., action = ArgAction::Append)]
    pub(crate) allowed_tools: Vec<String>,

    /// Calls that never run, and tools the model is not even shown.
    #[arg(long = "disallowedTools", alias = "disallowed-tools", value_name = "RULES", num_args = 1.., action = ArgAction::Append)]
    pub(crate) disallowed_tools: Vec<String>,

    /// Further settings, a file or JSON: stronger than the settings files.
    #[arg(long, value_name = "FILE|JSON")]
    pub(crate) settings: Option<String>,

    /// Whose settings files are read: user, project, local, with commas between them; "" for none. All if not said.
    #[arg(long, value_name = "SOURCES")]
    pub(crate) setting_sources: Option<String>,

    /// Trust this folder: what its settings allow, set and start counts, although nobody has agreed to it before.
    #[arg(long)]
    pub(crate) trust: bool,

    /// How commands are confined by the operating system: settings as JSON, such as '{"enabled": true}'.
    #[arg(long, value_name = "JSON", value_parser = SandboxSettings::parse)]
    pub(crate) sandbox: Option<SandboxSettings>,

    /// Load a plugin: a folder with commands, agents, skills, hooks, MCP servers and components, or one component (.wasm).
    #[arg(long, value_name = "PATH", action = ArgAction::Append)]
    pub(crate) plugin_dir: Vec<PathBuf>,

    /// Of plugins, load no hooks and no MCP servers, which run with your rights.
    #[arg(long)]
    pub(crate) components_only: bool,

    /// Load no installed plugins, only those of --plugin-dir.
    #[arg(long)]
    pub(crate) no_plugins: bool,

    /// More directories the tools may work in.
    #[arg(long, alias = "addDir", value_name = "DIR", num_args = 1.., action = ArgAction::Append)]
    pub(crate) add_dir: Vec<PathBuf>,
}

fn mode(name: &str) -> Result<Mode, String> {
    Mode::parse(name).ok_or_else(|| {
        let names: Vec<&str> = Mode::ALL.into_iter().map(Mode::name).collect();
        format!("the modes are {}", names.join(", "))
    })
}
