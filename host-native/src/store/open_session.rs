//! The open files of a session that is being written.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    io,
    path::{Path, PathBuf},
};

use windlass_core::{RawJson, SessionId};
use windlass_engine::store::{Batch, StoreError};

use super::{
    atomic::{Readers, replace_itself},
    line_file::{self, LineFile},
    place::{create_folder, failed, path_of},
    snapshot,
};

/// Writes the transcripts of one session. Files and folders are created with the first line, accessible to their
/// owner only. While the session's transcript is open it is locked; the lock ends with the process.
#[derive(Debug)]
pub(super) struct OpenSession {
    session: SessionId,
    /// Distinguishes this lease from others of the session.
    pub(super) epoch: u64,
    transcript: PathBuf,
    open: BTreeMap<Option<String>, OpenFile>,
}

#[derive(Debug)]
struct OpenFile {
    path: PathBuf,
    lines: LineFile,
}

impl OpenSession {
    /// A session whose transcript is opened with its first line.
    pub(super) fn new(session: SessionId, epoch: u64, transcript: PathBuf) -> Self {
        Self {
            session,
            epoch,
            transcript,
            open: BTreeMap::new(),
        }
    }

    /// Opens and locks the existing transcript now.
    ///
    /// # Errors
    /// [`StoreError::Busy`] if another process, or another store of this process, is writing to it.
    pub(super) fn take(&mut self) -> Result<(), StoreError> {
        self.file(None).map(|_| ())
    }

    /// Locks the existing transcript without changing it.
    ///
    /// # Errors
    /// As [`take`](Self::take).
    pub(super) fn hold(&mut self) -> Result<(), StoreError> {
        let path = self.transcript.clone();
        let held = LineFile::hold_alone(&path).map_err(|error| failed("opening", &path, error))?;
        let lines = held.ok_or(StoreError::Busy(self.session))?;
        self.open.insert(None, OpenFile { path, lines });
        Ok(())
    }

    pub(super) fn append(&mut self, batch: Batch<'_>) -> Result<(), StoreError> {
        let OpenFile { path, lines } = self.file(batch.agent)?;
        // All lines by one write, or none.
        let written = lines.append(&bytes_of(batch.lines));
        written.map_err(|error| failed("writing", path, error))?;
        match batch.snapshot {
            Some(bytes) => snapshot::write(path, bytes),
            None => Ok(()),
        }
    }

    pub(super) fn transcript(&self) -> &Path {
        &self.transcript
    }

    fn file(&mut self, agent: Option<&str>) -> Result<&mut OpenFile, StoreError> {
        // The writer of a subagent's transcript must hold the session.
        if agent.is_some() && !self.open.contains_key(&None) {
            self.file(None)?;
        }
        match self.open.entry(agent.map(ToOwned::to_owned)) {
            Entry::Occupied(open) => Ok(open.into_mut()),
            Entry::Vacant(vacant) => {
                let path = path_of(&self.transcript, agent);
                // Most sessions are in a folder that exists.
                let opened = match open(&path, agent) {
                    Err(error) if is_without_folder(&error) => {
                        create_folder(&path)?;
                        open(&path, agent)
                    }
                    opened => opened,
                };
                let opened = opened.map_err(|error| failed("opening", &path, error))?;
                let lines = opened.ok_or(StoreError::Busy(self.session))?;
                Ok(vacant.insert(OpenFile { path, lines }))
            }
        }
    }
}

/// Replaces a document.
pub(super) fn put(path: &Path, content: &[u8]) -> Result<(), StoreError> {
    create_folder(path)?;
    replace_itself(path, content, Readers::Owner).map_err(|error| failed("writing", path, error))
}

/// Appends to a document.
pub(super) fn extend(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    create_folder(path)?;
    line_file::extend(path, bytes).map_err(|error| failed("writing", path, error))
}

/// Whether a file cannot be opened because its folder does not exist.
fn is_without_folder(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// Opens a session's transcript with a lock, or a subagent's transcript under the session's lock; `None` if another
/// writer holds the lock.
fn open(path: &Path, agent: Option<&str>) -> io::Result<Option<LineFile>> {
    match agent {
        None => LineFile::open_alone(path),
        Some(_) => LineFile::open_under_lock(path).map(Some),
    }
}

/// Joins the lines, each with its line end.
fn bytes_of(lines: &[RawJson]) -> Vec<u8> {
    let size = lines.iter().map(|line| line.get().len() + 1).sum();
    let mut bytes = Vec::with_capacity(size);
    for line in lines {
        bytes.extend_from_slice(line.get().as_bytes());
        bytes.push(b'\n');
    }
    bytes
}
