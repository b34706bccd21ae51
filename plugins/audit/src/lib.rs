//! An example of an observer: it writes down which tools were called, one file for each call, in the first directory that it may
//! write to. A file for each call needs no lock, and a call that is reported twice is written once.

use windlass_plugin::{
    Access, HookError, HookEvent, Workspace, event::PostToolUse, observer, plugin, serde_json::json,
};

/// Where the files are, below the granted directory.
const FOLDER: &str = "audit";

/// Writes down a call that has ended.
#[observer(on = "PostToolUse", name = "Audit")]
fn audit(event: &HookEvent) -> Result<(), HookError> {
    let call: PostToolUse = event.input()?;
    let workspace = Workspace::granted();
    let writable = workspace
        .roots()
        .iter()
        .find(|root| root.access == Access::Write);
    let Some(root) = writable else {
        return Err(HookError::new(
            "the audit was granted no directory that it may write to",
        ));
    };
    let id = event.tool_use_id.as_deref().unwrap_or("unknown");
    let record = json!({ "tool": call.tool_name, "input": call.tool_input, "cwd": call.cwd });
    let path = format!("{}/{FOLDER}/{}.json", root.path, file_name(id));
    workspace
        .write(&path, format!("{record}\n").as_bytes())
        .map_err(|error| HookError::new(error.to_string()))
}

/// The id as the name of a file: ids of other engines may have any letters.
fn file_name(id: &str) -> String {
    let letter = |c: char| match c.is_ascii_alphanumeric() || c == '-' {
        true => c,
        false => '_',
    };
    id.chars().map(letter).collect()
}

plugin! {
    observers: [audit],
    grants: { "filesystem": "write" },
    limits: { "memory_bytes": 16_777_216 },
}
