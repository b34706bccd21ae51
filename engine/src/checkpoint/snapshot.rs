//! What transcripts say of checkpoints.

use std::{collections::BTreeMap, io, path::Path};

use serde::Serialize;
use windlass_core::{RawJson, Uuid};

use super::{CheckpointError, FileCheckpoints, index::Before, real_place};

/// A line of the type `file-history-snapshot`, as the official engine writes it: what each file that the session has
/// changed was when a user message came.
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

/// A content in the folder of the session's checkpoints.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Backup<'a> {
    /// Its name there; none for a file that was not there.
    backup_file_name: Option<String>,
    version: u32,
    backup_time: &'a str,
}

impl FileCheckpoints {
    /// The line about the message that is being answered; none before the first. `is_update` where one was written
    /// already and another file has been kept since. Paths below `cwd` are relative to it.
    ///
    /// # Errors
    /// [`CheckpointError`] if a file cannot be kept.
    pub fn snapshot_line(
        &self,
        cwd: &Path,
        timestamp: &str,
        is_update: bool,
    ) -> Result<Option<RawJson>, CheckpointError> {
        let Some(message) = self.index.last_message() else {
            return Ok(None);
        };
        let noted: BTreeMap<&Path, &Before> =
            self.index.at(message).into_iter().flatten().collect();
        let mut backups = BTreeMap::new();
        for (path, version) in self.index.files() {
            // A file that was not changed since is what it was.
            let now;
            let before = match noted.get(path) {
                Some(before) => *before,
                // Behind a link that has come since there is another file.
                None if !matches!(real_place(path), Ok(real) if real == path) => continue,
                None => {
                    let kept = self.keep(path);
                    now = kept.map_err(|error| CheckpointError::new(path, error))?;
                    &now
                }
            };
            let backup_file_name = match before {
                Before::Absent => None,
                Before::Content { digest, .. } => Some(digest.clone()),
                Before::NotKept => continue,
            };
            let shown = path.strip_prefix(cwd).unwrap_or(path);
            let backup = Backup {
                backup_file_name,
                version,
                backup_time: timestamp,
            };
            backups.insert(shown.display().to_string(), backup);
        }
        let line = SnapshotLine {
            r#type: "file-history-snapshot",
            message_id: message,
            snapshot: Snapshot {
                message_id: message,
                tracked_file_backups: backups,
                timestamp,
            },
            is_snapshot_update: is_update,
        };
        let line = RawJson::encode(&line);
        line.map(Some).map_err(|error| {
            CheckpointError::new(&self.folder, io::Error::other(error.to_string()))
        })
    }
}
