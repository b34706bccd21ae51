//! The code that `wit-bindgen` generates from `wit/` for the worlds of `windlass:plugin`. They share their types.
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

/// The world `windlass:plugin/judge`.
pub mod judge {
    wit_bindgen::generate!({
        path: ["wit/host", "wit/plugin"],
        world: "windlass:plugin/judge",
        with: {
            "windlass:host/types@0.1.0": super::windlass::host::types,
            "windlass:host/filesystem@0.1.0": super::windlass::host::filesystem,
            "windlass:host/http@0.1.0": super::windlass::host::http,
            "windlass:host/secrets@0.1.0": super::windlass::host::secrets,
            "windlass:host/state@0.1.0": super::windlass::host::state,
            "windlass:host/config@0.1.0": super::windlass::host::config,
            "windlass:host/progress@0.1.0": super::windlass::host::progress,
            "windlass:host/log@0.1.0": super::windlass::host::log,
            "windlass:plugin/hooks@0.1.0": generate,
        },
        pub_export_macro: true,
        export_macro_name: "export_judge_bindings",
        default_bindings_module: "windlass_plugin::bindings::judge",
        runtime_path: "windlass_plugin::wit_bindgen::rt",
    });
}

/// The world `windlass:plugin/observer`.
pub mod observer {
    wit_bindgen::generate!({
        path: ["wit/host", "wit/plugin"],
        world: "windlass:plugin/observer",
        with: {
            "windlass:host/types@0.1.0": super::windlass::host::types,
            "windlass:host/filesystem@0.1.0": super::windlass::host::filesystem,
            "windlass:host/http@0.1.0": super::windlass::host::http,
            "windlass:host/secrets@0.1.0": super::windlass::host::secrets,
            "windlass:host/state@0.1.0": super::windlass::host::state,
            "windlass:host/config@0.1.0": super::windlass::host::config,
            "windlass:host/progress@0.1.0": super::windlass::host::progress,
            "windlass:host/log@0.1.0": super::windlass::host::log,
            "windlass:plugin/hooks@0.1.0": super::judge::windlass::plugin::hooks,
        },
        pub_export_macro: true,
        export_macro_name: "export_observer_bindings",
        default_bindings_module: "windlass_plugin::bindings::observer",
        runtime_path: "windlass_plugin::wit_bindgen::rt",
    });
}
