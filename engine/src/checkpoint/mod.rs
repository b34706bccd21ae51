//! File checkpoints: the contents of files before a session changed them, recorded for each user message, and rewinding to
//! them (Agent SDK reference, `enableFileCheckpointing`, `rewindFiles`).
//!
//! ```text
//! file-history/index.jsonl   which file was changed after which message
//! file-history/<sha256>      a content that was kept, under its digest
//! ```
//! These are names of session documents ([`Store::put`](crate::store::Store::put)). A store that keeps sessions as files puts
//! them in `<config dir>/file-history/<session id>/`.
//!
//! What is kept:
//! - A file is kept before its first change after each user message, if the change is made by a tool that changes individual
//!   files (Write, Edit, NotebookEdit). Changes made by commands are not tracked.
//! - Regular files of up to [`MAX_KEPT_BYTES`] are kept. For larger files, links, devices and folders, the index only records
//!   that something existed, and a rewind leaves it alone.
//! - A file's content and permission bits are kept, but not its owner or timestamps.
//! - Folders that were created for a file remain when a rewind removes the file.
//!
//! Hosts store and restore the contents. This module defines the index and the transcript lines that describe them.

mod index;
mod lines;
mod snapshot;

#[cfg(test)]
mod tests;

use sha2::{Digest as _, Sha256};

pub use self::{
    index::{Before, Index, Record},
    lines::changed_lines,
    snapshot::snapshot_line,
};

/// The size of the largest file that is kept, in bytes.
pub const MAX_KEPT_BYTES: u64 = 16 * 1024 * 1024;

/// The prefix of the names of all checkpoint documents.
pub const DOCUMENTS: &str = "file-history/";

/// The name of the index document, after the prefix [`DOCUMENTS`].
pub const INDEX: &str = "index.jsonl";

/// The digest of a content (SHA-256, as text), which is the name under which it is stored.
#[must_use]
pub fn digest(content: &[u8]) -> String {
    let hash = Sha256::digest(content);
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}
