//! The native host of windlass: an AI agent that runs sandboxed WASM tools.

#![deny(unsafe_code)]

pub mod agent;
#[cfg(unix)]
pub mod bash;
pub mod files;
pub mod host;
pub mod http;
pub mod model_server;
mod os;
pub mod plugins;

pub use agent::{
    AbortHandle, Agent, AgentBuilder, BuildError, BypassNotAllowed, IntoToolResult, Json, NoInput,
    Run, RunError, Session, Tool, ToolContext, UserInput,
};
pub use host::{NativeHost, Transport};
pub use windlass_core as core;
pub use windlass_core::{
    Message,
    effect::{PermissionRequest, PermissionResponse},
    message::ResultMessage,
    tool::ToolResult,
};
