//! File checkpoints: what files held before a session changed them, by user message, and the way back
//! (Agent SDK reference, `enableFileCheckpointing`, `rewindFiles`).
//!
//! ```text
//! <config dir>/file-history/<session id>/index.jsonl   which file was changed after which message
//! <config dir>/file-history/<session id>/<sha256>      a content that was kept, under its digest
//! ```
//!
//! What is kept and what is not:
//! - a file is kept before the first change after each user message, by those tools that change files one by one (Write,
//!   Edit, NotebookEdit). What commands do to files is not seen;
//! - regular files of up to [`MAX_KEPT_BYTES`]; of what is larger, and of links, devices and folders, it is only noted that
//!   there was something, and a rewind leaves it alone;
//! - content and the permission bits of a file; neither owner nor times;
//! - folders that were created for a file stay when the file goes.
//!
//! Links are never followed: neither when a file is kept nor when it is put back, in none of the parts of its path.

mod index;
mod lines;
mod rewind;
mod snapshot;

#[cfg(test)]
mod tests;

use std::{
    fs,
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use sha2::{Digest as _, Sha256};
use windlass_core::Uuid;

use self::index::{Before, Index, Record};
pub use self::rewind::{Rewind, RewindError};
use crate::atomic::{self, Readers};

/// The largest file that is kept.
pub const MAX_KEPT_BYTES: u64 = 16 * 1024 * 1024;

/// The file that says which file was changed after which message.
const INDEX: &str = "index.jsonl";

/// The checkpoints of a session.
#[derive(Debug)]
pub struct FileCheckpoints {
    folder: PathBuf,
    index: Index,
}

/// A checkpoint that could not be made or read.
#[derive(Debug, thiserror::Error)]
#[error("the checkpoint of {}: {error}", path.display())]
pub struct CheckpointError {
    /// The file, or the folder of the checkpoints.
    pub path: PathBuf,
    /// What the operating system says.
    #[source]
    pub error: io::Error,
}

impl CheckpointError {
    fn new(path: &Path, error: io::Error) -> Self {
        Self {
            path: path.to_path_buf(),
            error,
        }
    }
}

impl FileCheckpoints {
    /// The checkpoints in a folder ([`ConfigDir::file_history`](crate::config_dir::ConfigDir::file_history)): those of a
    /// session that goes on are there already. Nothing is created before there is something to keep.
    ///
    /// # Errors
    /// [`CheckpointError`] if the folder is there and cannot be read.
    pub fn open(folder: impl Into<PathBuf>) -> Result<Self, CheckpointError> {
        let folder = folder.into();
        let path = folder.join(INDEX);
        let index = Index::read(&path).map_err(|error| CheckpointError::new(&path, error))?;
        Ok(Self { folder, index })
    }

    /// The checkpoints of a session that begins with those of another: a fork can be taken back as far as what it was forked
    /// from. What is in the folder already stays.
    ///
    /// # Errors
    /// [`CheckpointError`] if they cannot be copied.
    pub fn forked(from: &Path, folder: impl Into<PathBuf>) -> Result<Self, CheckpointError> {
        let folder = folder.into();
        if from.is_dir() && !folder.exists() {
            copy(from, &folder).map_err(|error| CheckpointError::new(from, error))?;
        }
        Self::open(folder)
    }

    /// The user message that is being answered; none before the first.
    #[must_use]
    pub fn message(&self) -> Option<Uuid> {
        self.index.last_message()
    }

    /// A user message begins to be answered: what is changed from now on can be taken back to here.
    ///
    /// # Errors
    /// [`CheckpointError`]. The message is then no place to go back to.
    pub fn begin(&mut self, message: Uuid) -> Result<(), CheckpointError> {
        if self.index.last_message() == Some(message) {
            return Ok(());
        }
        self.note(Record::Message { message })
    }

    /// Keeps what a file holds. To be called before each change; only the first after a message does anything, and then it
    /// is true.
    ///
    /// # Errors
    /// [`CheckpointError`] if it cannot be kept. Whoever wants to be able to go back does not change it then.
    pub fn before_change(&mut self, path: &Path) -> Result<bool, CheckpointError> {
        let path = real_place(path).map_err(|error| CheckpointError::new(path, error))?;
        if self.index.is_empty() || self.index.has(&path) {
            return Ok(false);
        }
        let kept = self.keep(&path);
        let before = kept.map_err(|error| CheckpointError::new(&path, error))?;
        self.note(Record::File { path, before })?;
        Ok(true)
    }

    fn keep(&self, path: &Path) -> io::Result<Before> {
        let meta = match fs::symlink_metadata(path) {
            Ok(meta) => meta,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Before::Absent),
            Err(error) => return Err(error),
        };
        if !meta.is_file() {
            return Ok(Before::NotKept);
        }
        let mut content = Vec::new();
        let mut file = fs::File::open(path)?.take(MAX_KEPT_BYTES + 1);
        file.read_to_end(&mut content)?;
        if content.len() as u64 > MAX_KEPT_BYTES {
            return Ok(Before::NotKept);
        }
        let digest = digest(&content);
        let kept = self.folder.join(&digest);
        if !kept.is_file() {
            index::create_folder(&self.folder)?;
            atomic::replace(&kept, &content, Readers::Owner)?;
        }
        let mode = index::mode_of(&meta);
        Ok(Before::Content { digest, mode })
    }

    fn note(&mut self, record: Record) -> Result<(), CheckpointError> {
        let path = self.folder.join(INDEX);
        let added = self.index.add(&path, record);
        added.map_err(|error| CheckpointError::new(&path, error))
    }
}

/// Copies the files of a folder. The index comes last: what it names is there when it is.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    index::create_folder(to)?;
    let mut names: Vec<_> = fs::read_dir(from)?
        .map(|entry| entry.map(|entry| entry.file_name()))
        .collect::<io::Result<_>>()?;
    names.sort_by_key(|name| name == INDEX);
    for name in names {
        // As a whole or not at all: half of it would be taken for what its name says.
        let content = fs::read(from.join(&name))?;
        atomic::replace(&to.join(&name), &content, Readers::Owner)?;
    }
    Ok(())
}

/// The path with all links in its folders followed once and for all; of the file itself only the name is taken.
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
            // Folders that the change itself will create.
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

fn digest(content: &[u8]) -> String {
    let hash = Sha256::digest(content);
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}
