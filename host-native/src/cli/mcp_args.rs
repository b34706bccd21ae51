//! The arguments of `windlass mcp`.

use std::net::SocketAddr;

use clap::{Args, Subcommand, ValueEnum};

use super::permission_args::PermissionArgs;

#[derive(Debug, Subcommand)]
pub(crate) enum McpCommand {
    /// Configure a server: a program with its arguments, or an address.
    Add(McpAddArgs),
    /// Configure a server by its JSON, as files have it.
    AddJson(McpAddJsonArgs),
    /// List the servers of this folder, and whether they can be reached.
    List,
    /// Show one: how it is configured, and what it offers.
    Get {
        /// Its name.
        name: String,
    },
    /// Take one out of the file it is in.
    Remove(McpRemoveArgs),
    /// Connect to one, say what it offers, and call a tool of it.
    Test(McpTestArgs),
    /// Offer the tools of plugins to any MCP client, over standard input and output. What a rule does not allow is denied.
    Serve(Box<McpServeArgs>),
}

/// For whom a server is configured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScopeArg {
    /// For you, in this folder (~/.claude.json).
    Local,
    /// For everybody who has this project (.mcp.json).
    Project,
    /// For you, in every folder (~/.claude.json).
    User,
}

/// How a server is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TransportArg {
    /// A program that is started.
    Stdio,
    /// An address: Streamable HTTP.
    Http,
    /// An address: HTTP with server-sent events, as servers from before March 2025 speak it.
    Sse,
}

#[derive(Debug, Args)]
pub(crate) struct McpAddArgs {
    /// Its name: letters, digits, - and _.
    pub(crate) name: String,

    /// The program, or the address.
    #[arg(value_name = "COMMAND|URL")]
    pub(crate) target: String,

    /// The program's arguments; write -- before the program if they begin with a dash.
    #[arg(trailing_var_arg = true)]
    pub(crate) args: Vec<String>,

    /// How it is reached. Default: http for an address that begins with http:// or https://, else stdio.
    #[arg(short, long, value_name = "TRANSPORT")]
    pub(crate) transport: Option<TransportArg>,

    /// For whom it is configured.
    #[arg(short, long, default_value = "local")]
    pub(crate) scope: ScopeArg,

    /// A variable for the program. Can be repeated.
    #[arg(short, long = "env", value_name = "NAME=VALUE")]
    pub(crate) env: Vec<String>,

    /// A header for the address; ${TOKEN} in it is the variable of that name. Can be repeated.
    #[arg(short = 'H', long = "header", value_name = "NAME: VALUE")]
    pub(crate) headers: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct McpAddJsonArgs {
    /// Its name: letters, digits, - and _.
    pub(crate) name: String,

    /// Its configuration: {"command", "args"?, "env"?} or {"type": "http" | "sse", "url", "headers"?}.
    pub(crate) json: String,

    /// For whom it is configured.
    #[arg(short, long, default_value = "local")]
    pub(crate) scope: ScopeArg,
}

#[derive(Debug, Args)]
pub(crate) struct McpRemoveArgs {
    /// Its name.
    pub(crate) name: String,

    /// For whom it is configured. Default: where it is, if that is one place.
    #[arg(short, long)]
    pub(crate) scope: Option<ScopeArg>,
}

#[derive(Debug, Args)]
pub(crate) struct McpTestArgs {
    /// Its name, or an address.
    #[arg(value_name = "NAME|URL")]
    pub(crate) target: String,

    /// How an address is reached. Default: http.
    #[arg(short, long, value_name = "TRANSPORT")]
    pub(crate) transport: Option<TransportArg>,

    /// A header for an address. Can be repeated.
    #[arg(short = 'H', long = "header", value_name = "NAME: VALUE")]
    pub(crate) headers: Vec<String>,

    /// A tool to call, by its name on the server. Can be repeated.
    #[arg(long, value_name = "TOOL")]
    pub(crate) call: Vec<String>,

    /// The input of that call, as JSON; of several calls in the same order. Default: {}.
    #[arg(long, value_name = "JSON", requires = "call")]
    pub(crate) input: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct McpServeArgs {
    /// Serve over Streamable HTTP at this loopback address instead, such as 127.0.0.1:8080; port 0 picks a free one. Clients have to
    /// send the bearer token of WINDLASS_MCP_TOKEN, if it is set.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) http: Option<SocketAddr>,

    #[command(flatten)]
    pub(crate) permissions: PermissionArgs,
}
