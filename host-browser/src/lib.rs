//! The browser host of windlass: core, engine and driver behind wasm-bindgen.
//!
//! The same state machine and driver as on the desktop, on one thread and without `Send`. Everything that needs a
//! platform (fetch, clocks, tools, files) is provided by a JavaScript object; `js/` contains that object and the
//! public API. This crate connects the two:
//!
//! - [`Session`]: a session with its engine and the driver of that; its store is a JavaScript object;
//! - [`summary`]: what a list shows of a session; [`forked`]: the lines of its copy;
//! - [`Grant`] and [`digest`]: functions of the core that the JavaScript file system needs;
//! - `Session::withSettings` (feature `settings`): a session with settings and project files, which most pages do without;
//! - `ScriptedModel`, `check_store` and `replay` (feature `testkit`): a model without a network, the contract of stores as checks,
//!   and journals run once more.
#![forbid(unsafe_code)]

mod answers;
#[cfg(feature = "testkit")]
mod check_store;
mod engine_host;
mod fork;
mod grant;
mod host;
mod imports;
mod mcp;
#[cfg(feature = "testkit")]
mod replay;
#[cfg(feature = "testkit")]
mod scripted_model;
mod session;
#[cfg(feature = "settings")]
mod settings;
mod store;
mod stream_events;
mod summary;

#[cfg(feature = "testkit")]
pub use check_store::check_store;
pub use fork::forked;
pub use grant::{Grant, digest};
#[cfg(feature = "testkit")]
pub use replay::replay;
#[cfg(feature = "testkit")]
pub use scripted_model::ScriptedModel;
pub use session::Session;
pub use store::SessionStore;
pub use summary::summary;

/// The version of this module.
#[wasm_bindgen::prelude::wasm_bindgen]
#[must_use]
pub fn version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}
