//! The browser host of windlass: the core and its driver behind wasm-bindgen.
//!
//! The same machine and the same driver as on the desktop, in one thread and without `Send`. What needs a platform
//! (fetch, clocks, tools, files) is asked of a JavaScript object; `js/` holds that object and the API that people
//! use. This crate is the seam between the two:
//!
//! - [`Session`]: a session and the driver that turns it;
//! - [`Grant`] and [`digest`]: what the JavaScript file system needs of the core;
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
