//! The agent loop as a sans-IO state machine.
//!
//! Nothing here reads a clock, draws randomness, spawns, sleeps, locks, or touches a file or a socket: the time is an argument,
//! ids come from a seed, and all I/O is an [`Effect`](effect::Effect) that a host performs and answers. The same inputs give the
//! same outputs, byte for byte, native and in WebAssembly.
//!
//! - [`Session`] is the state machine: [`Session::handle`] takes an input, [`Session::poll`] returns the next output.
//! - [`Spec`] is the configuration of a session, fixed at its start: prompt, tools, rules, limits.
//! - [`drive()`] runs a session against a [`Host`], on any runtime.
//! - [`provider`] is the interface to a model's wire format; [`provider::messages`] implements the Messages API,
//!   [`provider::openai`] chat completions.
//! - [`journal`] records a session as it runs, and replays it.
//!
//! Tests of agents are written with the crates `windlass-scripted-model` and `windlass-testkit`.
#![no_std]
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod agent;
mod bytes_json;
pub mod content;
pub mod context;
mod drive;
pub mod effect;
pub mod environment;
pub mod history;
pub mod hook;
pub mod host;
pub mod id;
pub mod initialization;
pub mod journal;
pub mod json;
pub mod mcp;
pub mod message;
pub mod model;
mod model_usage;
pub mod money;
pub mod output;
pub mod permission;
pub mod price;
pub mod prompt;
pub mod provider;
mod rfc3339;
pub mod running;
mod session;
pub use windlass_schema::{self as schema, pattern};
pub use windlass_shell as shell;
pub mod session_request;
pub mod skill;
pub mod sorted;
pub mod spec;
pub mod sse;
pub mod tool;
pub mod tools;
pub mod transcript;

pub use drive::{Machine, drive, drive_observed, perform};
pub use effect::{EffectId, Input, Output, Prompt};
pub use host::Host;
pub use id::{Millis, Now, Seeded, SessionId, UnixMillis, Uuid, uuid_v4};
pub use json::RawJson;
pub use message::Message;
pub use session::{
    ApprovedCall, ConfigureError, HostError, KeptOutput, Phase, SNAPSHOT_VERSION, Session,
    SnapshotError, Spent, diagram,
};
pub use spec::Spec;
