//! The directories that the plugin of a tool was granted: rules can only narrow them.
//!
//! A tool of the host itself has no such limit, because rules are all that decides about it. A plugin is somebody else's program:
//! a rule that allows its tool by name says that the tool may run, not which files it may have.

use alloc::string::String;

use super::{CallFacts, PathFact, PolicyContext, Rule, path::is_under};
use crate::tool::{Access, GrantRoot, PluginGrant, ToolDefinition};

/// The first path of a call that lies in no directory granted to the tool's plugin, for that access.
pub(super) fn path_beyond(policy: &PolicyContext<'_>, call: CallFacts<'_>) -> Option<String> {
    call.tool.grant.as_ref()?;
    let beyond =
        |fact: &&PathFact| granted_root(call.tool, policy, &fact.path, fact.access).is_none();
    Some(call.paths.iter().find(beyond)?.path.clone())
}

/// The innermost directory with this path that a call of a tool may reach, as far as rules let it: one of those that its plugin
/// was granted, or of the workspace.
pub(crate) fn granted_root<'a>(
    tool: &'a ToolDefinition,
    policy: &PolicyContext<'a>,
    path: &str,
    access: Access,
) -> Option<&'a str> {
    let own = tool.grant.as_ref().map(PluginGrant::roots);
    let is_workspace = |root: &&GrantRoot| root.path.is_empty();
    let workspace = own.is_none_or(|own| {
        own.iter()
            .any(|root| is_workspace(&root) && root.access >= access)
    });
    let own = own.unwrap_or_default().iter();
    let own = own.filter(|root| !is_workspace(root) && root.access >= access);
    policy
        .workspace_roots()
        .filter(|_| workspace)
        .chain(own.map(|root| root.path.as_str()))
        .filter(|root| is_under(root, path))
        .max_by_key(|root| root.len())
}

/// Whether a rule for all reading or writing tools is about a call of a plugin's tool: `Read` and `Edit` alone name the tools of
/// the host, but who denies all reading means the plugin as well.
pub(super) fn is_about_files(rule: &Rule, call: CallFacts<'_>) -> bool {
    let writes = || call.paths.iter().any(|fact| fact.access == Access::Write);
    call.tool.grant.is_some()
        && (rule.is_read() && !call.paths.is_empty() || rule.is_edit() && writes())
}
