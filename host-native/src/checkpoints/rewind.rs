//! The way back.

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

/// What a rewind changes, or would change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rewind {
    /// The files, in the order in which the session first changed them.
    pub files_changed: Vec<PathBuf>,
    /// Lines that come back.
    pub insertions: u64,
    /// Lines that go.
    pub deletions: u64,
    /// Links, and what stands behind them, that are left alone.
    pub skipped_links: u64,
    /// What was not kept and is therefore left alone: large files, folders, devices.
    pub not_kept: Vec<PathBuf>,
}

/// No way back.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RewindError {
    /// The message is not known.
    #[error(
        "No file checkpoint found for message {0}: only messages that were sent while checkpoints are on are places to go back to"
    )]
    UnknownMessage(Uuid),
    /// A kept content cannot be read any more. Nothing was changed.
    #[error("the kept content of {} cannot be read ({error}); no file was changed", path.display())]
    Lost {
        /// The file it was kept of.
        path: PathBuf,
        /// What is said of it where it is kept.
        #[source]
        error: io::Error,
    },
    /// A file could not be put back.
    #[error("{} could not be put back: {error}; {} other files were", path.display(), done.len())]
    Failed {
        /// The file.
        path: PathBuf,
        /// What the operating system says.
        #[source]
        error: io::Error,
        /// Those that were put back before.
        done: Vec<PathBuf>,
    },
}

/// What systems say of a file that is not there (`ENOENT`, `ERROR_FILE_NOT_FOUND`).
const NO_SUCH_FILE: i32 = 2;

/// What is to be done to a file.
struct Step {
    path: PathBuf,
    /// What it holds then; none: it goes.
    content: Option<(Vec<u8>, Option<u32>)>,
}

impl FileCheckpoints {
    /// What [`rewind`](Self::rewind) would do.
    pub(super) fn preview(&self, message: Uuid) -> Result<Rewind, RewindError> {
        self.plan(message).map(|(rewind, _)| rewind)
    }

    /// Puts all files that the session has changed since a user message back to what they were when it came: changed and
    /// deleted ones get their content, created ones go. What was done to them by others in between is lost. The checkpoints
    /// stay: one can go back further, and forward again to a later message.
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

    /// Reads everything before anything is changed.
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

/// What stands at a path now.
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
