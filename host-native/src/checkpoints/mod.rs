//! File checkpoints: what files held before a session changed them is kept in a folder of the session, and comes back from
//! there. What is kept of a file, and what the index says, stands in [`windlass_engine::checkpoint`].
//!
//! Links are never followed: neither when a file is kept nor when it is put back, in none of the parts of its path.

mod of_session;
mod rewind;

#[cfg(test)]
mod tests;

use std::{
    collections::BTreeMap,
    fs,
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use windlass_core::{RawJson, Uuid};
use windlass_engine::{
    TextPath,
    checkpoint::{Before, INDEX, Index, MAX_KEPT_BYTES, Record, digest, snapshot_line},
};

pub(crate) use self::of_session::SessionCheckpoints;
pub use self::{
    of_session::RewindFilesError,
    rewind::{Rewind, RewindError},
};
use crate::{
    config_dir::private_folder,
    store::{LineFile, Readers, replace},
    text_path::{lossy, text_path},
};

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
    /// The checkpoints in a folder ([`ConfigDir::file_history`](crate::store::ConfigDir::file_history)): those of a
    /// session that goes on are there already. Nothing is created before there is something to keep.
    ///
    /// # Errors
    /// [`CheckpointError`] if the folder is there and cannot be read.
    pub fn open(folder: impl Into<PathBuf>) -> Result<Self, CheckpointError> {
        let folder = folder.into();
        let path = folder.join(INDEX);
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(CheckpointError::new(&path, error)),
        };
        let index = Index::parse(&text);
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
        if self.index.is_empty() {
            return Ok(false);
        }
        let noted = text_path(&path).map_err(|error| CheckpointError::new(&path, error.into()))?;
        if self.index.has(&noted) {
            return Ok(false);
        }
        let kept = self.keep(&path);
        let before = kept.map_err(|error| CheckpointError::new(&path, error))?;
        self.note(Record::File {
            path: noted,
            before,
        })?;
        Ok(true)
    }

    /// What the transcript says of the message that is being answered; none before the first. `is_update` where a line was
    /// written already and another file has been kept since. Paths below `cwd` are relative to it.
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
        let noted = self.index.at(message).into_iter().flatten();
        let noted: BTreeMap<&TextPath, &Before> = noted.collect();
        let mut files = Vec::new();
        for (path, version) in self.index.files() {
            // A file that was not changed since is what it was.
            let before = match noted.get(path) {
                Some(before) => (*before).clone(),
                // Behind a link that has come since there is another file.
                None if !is_real(path) => continue,
                None => {
                    let path = Path::new(path.as_str());
                    let kept = self.keep(path);
                    kept.map_err(|error| CheckpointError::new(path, error))?
                }
            };
            files.push((path, version, before));
        }
        let files = (files.iter()).map(|(path, version, before)| (*path, *version, before));
        let line = snapshot_line(message, files, &lossy(cwd), timestamp, is_update);
        line.map(Some).map_err(|error| {
            CheckpointError::new(&self.folder, io::Error::other(error.to_string()))
        })
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
            private_folder(&self.folder)?;
            replace(&kept, &content, Readers::Owner)?;
        }
        let mode = mode_of(&meta);
        Ok(Before::Content { digest, mode })
    }

    fn note(&mut self, record: Record) -> Result<(), CheckpointError> {
        let path = self.folder.join(INDEX);
        let added = || {
            let line = record.line()?;
            private_folder(&self.folder)?;
            LineFile::open(&path)?.append(&line)
        };
        added().map_err(|error| CheckpointError::new(&path, error))?;
        self.index.take(record);
        Ok(())
    }
}

/// Copies the files of a folder. The index comes last: what it names is there when it is.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    private_folder(to)?;
    let mut names: Vec<_> = fs::read_dir(from)?
        .map(|entry| entry.map(|entry| entry.file_name()))
        .collect::<io::Result<_>>()?;
    names.sort_by_key(|name| name == INDEX);
    for name in names {
        // As a whole or not at all: half of it would be taken for what its name says.
        let content = fs::read(from.join(&name))?;
        replace(&to.join(&name), &content, Readers::Owner)?;
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

/// Whether a path is still what it was when it was noted, which was real: no folder of it has become a link since.
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
