//! Conversations as lines, in the format that the SDKs' session functions read.
//!
//! - [`Scribe`]: converts entries of the core to lines.
//! - [`SavedSession`]: converts lines to the input of [`Session::resume_transcript`](windlass_core::Session::resume_transcript);
//!   forks, truncation.
//! - [`CostState`]: the cost of a session, as a line.
//! - [`Summary`]: what listings show.
//!
//! Lines are stored in a [`Store`](crate::store::Store); a [`SessionWriter`] combines both.

mod cost_state;
mod fork;
mod line;
mod resume;
mod scribe;
mod summary;
#[cfg(test)]
mod tests;
mod writer;

pub(crate) use self::scribe::encoded;
pub use self::{
    cost_state::CostState,
    line::{Facts, Line},
    resume::{ResumeError, ResumeOptions, SavedSession, Which},
    scribe::{LastResponse, Scribe},
    summary::{Said, Summary, said},
    writer::{AgentMeta, Appended, SessionWriter},
};
