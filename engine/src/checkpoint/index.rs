//! The checkpoint index: which file was changed after which message.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use serde::{Deserialize, Serialize};
use windlass_core::Uuid;

use crate::path::TextPath;

/// A line of the index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "type")]
pub enum Record {
    /// A user message. The file records that follow it were made while it was answered.
    Message {
        /// The message's id.
        message: Uuid,
    },
    /// The state of a file before its first change after the preceding message.
    File {
        /// The file's real path.
        path: TextPath,
        /// The file's state before the change.
        before: Before,
    },
    /// Content that is referenced only by the transcript: the content of a file that no call has changed since the last
    /// message.
    Content {
        /// The digest of the content.
        digest: String,
    },
}

/// The state of a file before a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "was")]
pub enum Before {
    /// The file did not exist.
    Absent,
    /// A regular file with this content and these permission bits.
    Content {
        /// The digest under which the content is stored.
        digest: String,
        /// The permission bits, on systems that have them.
        mode: Option<u32>,
    },
    /// Something that is not kept, such as a folder or a file that is too large.
    NotKept,
}

/// All records of a session.
#[derive(Debug, Default)]
pub struct Index {
    records: Vec<Record>,
    /// Files recorded since the last message.
    current: HashSet<TextPath>,
    /// The digests of all stored contents.
    contents: BTreeSet<String>,
}

impl Before {
    /// The digest of the stored content, if content was stored.
    #[must_use]
    pub fn content(&self) -> Option<&str> {
        match self {
            Self::Content { digest, .. } => Some(digest),
            Self::Absent | Self::NotKept => None,
        }
    }
}

impl Record {
    /// The record as a line of the index, including the line end.
    ///
    /// # Errors
    /// Any error of the JSON encoder.
    pub fn line(&self) -> serde_json::Result<Vec<u8>> {
        let mut line = serde_json::to_vec(self)?;
        line.push(b'\n');
        Ok(line)
    }
}

impl Index {
    /// Parses an index. A truncated line is ignored: the change it announced was never made.
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

    /// Adds a record that has been appended to the file.
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

    /// Whether the index has no records.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Whether a file was recorded since the last message.
    #[must_use]
    pub fn has(&self, path: &TextPath) -> bool {
        self.current.contains(path)
    }

    /// The id of the message that is being answered.
    #[must_use]
    pub fn last_message(&self) -> Option<Uuid> {
        self.records.iter().rev().find_map(|record| match record {
            Record::Message { message } => Some(*message),
            Record::File { .. } | Record::Content { .. } => None,
        })
    }

    /// The digests of all stored contents.
    pub fn contents(&self) -> impl Iterator<Item = &str> {
        self.contents.iter().map(String::as_str)
    }

    /// Whether the index refers to the content with this digest.
    #[must_use]
    pub fn names_content(&self, digest: &str) -> bool {
        self.contents.contains(digest)
    }

    /// All files ever recorded, each with the number of its records.
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

    /// The state of each file when a message arrived, in the order of the changes; `None` if the message is not known.
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
