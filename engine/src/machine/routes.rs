//! Which tools of MCP servers a call reaches.

use std::collections::BTreeMap;

use super::io::ConnectionId;

/// Tools, by the names the model calls them by.
pub(super) type Routes = BTreeMap<String, Route>;

/// Who runs a tool, by the name by which that one knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Route {
    /// A server in the SDK's process.
    Sdk { server: String, tool: String },
    /// A program.
    Program {
        connection: ConnectionId,
        tool: String,
    },
}
