//! Why a component is not loaded.

use windlass_builtin::DeclarationError;

use super::{
    asked::{AskedFault, LONGEST_TEXT},
    declared_hook::HookFault,
};

/// The maximum size of a component in bytes: a Python interpreter with its library has 18 MB.
pub const MAX_COMPONENT: usize = 128 << 20;

/// The longest name and version of a plugin, in bytes.
pub(super) const LONGEST_NAME: usize = 64;

/// The maximum number of tools that a component may declare.
pub(super) const MAX_TOOLS: usize = 128;

/// The supported version of `wit/`; patch versions are compatible.
pub(super) const WIT: &str = "0.1.";

/// A component could not be loaded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the component `{component}` cannot be loaded: {fault}")]
pub struct LoadError {
    /// Its name.
    pub component: String,
    /// What is wrong with it.
    pub fault: LoadFault,
}

/// What is wrong with a component.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LoadFault {
    /// The component is too large.
    #[error("it has {0} bytes, more than the limit of {MAX_COMPONENT}")]
    TooLarge(usize),
    /// Not a component, or one that declares no tools.
    #[error(transparent)]
    Declaration(#[from] DeclarationError),
    /// The declaration is malformed.
    #[error("its declaration cannot be read: {0}; wit/README.md describes every field")]
    DeclarationShape(String),
    /// It asks for something that no host can grant.
    #[error("its declaration cannot be followed: {0}")]
    Asked(#[from] Box<AskedFault>),
    /// It was made for another version of the interfaces.
    #[error("it was made for version {0} of the interfaces, this host speaks {WIT}x")]
    Version(String),
    /// The name of the plugin could be taken for a path, or not be told from others.
    #[error(
        "its name `{0}` is not made of 1 to {LONGEST_NAME} small letters, digits and hyphens, with no hyphen first"
    )]
    PluginName(String),
    /// The version of the plugin cannot be shown on a line.
    #[error("its version `{}` is not made of 1 to {LONGEST_NAME} visible ASCII characters", beginning(.0))]
    PluginVersion(String),
    /// The Messages API does not accept the name of a tool.
    #[error("the tool name `{0}` is not made of 1 to 64 letters, digits, `_` and `-`")]
    ToolName(String),
    /// A tool takes the name of one that rules are written for, or one that could be taken for it.
    #[error(
        "it declares a tool `{0}`, which is or resembles the name of a tool of windlass, of Claude Code or of an MCP server: rules for that one, or what people know of it, would be taken to hold for it, so it needs another name"
    )]
    ReservedName(String),
    /// Two tools have the same name.
    #[error("it declares the tool `{0}` twice")]
    RepeatedTool(String),
    /// The schema of a tool is not a JSON object.
    #[error("the input schema of the tool `{0}` is not a JSON object")]
    ToolSchema(String),
    /// The schema of a tool is none.
    #[error("the input schema of the tool `{tool}` is none: {problem}")]
    ToolSchemaInvalid {
        /// The tool.
        tool: String,
        /// What is wrong, and where.
        problem: String,
    },
    /// A tool would fill every request with its texts.
    #[error("`{what}` of the tool `{tool}` has more than {LONGEST_TEXT} bytes")]
    ToolText {
        /// The tool.
        tool: String,
        /// The field.
        what: &'static str,
    },
    /// A limit under which nothing runs.
    #[error(
        "it declares `{field}` as 0 in {place}: under that, no call runs. Leave it out, or name what one needs"
    )]
    NoneAtAll {
        /// The field.
        field: &'static str,
        /// Where it stands.
        place: String,
    },
    /// Less memory than its instance has before anything runs.
    #[error(
        "it declares `memory_bytes` as {declared} in `limits`, and its memories have {initial} bytes before anything runs: under that, no call runs. Leave it out, or name that and what a call needs"
    )]
    MemoryBelowInitial {
        /// What it declares, in bytes.
        declared: usize,
        /// What the memories of its modules begin with, in bytes.
        initial: u64,
    },
    /// It has too many tools.
    #[error("it declares {0} tools; at most {MAX_TOOLS} are possible")]
    ToolCount(usize),
    /// It has nothing that could be run.
    #[error("it declares neither a tool nor a hook")]
    Nothing,
    /// It keeps an instance that nothing runs in.
    #[error(
        "it declares `\"instance\": \"session\"` and no tool: only tools keep an instance, a hook has a fresh one for each run"
    )]
    KeptByNothing,
    /// Its hooks cannot be used.
    #[error(transparent)]
    Hook(#[from] HookFault),
    /// It is damaged after the declaration.
    #[error("it is damaged: {0}")]
    Damaged(String),
    /// It imports something that is not provided.
    #[error(
        "it imports `{0}`, which this host does not hand out; there are the interfaces of windlass:host, and of WASI 0.2 those of files, streams, clocks, random and cli"
    )]
    Import(String),
    /// Its code is no valid WebAssembly, or does not fit the interfaces.
    #[error("its code cannot be used: {0}")]
    Code(String),
    /// It has no function to call.
    #[error(
        "it declares tools and does not export the function `call` of the world windlass:plugin/tools"
    )]
    NoCall,
}

/// As much of a text of a component as is shown.
fn beginning(text: &str) -> &str {
    &text[..text.floor_char_boundary(LONGEST_NAME)]
}
