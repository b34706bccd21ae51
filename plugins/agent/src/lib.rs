//! The agent as a WASM component: the core with its driver and the file tools, world `windlass:agent/agent`.
//!
//! It imports `windlass:host/{http, filesystem, log, clock}` and nothing else. All of these block, so there is no runtime:
//! `next` polls the driver until it has a message.
//!
//! - [`bindings`]: the code that `wit-bindgen` generates for the world;
//! - `conversation`: the exported resource;
//! - `shared_state`: what the driver of a session and the caller of the resource share;
//! - `host`: the effects of the core as calls of the imports;
//! - `tools`: Read, Write, Edit, Glob and Grep within the grant of a call;
//! - `granted`: a directory of the host, narrowed to such a grant.

#![deny(unsafe_code)]

// The generated export macro names this crate by its path, here as in the crates that use it.
extern crate self as windlass_agent;

pub mod bindings;
mod conversation;
mod granted;
mod host;
mod shared_state;
mod tools;

pub use conversation::Conversation;

// The calling convention of components needs `unsafe`, and its functions are exported regardless of Rust visibility. Only for
// wasm: native linkers do not accept the names of the exports.
#[cfg(target_family = "wasm")]
#[allow(unsafe_code, unreachable_pub)]
mod exports {
    use crate::bindings;

    struct Component;

    impl bindings::exports::windlass::agent::conversation::Guest for Component {
        type Session = crate::Conversation;
    }

    bindings::export_agent!(Component with_types_in bindings);
}
