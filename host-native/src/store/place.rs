//! Where the files of sessions are.

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

/// A session that was written down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SavedAt {
    /// The session.
    pub(super) id: SessionId,
    /// Its file.
    pub(super) path: PathBuf,
    /// When something was last appended to it.
    pub(super) modified: SystemTime,
}

impl SessionFiles {
    /// The sessions of a working directory.
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

    /// A document of a session: beside its transcripts, or where the SDKs look for what files held.
    pub(super) fn document(&self, id: SessionId, transcript: &Path, name: &str) -> PathBuf {
        match name.strip_prefix(checkpoint::DOCUMENTS) {
            Some(name) => self.config.file_history(id).join(name),
            None => transcript.with_extension("").join(name),
        }
    }

    /// The transcript of a session by its id: of this working directory, or else of any other (a directory may have been
    /// moved, or be known under another path).
    ///
    /// # Errors
    /// [`StoreError`] if the folder of all projects cannot be read, or if something that is no file has the session's name. A folder
    /// that does not exist holds nothing.
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
        // A session may have been copied: what was written last is the one that goes on.
        found.sort_by_key(|path| modified(path));
        Ok(found.pop())
    }

    /// The sessions of this working directory, those written to last first.
    ///
    /// # Errors
    /// [`StoreError`] if the folder cannot be read. One that does not exist holds nothing.
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

    /// Takes a session away: its transcript, those of its subagents, and what files held before it changed them. The transcript is
    /// the last, so that whatever is left can still be named.
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

    /// The folder, and those of other engines whose hash of a long path came out differently.
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

/// The transcript of a session, which is this, or that of one of its subagents, which lies beside.
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

/// The folder of a file, with all above it, for nobody else to read.
pub(super) fn create_folder(path: &Path) -> Result<(), StoreError> {
    let Some(folder) = path.parent() else {
        return Ok(());
    };
    private_folder(folder).map_err(|error| failed("creating", folder, error))
}

/// What is in a file; none where there is none. A link is not followed, and what is no regular file is an error.
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

/// Whether there is a transcript that something stands in. What is no regular file is an error: to go on would be to write
/// to it.
pub(super) fn is_filled(path: &Path) -> Result<bool, StoreError> {
    match regular::is_there(path, Link::Refused) {
        Ok(found) => Ok(found.is_some_and(|found| found.len() > 0)),
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
            Err(failed("opening", path, error))
        }
        // Of what cannot be looked at nothing is known.
        Err(_) => Ok(false),
    }
}

fn modified(path: &Path) -> SystemTime {
    let meta = fs::symlink_metadata(path);
    meta.and_then(|meta| meta.modified())
        .unwrap_or(SystemTime::UNIX_EPOCH)
}

/// Old engines wrote subagents beside the sessions; their first line says so.
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

/// The session of a file's name: only the name under which it would be written.
fn written_id(stem: &str) -> Option<SessionId> {
    let id = Uuid::try_parse(stem).ok()?;
    (id.to_string() == stem).then_some(id)
}
