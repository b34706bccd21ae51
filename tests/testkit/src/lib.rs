//! Tools for testing agents: an in-memory host, a readable rendering of messages, and a simulation that injects faults. Does
//! no IO.
//!
//! - [`TestHost`]: runs a session against a script, with closures for tools, in virtual time.
//! - [`Sim`]: thousands of seeded runs, checked by the [`oracle`]s of the machine.
//! - [`assert_transcript`]: an assertion that is written like the transcript.
//! - [`render()`]: a message stream as text for snapshots.
//! - [`store`]: a conformance test suite for implementations of [`Store`](windlass_engine::store::Store).
//!
//! The scripted model is that of `windlass-scripted-model`; journals are those of [`windlass_core::journal`].
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

extern crate alloc;

mod clock;
mod host;
mod models;
pub mod oracle;
mod render;
mod sim;
pub mod store;
mod transcript;

pub use windlass_core::journal::Digest;
pub use windlass_scripted_model::{
    CacheUse, HistoryFault, HistoryRule, Miss, Piece, PromptCache, RequestView, Script,
    ScriptError, ScriptedModel, Unmet, script, validate_chat_request, validate_request,
};

pub use self::{
    clock::{Sleep, Stuck, VirtualClock},
    host::{HookStep, RunError, TestHost, ToolStep},
    models::test_models,
    render::render,
    sim::{
        Asked, FaultKind, Faults, Generated, Incident, IncidentKind, PhaseChange, Restores, Scene,
        Scripted, Sim, SimFailure, SimRun, World,
    },
    transcript::{TranscriptDifference, assert_transcript, compare_transcript},
};

/// The tutorial: its examples are compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/testing.md")]
mod tutorial {}
