//! MCP servers outside of this program (Agent SDK reference, `McpServerConfig`).
//!
//! A server is a program that is started for the session and spoken to through its standard input and output. Its tools
//! are tools like any other ([`RunTool`](crate::host::RunTool)), named `mcp__server__tool`.
//!
//! - [`StdioServer`] is what a configuration says, with its variables expanded;
//! - [`Connection`] is a server that runs and has said what tools it has;
//! - [`McpTool`] is one of them.
//!
//! The protocol is spoken by `rmcp`; the process is ours: it leads a group of its own, which ends with the connection.
//! A server that dies fails the calls that it has not answered, with what it last wrote to standard error, and nothing else.

mod connection;
mod process;
mod servers;
mod stdio;
mod tool;
mod variables;
mod whose;
mod wire;

pub(crate) use self::servers::Servers;
pub use self::{
    connection::{ConnectError, Connection, ServerInfo},
    stdio::{ConfigError, Limits, StdioServer},
    tool::McpTool,
};
