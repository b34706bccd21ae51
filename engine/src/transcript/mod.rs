//! Conversations on disk, in the layout that the SDKs' session functions read.
//!
//! ```text
//! <config dir>/projects/<key of the working directory>/<session id>.jsonl
//! <config dir>/projects/<key>/<session id>/subagents/agent-<id>.jsonl
//! <config dir>/projects/<key>/<session id>/subagents/agent-<id>.meta.json
//! <config dir>/projects/<key>/<session id>/tasks/<id of the call>.output
//! ```
//!
//! - [`SessionFiles`]: where the files of a session are, and which sessions there are.
//! - [`Scribe`]: entries of the core to lines, pure.
//! - [`TranscriptWriter`]: lines to files, only ever by appending whole ones.
//! - [`SavedSession`]: files to what [`Session::resume_transcript`](windlass_core::Session::resume_transcript) takes;
//!   forks, truncation.
//! - [`TaskOutputs`]: what commands in the background put out.
//!
//! # What is safe when
//! A line counts as written once [`TranscriptWriter::persist`] has returned: all lines of a call have then been handed to
//! the operating system by one `write` each file, so that killing the process at any moment loses none of them, and
//! readers never see half a line of ours in the middle of a file. Lines that do not fit on the disk are taken back to the last
//! that did, and come first with the next ones ([`LineFile`](crate::LineFile)). Nothing is forced to the disk on the way (that would
//! cost every turn tens of milliseconds): what a *power failure* within seconds takes with it is lost, except after
//! [`TranscriptWriter::sync`]. A last line that was torn off is sealed by a line end before anything is appended; readers
//! pass over it.

mod append;
mod cost_state;
mod fork;
mod git;
mod place;
mod resume;
mod scribe;
mod summary;
mod task_outputs;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

use windlass_core::RawJson;

pub use self::{
    append::{AgentMeta, TranscriptWriter},
    cost_state::CostState,
    git::git_branch,
    place::{SavedAt, SessionFiles},
    resume::{ResumeError, ResumeOptions, SavedSession},
    scribe::{Facts, Scribe, ScribeLine},
    summary::{Said, Summary, said},
    task_outputs::TaskOutputs,
};

/// Lines that were appended to a file: what `--session-mirror` shows of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Appended {
    /// The file, absolute.
    pub path: PathBuf,
    /// The lines, as JSON objects.
    pub entries: Vec<RawJson>,
}

/// A transcript that cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[error("{doing} {}: {error}", path.display())]
pub struct TranscriptError {
    /// What was tried: "reading", "writing", "creating".
    pub doing: &'static str,
    /// The file or folder.
    pub path: PathBuf,
    /// What the operating system says.
    #[source]
    pub error: std::io::Error,
}

impl TranscriptError {
    fn new(doing: &'static str, path: &std::path::Path, error: std::io::Error) -> Self {
        Self {
            doing,
            path: path.to_path_buf(),
            error,
        }
    }
}
