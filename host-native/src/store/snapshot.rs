//! Snapshots beside a transcript: a file whose first line contains the length of the transcript.

use std::path::{Path, PathBuf};

use windlass_engine::store::{Snapshot, StoreError};

use super::{
    atomic::{Readers, replace_itself},
    place::{content, create_folder, failed},
};

/// Stores a snapshot of the transcript in its current state. If the process ends between writing lines and this, the
/// previous snapshot stays and is outdated.
pub(super) fn write(transcript: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let path = of(transcript);
    let length = std::fs::symlink_metadata(transcript)
        .map_err(|error| failed("reading", transcript, error))?;
    let mut content = format!("{}\n", length.len()).into_bytes();
    content.extend_from_slice(bytes);
    create_folder(&path)?;
    replace_itself(&path, &content, Readers::Owner).map_err(|error| failed("writing", &path, error))
}

/// The snapshot for a transcript of this length in bytes. A file that is not a valid snapshot counts as absent.
pub(super) fn read(transcript: &Path, length: u64) -> Result<Option<Snapshot>, StoreError> {
    let Some(content) = content(&of(transcript))? else {
        return Ok(None);
    };
    let mut parts = content.splitn(2, |byte| *byte == b'\n');
    let at = parts.next().and_then(|line| std::str::from_utf8(line).ok());
    let at: Option<u64> = at.and_then(|line| line.parse().ok());
    Ok(at.zip(parts.next()).map(|(at, bytes)| Snapshot {
        bytes: bytes.to_vec(),
        is_current: at == length,
    }))
}

fn of(transcript: &Path) -> PathBuf {
    let mut name = transcript.file_stem().unwrap_or_default().to_os_string();
    name.push(".snapshot");
    transcript.with_extension("").join(name)
}
