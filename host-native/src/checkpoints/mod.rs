//! File checkpoints: the contents of files before a session changes them are saved as documents of the session and
//! can be restored. [`windlass_engine::checkpoint`] defines what is saved of a file and the format of the index.
//!
//! Symbolic links are never followed, in any component of a path, neither when a file is saved nor when it is restored.

mod documents;
mod of_session;
mod rewind;

#[cfg(test)]
mod tests;

use std::{
    collections::BTreeMap,
    error::Error,
    fs, io,
    path::{Path, PathBuf},
};

use windlass_core::{RawJson, Uuid};
use windlass_engine::{
    TextPath,
    checkpoint::{Before, INDEX, Index, MAX_KEPT_BYTES, Record, digest, snapshot_line},
    store::StoreError,
};

use self::documents::Documents;
pub(crate) use self::of_session::SessionCheckpoints;
pub use self::{
    of_session::RewindFilesError,
    rewind::{Rewind, RewindError},
};
use crate::{
    regular::{self, Link},
    text_path::{lossy, text_path},
};

/// The checkpoints of a session. All operations do blocking I/O.
#[derive(Debug)]
struct FileCheckpoints {
    documents: Documents,
    index: Index,
    /// The last line of the index is incomplete, because its writer was stopped.
    is_torn: bool,
}

/// A checkpoint could not be created or read.
#[derive(Debug, thiserror::Error)]
#[error("the checkpoint of {place}: {error}")]
struct CheckpointError {
    /// The file or document.
    place: String,
    /// The error of the operating system or the store.
    error: Box<dyn Error + Send + Sync>,
}

impl CheckpointError {
    fn of_file(path: &Path, error: io::Error) -> Self {
        Self {
            place: path.display().to_string(),
            error: error.into(),
        }
    }

    fn of_store(place: impl ToString, error: StoreError) -> Self {
        Self {
            place: place.to_string(),
            error: error.into_source(),
        }
    }
}

impl FileCheckpoints {
    /// Opens the checkpoints of a session; a resumed session has some already. Nothing is written until there is
    /// something to save.
    fn open(documents: Documents) -> Result<Self, CheckpointError> {
        let text = documents.index()?.unwrap_or_default();
        Ok(Self {
            index: Index::parse(&text),
            is_torn: !text.is_empty() && !text.ends_with(b"\n"),
            documents,
        })
    }

    /// Opens the checkpoints of a session that starts with those of another one, so that a fork can be rewound to
    /// before the fork. Checkpoints that the session already has are kept.
    fn beginning_with(from: &Documents, documents: Documents) -> Result<Self, CheckpointError> {
        if documents.index()?.is_none()
            && let Some(text) = from.index()?
        {
            copy(from, &documents, &text)
                .map_err(|error| CheckpointError::of_store(from.place(INDEX), error))?;
        }
        Self::open(documents)
    }

    /// Starts the checkpoint of a user message: changes from now on can be rewound to here. If this fails, the
    /// message cannot be rewound to.
    fn begin(&mut self, message: Uuid) -> Result<(), CheckpointError> {
        if self.index.last_message() == Some(message) {
            return Ok(());
        }
        self.note(Record::Message { message })
    }

    /// Saves the content of a file. Must be called before each change; only the first call per file and message saves
    /// anything and returns true. If it fails, the file should not be changed.
    fn before_change(&mut self, path: &Path) -> Result<bool, CheckpointError> {
        let path = real_place(path).map_err(|error| CheckpointError::of_file(path, error))?;
        if self.index.is_empty() {
            return Ok(false);
        }
        let noted =
            text_path(&path).map_err(|error| CheckpointError::of_file(&path, error.into()))?;
        if self.index.has(&noted) {
            return Ok(false);
        }
        let before = self.keep(&path)?;
        self.note(Record::File {
            path: noted,
            before,
        })?;
        Ok(true)
    }

    /// The transcript entry for the current message's checkpoint; `None` before the first message. `is_update` if an
    /// entry was already written and another file has been saved since. Paths below `cwd` become relative.
    fn snapshot_line(
        &mut self,
        cwd: &Path,
        timestamp: &str,
        is_update: bool,
    ) -> Result<Option<RawJson>, CheckpointError> {
        let Some(message) = self.index.last_message() else {
            return Ok(None);
        };
        let noted = self.index.at(message).into_iter().flatten();
        let noted: BTreeMap<&TextPath, &Before> = noted.collect();
        let mut files = Vec::new();
        for (path, version) in self.index.files() {
            // A file that was not changed since then still has its content.
            let before = match noted.get(path) {
                Some(before) => (*before).clone(),
                // A link has been created since, so this path is another file.
                None if !is_real(path) => continue,
                None => self.keep(Path::new(path.as_str()))?,
            };
            files.push((path, version, before));
        }
        let of_files = (files.iter()).map(|(path, version, before)| (*path, *version, before));
        let line = snapshot_line(message, of_files, &lossy(cwd), timestamp, is_update);
        let line = line.map_err(|error| CheckpointError::of_file(cwd, io::Error::other(error)))?;
        let contents = files.iter().filter_map(|(_, _, before)| before.content());
        let contents: Vec<String> = contents.map(ToOwned::to_owned).collect();
        self.note_contents(contents)?;
        Ok(Some(line))
    }

    /// Records contents that only the transcript names, so that forks get them too.
    fn note_contents(&mut self, contents: Vec<String>) -> Result<(), CheckpointError> {
        for digest in contents {
            if !self.index.names_content(&digest) {
                self.note(Record::Content { digest })?;
            }
        }
        Ok(())
    }

    fn keep(&self, path: &Path) -> Result<Before, CheckpointError> {
        let of_file = |error| CheckpointError::of_file(path, error);
        let of_store = |error| CheckpointError::of_store(path.display(), error);
        let meta = match fs::symlink_metadata(path) {
            Ok(meta) => meta,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Before::Absent),
            Err(error) => return Err(of_file(error)),
        };
        if !meta.is_file() {
            return Ok(Before::NotKept);
        }
        let content = match regular::read(path, Link::Refused, MAX_KEPT_BYTES) {
            Ok(content) => content,
            Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
                return Ok(Before::NotKept);
            }
            Err(error) => return Err(of_file(error)),
        };
        let digest = digest(&content);
        if self.documents.get(&digest).map_err(of_store)?.is_none() {
            self.documents.put(&digest, &content).map_err(of_store)?;
        }
        let mode = mode_of(&meta);
        Ok(Before::Content { digest, mode })
    }

    fn note(&mut self, record: Record) -> Result<(), CheckpointError> {
        let line = record.line().map_err(|error| CheckpointError {
            place: self.documents.place(INDEX),
            error: error.into(),
        })?;
        let line = match self.is_torn {
            true => [b"\n", line.as_slice()].concat(),
            false => line,
        };
        let extended = self.documents.extend(INDEX, &line);
        extended.map_err(|error| CheckpointError::of_store(self.documents.place(INDEX), error))?;
        self.is_torn = false;
        self.index.take(record);
        Ok(())
    }
}

/// Copies the contents that an index names, and then the index, so that it never names a missing content.
fn copy(from: &Documents, to: &Documents, index: &[u8]) -> Result<(), StoreError> {
    for digest in Index::parse(index).contents() {
        if let Some(content) = from.get(digest)? {
            to.put(digest, &content)?;
        }
    }
    to.put(INDEX, index)
}

/// The path with the links in its parent folders resolved; the file itself is not followed.
fn real_place(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name();
    let name = name.ok_or_else(|| io::Error::other("it does not name a file"))?;
    let mut folder = path.parent().unwrap_or(Path::new("."));
    let mut missing = vec![name];
    loop {
        match fs::canonicalize(folder) {
            Ok(real) => {
                return Ok(missing
                    .iter()
                    .rev()
                    .fold(real, |path, part| path.join(part)));
            }
            // Parent folders that the change itself will create.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let (Some(name), Some(above)) = (folder.file_name(), folder.parent()) else {
                    return Err(error);
                };
                missing.push(name);
                folder = above;
            }
            Err(error) => return Err(error),
        }
    }
}

/// Whether a recorded real path is still real: no folder in it has become a link since.
fn is_real(path: &TextPath) -> bool {
    let real = real_place(Path::new(path.as_str()));
    real.is_ok_and(|real| text_path(&real).is_ok_and(|real| real == *path))
}

#[cfg(unix)]
fn mode_of(meta: &fs::Metadata) -> Option<u32> {
    Some(std::os::unix::fs::MetadataExt::mode(meta) & 0o7777)
}

#[cfg(not(unix))]
fn mode_of(_: &fs::Metadata) -> Option<u32> {
    None
}
