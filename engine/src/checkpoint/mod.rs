//! File checkpoints: what files held before a session changed them, by user message, and the way back
//! (Agent SDK reference, `enableFileCheckpointing`, `rewindFiles`).
//!
//! ```text
//! file-history/index.jsonl   which file was changed after which message
//! file-history/<sha256>      a content that was kept, under its digest
//! ```
//! These are names of documents of the session ([`Store::put`](crate::store::Store::put)). Where sessions are files, they lie in
//! `<config dir>/file-history/<session id>/`.
//!
//! What is kept and what is not:
//! - a file is kept before the first change after each user message, by those tools that change files one by one (Write,
//!   Edit, NotebookEdit). What commands do to files is not seen;
//! - regular files of up to [`MAX_KEPT_BYTES`]; of what is larger, and of links, devices and folders, it is only noted that
//!   there was something, and a rewind leaves it alone;
//! - content and the permission bits of a file; neither owner nor times;
//! - folders that were created for a file stay when the file goes.
//!
//! Hosts keep the contents and put them back. Here is what the index and the transcript say of them.

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

/// The largest file that is kept.
pub const MAX_KEPT_BYTES: u64 = 16 * 1024 * 1024;

/// What the names of all documents of checkpoints begin with.
pub const DOCUMENTS: &str = "file-history/";

/// The document that says which file was changed after which message, behind [`DOCUMENTS`].
pub const INDEX: &str = "index.jsonl";

/// The digest of a content (SHA-256, as text): the name under which it is kept.
#[must_use]
pub fn digest(content: &[u8]) -> String {
    let hash = Sha256::digest(content);
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}
