//! A model that follows a script, for tests of agents. It does no IO: the same code serves unit tests, a loopback server and a
//! browser.
//!
//! - [`Script`] and [`ScriptedModel`]: the responses of the model and the requests it expects. The format is documented in
//!   `docs/scripted-model.md`.
//! - [`validate_request`], [`validate_chat_request`]: whether a model server would accept a request's history.
//! - [`PromptCache`]: which part of a request a server would read from its cache.
#![no_std]
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod body;
mod cache;
mod chat_history;
mod chat_request;
mod check;
mod history;
mod request;
pub mod script;
mod scripted_model;
mod wire;

pub use self::{
    body::Piece,
    cache::{CacheUse, PromptCache},
    chat_history::validate_chat_request,
    history::{HistoryFault, HistoryRule, validate_body, validate_request},
    request::{RequestView, requested_model},
    script::{Script, ScriptError},
    scripted_model::{Miss, ScriptedModel, Unmet},
};

/// The default of fields that are true if absent.
fn yes() -> bool {
    true
}
