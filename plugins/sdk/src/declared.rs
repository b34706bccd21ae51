//! The code that `wit-bindgen` generates for the world `windlass:plugin/declared`: what the author's build asks a component.

// Generated code: the calling convention of components needs `unsafe`, and the WIT carries the documentation.
#![allow(unsafe_code, missing_docs, unreachable_pub, clippy::all)]

wit_bindgen::generate!({
    path: ["wit/host", "wit/plugin"],
    world: "windlass:plugin/declared",
    pub_export_macro: true,
    export_macro_name: "export_declared",
    default_bindings_module: "windlass_plugin::declared",
    runtime_path: "windlass_plugin::wit_bindgen::rt",
});
