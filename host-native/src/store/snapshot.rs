//! A snapshot beside a transcript: a file whose first line says how long the transcript was.

use std::path::{Path, PathBuf};

use windlass_engine::store::{Snapshot, StoreError};

use super::{
    atomic::{Readers, replace_itself},
    place::{content, create_folder, failed},
};

/// Keeps a snapshot of what the transcript is now. Between the lines and this a process may end: then the one before stays,
/// which is not current any more.
pub(super) fn write(transcript: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let path = of(transcript);
    let length = std::fs::symlink_metadata(transcript)
        .map_err(|error| failed("reading", transcript, error))?;
    let mut content = format!("{}\n", length.len()).into_bytes();
    content.extend_from_slice(bytes);
    create_folder(&path)?;
    replace_itself(&path, &content, Readers::Owner).map_err(|error| failed("writing", &path, error))
}

/// The snapshot of a transcript that is so many bytes long. A file that is none counts as none.
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
