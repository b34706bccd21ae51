//! What is told of files and directories: their kinds, sizes and times.

use std::time::{SystemTime, UNIX_EPOCH};

use cap_std::fs::{FileType, Metadata};

/// Metadata of a file or directory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stat {
    /// The kind; links are followed.
    pub kind: EntryKind,
    /// Size in bytes.
    pub size: u64,
    /// Modification time in milliseconds since 1970, with fraction; 0 if unknown.
    pub modified: f64,
}

/// The kind of a directory entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A link.
    Symlink,
    /// A pipe, a socket, a device.
    Other,
}

/// A directory entry.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The name.
    pub name: String,
    /// The kind; links are not followed.
    pub kind: EntryKind,
    /// Size in bytes; 0 unless details were requested.
    pub size: u64,
    /// Modification time in milliseconds since 1970; 0 unless details were requested.
    pub modified: f64,
}

/// A part of a listing.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// Entries sorted by name.
    pub entries: Vec<Entry>,
    /// The cursor for the next page; `None` on the last page.
    pub next: Option<u32>,
}

/// The metadata as a component gets it.
pub(super) fn stat_of(metadata: &Metadata) -> Stat {
    let modified = metadata
        .modified()
        .ok()
        .map(cap_std::time::SystemTime::into_std);
    let since = modified.and_then(|t: SystemTime| t.duration_since(UNIX_EPOCH).ok());
    Stat {
        kind: kind_of(metadata.file_type()),
        size: metadata.len(),
        modified: since.map_or(0.0, |d| d.as_secs_f64() * 1000.0),
    }
}

pub(super) fn kind_of(file_type: FileType) -> EntryKind {
    if file_type.is_file() {
        EntryKind::File
    } else if file_type.is_dir() {
        EntryKind::Directory
    } else if file_type.is_symlink() {
        EntryKind::Symlink
    } else {
        EntryKind::Other
    }
}
