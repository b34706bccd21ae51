//! Which file was changed after which message.

use std::{
    collections::{BTreeMap, HashSet},
    fs::{self, DirBuilder},
    io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use windlass_core::Uuid;

use crate::LineFile;

/// A line of the index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "type")]
pub(super) enum Record {
    /// A user message; the files behind it were changed while it was answered.
    Message { message: Uuid },
    /// A file, before its first change after that message.
    File { path: PathBuf, before: Before },
}

/// What a file was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "was")]
pub(super) enum Before {
    /// Not there.
    Absent,
    /// A file with this content and these permission bits.
    Content { digest: String, mode: Option<u32> },
    /// Something that is not kept.
    NotKept,
}

/// The index, in memory and in its file.
#[derive(Debug, Default)]
pub(super) struct Index {
    records: Vec<Record>,
    /// Files that were noted since the last message.
    current: HashSet<PathBuf>,
}

impl Index {
    pub(super) fn read(path: &Path) -> io::Result<Self> {
        let text = match fs::read(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(error),
        };
        let mut index = Self::default();
        for line in text.split(|byte| *byte == b'\n') {
            // A line that was torn off noted a change that was not made.
            if let Ok(record) = serde_json::from_slice(line) {
                index.take(record);
            }
        }
        Ok(index)
    }

    /// Adds a record to the file, then to what is known.
    pub(super) fn add(&mut self, path: &Path, record: Record) -> io::Result<()> {
        let mut line = serde_json::to_vec(&record)?;
        line.push(b'\n');
        if let Some(folder) = path.parent() {
            create_folder(folder)?;
        }
        LineFile::open(path)?.append(&line)?;
        self.take(record);
        Ok(())
    }

    fn take(&mut self, record: Record) {
        match &record {
            Record::Message { .. } => self.current.clear(),
            Record::File { path, .. } => {
                self.current.insert(path.clone());
            }
        }
        self.records.push(record);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Whether a file was noted since the last message.
    pub(super) fn has(&self, path: &Path) -> bool {
        self.current.contains(path)
    }

    /// The message that is being answered.
    pub(super) fn last_message(&self) -> Option<Uuid> {
        self.records.iter().rev().find_map(|record| match record {
            Record::Message { message } => Some(*message),
            Record::File { .. } => None,
        })
    }

    /// All files that were ever noted, each with how often it was.
    pub(super) fn files(&self) -> BTreeMap<&Path, u32> {
        let mut files = BTreeMap::new();
        for record in &self.records {
            if let Record::File { path, .. } = record {
                *files.entry(path.as_path()).or_default() += 1;
            }
        }
        files
    }

    /// What each file was when a message came, in the order of the changes; none if the message is not known.
    pub(super) fn at(&self, message: Uuid) -> Option<Vec<(&Path, &Before)>> {
        let wanted = Record::Message { message };
        let from = self.records.iter().position(|record| *record == wanted)?;
        let mut seen = HashSet::new();
        let files = self.records[from..]
            .iter()
            .filter_map(|record| match record {
                Record::File { path, before } => Some((path.as_path(), before)),
                Record::Message { .. } => None,
            });
        Some(files.filter(|(path, _)| seen.insert(*path)).collect())
    }
}

pub(super) fn create_folder(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

#[cfg(unix)]
pub(super) fn mode_of(meta: &fs::Metadata) -> Option<u32> {
    Some(std::os::unix::fs::MetadataExt::mode(meta) & 0o7777)
}

#[cfg(not(unix))]
pub(super) fn mode_of(_: &fs::Metadata) -> Option<u32> {
    None
}
