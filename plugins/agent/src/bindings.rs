//! What `wit-bindgen` generates from `wit/` for the world `windlass:agent/agent`.
//!
//! The interfaces that tools import too are those of the guest SDK, so that a directory is the same type for both.

// Generated code: the calling convention of components needs `unsafe`, and the WIT carries the documentation.
#![allow(unsafe_code, missing_docs, unreachable_pub, clippy::all)]

wit_bindgen::generate!({
    path: ["../../wit/host", "../../wit/agent"],
    world: "windlass:agent/agent",
    pub_export_macro: true,
    export_macro_name: "export_agent",
    default_bindings_module: "windlass_agent::bindings",
    with: {
        "windlass:host/types@0.1.0": windlass_plugin::bindings::windlass::host::types,
        "windlass:host/filesystem@0.1.0": windlass_plugin::bindings::windlass::host::filesystem,
        "windlass:host/http@0.1.0": windlass_plugin::bindings::windlass::host::http,
        "windlass:host/log@0.1.0": windlass_plugin::bindings::windlass::host::log,
        "windlass:host/clock@0.1.0": generate,
    },
});
