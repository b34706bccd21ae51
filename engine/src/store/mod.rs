//! What lasts beyond a process: the seam between sessions and wherever they are kept.
//!
//! A [`Store`] keeps transcripts: lines of JSON in their order, one transcript for each session and one for each of its
//! subagents, a snapshot beside them, and documents by name. It knows nothing of what the lines say. Files and memory
//! are stores here ([`MemoryStore`]; files are the native host's); a database, a key-value store or the storage of a browser
//! can be one as well: nothing in the trait is a path.
//!
//! ```text
//! entries of the core ─▶ Scribe ─▶ SessionWriter ─▶ Store::append
//! Store::load ─▶ SavedSession ─▶ windlass_core::Session::resume_transcript
//! ```
//!
//! # The contract
//! - Lines are kept in the order in which they were appended. When [`Store::append`] returns, the lines of that call are safe:
//!   the end of the process takes none of them. When it fails, none of them counts as appended.
//! - What a process that was ended in the middle leaves is read without harm: readers see whole lines, at most followed by
//!   the part of one. That part is taken away before the session goes on: it was never acknowledged.
//! - A session has one writer at a time: the holder of its [`Lease`]. Who asks for a second one is told so
//!   ([`StoreError::Busy`]), and a lease that was released is refused ([`StoreError::Stale`]). The end of a process ends its
//!   leases.
//! - Readers need no lease.
//! - Settings need none either: who replaces them says what was read before, and is told where that is not there any more.
//!
//! The crate `windlass-testkit` has the contract as a suite of checks, for whoever writes a store.

mod error;
mod leased;
mod memory;

use windlass_core::{RawJson, SessionId, UnixMillis, permission::Destination};

pub use self::{error::StoreError, leased::Leased, memory::MemoryStore};
pub use crate::checkpoint::digest;

/// Keeps sessions. See the [module](self) for what it promises.
///
/// Its futures need not be `Send`, so that a store can live where there are no threads. A host that moves sessions between
/// threads takes a [`SendStore`]: the same trait with futures that are `Send`. Whatever is a `SendStore` is a `Store`.
#[trait_variant::make(SendStore: Send)]
pub trait Store {
    /// Takes the right to write to a session that begins. Nothing need be kept of it before its first line.
    ///
    /// # Errors
    /// [`StoreError::Exists`] when lines are kept under this id, [`StoreError::Busy`] when somebody is about to write some.
    async fn create(&self, session: SessionId) -> Result<Lease, StoreError>;

    /// Takes the right to write to a session that goes on.
    ///
    /// # Errors
    /// [`StoreError::Unknown`] when nothing is kept under this id, [`StoreError::Busy`] when somebody else writes to it.
    async fn open(&self, session: SessionId) -> Result<Lease, StoreError>;

    /// Gives the right back. Called when a session ends, also in the middle of something else: it must not wait. A lease
    /// that is not held any more is passed over.
    fn release(&self, lease: &Lease);

    /// Adds lines to the end of a transcript, all or none, and returns when they are safe.
    ///
    /// A batch without lines, which is appended before a hook is told where the transcript is, keeps nothing: a store of files
    /// makes the file, so that the [`place`](Self::place) can be looked at, and others have nothing to do. No line is kept of
    /// such a session, so it can still be created.
    ///
    /// # Errors
    /// [`StoreError::Stale`] without the right to write; [`StoreError::Busy`] where that turns out now;
    /// [`StoreError::Failed`].
    async fn append(&self, lease: &Lease, batch: Batch<'_>) -> Result<(), StoreError>;

    /// Reads a transcript: that of the session, or that of one of its subagents. None where no line was ever appended.
    ///
    /// # Errors
    /// [`StoreError::Failed`].
    async fn load(
        &self,
        session: SessionId,
        agent: Option<&str>,
    ) -> Result<Option<Stored>, StoreError>;

    /// Keeps a document beside the transcripts of a session, in the place of the one of this name. Names consist of ASCII
    /// letters, digits, `-`, `_` and `.`, with `/` between their parts.
    ///
    /// # Errors
    /// As [`append`](Self::append).
    async fn put(&self, lease: &Lease, name: &str, document: &[u8]) -> Result<(), StoreError>;

    /// Adds to the end of a document, which begins with this where none is kept under the name. What is added is safe when this
    /// returns, as lines are; when it fails, none of it counts as added.
    ///
    /// # Errors
    /// As [`append`](Self::append).
    async fn extend(&self, lease: &Lease, name: &str, bytes: &[u8]) -> Result<(), StoreError>;

    /// Reads a document; none where none is kept under this name.
    ///
    /// # Errors
    /// [`StoreError::Failed`].
    async fn get(&self, session: SessionId, name: &str) -> Result<Option<Vec<u8>>, StoreError>;

    /// The sessions of which lines are kept, those that were appended to last first.
    ///
    /// # Errors
    /// [`StoreError::Failed`].
    async fn list(&self) -> Result<Vec<StoredSession>, StoreError>;

    /// Takes a session away with everything that is kept of it.
    ///
    /// # Errors
    /// [`StoreError::Unknown`]; [`StoreError::Busy`] while somebody writes to it; [`StoreError::Failed`].
    async fn delete(&self, session: SessionId) -> Result<(), StoreError>;

    /// Where a person or another program finds a transcript, in this store's own words: the path of a file, an address. Hooks
    /// are told it (`transcript_path`).
    fn place(&self, session: SessionId, agent: Option<&str>) -> String;

    /// Where a person or another program finds a document, in this store's own words. The model is told it of what commands put
    /// out in the background (`output_file`).
    fn document_place(&self, session: SessionId, name: &str) -> String;

    /// Reads the settings of a destination; none where there are none. People edit them too, where they are files.
    ///
    /// # Errors
    /// [`StoreError::Failed`].
    async fn settings(&self, of: Destination) -> Result<Option<Vec<u8>>, StoreError>;

    /// Replaces settings that are still what was read: `read` is the [`digest`] of that, none where there was nothing.
    ///
    /// # Errors
    /// [`StoreError::Changed`] where somebody else has changed them since; [`StoreError::Failed`].
    async fn replace_settings(
        &self,
        of: Destination,
        read: Option<&str>,
        settings: &[u8],
    ) -> Result<(), StoreError>;

    /// Where a person finds the settings of a destination, in this store's own words; none for one that is not kept, and never one
    /// for [`Destination::Session`] and [`Destination::CliArg`].
    fn settings_place(&self, of: Destination) -> Option<String>;
}

/// The right to write to a session.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Lease {
    /// The session.
    pub session: SessionId,
    /// Tells this lease from every other one of the session: each has a higher one than those before it.
    pub epoch: u64,
}

/// What is appended in one step.
#[derive(Debug, Clone, Copy, Default)]
pub struct Batch<'a> {
    /// Whose transcript it belongs to: a subagent, by its id; none for the session.
    pub agent: Option<&'a str>,
    /// JSON objects, each of which becomes a line.
    pub lines: &'a [RawJson],
    /// What the session is after these lines, where it is kept ([`windlass_core::Session::snapshot`]).
    pub snapshot: Option<&'a [u8]>,
}

/// A transcript as it is kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stored {
    /// The lines, each with its end; the last one may be the part of one.
    pub text: Vec<u8>,
    /// The last snapshot.
    pub snapshot: Option<Snapshot>,
}

/// What a session was at some moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// The snapshot, as it was given.
    pub bytes: Vec<u8>,
    /// Whether no line was appended after it. One that is not current is of the past: the lines say what happened since.
    pub is_current: bool,
}

/// A session of a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredSession {
    /// The session.
    pub id: SessionId,
    /// When something was last appended to it.
    pub modified: UnixMillis,
}

/// Whether a name is one that [`Store::put`] takes.
#[must_use]
pub fn is_document_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    name.len() <= 512
        && name
            .split('/')
            .all(|part| !part.is_empty() && part != "." && part != ".." && part.chars().all(plain))
}

/// An id as part of a name: what a path would read as something else becomes `_`.
#[must_use]
pub fn file_name(id: &str) -> String {
    let safe = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    id.chars().map(|c| if safe(c) { c } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_documents_lead_nowhere_else() {
        for name in ["a", "subagents/agent-1.meta.json", "a..b", "_"] {
            assert!(is_document_name(name), "{name}");
        }
        let long = "x".repeat(513);
        for name in [
            "", "/", "a/", "/a", "..", "a/../b", "./a", "a b", "ä", "a\\b", "a\0", &long,
        ] {
            assert!(!is_document_name(name), "{name}");
        }
    }
}
