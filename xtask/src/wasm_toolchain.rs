//! How a toolchain that can build for wasm32 is named and called.

use std::process::Command;

/// The only target for components and the browser module: no WASI, so no ambient authority.
pub(crate) const TARGET: &str = "wasm32-unknown-unknown";

/// Names a rustup toolchain that has the target; the build script of `windlass-builtin` reads it too.
pub(crate) const NAME_VARIABLE: &str = "WINDLASS_WASM_CARGO_TOOLCHAIN";

/// How to call a cargo that can build for [`TARGET`].
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct WasmToolchain {
    /// The name for `cargo +`, if it is not the current toolchain.
    pub(crate) linked_name: Option<String>,
}

impl WasmToolchain {
    pub(crate) const IN_USE: Self = Self { linked_name: None };

    pub(crate) fn named(name: impl Into<String>) -> Self {
        Self {
            linked_name: Some(name.into()),
        }
    }
}

/// Removes this toolchain's variables from a command's environment.
pub(crate) fn free_of_ours(command: &mut Command) {
    for variable in [
        "CARGO",
        "CARGO_ENCODED_RUSTFLAGS",
        "LD_LIBRARY_PATH",
        "RUSTC",
        "RUSTC_WRAPPER",
        "RUSTDOC",
        "RUSTFLAGS",
        "RUSTUP_TOOLCHAIN",
    ] {
        command.env_remove(variable);
    }
}
