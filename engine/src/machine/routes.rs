//! Routes from tool names to the tools of MCP servers.

use std::collections::BTreeMap;

use super::io::ConnectionId;

/// Routes by the tool names that the model uses.
pub(super) type Routes = BTreeMap<String, Route>;

/// Where a tool runs, and its name there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Route {
    /// A server in the SDK's process.
    Sdk { server: String, tool: String },
    /// A server that the host is connected to.
    Program {
        connection: ConnectionId,
        tool: String,
    },
    /// The engine, which asks the servers that have resources.
    Resources(ResourceTool),
}

/// A tool for the resources of servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ResourceTool {
    /// Lists them.
    List,
    /// Reads one.
    Read,
}
