//! MCP servers that are programs: started for a session, ended with it.

use std::{collections::BTreeMap, sync::Arc};

use futures_util::future::try_join_all;
use windlass_core::{Spec, message::McpServer as Listed};

use super::{Parts, run::RunError};
use crate::{
    host::RunTool,
    mcp::{Connection, StdioServer},
};

/// What a session is made of: what it is told, and who runs its tools.
type Equipped = (Arc<Spec>, Arc<BTreeMap<String, Arc<dyn RunTool>>>);

impl Parts {
    /// The agent's spec and tools with those of its servers, which are started. They end with the last of their tools.
    pub(super) async fn with_processes(&self, spec: Arc<Spec>) -> Result<Equipped, RunError> {
        if self.processes.is_empty() {
            return Ok((spec, Arc::clone(&self.tools)));
        }
        let mut spec = Arc::unwrap_or_clone(spec);
        let mut tools = BTreeMap::clone(&self.tools);
        let connections = try_join_all(self.processes.iter().map(connect)).await?;
        for connection in connections {
            spec.environment.mcp_servers.push(Listed {
                name: connection.name().to_owned(),
                status: "connected".to_owned(),
            });
            for (definition, name) in connection.tools() {
                tools.insert(definition.name.clone(), Arc::new(connection.tool(name)));
                spec.tools.push(definition.clone());
            }
        }
        Ok((Arc::new(spec), Arc::new(tools)))
    }
}

async fn connect(server: &StdioServer) -> Result<Connection, RunError> {
    let connected = server.connect().await;
    connected.map_err(|error| RunError::McpServer {
        server: server.name().to_owned(),
        reason: error.to_string(),
    })
}
