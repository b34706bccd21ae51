//! Errors of stores.

use std::error::Error;

use windlass_core::SessionId;

/// A session that cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Another process writes to the session.
    #[error(
        "session {0} is being written by somebody else: end that first, or go on in a fork of it"
    )]
    Busy(SessionId),
    /// The lease was released, or never granted.
    #[error("the lease of session {0} has ended: nothing is written under it any more")]
    Stale(SessionId),
    /// A session to be created already has lines.
    #[error("Session ID {0} is already in use.")]
    Exists(SessionId),
    /// Nothing is stored under this id.
    #[error("nothing is kept of a session {0}")]
    Unknown(SessionId),
    /// An invalid document name.
    #[error(
        "`{0}` is no name of a document: letters, digits, `-`, `_`, `.`, and `/` between parts"
    )]
    Name(String),
    /// The settings were changed since they were read.
    #[error("{0} has been changed by somebody else since it was read")]
    Changed(String),
    /// The storage failed.
    #[error("{doing} {place}: {source}")]
    Failed {
        /// The operation: "reading", "writing", "creating".
        doing: &'static str,
        /// Its object, in the store's own terms: a file, a table.
        place: String,
        /// The underlying error.
        source: Box<dyn Error + Send + Sync>,
    },
}

impl StoreError {
    /// An error for an operation that failed.
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

    /// The underlying error, for callers that name the place themselves.
    #[must_use]
    pub fn into_source(self) -> Box<dyn Error + Send + Sync> {
        match self {
            Self::Failed { source, .. } => source,
            error => Box::new(error),
        }
    }
}
