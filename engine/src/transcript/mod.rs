//! Conversations as lines, in the form that the SDKs' session functions read.
//!
//! - [`Scribe`]: entries of the core to lines.
//! - [`SavedSession`]: lines to what [`Session::resume_transcript`](windlass_core::Session::resume_transcript) takes; forks,
//!   truncation.
//! - [`CostState`]: what a session has spent, as a line.
//! - [`Summary`]: what listings show.
//!
//! Where lines are kept is a [`Store`](crate::store::Store)'s affair; a [`SessionWriter`] brings
//! both together.

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
    scribe::Scribe,
    summary::{Said, Summary, said},
    writer::{AgentMeta, Appended, SessionWriter},
};
