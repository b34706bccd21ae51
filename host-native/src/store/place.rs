//! The locations of session files.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::SystemTime,
};

use windlass_core::{SessionId, Uuid};
use windlass_engine::{
    checkpoint,
    store::{StoreError, file_name},
};

use crate::{
    config_dir::{ConfigDir, private_folder, project_key},
    regular::{self, Link},
};

/// The folder of the sessions of one working directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SessionFiles {
    config: ConfigDir,
    folder: PathBuf,
    key: String,
}

/// A stored session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SavedAt {
    /// The session.
    pub(super) id: SessionId,
    /// Its transcript.
    pub(super) path: PathBuf,
    /// When it was last appended to.
    pub(super) modified: SystemTime,
}

impl SessionFiles {
    /// The folder of a working directory's sessions.
    pub(super) fn of(config: &ConfigDir, cwd: &Path) -> Self {
        Self {
            config: config.clone(),
            folder: config.project(cwd),
            key: project_key(cwd),
        }
    }

    /// The transcript of a session.
    pub(super) fn session(&self, id: SessionId) -> PathBuf {
        self.folder.join(format!("{id}.jsonl"))
    }

    /// The path of a document of a session: beside its transcript, or in the folder where the SDKs look for file backups.
    pub(super) fn document(&self, id: SessionId, transcript: &Path, name: &str) -> PathBuf {
        match name.strip_prefix(checkpoint::DOCUMENTS) {
            Some(name) => self.config.file_history(id).join(name),
            None => transcript.with_extension("").join(name),
        }
    }

    /// Finds the transcript of a session by its id: in this working directory's folder, or else in any other (a
    /// directory may have been moved, or be known under another path).
    ///
    /// # Errors
    /// [`StoreError`] if the folder of all projects cannot be read, or if something other than a regular file has the
    /// session's name. A missing folder counts as empty.
    pub(super) fn find(&self, id: SessionId) -> Result<Option<PathBuf>, StoreError> {
        let own = self.session(id);
        if is_filled(&own)? {
            return Ok(Some(own));
        }
        let mut found: Vec<PathBuf> = Vec::new();
        for folder in entries(&self.config.projects())? {
            let path = folder.join(format!("{id}.jsonl"));
            if is_filled(&path)? {
                found.push(path);
            }
        }
        // If a session was copied, the copy that was written last is used.
        found.sort_by_key(|path| modified(path));
        Ok(found.pop())
    }

    /// The sessions of this working directory, most recently written first.
    ///
    /// # Errors
    /// [`StoreError`] if the folder cannot be read. A missing folder counts as empty.
    pub(super) fn all(&self) -> Result<Vec<SavedAt>, StoreError> {
        let mut found = Vec::new();
        for folder in self.folders()? {
            for path in entries(&folder)? {
                let stem = path.file_stem().and_then(|stem| stem.to_str());
                let is_transcript = path.extension().is_some_and(|ext| ext == "jsonl");
                let Some(id) = stem.filter(|_| is_transcript).and_then(written_id) else {
                    continue;
                };
                if matches!(is_filled(&path), Ok(true)) && !is_sidechain(&path) {
                    let modified = modified(&path);
                    found.push(SavedAt { id, path, modified });
                }
            }
        }
        found.sort_by_key(|saved| std::cmp::Reverse((saved.modified, saved.id)));
        Ok(found)
    }

    /// Deletes a session: its subagents' transcripts, its file backups and its transcript. The transcript is deleted
    /// last, so that after a failure the session can still be found.
    pub(super) fn remove(&self, id: SessionId, transcript: &Path) -> Result<(), StoreError> {
        for folder in [transcript.with_extension(""), self.config.file_history(id)] {
            match fs::remove_dir_all(&folder) {
                Err(error) if !is_absent(&error) => {
                    return Err(failed("removing", &folder, error));
                }
                _ => {}
            }
        }
        fs::remove_file(transcript).map_err(|error| failed("removing", transcript, error))
    }

    /// The folder, and those of other engines that hash a long path differently.
    fn folders(&self) -> Result<Vec<PathBuf>, StoreError> {
        let mut folders = vec![self.folder.clone()];
        if let Some(prefix) = self.key.get(..200).filter(|_| self.key.len() > 200) {
            let similar = entries(&self.config.projects())?
                .into_iter()
                .filter(|path| {
                    let name = path.file_name().and_then(|name| name.to_str());
                    let rest = name.and_then(|name| name.strip_prefix(prefix));
                    rest.is_some_and(|rest| rest.starts_with('-')) && *path != self.folder
                });
            folders.extend(similar);
        }
        Ok(folders)
    }
}

/// The transcript of a session, or that of one of its subagents, which is stored beside it.
pub(super) fn path_of(transcript: &Path, agent: Option<&str>) -> PathBuf {
    let Some(agent) = agent else {
        return transcript.to_path_buf();
    };
    let folder = transcript.with_extension("").join("subagents");
    folder.join(format!("agent-{}.jsonl", file_name(agent)))
}

pub(super) fn failed(doing: &'static str, path: &Path, error: io::Error) -> StoreError {
    StoreError::failed(doing, path.display(), error)
}

/// Creates the folder of a file and its parents, accessible only to the owner.
pub(super) fn create_folder(path: &Path) -> Result<(), StoreError> {
    let Some(folder) = path.parent() else {
        return Ok(());
    };
    private_folder(folder).map_err(|error| failed("creating", folder, error))
}

/// The content of a file; `None` if it does not exist. A link is not followed, and anything but a regular file is an error.
pub(super) fn content(path: &Path) -> Result<Option<Vec<u8>>, StoreError> {
    match regular::read(path, Link::Refused, u64::MAX) {
        Ok(content) => Ok(Some(content)),
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => Err(failed("reading", path, error)),
    }
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let unreadable = |error| failed("reading", folder, error);
    let listing = match fs::read_dir(folder) {
        Ok(listing) => listing,
        Err(error) if is_absent(&error) => return Ok(Vec::new()),
        Err(error) => return Err(unreadable(error)),
    };
    let paths = listing.map(|entry| entry.map(|entry| entry.path()));
    paths.collect::<io::Result<_>>().map_err(unreadable)
}

pub(super) fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// Whether there is a transcript that is not empty. Anything but a regular file is an error, since continuing the
/// session would write to it.
pub(super) fn is_filled(path: &Path) -> Result<bool, StoreError> {
    match regular::is_there(path, Link::Refused) {
        Ok(found) => Ok(found.is_some_and(|found| found.len() > 0)),
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
            Err(failed("opening", path, error))
        }
        // If it cannot be inspected, nothing is known about it.
        Err(_) => Ok(false),
    }
}

fn modified(path: &Path) -> SystemTime {
    let meta = fs::symlink_metadata(path);
    meta.and_then(|meta| meta.modified())
        .unwrap_or(SystemTime::UNIX_EPOCH)
}

/// Old engines stored subagents' transcripts beside the sessions; their first line identifies them.
fn is_sidechain(path: &Path) -> bool {
    use io::Read as _;
    let mut head = vec![0; 4096];
    let Ok(len) = regular::open(path, Link::Refused).and_then(|mut file| file.read(&mut head))
    else {
        return false;
    };
    let line = head[..len].split(|byte| *byte == b'\n').next();
    let text = String::from_utf8_lossy(line.unwrap_or_default());
    text.contains("\"isSidechain\":true") || text.contains("\"isSidechain\": true")
}

/// The session id in a file name, only in the exact form that is written.
fn written_id(stem: &str) -> Option<SessionId> {
    let id = Uuid::try_parse(stem).ok()?;
    (id.to_string() == stem).then_some(id)
}
