//! What can be wrong with what is kept.

use std::error::Error;

use windlass_core::SessionId;

/// A session that cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Somebody else writes to the session.
    #[error(
        "session {0} is being written by somebody else: end that first, or go on in a fork of it"
    )]
    Busy(SessionId),
    /// The right to write was given back, or was never given.
    #[error("the lease of session {0} has ended: nothing is written under it any more")]
    Stale(SessionId),
    /// A session that begins has lines already.
    #[error("Session ID {0} is already in use.")]
    Exists(SessionId),
    /// Nothing is kept under this id.
    #[error("nothing is kept of a session {0}")]
    Unknown(SessionId),
    /// A document's name that no store takes.
    #[error(
        "`{0}` is no name of a document: letters, digits, `-`, `_`, `.`, and `/` between parts"
    )]
    Name(String),
    /// Settings that somebody else has changed since they were read.
    #[error("{0} has been changed by somebody else since it was read")]
    Changed(String),
    /// The place where sessions are kept cannot be used.
    #[error("{doing} {place}: {source}")]
    Failed {
        /// What was tried: "reading", "writing", "creating".
        doing: &'static str,
        /// What it was tried with, in the store's own words: a file, a table.
        place: String,
        /// What is said of it there.
        source: Box<dyn Error + Send + Sync>,
    },
}

impl StoreError {
    /// For a store that could not do something.
    pub fn failed(
        doing: &'static str,
        place: impl ToString,
        source: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> Self {
        Self::Failed {
            doing,
            place: place.to_string(),
            source: source.into(),
        }
    }

    /// What is said of the place, for whoever names it.
    #[must_use]
    pub fn into_source(self) -> Box<dyn Error + Send + Sync> {
        match self {
            Self::Failed { source, .. } => source,
            error => Box::new(error),
        }
    }
}
