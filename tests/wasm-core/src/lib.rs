//! The core and nothing else, as a WebAssembly module.
//!
//! Built for wasm32 it exports `handle` and `poll` and imports nothing: no clock, no randomness, no
//! file, no socket could be reached even if the core tried. [`Machine`] is the same thing for native
//! tests: they feed both the same lines and compare the bytes that come out.
#![deny(unsafe_code)]

// Symbols such as `poll` would take the place of the C library's in a native program.
#[cfg(target_family = "wasm")]
mod exports;
mod machine;

pub use machine::{Fault, Line, Machine};
