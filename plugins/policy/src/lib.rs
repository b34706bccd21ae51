//! An example of a policy: nothing is written outside of `src`, and no command uses the network.
//!
//! A judge can only refuse: what it passes is decided by rules and mode, as without it.

use windlass_plugin::{Judgement, event::PreToolUse, judge, plugin};

/// Programs that are there to use the network.
const NETWORK: [&str; 12] = [
    "curl", "wget", "ssh", "scp", "sftp", "rsync", "nc", "ncat", "telnet", "ftp", "socat", "dig",
];

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

/// Refuses commands in which a program of the network is named. The shell has more ways than a list of words can hold: the
/// sandbox of commands is what keeps them off the network, and this tells a model early.
#[judge(on = "PreToolUse", matcher = "Bash", timeout_ms = 1000)]
fn no_network(call: PreToolUse) -> Judgement {
    let command = call.text("command").unwrap_or_default();
    let mut words = command.split(|c: char| !(c.is_alphanumeric() || "-_.".contains(c)));
    match words.find(|word| NETWORK.contains(word)) {
        Some(program) => Judgement::deny(format!("the policy allows no network, so no {program}")),
        None => Judgement::Pass,
    }
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
    judges: [writes_in_src, no_network],
    limits: { "memory_bytes": 16_777_216 },
}
