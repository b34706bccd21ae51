//! Tool names in rules: old names, and names that stand for several tools.

use alloc::{format, string::String};

/// The current name of a tool: old settings and transcripts use others.
pub(crate) fn present(name: &str) -> &str {
    match name {
        "Agent" => "Task",
        "BashOutput" | "AgentOutput" => "TaskOutput",
        "KillBash" | "KillShell" => "TaskStop",
        name => name,
    }
}

/// The other name of a tool that is offered under two names.
pub(crate) fn other(name: &str) -> Option<&'static str> {
    match name {
        "Agent" => Some("Task"),
        "Task" => Some("Agent"),
        _ => None,
    }
}

/// Whether two names mean the same tool.
pub(super) fn same(one: &str, other: &str) -> bool {
    present(one) == present(other)
}

/// The built-in tools that a rule with this name covers besides the tool itself: a file that must not be read with one of them
/// must not be read with another.
pub(super) fn covered(name: &str) -> &'static [&'static str] {
    match name {
        "Read" => &["Grep", "Glob", "LS", "NotebookRead"],
        "Edit" => &["Write", "NotebookEdit", "MultiEdit"],
        _ => &[],
    }
}

/// Whether a name belongs to the tools of this engine, of the official one, or of MCP servers. Rules that people have written for
/// these must not hold for a tool of somebody else that takes the name.
#[must_use]
pub fn is_reserved_tool_name(name: &str) -> bool {
    KNOWN.contains(&name) || name.starts_with("mcp__")
}

/// Whether a person or a model could take a name for a [reserved](is_reserved_tool_name) one: it differs from it in case, `_` and `-`
/// alone, or not at all.
#[must_use]
pub fn resembles_reserved_tool_name(name: &str) -> bool {
    let is_of_server = (name.get(..4)).is_some_and(|begin| begin.eq_ignore_ascii_case("mcp_"));
    is_of_server || KNOWN.iter().any(|known| letters(known).eq(letters(name)))
}

/// What tells a name from others that a person could take for it. Nothing is copied: every tool that is installed is looked at.
fn letters(name: &str) -> impl Iterator<Item = u8> {
    let letters = name.bytes().filter(|byte| !matches!(byte, b'_' | b'-'));
    letters.map(|byte| byte.to_ascii_lowercase())
}

/// Tools of this engine or the official one. Settings that both read contain rules for them, whether or not a session offers
/// them.
pub(super) const KNOWN: [&str; 46] = [
    "Agent",
    "AgentOutput",
    "AskUserQuestion",
    "Bash",
    "BashOutput",
    "Brief",
    "Config",
    "CronCreate",
    "CronDelete",
    "CronList",
    "Edit",
    "EnterPlanMode",
    "EnterWorktree",
    "ExitPlanMode",
    "ExitWorktree",
    "Glob",
    "Grep",
    "KillBash",
    "KillShell",
    "LS",
    "LSP",
    "ListMcpResourcesTool",
    "Monitor",
    "MultiEdit",
    "NotebookEdit",
    "NotebookRead",
    "PowerShell",
    "Read",
    "ReadMcpResourceTool",
    "SendMessage",
    "Skill",
    "SlashCommand",
    "StructuredOutput",
    "Task",
    "TaskCreate",
    "TaskGet",
    "TaskList",
    "TaskOutput",
    "TaskStop",
    "TaskUpdate",
    "TodoRead",
    "TodoWrite",
    "ToolSearch",
    "WebFetch",
    "WebSearch",
    "Write",
];

/// Tools that start or monitor work whose calls are judged themselves in the same mode. Plan mode allows them.
pub(super) fn only_delegates(name: &str) -> bool {
    matches!(present(name), "Task" | "TaskOutput")
}

/// Whether an entry of a tool list matches this tool: by its name, an old name, or its server.
pub(super) fn is_listed(entry: &str, tool: &str) -> bool {
    // Entries of a tool list may be written as rules: `Bash(git:*)` lists Bash.
    let entry = entry.split('(').next().unwrap_or(entry).trim();
    if same(entry, tool) {
        return true;
    }
    let (Some((server, named)), Some((of, _))) = (of_server(entry), of_server(tool)) else {
        return false;
    };
    server == of && matches!(named, None | Some("*"))
}

/// Whether a name is that of an MCP server's tool: `mcp__server__tool`.
#[must_use]
pub fn names_servers_tool(name: &str) -> bool {
    matches!(of_server(name), Some((server, Some(tool))) if !server.is_empty() && !tool.is_empty())
}

/// The parts of `mcp__server__tool`: the server, and the tool if one is named.
pub(super) fn of_server(name: &str) -> Option<(&str, Option<&str>)> {
    let rest = name.strip_prefix("mcp__")?;
    match rest.split_once("__") {
        Some((server, tool)) => Some((server, Some(tool))),
        None => Some((rest, None)),
    }
}

/// The name by which the model calls a tool of an MCP server: `mcp__server__tool`.
#[must_use]
pub fn server_tool_name(server: &str, tool: &str) -> String {
    format!("mcp__{}__{tool}", server_name(server))
}

/// A server's name as used in tool names: characters other than letters, digits, `_` and `-` are replaced by an underscore.
pub(crate) fn server_name(name: &str) -> String {
    let keep = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    name.chars()
        .map(|c| if keep(c) { c } else { '_' })
        .collect()
}
