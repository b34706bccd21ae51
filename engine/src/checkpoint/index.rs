//! Which file was changed after which message.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use serde::{Deserialize, Serialize};
use windlass_core::Uuid;

use crate::path::TextPath;

/// A line of the index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "type")]
pub enum Record {
    /// A user message; the files behind it were changed while it was answered.
    Message {
        /// Its id.
        message: Uuid,
    },
    /// A file, before its first change after that message.
    File {
        /// Its real path.
        path: TextPath,
        /// What it was.
        before: Before,
    },
    /// A content that only the transcript names: what a file holds that no call has changed since the last message.
    Content {
        /// Its digest.
        digest: String,
    },
}

/// What a file was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "was")]
pub enum Before {
    /// Not there.
    Absent,
    /// A file with this content and these permission bits.
    Content {
        /// The digest under which the content is kept.
        digest: String,
        /// The permission bits, where the system has any.
        mode: Option<u32>,
    },
    /// Something that is not kept.
    NotKept,
}

/// All records of a session.
#[derive(Debug, Default)]
pub struct Index {
    records: Vec<Record>,
    /// Files that were noted since the last message.
    current: HashSet<TextPath>,
    /// The digests of all contents that are kept.
    contents: BTreeSet<String>,
}

impl Before {
    /// The digest of the content that is kept of it.
    #[must_use]
    pub fn content(&self) -> Option<&str> {
        match self {
            Self::Content { digest, .. } => Some(digest),
            Self::Absent | Self::NotKept => None,
        }
    }
}

impl Record {
    /// The line of the index, with its end.
    ///
    /// # Errors
    /// As the encoder says.
    pub fn line(&self) -> serde_json::Result<Vec<u8>> {
        let mut line = serde_json::to_vec(self)?;
        line.push(b'\n');
        Ok(line)
    }
}

impl Index {
    /// Reads an index. A line that was torn off noted a change that was not made.
    #[must_use]
    pub fn parse(text: &[u8]) -> Self {
        let mut index = Self::default();
        for line in text.split(|byte| *byte == b'\n') {
            if let Ok(record) = serde_json::from_slice(line) {
                index.take(record);
            }
        }
        index
    }

    /// Takes a record in that has been added to the file.
    pub fn take(&mut self, record: Record) {
        match &record {
            Record::Message { .. } => self.current.clear(),
            Record::File { path, before } => {
                self.current.insert(path.clone());
                self.contents
                    .extend(before.content().map(ToOwned::to_owned));
            }
            Record::Content { digest } => {
                self.contents.insert(digest.clone());
            }
        }
        self.records.push(record);
    }

    /// Whether nothing was noted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Whether a file was noted since the last message.
    #[must_use]
    pub fn has(&self, path: &TextPath) -> bool {
        self.current.contains(path)
    }

    /// The message that is being answered.
    #[must_use]
    pub fn last_message(&self) -> Option<Uuid> {
        self.records.iter().rev().find_map(|record| match record {
            Record::Message { message } => Some(*message),
            Record::File { .. } | Record::Content { .. } => None,
        })
    }

    /// The digests of all contents that are kept.
    pub fn contents(&self) -> impl Iterator<Item = &str> {
        self.contents.iter().map(String::as_str)
    }

    /// Whether it names a content.
    #[must_use]
    pub fn names_content(&self, digest: &str) -> bool {
        self.contents.contains(digest)
    }

    /// All files that were ever noted, each with how often it was.
    #[must_use]
    pub fn files(&self) -> BTreeMap<&TextPath, u32> {
        let mut files = BTreeMap::new();
        for record in &self.records {
            if let Record::File { path, .. } = record {
                *files.entry(path).or_default() += 1;
            }
        }
        files
    }

    /// What each file was when a message came, in the order of the changes; none if the message is not known.
    #[must_use]
    pub fn at(&self, message: Uuid) -> Option<Vec<(&TextPath, &Before)>> {
        let wanted = Record::Message { message };
        let from = self.records.iter().position(|record| *record == wanted)?;
        let mut seen = HashSet::new();
        let files = self.records[from..]
            .iter()
            .filter_map(|record| match record {
                Record::File { path, before } => Some((path, before)),
                Record::Message { .. } | Record::Content { .. } => None,
            });
        Some(files.filter(|(path, _)| seen.insert(*path)).collect())
    }
}
