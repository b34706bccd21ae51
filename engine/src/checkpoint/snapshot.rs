//! Transcript lines that describe checkpoints.

use std::collections::BTreeMap;

use serde::Serialize;
use windlass_core::{RawJson, Uuid, json::JsonError};

use super::index::Before;
use crate::path::TextPath;

/// A line of type `file-history-snapshot`, in the official engine's format: for each file that the session has changed, its
/// state when a user message arrived.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SnapshotLine<'a> {
    r#type: &'static str,
    message_id: Uuid,
    snapshot: Snapshot<'a>,
    is_snapshot_update: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Snapshot<'a> {
    message_id: Uuid,
    tracked_file_backups: BTreeMap<String, Backup<'a>>,
    timestamp: &'a str,
}

/// A stored content in the session's checkpoint folder.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Backup<'a> {
    /// Its file name there; `None` for a file that did not exist.
    backup_file_name: Option<&'a str>,
    version: u32,
    backup_time: &'a str,
}

/// The transcript line for the message that is being answered: the state of each file when the message arrived, with the
/// number of its records. `is_update` is set if a line was already written for the message and another file has been kept
/// since. Paths below `cwd` are relative to it.
///
/// # Errors
/// Any error of the JSON encoder.
pub fn snapshot_line<'a>(
    message: Uuid,
    files: impl IntoIterator<Item = (&'a TextPath, u32, &'a Before)>,
    cwd: &TextPath,
    timestamp: &str,
    is_update: bool,
) -> Result<RawJson, JsonError> {
    let mut backups = BTreeMap::new();
    for (path, version, before) in files {
        let backup_file_name = match before {
            Before::Absent => None,
            Before::Content { digest, .. } => Some(digest.as_str()),
            Before::NotKept => continue,
        };
        let shown = path.strip_prefix(cwd);
        let backup = Backup {
            backup_file_name,
            version,
            backup_time: timestamp,
        };
        backups.insert(shown.as_ref().unwrap_or(path).to_string(), backup);
    }
    RawJson::encode(&SnapshotLine {
        r#type: "file-history-snapshot",
        message_id: message,
        snapshot: Snapshot {
            message_id: message,
            tracked_file_backups: backups,
            timestamp,
        },
        is_snapshot_update: is_update,
    })
}
