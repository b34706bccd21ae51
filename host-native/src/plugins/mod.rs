//! Tools and hooks that are WASM components, run in wasmtime.
//!
//! [`PluginHost::load`] reads a component's declaration and imports without starting wasmtime; the engine is created
//! with the first call. Every call has a fresh instance in its own store, a deadline, a memory limit and an output
//! limit, and can access only what its grant names.

mod author;
mod bench;
mod bindings;
mod cache;
mod call;
mod compiled;
mod component;
mod declaration;
mod declared_hook;
mod engine;
mod hook;
mod host;
mod inspect;
mod judgement;
mod limits;
mod linked;
mod outcome;
mod resources;
mod seal;
mod ticker;
mod usage;
mod wasi;

pub use author::{AuthorError, with_declaration, with_declaration_of};
pub use cache::{Cache, CacheError};
pub(crate) use component::MAX_COMPONENT;
pub use component::{LoadError, LoadFault, Plugin, PluginHost, PluginHostConfig};
pub use declaration::{Declaration, DeclaredAccess, DeclaredGrants, DeclaredTool};
pub use declared_hook::{DeclaredHook, DeclaredHookKind, HookFault};
pub(crate) use hook::{HookTerms, PluginHook};
pub use host::{LogLevel, LogLine, LogSink};
pub use inspect::Inspection;
pub use limits::{CallLimits, DeclaredLimits};
pub use usage::{CallUsage, UsageSink};
