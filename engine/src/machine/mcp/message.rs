//! What a message to an MCP server in the SDK's process is for.

use serde_json::Value;
use windlass_core::{EffectId, tool::ToolDefinition};

use crate::{machine::io::ConnectionId, mcp::Pages};

/// The purpose of a message to a server.
#[derive(Debug)]
pub(in crate::machine) enum ServerMessage {
    /// The `initialize` request.
    Initialize(ConnectionId, String),
    /// The `initialized` notification, after the server's answer.
    Initialized(ConnectionId, String, Option<Value>),
    /// A request for a page of the tool list.
    ListTools(ConnectionId, String, Listing),
    /// A tool call.
    Call {
        id: EffectId,
        server: String,
        /// The number of the request.
        number: u64,
    },
    /// A cancellation notification.
    GivenUp,
}

/// The tool list of a server, as far as it has been received.
#[derive(Debug, Default)]
pub(in crate::machine) struct Listing {
    pub(super) info: Option<Value>,
    pub(super) tools: Vec<(ToolDefinition, String)>,
    pub(super) pages: Pages,
}

impl ServerMessage {
    /// The tool call that the message belongs to.
    pub(in crate::machine) fn call(&self) -> Option<EffectId> {
        match self {
            Self::Call { id, .. } => Some(*id),
            _ => None,
        }
    }

    /// The connection that the message helps to establish.
    pub(in crate::machine) fn connects(&self) -> Option<ConnectionId> {
        match self {
            Self::Initialize(connection, _)
            | Self::Initialized(connection, ..)
            | Self::ListTools(connection, ..) => Some(*connection),
            Self::Call { .. } | Self::GivenUp => None,
        }
    }
}
