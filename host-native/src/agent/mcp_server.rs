//! Tools of this program under a server's name.

use std::fmt;

use windlass_core::{message::McpServer as Listed, permission::server_tool_name};

use super::Tool;

/// An MCP server inside this program: tools under one name, without a process or a connection (Agent SDK reference,
/// `createSdkMcpServer`). The model calls its tools as `mcp__name__tool`. Rules and agents may name the server
/// (`mcp__name`), and `system/init` lists it as connected.
///
/// ```
/// use schemars::JsonSchema;
/// use serde::Deserialize;
/// use windlass::{Agent, McpServer, Tool};
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Add { a: f64, b: f64 }
///
/// let calc = McpServer::new("calc", "1.0.0")
///     .tool(Tool::new("add", "Adds two numbers", |input: Add| async move { input.a + input.b }));
/// let agent = Agent::builder().mcp_server(calc).allowed_tools(["mcp__calc__add"]);
/// # let _ = agent;
/// ```
#[derive(Clone)]
#[must_use = "a server does nothing until an agent has it (`AgentBuilder::mcp_server`)"]
pub struct McpServer {
    name: String,
    version: String,
    tools: Vec<Tool>,
}

impl McpServer {
    /// A server without tools. In the tool names, every character of the server's name other than letters, digits,
    /// `_` and `-` becomes `_`.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            version: version.into(),
            tools: Vec::new(),
        }
    }

    /// Adds a tool, by its name within the server.
    pub fn tool(mut self, tool: Tool) -> Self {
        self.tools.push(tool);
        self
    }

    /// The server's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The server's version, in the program's own numbering.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The server's tools under the names by which the model calls them.
    pub(super) fn into_tools(self) -> impl Iterator<Item = Tool> {
        let server = self.name;
        self.tools.into_iter().map(move |mut tool| {
            tool.definition.name = server_tool_name(&server, &tool.definition.name);
            tool
        })
    }

    /// The server's entry in `system/init`. It is always connected.
    pub(super) fn listed(&self) -> Listed {
        Listed {
            name: self.name.clone(),
            status: "connected".to_owned(),
        }
    }
}

impl fmt::Debug for McpServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpServer")
            .field("name", &self.name)
            .field("version", &self.version)
            .field("tools", &self.tools)
            .finish()
    }
}
