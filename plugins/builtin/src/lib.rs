//! The built-in tool components of windlass, as bytes.
//!
//! The build script compiles them from `plugins/` with a cargo of its own, or takes them from `prebuilt/` where the
//! packaged crate carries them. This crate also reads the declaration of any plugin ([`declaration`]), so that a host
//! can list tools without a WASM runtime.

#![forbid(unsafe_code)]
// Tests fail by panicking.
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod declaration;
pub mod section;

pub use declaration::{DECLARATION_SECTION, DeclarationError, declaration};

/// Read, Write, Edit, Glob and Grep.
pub const FILES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/files.component.wasm"));

/// The agent loop with its driver, world `windlass:agent/agent`.
#[cfg(feature = "agent")]
pub const AGENT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/agent.component.wasm"));

/// A tool component that comes with windlass.
#[derive(Debug, Clone, Copy)]
pub struct Builtin {
    /// A short name (`files`).
    pub name: &'static str,
    /// The component.
    pub bytes: &'static [u8],
}

/// The tool components, in the order in which their tools are offered.
pub const COMPONENTS: &[Builtin] = &[Builtin {
    name: "files",
    bytes: FILES,
}];
