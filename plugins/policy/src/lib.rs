//! An example of a policy: the tools that write files write below `src` only, no command changes files, and nothing uses the
//! network. What it is sure about passes or is refused, and it asks about everything else.
//!
//! A judge can only refuse: what it passes is decided by rules and mode, as without it. It sees names, not files: a link in
//! `src` that leads out of it is judged as a file of `src`, and git does what the configuration of its repository says. Rules about
//! files are checked where a link leads to, and the sandbox of commands keeps them off files and network whatever they are called.
//! Tools of other plugins and of MCP servers are not judged here: this hook is not told which of their fields is a file.

mod command;

use windlass_plugin::{Judgement, event::PreToolUse, judge, plugin};

use crate::command::Command;

/// The fields in which writing tools name a file.
const FILES: [&str; 2] = ["file_path", "notebook_path"];

/// Refuses what would be written outside of `src`.
#[judge(
    on = "PreToolUse",
    matcher = "Write|Edit|NotebookEdit",
    timeout_ms = 1000
)]
fn writes_in_src(call: PreToolUse) -> Judgement {
    let Some(path) = FILES.iter().find_map(|field| call.text(field)) else {
        return Judgement::deny("the policy knows no file in this call");
    };
    match is_in_src(path, &call.cwd) {
        true => Judgement::Pass,
        false => Judgement::deny(format!(
            "the policy allows writing below src only, not {path}"
        )),
    }
}

/// Passes commands that only read, refuses those that write or use the network, and asks about what it does not know.
#[judge(on = "PreToolUse", matcher = "Bash", timeout_ms = 1000)]
fn known_commands(call: PreToolUse) -> Judgement {
    let Some(command) = call.text("command") else {
        return Judgement::deny("the policy knows no command in this call");
    };
    match Command::of(command) {
        Command::Reads => Judgement::Pass,
        Command::Unknown(part) => {
            Judgement::ask(format!("the policy does not know what this does: {part}"))
        }
        Command::Writes(part) => Judgement::deny(format!(
            "the policy lets no command change files, so no {part}: Write and Edit do, below src"
        )),
        Command::UsesNetwork(part) => {
            Judgement::deny(format!("the policy allows no network, so no {part}"))
        }
    }
}

/// Refuses the tools that are there to use the network.
#[judge(on = "PreToolUse", matcher = "WebFetch|WebSearch", timeout_ms = 1000)]
fn no_network(call: PreToolUse) -> Judgement {
    Judgement::deny(format!(
        "the policy allows no network, so no {}",
        call.tool_name
    ))
}

/// Whether a path is below `src` of the working directory. One with `..` is not judged by name.
fn is_in_src(path: &str, cwd: &str) -> bool {
    let relative = match path.strip_prefix('/') {
        Some(_) => path
            .strip_prefix(cwd)
            .and_then(|rest| rest.strip_prefix('/')),
        None => Some(path),
    };
    let Some(relative) = relative else {
        return false;
    };
    let mut parts = relative
        .split('/')
        .filter(|part| !part.is_empty() && *part != ".");
    parts.clone().all(|part| part != "..") && parts.next() == Some("src")
}

plugin! {
    judges: [writes_in_src, known_commands, no_network],
    limits: { "memory_bytes": 16_777_216 },
}
