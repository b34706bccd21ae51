//! Persistent data: the interface between sessions and the place where they are stored.
//!
//! A [`Store`] keeps transcripts: ordered lines of JSON, one transcript for each session and one for each of its subagents,
//! with a snapshot, and documents by name. It does not interpret the lines. This crate contains a store in memory
//! ([`MemoryStore`]); the native host has one that uses files. A database, a key-value store or a browser's storage can be
//! used as well: nothing in the trait is a path.
//!
//! ```text
//! entries of the core ─▶ Scribe ─▶ SessionWriter ─▶ Store::append
//! Store::load ─▶ SavedSession ─▶ windlass_core::Session::resume_transcript
//! ```
//!
//! # The contract
//! - Lines are kept in the order in which they were appended. When [`Store::append`] returns, the lines of that call are safe:
//!   the end of the process does not lose them. When it fails, none of them counts as appended.
//! - After a process was killed, its data can still be read: readers see whole lines, possibly followed by one partial line. The
//!   partial line is removed before the session continues; it was never acknowledged.
//! - A session has one writer at a time: the holder of its [`Lease`]. A request for a second lease fails ([`StoreError::Busy`]),
//!   and a released lease is rejected ([`StoreError::Stale`]). The leases of a process end with it.
//! - Readers need no lease.
//! - Settings need no lease either: a writer passes the digest of what it has read, and fails if the settings have changed since.
//!
//! The crate `windlass-testkit` contains a conformance test suite for implementations.

mod error;
mod leased;
mod memory;

use windlass_core::{RawJson, SessionId, UnixMillis, permission::Destination};

pub use self::{error::StoreError, leased::Leased, memory::MemoryStore};
pub use crate::checkpoint::digest;

/// Stores sessions. See the [module](self) for the contract.
///
/// The futures need not be `Send`, so that a store can be used where there are no threads. A host that moves sessions between
/// threads requires a [`SendStore`]: the same trait with `Send` futures. Every `SendStore` is a `Store`.
#[trait_variant::make(SendStore: Send)]
pub trait Store {
    /// Acquires the lease for a new session. Nothing need be stored for it before its first line.
    ///
    /// # Errors
    /// [`StoreError::Exists`] if lines are stored under this id, [`StoreError::Busy`] if another holder is about to write
    /// some.
    async fn create(&self, session: SessionId) -> Result<Lease, StoreError>;

    /// Acquires the lease for an existing session.
    ///
    /// # Errors
    /// [`StoreError::Unknown`] if nothing is stored under this id, [`StoreError::Busy`] if another holder writes to it.
    async fn open(&self, session: SessionId) -> Result<Lease, StoreError>;

    /// Releases a lease. Called when a session ends, also when it is aborted, so it must not block. A lease that is no longer
    /// held is ignored.
    fn release(&self, lease: &Lease);

    /// Appends lines to a transcript, all or none, and returns when they are safe.
    ///
    /// A batch without lines, which is appended before a hook is told the transcript's place, stores nothing: a store of
    /// files creates the file, so that the [`place`](Self::place) exists, and other stores need not do anything. Such a
    /// session has no lines, so it can still be created.
    ///
    /// # Errors
    /// [`StoreError::Stale`] without a valid lease; [`StoreError::Busy`] if another holder is detected only now;
    /// [`StoreError::Failed`].
    async fn append(&self, lease: &Lease, batch: Batch<'_>) -> Result<(), StoreError>;

    /// Reads the transcript of a session or of one of its subagents. `None` if no line was ever appended.
    ///
    /// # Errors
    /// [`StoreError::Failed`].
    async fn load(
        &self,
        session: SessionId,
        agent: Option<&str>,
    ) -> Result<Option<Stored>, StoreError>;

    /// Stores a document beside the transcripts of a session, replacing any of the same name. Names consist of ASCII letters,
    /// digits, `-`, `_` and `.`, with `/` between their parts.
    ///
    /// # Errors
    /// As [`append`](Self::append).
    async fn put(&self, lease: &Lease, name: &str, document: &[u8]) -> Result<(), StoreError>;

    /// Appends to a document, which is created if it does not exist. The bytes are safe when this returns; when it fails,
    /// none of them counts as appended.
    ///
    /// # Errors
    /// As [`append`](Self::append).
    async fn extend(&self, lease: &Lease, name: &str, bytes: &[u8]) -> Result<(), StoreError>;

    /// Reads a document; `None` if there is none with this name.
    ///
    /// # Errors
    /// [`StoreError::Failed`].
    async fn get(&self, session: SessionId, name: &str) -> Result<Option<Vec<u8>>, StoreError>;

    /// The sessions that have lines, most recently appended first.
    ///
    /// # Errors
    /// [`StoreError::Failed`].
    async fn list(&self) -> Result<Vec<StoredSession>, StoreError>;

    /// Deletes a session and everything stored for it.
    ///
    /// # Errors
    /// [`StoreError::Unknown`]; [`StoreError::Busy`] while it has a writer; [`StoreError::Failed`].
    async fn delete(&self, session: SessionId) -> Result<(), StoreError>;

    /// Where a person or another program finds a transcript, in the store's own terms: the path of a file, an address. Hooks
    /// are told it (`transcript_path`).
    fn place(&self, session: SessionId, agent: Option<&str>) -> String;

    /// Where a person or another program finds a document, in the store's own terms. The model is told the place of a
    /// background command's output (`output_file`).
    fn document_place(&self, session: SessionId, name: &str) -> String;

    /// Reads the settings of a destination; `None` if there are none. Settings that are files are also edited by people.
    ///
    /// # Errors
    /// [`StoreError::Failed`].
    async fn settings(&self, of: Destination) -> Result<Option<Vec<u8>>, StoreError>;

    /// Replaces settings if they are unchanged: `read` is the [`digest`] of the text that was read, `None` if there was none.
    ///
    /// # Errors
    /// [`StoreError::Changed`] if they were changed in the meantime; [`StoreError::Failed`].
    async fn replace_settings(
        &self,
        of: Destination,
        read: Option<&str>,
        settings: &[u8],
    ) -> Result<(), StoreError>;

    /// Where a person finds the settings of a destination, in the store's own terms. `None` for a destination that is not
    /// persistent, and always for [`Destination::Session`] and [`Destination::CliArg`].
    fn settings_place(&self, of: Destination) -> Option<String>;
}

/// The right to write to a session.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Lease {
    /// The session.
    pub session: SessionId,
    /// Identifies this lease among those of the session; each later lease has a higher number.
    pub epoch: u64,
}

/// Data that is appended atomically.
#[derive(Debug, Clone, Copy, Default)]
pub struct Batch<'a> {
    /// The transcript: a subagent's, by its id, or the session's if `None`.
    pub agent: Option<&'a str>,
    /// JSON objects, each of which becomes a line.
    pub lines: &'a [RawJson],
    /// The state of the session after these lines, if it is stored ([`windlass_core::Session::snapshot`]).
    pub snapshot: Option<&'a [u8]>,
}

/// A stored transcript.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stored {
    /// The lines, each with its line end; the last one may be partial.
    pub text: Vec<u8>,
    /// The last snapshot.
    pub snapshot: Option<Snapshot>,
}

/// The state of a session at some point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// The snapshot's bytes, unchanged.
    pub bytes: Vec<u8>,
    /// Whether no line was appended after it. Otherwise the later lines say what has happened since.
    pub is_current: bool,
}

/// An entry of a session listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredSession {
    /// The session.
    pub id: SessionId,
    /// The time of the last append.
    pub modified: UnixMillis,
}

/// Whether a name is valid for [`Store::put`].
#[must_use]
pub fn is_document_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    name.len() <= 512
        && name
            .split('/')
            .all(|part| !part.is_empty() && part != "." && part != ".." && part.chars().all(plain))
}

/// An id as part of a name: characters with a special meaning in paths become `_`.
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
