//! MCP servers outside of this program (Agent SDK reference, `McpServerConfig`).
//!
//! A server is a process that is started for the session and communicates over standard input and output, or is reached over
//! HTTP. Its tools are tools like any other ([`RunTool`](crate::host::RunTool)), named `mcp__server__tool`.
//!
//! - [`StdioServer`] and [`HttpServer`] are configurations of servers, with their variables expanded;
//! - [`Connection`] is a server that has listed its tools;
//! - [`McpTool`] is one of its tools.
//!
//! `rmcp` implements the protocol; this module manages the process, which leads its own process group that ends with
//! the connection, or the HTTP client with its headers, and limits what a server sends. If a server dies, only its unanswered calls
//! fail, with the reason in the message.

mod connecting;
mod connection;
mod elicitation;
mod http_client;
mod http_server;
mod id_scanner;
mod limited;
mod link;
mod listing;
mod offers;
mod process;
mod server_config;
mod servers;
mod sse;
mod stdio;
mod tool;
mod trouble;
mod variables;
mod wire;

pub(crate) use self::servers::Servers;
pub use self::{
    connecting::ConnectError,
    connection::{Connection, ServerInfo},
    http_server::{HttpServer, HttpTransport},
    server_config::ServerConfig,
    stdio::{ConfigError, Limits, StdioServer},
    tool::McpTool,
};
