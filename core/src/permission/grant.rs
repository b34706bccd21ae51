//! The directories that the plugin of a tool was granted: rules can only narrow them.
//!
//! A tool of the host itself has no such limit, because rules are all that decides about it. A plugin is somebody else's program:
//! a rule that allows its tool by name says that the tool may run, not which files it may have.

use alloc::string::{String, ToString};

use super::{CallFacts, PolicyContext, Rule, path::is_under};
use crate::tool::{Access, ToolDefinition};

/// The first path of a call that lies in no directory granted to the tool's plugin, for that access.
pub(super) fn path_beyond(policy: &PolicyContext<'_>, call: CallFacts<'_>) -> Option<String> {
    let is_granted = |path: &str, access: Access| {
        granted_roots(call.tool, policy)
            .any(|(root, granted)| granted >= access && is_under(root, path))
    };
    call.tool.grant.as_ref()?;
    let beyond = call
        .paths
        .iter()
        .find(|fact| !is_granted(&fact.path, fact.access))?;
    Some(beyond.path.to_string())
}

/// The directories that a call of a tool may reach, as far as rules let it: those of its plugin, or those of the workspace.
pub(crate) fn granted_roots<'a>(
    tool: &'a ToolDefinition,
    policy: &PolicyContext<'a>,
) -> impl Iterator<Item = (&'a str, Access)> {
    let workspace = match &tool.grant {
        Some(grant) => grant.workspace,
        None => Some(Access::Write),
    };
    let roots = policy.workspace_roots();
    let of_workspace = roots.filter_map(move |root| Some((root, workspace?)));
    let own = tool.grant.iter().flat_map(|grant| &grant.directories);
    of_workspace.chain(own.map(|root| (root.path.as_str(), root.access)))
}

/// Whether a rule for all reading or writing tools is about a call of a plugin's tool: `Read` and `Edit` alone name the tools of
/// the host, but who denies all reading means the plugin as well.
pub(super) fn is_about_files(rule: &Rule, call: CallFacts<'_>) -> bool {
    let writes = || call.paths.iter().any(|fact| fact.access == Access::Write);
    call.tool.grant.is_some()
        && (rule.is_read() && !call.paths.is_empty() || rule.is_edit() && writes())
}
