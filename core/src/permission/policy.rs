//! The permission settings of a session.

use alloc::{
    borrow::ToOwned,
    format,
    string::{String, ToString},
    vec::Vec,
};

use serde::{Deserialize, Serialize};

use super::{CommandConfinement, Mode, Rule, Rules, ToolSet};

/// The permission settings of a session.
///
/// In JSON its fields under their names, with `allow`, `ask` and `deny` as lists of rules. The confinement of commands is up to
/// the host and not part of it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(try_from = "PermissionForm", into = "PermissionForm")]
pub struct PermissionPolicy {
    /// The initial mode.
    pub mode: Mode,
    /// Allow, ask and deny rules.
    pub rules: Rules,
    /// Whether somebody can be asked for permission. If not, calls that would need permission are denied.
    pub can_ask: bool,
    /// Whether calls that are denied without asking anybody are reported at once
    /// ([`PermissionDenied`](crate::message::PermissionDenied)). Result messages list all denials in any case.
    pub tell_denials: bool,
    /// Whether reading tools run without permission inside the working directory and the additional ones, and shell lines that
    /// only print literal text (`echo done`).
    /// Off in the library, on in the command line.
    pub free_workspace_reads: bool,
    /// Whether the mode may be switched to [`Mode::BypassPermissions`] later.
    pub allow_bypass: bool,
    /// The tools that are available at all, before any rule.
    pub tools: ToolSet,
    /// The MCP tool that answers permission requests instead of a callback (Agent SDK reference, `permissionPromptToolName`).
    pub prompt_tool: Option<String>,
    /// How the host confines commands; none if it does not.
    pub confinement: Option<CommandConfinement>,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct PermissionForm {
    mode: Mode,
    allow: Vec<String>,
    ask: Vec<String>,
    deny: Vec<String>,
    can_ask: bool,
    tell_denials: bool,
    free_workspace_reads: bool,
    allow_bypass: bool,
    tools: ToolSet,
    permission_prompt_tool_name: Option<String>,
}

impl TryFrom<PermissionForm> for PermissionPolicy {
    type Error = String;

    fn try_from(form: PermissionForm) -> Result<Self, String> {
        if form.mode == Mode::BypassPermissions && !form.allow_bypass {
            return Err(
                "`mode` bypassPermissions must be allowed by `allow_bypass` as well".to_owned(),
            );
        }
        Ok(Self {
            mode: form.mode,
            rules: Rules {
                allow: rules(&form.allow, "allow")?,
                ask: rules(&form.ask, "ask")?,
                deny: rules(&form.deny, "deny")?,
                ..Rules::default()
            },
            tools: form.tools,
            prompt_tool: form.permission_prompt_tool_name,
            can_ask: form.can_ask,
            tell_denials: form.tell_denials,
            free_workspace_reads: form.free_workspace_reads,
            allow_bypass: form.allow_bypass,
            confinement: None,
        })
    }
}

impl From<PermissionPolicy> for PermissionForm {
    fn from(policy: PermissionPolicy) -> Self {
        Self {
            mode: policy.mode,
            allow: texts(&policy.rules.allow),
            ask: texts(&policy.rules.ask),
            deny: texts(&policy.rules.deny),
            tools: policy.tools,
            permission_prompt_tool_name: policy.prompt_tool,
            can_ask: policy.can_ask,
            tell_denials: policy.tell_denials,
            free_workspace_reads: policy.free_workspace_reads,
            // The initial mode counts as allowed.
            allow_bypass: policy.allow_bypass || policy.mode == Mode::BypassPermissions,
        }
    }
}

fn texts(rules: &[Rule]) -> Vec<String> {
    rules.iter().map(ToString::to_string).collect()
}

fn rules(texts: &[String], list: &str) -> Result<Vec<Rule>, String> {
    let read = |text: &String| {
        Rule::parse(text).map_err(|error| error.at(&format!("permissions.{list}")).to_string())
    };
    texts.iter().map(read).collect()
}
