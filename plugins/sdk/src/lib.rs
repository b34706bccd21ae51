//! Write windlass tools and hooks as a WASM component.
//!
//! A tool is a function with a documented input; [`plugin!`] makes a component of such functions. The component sees only what
//! a call was granted: [`Workspace`] holds the directory trees, and there is no other way to a file. Beyond files
//! there are [`http`], [`secrets`], [`state`], [`config`] and [`progress`], as far as the declaration asks for them and whoever loads
//! the plugin grants them.
//!
//! ```no_run
//! use windlass_plugin::{ReadPath, ToolError, Workspace, input, plugin, tool};
//!
//! /// What `CountLines` takes.
//! #[input]
//! struct Count {
//!     /// The file whose lines are counted.
//!     file_path: ReadPath,
//! }
//!
//! /// Counts the lines of a text file.
//! #[tool(read_only, idempotent, retry = "run_again")]
//! fn count_lines(input: Count, workspace: &Workspace) -> Result<String, ToolError> {
//!     let text = workspace.read_text(&input.file_path, 1 << 20)?;
//!     Ok(format!("{} lines", text.lines().count()))
//! }
//!
//! plugin! {
//!     tools: [count_lines],
//!     grants: { "filesystem": "read" },
//! }
//! # fn main() {}
//! ```
//!
//! `windlass plugin new`, `build` and `test` do the rest (`docs/plugins.md` of the windlass repository). What the plugin declares is
//! made of the functions and stands in the custom section [`DECLARATION_SECTION`], so that one digest covers code and declaration,
//! and a host can list the tools without running anything.
//!
//! Without the feature `macros` a plugin is one function that answers calls and a JSON file that declares the tools:
//! [`export_tools!`]. Logic that is generic over [`Tree`] can be tested natively with `testing::MemoryTree` (feature `testing`).

#![deny(unsafe_code)]
// Tests fail by panicking.
#![cfg_attr(test, allow(clippy::unwrap_used))]

// The generated export macro names this crate by its path, here as in the crates that use it.
extern crate self as windlass_plugin;

pub mod bindings;
mod call;
pub mod config;
#[cfg(feature = "macros")]
mod declare;
#[cfg(feature = "macros")]
#[doc(hidden)]
pub mod declared;
#[cfg(feature = "macros")]
pub mod event;
mod export;
mod hook;
#[cfg(feature = "macros")]
mod hook_function;
pub mod http;
#[cfg(feature = "macros")]
mod path;
#[cfg(feature = "macros")]
mod plugin;
pub mod progress;
pub mod secrets;
pub mod state;
#[cfg(feature = "testing")]
pub mod testing;
#[cfg(feature = "macros")]
mod tool;
mod tree;
mod workspace;

pub use bindings::judge::windlass::plugin::hooks::{
    DeniedAccess, DeniedPath, HookEvent, Judgement, Narrowing,
};
pub use bindings::windlass::host::filesystem::{
    Access, Entry, EntryKind, ErrorCode, Page, Stat, WriteOptions,
};
pub use bindings::windlass::host::log;
pub use bindings::windlass::plugin::types::{Content, Image, Observation, ToolCall, ToolResult};
pub use call::ToolError;
pub use hook::HookError;
pub use tree::{Tree, entries};
pub use workspace::{PathError, Place, Root, Workspace};

#[cfg(feature = "macros")]
pub use hook_function::{HookFacts, IntoJudgement, IntoObserved, Judge, Observer};
#[cfg(feature = "macros")]
pub use path::{ReadPath, WritePath};
#[cfg(feature = "macros")]
pub use tool::{IntoToolResult, Structured, Tool, ToolFacts};

/// Makes a struct, or an enum for a field of one, the input of a tool: it is read from the call, and its schema with the
/// comments of its fields is what the model reads. A field that is no part of it is an error. `#[serde(…)]` (`default`, `rename`)
/// and `#[schemars(…)]` (`range`, `length`, `regex`) stand on fields as usual.
#[cfg(feature = "macros")]
pub use windlass_plugin_macros::input;

/// Makes a function a tool. Its comment is what the model reads, its name in `UpperCamelCase` what the model calls.
///
/// The function takes a struct with the attribute [`input`](macro@input), then, as it needs them, `&Workspace` and `&ToolCall`, and
/// returns what [`IntoToolResult`] knows: a text, a [`ToolResult`], [`Structured`], or a `Result` of one.
///
/// | in brackets | meaning |
/// |---|---|
/// | `read_only`, `destructive`, `idempotent`, `open_world` | hints about what it does |
/// | `name = "…"`, `description = "…"` | in place of those of the function |
/// | `retry = "run_again"` | what may be done about a call whose outcome was lost; `"never"` if left out |
/// | `timeout_ms = 5000` | how long a call may take |
#[cfg(feature = "macros")]
pub use windlass_plugin_macros::tool;

/// Makes a function a judge: a hook that may refuse, ask or narrow, and never allows. One that fails has refused.
///
/// The function takes `&HookEvent`, or a type that its input is read into, such as [`event::PreToolUse`], and returns a
/// [`Judgement`], or a `Result` of one. In brackets: `on = "PreToolUse"`, the event; `matcher = "Write|Edit"`, what it runs for;
/// `name = "…"` in place of that of the function; `timeout_ms = 500`.
///
/// ```
/// use windlass_plugin::{Judgement, event::PreToolUse, judge};
///
/// #[judge(on = "PreToolUse", matcher = "Bash")]
/// fn no_removal(call: PreToolUse) -> Judgement {
///     match call.text("command").is_some_and(|command| command.contains("rm ")) {
///         true => Judgement::deny("nothing is removed here"),
///         false => Judgement::Pass,
///     }
/// }
/// # fn main() {}
/// ```
#[cfg(feature = "macros")]
pub use windlass_plugin_macros::judge;

/// Makes a function an observer: a hook that sees and changes nothing. It is written as a [`judge`](macro@judge), and returns
/// nothing, or a `Result` of nothing.
#[cfg(feature = "macros")]
pub use windlass_plugin_macros::observer;

#[cfg(feature = "macros")]
#[doc(hidden)]
pub use declare::Declaration;
#[cfg(feature = "macros")]
#[doc(hidden)]
pub use {schemars, serde, serde_json};

#[doc(hidden)]
pub use wit_bindgen;

/// The result of a call, whether the tool succeeded or not.
#[doc(hidden)]
#[must_use]
pub fn answer(result: Result<ToolResult, ToolError>) -> ToolResult {
    result.unwrap_or_else(ToolResult::from)
}

/// The custom section of a component that holds its declaration.
pub const DECLARATION_SECTION: &str = "windlass:plugin";
