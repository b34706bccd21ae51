//! The arguments of `windlass plugin`, apart from those of installing.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::{
    install_args::{PluginAddArgs, PluginInspectArgs, PluginRemoveArgs, PluginUpdateArgs},
    plugin::Language,
};

#[derive(Debug, Subcommand)]
pub(crate) enum PluginCommand {
    /// Make a folder with a plugin that builds and passes its own test.
    New(PluginNewArgs),
    /// Build the component of a plugin's folder.
    Build(PluginBuildArgs),
    /// Build a plugin, run its tests, and say what each call used of its limits.
    Test(PluginTestArgs),
    /// Install a plugin: a component (.wasm) or a folder, from a path, an address with a digest, or a registry.
    Add(Box<PluginAddArgs>),
    /// Say where an installed plugin comes from, what it asks for and has, and whether its files are those that were installed.
    Inspect(PluginInspectArgs),
    /// Fetch installed plugins again from where they came.
    Update(Box<PluginUpdateArgs>),
    /// Remove an installed plugin with what it was granted.
    Remove(PluginRemoveArgs),
    /// Grant a component something for good, or see what it asks for and has.
    Grant(PluginGrantArgs),
    /// Take back what a component was granted.
    Revoke(PluginRevokeArgs),
    /// List what is installed, and what components were granted.
    List(PluginListArgs),
    /// Say what a component declares and asks for, and whether it would be loaded. Runs nothing.
    Check(PluginCheckArgs),
}

#[derive(Debug, Args)]
pub(crate) struct PluginNewArgs {
    /// The folder; its last part is the name of the plugin.
    pub(crate) path: PathBuf,

    /// The language it is written in.
    #[arg(long, default_value = "rust")]
    pub(crate) lang: Language,
}

#[derive(Debug, Args)]
pub(crate) struct PluginBuildArgs {
    /// The folder of the plugin.
    #[arg(default_value = ".")]
    pub(crate) folder: PathBuf,

    /// The component; `components/NAME.wasm` in the folder if left out.
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct PluginTestArgs {
    /// The folder of the plugin.
    #[arg(default_value = ".")]
    pub(crate) folder: PathBuf,

    /// Test this component instead of building one.
    #[arg(long, value_name = "FILE")]
    pub(crate) component: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct PluginGrantArgs {
    /// The component: a `.wasm` file, or the name of what is installed.
    pub(crate) file: PathBuf,

    /// Let the hooks and MCP servers of an installed folder run, with your rights. Its components get nothing by it.
    #[arg(long, conflicts_with_all = ["workspace", "directories", "origins", "secrets", "variables", "state", "new_state", "replace"])]
    pub(crate) programs: bool,

    #[command(flatten)]
    pub(crate) named: NamedGrantArgs,

    /// Grant what is named and nothing else. Without this, what it has already stays.
    #[arg(long)]
    pub(crate) replace: bool,

    /// Let it remember nothing of what another version of its name remembered for good.
    #[arg(long)]
    pub(crate) new_state: bool,

    /// Ask nobody: for scripts of yours. No program that an agent started changes a grant, with or without it.
    #[arg(long)]
    pub(crate) yes: bool,
}

/// What a component is granted.
#[derive(Debug, Args)]
pub(crate) struct NamedGrantArgs {
    /// Files of the workspace: read, write, or none.
    #[arg(long, value_name = "ACCESS")]
    pub(crate) workspace: Option<WorkspaceAccess>,

    /// Files of a directory: `PATH` or `PATH=write`; or the directory of a role that it declares: `ROLE=PATH`, or `ROLE=PATH=read`
    /// for less than it asks for. Can be repeated.
    #[arg(long = "dir", value_name = "[ROLE=]PATH[=ACCESS]")]
    pub(crate) directories: Vec<String>,

    /// Requests to an origin that it declares: `https://api.example.com=GET,POST`; GET alone if no method is named. Can be repeated.
    #[arg(long = "http", value_name = "ORIGIN[=METHODS]")]
    pub(crate) origins: Vec<String>,

    /// A secret that it declares, and the environment variable that has its value. Can be repeated.
    #[arg(long = "secret", value_name = "NAME=VARIABLE")]
    pub(crate) secrets: Vec<String>,

    /// An environment variable that it declares. Can be repeated.
    #[arg(long = "env", value_name = "NAME")]
    pub(crate) variables: Vec<String>,

    /// What it may remember: none, session or durable.
    #[arg(long, value_name = "SCOPE")]
    pub(crate) state: Option<RememberedScope>,
}

/// The access to the workspace that a component is granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum WorkspaceAccess {
    None,
    Read,
    Write,
}

/// What a component may remember.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RememberedScope {
    None,
    Session,
    Durable,
}

#[derive(Debug, Args)]
pub(crate) struct PluginRevokeArgs {
    /// The component: its file, the name that it declares, or its digest.
    pub(crate) component: String,

    /// Let the hooks and MCP servers of an installed folder, named here, not run any more.
    #[arg(long)]
    pub(crate) programs: bool,

    /// Only files of the workspace. Without this and the options below, all that it was granted.
    #[arg(long)]
    pub(crate) workspace: bool,

    /// Only a directory, by its path or its role. Can be repeated.
    #[arg(long = "dir", value_name = "PATH|ROLE")]
    pub(crate) directories: Vec<String>,

    /// Only requests to an origin, or some methods of them. Can be repeated.
    #[arg(long = "http", value_name = "ORIGIN[=METHODS]")]
    pub(crate) origins: Vec<String>,

    /// Only a secret. Can be repeated.
    #[arg(long = "secret", value_name = "NAME")]
    pub(crate) secrets: Vec<String>,

    /// Only an environment variable. Can be repeated.
    #[arg(long = "env", value_name = "NAME")]
    pub(crate) variables: Vec<String>,

    /// Only what it may remember.
    #[arg(long)]
    pub(crate) state: bool,

    /// Ask nobody: for scripts of yours. No program that an agent started changes a grant, with or without it.
    #[arg(long)]
    pub(crate) yes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PluginListArgs {
    /// Only the plugins that are installed.
    #[arg(long)]
    pub(crate) installed: bool,

    /// Print JSON; without --installed, what components were granted.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PluginCheckArgs {
    /// The component, a `.wasm` file; or the folder of a plugin.
    pub(crate) file: PathBuf,

    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}
