//! What may run: what a session is told of permissions.

use alloc::string::String;

use super::{CommandConfinement, Mode, Rules, ToolSet};

/// What may run.
#[derive(Debug, Clone, Default)]
pub struct PermissionPolicy {
    /// The mode a session starts in.
    pub mode: Mode,
    /// Allow, ask and deny rules.
    pub rules: Rules,
    /// Whether somebody can be asked. Without, what would be asked is denied.
    pub can_ask: bool,
    /// Whether calls that are denied without anybody being asked are told of when that happens
    /// ([`PermissionDenied`](crate::message::PermissionDenied)). Results tell of all denials either way.
    pub tell_denials: bool,
    /// Whether reading tools run unasked inside the working directory and the additional ones, and shell lines that
    /// only say what is written in them (`echo done`).
    /// Off in the library, on in the command line.
    pub free_workspace_reads: bool,
    /// Whether the mode may be switched to [`Mode::BypassPermissions`] later on.
    pub allow_bypass: bool,
    /// Which tools there are at all, before any rule.
    pub tools: ToolSet,
    /// The MCP tool that is asked where a callback would be (Agent SDK reference, `permissionPromptToolName`).
    pub prompt_tool: Option<String>,
    /// How the host confines commands; none where it does not.
    pub confinement: Option<CommandConfinement>,
}
