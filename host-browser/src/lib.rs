//! The browser host of windlass: the core and its driver behind wasm-bindgen.
//!
//! The same state machine and driver as on the desktop, on one thread and without `Send`. Everything that needs a
//! platform (fetch, clocks, tools, files) is provided by a JavaScript object; `js/` contains that object and the
//! public API. This crate connects the two:
//!
//! - [`Session`]: a session with its driver;
//! - [`Grant`] and [`digest`]: functions of the core that the JavaScript file system needs;
//! - `ScriptedModel` (feature `testkit`): a model without a network.
#![forbid(unsafe_code)]

mod answers;
mod grant;
mod host;
mod imports;
mod inputs;
#[cfg(feature = "testkit")]
mod scripted_model;
mod session;

pub use grant::{Grant, digest};
#[cfg(feature = "testkit")]
pub use scripted_model::ScriptedModel;
pub use session::Session;

/// The version of this module.
#[wasm_bindgen::prelude::wasm_bindgen]
#[must_use]
pub fn version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}
