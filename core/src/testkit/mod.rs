//! For tests of agents: a model that follows a script, a host without a world, and a readable form
//! of what came out. Free of IO: the same code serves unit tests, a loopback server and a browser.
//!
//! - [`Script`] and [`ScriptedModel`]: what the model says and what it expects. The format is
//!   documented in `docs/scripted-model.md`.
//! - [`validate_request`], [`validate_chat_request`]: whether a model server would accept a request's history.
//! - [`TestHost`]: runs a session against a script, with closures for tools, in virtual time.
//! - [`Sim`]: thousands of seeded runs in which everything goes wrong, with the [`oracle`]s of the machine.
//! - [`Recorder`] and [`Journal`]: a session written down, and replayed.
//! - [`assert_transcript`]: an assertion that reads like the transcript.
//! - [`render()`]: a message stream as text for snapshots.

mod body;
mod cache;
mod cache_marks;
mod chat_history;
mod chat_request;
mod check;
mod clock;
mod history;
mod host;
mod journal;
pub mod oracle;
mod render;
mod request;
pub mod script;
mod scripted_model;
mod sim;
mod transcript;
mod wire;

pub use self::{
    body::Piece,
    cache::{CacheUse, PromptCache},
    chat_history::validate_chat_request,
    clock::{Sleep, Stuck, VirtualClock},
    history::{HistoryFault, HistoryRule, validate_request},
    host::{HookStep, RunError, TestHost, ToolStep},
    journal::{
        Difference, JOURNAL_VERSION, Journal, JournalCall, JournalError, JournalStep, Recorder,
        Replayed,
    },
    render::render,
    request::RequestView,
    script::{Script, ScriptError},
    scripted_model::{Miss, ScriptedModel, Unmet},
    sim::{
        Asked, Digest, FaultKind, Faults, Generated, Incident, IncidentKind, PhaseChange, Restores,
        Scene, Scripted, Sim, SimFailure, SimRun, World,
    },
    transcript::{TranscriptDifference, assert_transcript, compare_transcript},
};

/// The tutorial: its examples are compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/testing.md")]
mod tutorial {}
