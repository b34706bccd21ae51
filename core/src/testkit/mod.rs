//! For tests of agents: a model that follows a script, a host without a world, and a readable form
//! of what came out. Free of IO: the same code serves unit tests, a loopback server and a browser.
//!
//! The format of scripts is documented in `docs/scripted-model.md`.

mod body;
mod check;
mod history;
mod request;
pub mod script;
mod scripted_model;
mod wire;

pub use self::{
    body::Piece,
    history::{HistoryFault, HistoryRule, validate_request},
    request::RequestView,
    script::{Script, ScriptError},
    scripted_model::{Miss, ScriptedModel, Unmet},
};
