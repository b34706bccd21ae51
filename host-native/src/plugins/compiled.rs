//! Loads compiled components: the only place in this crate's component code that needs `unsafe`.

#![allow(unsafe_code)]

use wasmtime::{Engine, component::Component};

/// Creates native code from a compiled component.
///
/// Call it only for data written by [`super::cache::Cache`], with a valid seal.
///
/// # Errors
/// Errors of wasmtime, if the data is of another version or was compiled with other settings.
pub(super) fn load(engine: &Engine, compiled: &[u8]) -> wasmtime::Result<Component> {
    // SAFETY: `deserialize` requires that the bytes are the output of `Component::serialize`. The cache seals exactly
    // that, and it checked the seal of these bytes in this memory, which nothing else can change: only the owner of
    // the key can have made them. The key is accessible to this user only, no grant covers it, and it is used for
    // nothing else.
    unsafe { Component::deserialize(engine, compiled) }
}
