//! The core and nothing else, as a WebAssembly module.
//!
//! Built for wasm32 it exports what the core can do (a session's inputs and outputs, snapshots, transcripts and forks, rules
//! asked about, agent files, the callback loop's feed) and imports nothing: no clock, no randomness, no
//! file, no socket could be reached even if the core tried. [`Machine`] is the same thing for native
//! tests: they feed both the same lines and compare the bytes that come out.
// Natively it is linked into tests; as a module it brings neither the standard library nor what that says of panics.
#![cfg_attr(target_family = "wasm", no_std)]
#![deny(unsafe_code)]

extern crate alloc;

pub mod beside;
// Symbols such as `poll` would take the place of the C library's in a native program.
#[cfg(target_family = "wasm")]
mod exports;
mod machine;

pub use machine::{Fault, Line, Machine};
