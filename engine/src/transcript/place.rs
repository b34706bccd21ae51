//! Where the files of sessions are.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::SystemTime,
};

use windlass_core::{SessionId, Uuid};

use super::TranscriptError;
use crate::config_dir::{ConfigDir, project_key};

/// The folder of the sessions of one working directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionFiles {
    config: ConfigDir,
    folder: PathBuf,
    key: String,
}

/// A session that was written down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedAt {
    /// The session.
    pub id: SessionId,
    /// Its file.
    pub path: PathBuf,
    /// When something was last appended to it.
    pub modified: SystemTime,
}

impl SessionFiles {
    /// The sessions of a working directory.
    #[must_use]
    pub fn of(config: &ConfigDir, cwd: &Path) -> Self {
        Self {
            config: config.clone(),
            folder: config.project(cwd),
            key: project_key(cwd),
        }
    }

    /// The folder. It is created with the first line that is written.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The transcript of a session.
    #[must_use]
    pub fn session(&self, id: SessionId) -> PathBuf {
        self.folder.join(format!("{id}.jsonl"))
    }

    /// The transcript of a subagent of a session.
    #[must_use]
    pub fn subagent(&self, id: SessionId, agent: &str) -> PathBuf {
        let folder = self.folder.join(id.to_string()).join("subagents");
        folder.join(format!("agent-{}.jsonl", file_name(agent)))
    }

    /// What is said of a subagent beside its transcript.
    #[must_use]
    pub fn subagent_meta(&self, id: SessionId, agent: &str) -> PathBuf {
        self.subagent(id, agent).with_extension("meta.json")
    }

    /// The folder for what commands of a session put out in the background.
    #[must_use]
    pub fn task_outputs(&self, id: SessionId) -> PathBuf {
        self.folder.join(id.to_string()).join("tasks")
    }

    /// The transcript of a session by its id: of this working directory, or else of any other (a directory may have been
    /// moved, or be known under another path).
    ///
    /// # Errors
    /// [`TranscriptError`] if the folder of all projects cannot be read. One that does not exist holds nothing.
    pub fn find(&self, id: SessionId) -> Result<Option<PathBuf>, TranscriptError> {
        let own = self.session(id);
        if is_filled(&own) {
            return Ok(Some(own));
        }
        let mut found: Vec<PathBuf> = Vec::new();
        for folder in entries(&self.config.projects())? {
            let path = folder.join(format!("{id}.jsonl"));
            if is_filled(&path) {
                found.push(path);
            }
        }
        // A session may have been copied: what was written last is the one that goes on.
        found.sort_by_key(|path| modified(path));
        Ok(found.pop())
    }

    /// The session of this working directory that was written to last (`--continue`). Subagents' files are none.
    ///
    /// # Errors
    /// [`TranscriptError`] if the folder cannot be read. One that does not exist holds nothing.
    pub fn newest(&self) -> Result<Option<SavedAt>, TranscriptError> {
        Ok(self.all()?.into_iter().next())
    }

    /// The sessions of this working directory, those written to last first.
    ///
    /// # Errors
    /// [`TranscriptError`] if the folder cannot be read. One that does not exist holds nothing.
    pub fn all(&self) -> Result<Vec<SavedAt>, TranscriptError> {
        let mut found = Vec::new();
        for folder in self.folders()? {
            for path in entries(&folder)? {
                let stem = path.file_stem().and_then(|stem| stem.to_str());
                let is_transcript = path.extension().is_some_and(|ext| ext == "jsonl");
                let Some(id) = stem.filter(|_| is_transcript).and_then(Uuid::parse) else {
                    continue;
                };
                if is_filled(&path) && !is_sidechain(&path) {
                    let modified = modified(&path);
                    found.push(SavedAt { id, path, modified });
                }
            }
        }
        found.sort_by_key(|saved| std::cmp::Reverse((saved.modified, saved.id)));
        Ok(found)
    }

    /// Takes a session away: its transcript, those of its subagents, and what files held before it changed them.
    ///
    /// # Errors
    /// [`TranscriptError`]: the first file or folder that cannot be removed. The transcript is the last, so that whatever
    /// is left can still be named.
    pub fn remove(&self, saved: &SavedAt) -> Result<(), TranscriptError> {
        let folders = [
            saved.path.with_extension(""),
            self.config.file_history(saved.id),
        ];
        for folder in folders {
            match fs::remove_dir_all(&folder) {
                Err(error) if !is_absent(&error) => {
                    return Err(TranscriptError::new("removing", &folder, error));
                }
                _ => {}
            }
        }
        let removed = fs::remove_file(&saved.path);
        removed.map_err(|error| TranscriptError::new("removing", &saved.path, error))
    }

    /// The folder, and those of other engines whose hash of a long path came out differently.
    fn folders(&self) -> Result<Vec<PathBuf>, TranscriptError> {
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

/// An id as part of a file's name: what a path would read as something else becomes `_`.
fn file_name(id: &str) -> String {
    let safe = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    id.chars().map(|c| if safe(c) { c } else { '_' }).collect()
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, TranscriptError> {
    let failed = |error| TranscriptError::new("reading", folder, error);
    let listing = match fs::read_dir(folder) {
        Ok(listing) => listing,
        Err(error) if is_absent(&error) => return Ok(Vec::new()),
        Err(error) => return Err(failed(error)),
    };
    let paths = listing.map(|entry| entry.map(|entry| entry.path()));
    paths.collect::<io::Result<_>>().map_err(failed)
}

fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

fn is_filled(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.len() > 0)
}

fn modified(path: &Path) -> SystemTime {
    let meta = fs::metadata(path);
    meta.and_then(|meta| meta.modified())
        .unwrap_or(SystemTime::UNIX_EPOCH)
}

/// Old engines wrote subagents beside the sessions; their first line says so.
fn is_sidechain(path: &Path) -> bool {
    use io::Read as _;
    let mut head = vec![0; 4096];
    let Ok(len) = fs::File::open(path).and_then(|mut file| file.read(&mut head)) else {
        return false;
    };
    let line = head[..len].split(|byte| *byte == b'\n').next();
    let text = String::from_utf8_lossy(line.unwrap_or_default());
    text.contains("\"isSidechain\":true") || text.contains("\"isSidechain\": true")
}
