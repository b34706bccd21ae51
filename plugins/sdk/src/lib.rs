//! Write a windlass tool as a WASM component.
//!
//! A plugin is a crate of type `cdylib` with one function that answers tool calls and a JSON file that declares the
//! tools. The function sees only what the call was granted: [`Workspace::granted`] holds the directory trees, and there
//! is no other way to a file.
//!
//! ```no_run
//! use windlass_plugin::{ToolCall, ToolError, ToolResult, Tree, Workspace};
//!
//! #[derive(serde::Deserialize)]
//! struct Count {
//!     file_path: String,
//! }
//!
//! fn call(call: &ToolCall) -> Result<ToolResult, ToolError> {
//!     let input: Count = call.parse_input()?;
//!     let workspace = Workspace::granted();
//!     let place = workspace.resolve(&input.file_path)?;
//!     let bytes = place
//!         .tree
//!         .read_all(&place.relative, 1 << 20)
//!         .map_err(|code| place.explain(code))?;
//!     let lines = bytes.iter().filter(|byte| **byte == b'\n').count();
//!     Ok(ToolResult::text(format!("{lines} lines")))
//! }
//!
//! // In a real plugin: `windlass_plugin::export_tools!(declaration: "../plugin.json", call: call);`
//! # fn main() { let _ = call; }
//! ```
//!
//! The declaration is JSON; its fields are described in `wit/README.md` of the windlass repository. It ends up in the
//! custom section [`DECLARATION_SECTION`], so that one digest covers code and declaration and a host can list the tools
//! without running anything.
//!
//! Logic that is generic over [`Tree`] can be tested natively with `testing::MemoryTree` (feature `testing`).

#![deny(unsafe_code)]
// Tests fail by panicking.
#![cfg_attr(test, allow(clippy::unwrap_used))]

// The generated export macro names this crate by its path, here as in the crates that use it.
extern crate self as windlass_plugin;

pub mod bindings;
mod call;
mod export;
#[cfg(feature = "testing")]
pub mod testing;
mod tree;
mod workspace;

pub use bindings::windlass::host::filesystem::{
    Access, Entry, EntryKind, ErrorCode, Page, Stat, WriteOptions,
};
pub use bindings::windlass::host::{http, log};
pub use bindings::windlass::plugin::types::{Content, Image, Observation, ToolCall, ToolResult};
pub use call::ToolError;
pub use tree::{Tree, entries};
pub use workspace::{PathError, Place, Root, Workspace};

#[doc(hidden)]
pub use wit_bindgen;

/// The custom section of a component that holds its declaration.
pub const DECLARATION_SECTION: &str = "windlass:plugin";
