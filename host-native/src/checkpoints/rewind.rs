//! Restoring files from checkpoints.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use windlass_core::Uuid;
use windlass_engine::{
    TextPath,
    checkpoint::{Before, changed_lines, digest},
};

use super::{FileCheckpoints, is_real};
use crate::{
    regular::{self, Link},
    store::{Readers, replace},
};

/// The result of a rewind, or of its preview.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rewind {
    /// The files, in the order in which the session first changed them.
    pub files_changed: Vec<PathBuf>,
    /// The number of restored lines.
    pub insertions: u64,
    /// The number of removed lines.
    pub deletions: u64,
    /// The number of files that are skipped because of symbolic links.
    pub skipped_links: u64,
    /// Files that were not saved and are therefore skipped: large files, folders, devices.
    pub not_kept: Vec<PathBuf>,
}

/// Why a rewind failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RewindError {
    /// The message is unknown.
    #[error(
        "No file checkpoint found for message {0}: only messages that were sent while checkpoints are on are places to go back to"
    )]
    UnknownMessage(Uuid),
    /// A saved content can no longer be read. Nothing was changed.
    #[error("the kept content of {} cannot be read ({error}); no file was changed", path.display())]
    Lost {
        /// The file whose content it was.
        path: PathBuf,
        /// The error of the store.
        #[source]
        error: io::Error,
    },
    /// A file could not be restored.
    #[error("{} could not be put back: {error}; {} other files were", path.display(), done.len())]
    Failed {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        #[source]
        error: io::Error,
        /// The files that were restored before.
        done: Vec<PathBuf>,
    },
}

/// The error code for a missing file on all systems (`ENOENT`, `ERROR_FILE_NOT_FOUND`).
const NO_SUCH_FILE: i32 = 2;

/// A change to one file.
struct Step {
    path: PathBuf,
    /// The content to write; `None` removes the file.
    content: Option<(Vec<u8>, Option<u32>)>,
}

impl FileCheckpoints {
    /// What [`rewind`](Self::rewind) would do.
    pub(super) fn preview(&self, message: Uuid) -> Result<Rewind, RewindError> {
        self.plan(message).map(|(rewind, _)| rewind)
    }

    /// Restores all files that the session has changed since a user message: changed and deleted files get their
    /// content at that time, created ones are removed. Changes made by others in between are lost. The checkpoints
    /// are kept, so that one can rewind further, or forward again to a later message.
    pub(super) fn rewind(&self, message: Uuid) -> Result<Rewind, RewindError> {
        let (rewind, steps) = self.plan(message)?;
        let mut done = Vec::new();
        for step in steps {
            if let Err(error) = step.take() {
                let path = step.path;
                return Err(RewindError::Failed { path, error, done });
            }
            done.push(step.path);
        }
        Ok(rewind)
    }

    /// Reads all contents before anything is changed.
    fn plan(&self, message: Uuid) -> Result<(Rewind, Vec<Step>), RewindError> {
        let files = self.index.at(message);
        let files = files.ok_or(RewindError::UnknownMessage(message))?;
        let mut rewind = Rewind::default();
        let mut steps = Vec::new();
        for (noted, before) in files {
            let path = Path::new(noted.as_str());
            let wanted = match before {
                Before::Absent => None,
                Before::Content { digest, mode } => Some((self.kept(path, digest)?, *mode)),
                Before::NotKept => {
                    rewind.not_kept.push(path.to_path_buf());
                    continue;
                }
            };
            let now = match policy(noted) {
                PolicyContext::Nothing => None,
                PolicyContext::File(content) => Some(content),
                PolicyContext::Link => {
                    rewind.skipped_links += 1;
                    continue;
                }
                PolicyContext::Other => {
                    rewind.not_kept.push(path.to_path_buf());
                    continue;
                }
            };
            let content = wanted.as_ref().map(|(content, _)| content);
            if content == now.as_ref() {
                continue;
            }
            let text = |content: Option<&Vec<u8>>| content.cloned().unwrap_or_default();
            let (insertions, deletions) = changed_lines(&text(now.as_ref()), &text(content));
            rewind.insertions += insertions;
            rewind.deletions += deletions;
            rewind.files_changed.push(path.to_path_buf());
            steps.push(Step {
                path: path.to_path_buf(),
                content: wanted,
            });
        }
        Ok((rewind, steps))
    }

    fn kept(&self, path: &Path, wanted: &str) -> Result<Vec<u8>, RewindError> {
        let read = match self.documents.get(wanted) {
            Ok(Some(content)) if digest(&content) == wanted => Ok(content),
            Ok(Some(_)) => Err(io::Error::other("it is not what was kept")),
            Ok(None) => Err(io::Error::from_raw_os_error(NO_SUCH_FILE)),
            Err(error) => Err(io::Error::other(error.into_source())),
        };
        read.map_err(|error| RewindError::Lost {
            path: path.to_path_buf(),
            error,
        })
    }
}

impl Step {
    fn take(&self) -> io::Result<()> {
        let Some((content, mode)) = &self.content else {
            return fs::remove_file(&self.path);
        };
        if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder)?;
        }
        replace(&self.path, content, Readers::Usual)?;
        #[cfg(unix)]
        if let Some(mode) = mode {
            use std::os::unix::fs::PermissionsExt as _;
            fs::set_permissions(&self.path, fs::Permissions::from_mode(*mode))?;
        }
        #[cfg(not(unix))]
        let _ = mode;
        Ok(())
    }
}

/// What is at a path now.
enum PolicyContext {
    Nothing,
    File(Vec<u8>),
    Link,
    Other,
}

fn policy(path: &TextPath) -> PolicyContext {
    if !is_real(path) {
        return PolicyContext::Link;
    }
    let path = Path::new(path.as_str());
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => PolicyContext::Nothing,
        Ok(meta) if meta.is_symlink() => PolicyContext::Link,
        Ok(meta) if meta.is_file() => {
            let content = regular::read(path, Link::Refused, u64::MAX);
            content.map_or(PolicyContext::Other, PolicyContext::File)
        }
        _ => PolicyContext::Other,
    }
}
