//! The engine of the official Agent SDKs: `windlass` as a replacement for the executable that they start.
//!
//! An SDK writes lines to the engine's standard input and reads lines from its standard output. The machine
//! ([`windlass_engine::machine`]) makes the decisions in between; its effects are performed here:
//!
//! ```text
//! input ─▶ reader ─▶ machine::drive ─▶ Engine ─▶ lines ─▶ writer ─▶ output
//!                         └── effects ─▶ EngineHost (store, settings, tools, hooks, servers, files) ── outcomes ──┘
//! ```

mod agent;
mod auth_status;
mod build;
mod component_tools;
mod configurations;
mod debug_log;
mod host;
mod installed;
mod key_helper;
mod launch;
mod lone_call;
mod look;
mod model_access;
mod model_key;
mod permissions;
mod serve;
mod start_error;
mod stream;
mod variables;

pub use self::{
    auth_status::key_sources,
    component_tools::{ComponentTools, ToolSession},
    launch::{Launch, LaunchError, Recording},
    lone_call::Report,
    model_key::KeySources,
    permissions::{ExplainError, explain_call, left_out_untrusted, lint_settings},
    serve::serve,
    start_error::StartError,
};
pub use crate::project_config::{ProjectTrust, read_config as read_servers};
pub use windlass_engine::{
    machine::{Ending, tool_names},
    project_config::{Brought, BroughtKind, FlagsError},
};
