//! What the engine of a session is started with.

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use windlass::engine::Launch;
use windlass_core::Uuid;
use windlass_engine::protocol::{flags::Flags, frames::StateFrames};

use crate::cli::{
    args::AcpArgs,
    connection::{check_key_of, flags as connection_flags},
    keys::variable,
    launch::{permission_flags, with_permissions},
    start_error::StartError,
};

/// A session as the editor wants it.
#[derive(Debug)]
pub(super) struct Wanted {
    /// The working directory.
    pub(super) cwd: PathBuf,
    /// Further directories of the workspace.
    pub(super) directories: Vec<PathBuf>,
    /// The editor's MCP servers.
    pub(super) servers: Vec<Server>,
    /// The session that goes on; `None` for a new one.
    pub(super) resumed: Option<Uuid>,
}

/// The launch options of an engine for a session of this id.
///
/// # Errors
/// [`StartError`]: an invalid flag, or there is no key for the model server.
pub(super) fn launch(args: &AcpArgs, wanted: &Wanted, id: Uuid) -> Result<Launch, StartError> {
    let connection = connection_flags(&args.connection);
    let permissions = permission_flags(&args.permissions)?;
    let mut add_dirs = permissions.add_dirs.clone();
    add_dirs.extend(wanted.directories.iter().map(|it| it.display().to_string()));
    let flags = Flags {
        include_partial_messages: true,
        model: args.model.clone().filter(|name| !name.is_empty()),
        session_id: wanted.resumed.is_none().then(|| id.to_string()),
        resume: wanted.resumed.map(|id| id.to_string()),
        mcp_configs: servers(&wanted.servers).into_iter().collect(),
        // The editor is asked about calls; it has no form for questions of the model.
        disallowed_tools: [
            permissions.disallowed_tools.clone(),
            vec!["AskUserQuestion".to_owned()],
        ]
        .concat(),
        add_dirs,
        provider: connection.provider,
        base_url: connection.base_url,
        ca_file: connection.ca_file,
        ..permissions
    };
    let mut launch = Launch::with_flags(flags, variable)?;
    launch.cwd = Some(wanted.cwd.clone());
    "acp".clone_into(&mut launch.entrypoint);
    launch.states = StateFrames::ForSdk;
    launch.longest_frame = None;
    launch.tells_refusals = false;
    launch.has_person = true;
    launch.needs_plugins = true;
    let launch = with_permissions(launch, &args.permissions);
    check_key_of(args.connection.provider, &launch)?;
    Ok(launch)
}

/// An MCP server of the editor.
#[derive(Debug, Deserialize)]
pub(super) struct Server {
    /// `http` or `sse`; `None` for a program.
    #[serde(rename = "type")]
    kind: Option<String>,
    name: String,
    #[serde(default)]
    command: String,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: Vec<Named>,
    #[serde(default)]
    url: String,
    #[serde(default)]
    headers: Vec<Named>,
}

/// A variable or a header.
#[derive(Debug, Deserialize)]
struct Named {
    name: String,
    value: String,
}

/// The editor's servers as a configuration of the engine; `None` if there are none.
fn servers(servers: &[Server]) -> Option<String> {
    let map = |all: &[Named]| -> Map<String, Value> {
        let entries = all
            .iter()
            .map(|it| (it.name.clone(), it.value.clone().into()));
        entries.collect()
    };
    let config = |server: &Server| match server.kind.as_deref() {
        None | Some("stdio") => {
            json!({"type": "stdio", "command": server.command, "args": server.args, "env": map(&server.env)})
        }
        Some(kind) => json!({"type": kind, "url": server.url, "headers": map(&server.headers)}),
    };
    let configured = servers
        .iter()
        .map(|server| (server.name.clone(), config(server)));
    let configured: Map<String, Value> = configured.collect();
    (!configured.is_empty()).then(|| json!({ "mcpServers": configured }).to_string())
}
