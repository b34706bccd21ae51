//! Bindings that wasmtime generates from `wit/`, with this crate's types for errors and resources.

#![allow(missing_docs, unreachable_pub, clippy::all, clippy::pedantic)]

wasmtime::component::bindgen!({
    path: ["wit/host", "wit/plugin"],
    world: "windlass:plugin/tools",
    imports: { default: trappable },
    with: {
        "windlass:host/filesystem.directory": super::resources::Tree,
        "windlass:host/http.body": super::resources::NoBody,
    },
});
