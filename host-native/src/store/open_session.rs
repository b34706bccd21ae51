//! The files of a session that is written to.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    fs, io,
    path::{Path, PathBuf},
};

use windlass_core::{RawJson, SessionId};
use windlass_engine::{
    LineFile, Readers, replace,
    store::{Batch, StoreError},
};

use super::{
    place::{document, failed, of_agent},
    snapshot,
};

/// Writes the transcripts of one session. Files and folders are made with the first line; they are for their owner's eyes
/// only. While the session's transcript is open it is locked: with the process goes the lock.
#[derive(Debug)]
pub(super) struct OpenSession {
    session: SessionId,
    /// Tells this lease from others of the session.
    pub(super) epoch: u64,
    transcript: PathBuf,
    open: BTreeMap<Option<String>, LineFile>,
}

impl OpenSession {
    /// One whose transcript is opened with its first line.
    pub(super) fn new(session: SessionId, epoch: u64, transcript: PathBuf) -> Self {
        Self {
            session,
            epoch,
            transcript,
            open: BTreeMap::new(),
        }
    }

    /// Opens the transcript now, which must be there.
    ///
    /// # Errors
    /// [`StoreError::Busy`] when another process, or another store of this one, writes to it.
    pub(super) fn take(&mut self) -> Result<(), StoreError> {
        self.file(None).map(|_| ())
    }

    pub(super) fn append(&mut self, batch: Batch<'_>) -> Result<(), StoreError> {
        let path = self.path(batch.agent);
        let size = batch.lines.iter().map(|line| line.get().len() + 1).sum();
        let bytes = lines(batch.lines, size);
        let file = self.file(batch.agent)?;
        // All lines by one write, or none.
        (file.append(&bytes)).map_err(|error| failed("writing", &path, error))?;
        match batch.snapshot {
            Some(bytes) => snapshot::write(&path, bytes),
            None => Ok(()),
        }
    }

    pub(super) fn put(&self, name: &str, content: &[u8]) -> Result<(), StoreError> {
        let path = document(&self.transcript, name);
        create_folder(&path)?;
        replace(&path, content, Readers::Owner).map_err(|error| failed("writing", &path, error))
    }

    pub(super) fn path(&self, agent: Option<&str>) -> PathBuf {
        match agent {
            Some(agent) => of_agent(&self.transcript, agent),
            None => self.transcript.clone(),
        }
    }

    fn file(&mut self, agent: Option<&str>) -> Result<&mut LineFile, StoreError> {
        // Whoever writes for a subagent holds the session.
        if agent.is_some() && !self.open.contains_key(&None) {
            self.file(None)?;
        }
        let path = self.path(agent);
        let session = self.session;
        let key = agent.map(ToOwned::to_owned);
        match self.open.entry(key) {
            Entry::Occupied(open) => Ok(open.into_mut()),
            Entry::Vacant(vacant) => {
                create_folder(&path)?;
                let mut file =
                    LineFile::open(&path).map_err(|error| failed("opening", &path, error))?;
                if agent.is_none() {
                    match file.lock() {
                        Ok(true) => {}
                        Ok(false) => return Err(StoreError::Busy(session)),
                        Err(error) => return Err(failed("locking", &path, error)),
                    }
                }
                Ok(vacant.insert(file))
            }
        }
    }
}

fn lines(lines: &[RawJson], size: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(size);
    for line in lines {
        bytes.extend_from_slice(line.get().as_bytes());
        bytes.push(b'\n');
    }
    bytes
}

/// The folder of a file, with all above it, for nobody else to read.
pub(super) fn create_folder(path: &Path) -> Result<(), StoreError> {
    let Some(folder) = path.parent() else {
        return Ok(());
    };
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    let created: io::Result<()> = builder.create(folder);
    created.map_err(|error| failed("creating", folder, error))
}
