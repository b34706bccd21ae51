//! Tools that are WASM components, run in wasmtime.
//!
//! [`PluginHost::load`] reads a component's declaration and imports without starting wasmtime; the
//! engine comes to life with the first call. Every call has a fresh instance in a store of its own,
//! a deadline, a memory cap and an output cap, and touches only what its grant names.

mod bindings;
mod cache;
mod call;
mod compiled;
mod component;
mod engine;
mod host;
mod limits;
mod outcome;
mod seal;
mod ticker;

pub use cache::{Cache, CacheError};
pub use component::{LoadError, Plugin, PluginHost, PluginHostConfig};
pub use host::{LogLevel, LogLine, LogSink};
pub use limits::CallLimits;
