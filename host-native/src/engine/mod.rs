//! The engine of the official Agent SDKs: `windlass` in the place of the executable that they start.
//!
//! An SDK writes lines to the engine's standard input and reads lines from its standard output. What is decided in between is
//! the machine's ([`windlass_engine::machine`]); here its effects are performed:
//!
//! ```text
//! input ─▶ reader ─▶ machine::drive ─▶ Engine ─▶ lines ─▶ writer ─▶ output
//!                         └── effects ─▶ EngineHost (store, settings, tools, hooks, servers, files) ── outcomes ──┘
//! ```

mod build;
mod configurations;
mod debug_log;
mod host;
mod launch;
mod look;
mod permissions;
mod serve;
mod stream;

pub use self::{
    build::StartError,
    launch::{Launch, LaunchError, Recording},
    permissions::{ExplainError, explain_call, left_out_untrusted, lint_settings},
    serve::serve,
};
pub use crate::project_config::{ProjectTrust, read_config as read_servers};
pub use windlass_engine::{
    machine::{Ending, tool_names},
    project_config::{Brought, BroughtKind, FlagsError},
};
