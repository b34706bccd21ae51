//! An AI agent that runs inside your program: the native host of windlass, as a library.
//!
//! The loop itself (prompt, response, tool calls, results, until done) is a state machine in [`windlass_core`],
//! re-exported as [`core`]. This crate performs its effects: HTTP, files, processes, and tools that are sandboxed
//! WASM components.
//!
//! ```
//! use windlass::{Agent, Tool};
//!
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! struct Add { a: i64, b: i64 }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let script = r#"{ "exchanges": [
//! #     { "respond": { "content": [{ "type": "tool_use", "name": "add", "input": { "a": 17, "b": 25 } }] } },
//! #     { "respond": "42" }
//! # ] }"#;
//! # let model = windlass::model_server::ModelServer::start(windlass::model_server::Script::parse(script)?)?;
//! # let url = model.url();
//! let add = Tool::new("add", "Adds two numbers", |input: Add| async move { input.a + input.b });
//! let agent = Agent::builder()
//!     .base_url(url) // or `.api_key_from_env()?`
//!     .tool(add)
//!     .allowed_tools(["add"])
//!     .build()?;
//! let result = agent.run("What is 17 + 25?").await?;
//! assert_eq!(result.result.as_deref(), Some("42"));
//! # Ok(())
//! # }
//! ```
//!
//! # Where to look
//!
//! | for | see |
//! |---|---|
//! | the options of an agent | [`AgentBuilder`] |
//! | messages as they come, and how a run ends | [`Run`] |
//! | conversations | [`Session`] |
//! | sessions that outlive the program | [`AgentBuilder::store`], [`store`] |
//! | settings files, and whether a folder is trusted | [`settings`] |
//! | the contents of files before a session changed them | [`checkpoints`] |
//! | tools of your own | [`Tool`] for closures, [`McpServer`] for several under one name, [`AgentBuilder::plugin`] for component files |
//! | commands confined by the operating system | [`AgentBuilder::sandbox`] |
//! | permissions | [`AgentBuilder::allowed_tools`], [`AgentBuilder::on_permission`] |
//! | stopping | [`Session::interrupt`] gracefully, [`AbortHandle`] at once |
//! | another transport to the model, another wire format | [`Transport`], [`core::provider::Provider`] |
//! | a host of your own | [`core::Host`] and [`core::drive`]; [`Agent::host`] gives the native one to build on |
//! | the engine of the official Agent SDKs | [`engine`] |
//! | tests without a network | [`model_server`], and the crate `windlass-testkit` |
//!
//! The `examples` folder shows each of these; the examples need neither network nor key.
//!
//! # Features
//!
//! | feature | what it adds | what it costs |
//! |---|---|---|
//! | `plugins` | tools as components, among them the built-in file tools | wasmtime |
//! | `mcp` | [`AgentBuilder::mcp_server_process`] | the protocol |
//! | `engine` | the engine of the SDKs; enables `plugins` and `mcp` | |
//! | `cli` | the program `windlass`; enables `engine` | the parser of its flags |
//!
//! All are on by default, and none changes the behaviour of the others. An agent with closures, sessions in files and
//! Bash needs none of them: `default-features = false`.
//!
//! # Requirements
//!
//! A tokio runtime with time and I/O enabled. Settings files are read only if [`AgentBuilder::setting_sources`]
//! enables them; nothing is written except compiled components in the user's cache directory; and no tool runs that
//! was not allowed. wasmtime starts with the first call of a component, so an agent without components does not pay
//! for it.
//!
//! Linux is tested, macOS is expected to work, and Windows has everything except the Bash tool.

#![deny(unsafe_code)]
#![cfg_attr(
    not(feature = "engine"),
    allow(
        dead_code,
        unreachable_pub,
        unused_imports,
        reason = "parts that only the engine uses"
    )
)]

/// The guide for programs that embed windlass; its code examples are compiled.
#[cfg(doctest)]
#[doc = include_str!("../../docs/embedding.md")]
struct Embedding;

pub mod agent;
#[cfg(unix)]
pub mod bash;
mod below_agent;
pub mod checkpoints;
pub mod child;
mod child_env;
mod config_dir;
pub mod credentials;
mod effects;
#[cfg(feature = "engine")]
pub mod engine;
pub mod files;
#[cfg(unix)]
pub mod hooks;
pub mod host;
pub mod http;
#[cfg(all(unix, feature = "mcp"))]
pub mod mcp;
#[cfg(all(unix, feature = "engine"))]
pub mod mcp_server;
pub mod model_server;
mod net;
mod os;
#[cfg(feature = "engine")]
mod plugin_dir;
#[cfg(feature = "plugins")]
pub mod plugins;
mod project;
mod project_config;
mod random;
mod redact;
mod regular;
pub mod sandbox;
mod session_shares;
pub mod settings;
pub mod store;
mod text_path;
#[cfg(feature = "engine")]
#[doc(hidden)]
pub mod warning;
mod web;

pub use agent::{
    AbortHandle, Agent, AgentBuilder, BuildError, BypassNotAllowed, ControlError, HookContext,
    IntoHookAnswer, IntoToolResult, Json, McpServer, NoInput, NotFromOutside, Run, RunError,
    Session, Tool, ToolContext, UserInput,
};
pub use host::{NativeHost, Transport};
pub use windlass_core as core;
pub use windlass_core::{
    Message,
    effect::{PermissionRequest, PermissionResponse},
    message::ResultMessage,
    tool::ToolResult,
};
