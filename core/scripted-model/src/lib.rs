//! A model that follows a script, for tests of agents. Free of IO: the same code serves unit tests, a loopback server and a browser.
//!
//! - [`Script`] and [`ScriptedModel`]: what the model says and what it expects. The format is documented in
//!   `docs/scripted-model.md`.
//! - [`validate_request`], [`validate_chat_request`]: whether a model server would accept a request's history.
//! - [`PromptCache`]: what of a request a server would read from its cache.
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

/// A field that is true where it is not written.
fn yes() -> bool {
    true
}
