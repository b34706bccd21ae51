//! Tools that are WASM components, run in wasmtime.
//!
//! [`PluginHost::load`] reads a component's declaration and imports without starting wasmtime; the engine is created
//! with the first call. Every call has a fresh instance in its own store, a deadline, a memory limit and an output
//! limit, and can access only what its grant names.

mod bindings;
mod cache;
mod call;
mod compiled;
mod component;
mod engine;
mod host;
mod limits;
mod outcome;
mod resources;
mod seal;
mod ticker;

pub use cache::{Cache, CacheError};
pub use component::{LoadError, Plugin, PluginHost, PluginHostConfig};
pub use host::{LogLevel, LogLine, LogSink};
pub use limits::CallLimits;
