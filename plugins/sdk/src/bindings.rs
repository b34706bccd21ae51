//! The code that `wit-bindgen` generates from `wit/` for the world `windlass:plugin/tools`.
//!
//! The rest of the crate wraps it; it is public for what the wrappers do not cover.

// Generated code: the calling convention of components needs `unsafe`, and the WIT carries the documentation.
#![allow(unsafe_code, missing_docs, unreachable_pub, clippy::all)]

wit_bindgen::generate!({
    path: ["wit/host", "wit/plugin"],
    world: "windlass:plugin/tools",
    generate_all,
    pub_export_macro: true,
    export_macro_name: "export_bindings",
    default_bindings_module: "windlass_plugin::bindings",
    runtime_path: "windlass_plugin::wit_bindgen::rt",
});
