//! MCP servers outside of this program (Agent SDK reference, `McpServerConfig`).
//!
//! A server is a process that is started for the session and communicates over standard input and output. Its tools
//! are tools like any other ([`RunTool`](crate::host::RunTool)), named `mcp__server__tool`.
//!
//! - [`StdioServer`] is a server's configuration, with its variables expanded;
//! - [`Connection`] is a running server that has listed its tools;
//! - [`McpTool`] is one of its tools.
//!
//! `rmcp` implements the protocol; this module manages the process, which leads its own process group that ends with
//! the connection. If a server dies, only its unanswered calls fail, with the end of its standard error in the
//! message.

mod connection;
mod id_scanner;
mod process;
mod servers;
mod stdio;
mod tool;
mod variables;
mod wire;

pub(crate) use self::servers::Servers;
pub use self::{
    connection::{ConnectError, Connection, ServerInfo},
    stdio::{ConfigError, Limits, StdioServer},
    tool::McpTool,
};
