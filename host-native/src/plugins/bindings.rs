//! Bindings that wasmtime generates from `wit/`, with this crate's types for errors and resources.

#![allow(
    missing_docs,
    unreachable_pub,
    dead_code,
    clippy::all,
    clippy::pedantic
)]

wasmtime::component::bindgen!({
    path: ["wit/host", "wit/plugin"],
    world: "windlass:plugin/tools",
    imports: { default: trappable },
    with: {
        "windlass:host/filesystem.directory": super::resources::Tree,
        "windlass:host/http.body": super::resources::Body,
    },
});

/// The world of components with hooks that may refuse.
pub mod judge {
    wasmtime::component::bindgen!({
        path: ["wit/host", "wit/plugin"],
        world: "windlass:plugin/judge",
        imports: { default: trappable },
        with: { "windlass:host": super::windlass::host },
    });
}

/// The world of components with hooks that only see.
pub mod observer {
    wasmtime::component::bindgen!({
        path: ["wit/host", "wit/plugin"],
        world: "windlass:plugin/observer",
        imports: { default: trappable },
        with: {
            "windlass:host": super::windlass::host,
            "windlass:plugin/hooks": super::judge::windlass::plugin::hooks,
        },
    });
}
