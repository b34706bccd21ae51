//! Loading compiled components: the one place in this crate that needs `unsafe`.

#![allow(unsafe_code)]

use wasmtime::{Engine, component::Component};

/// Makes native code of a compiled component.
///
/// Call it only for what [`super::cache::Cache`] wrote, with a seal that was checked.
///
/// # Errors
/// wasmtime's, for a content of another version or of other settings.
pub(super) fn load(engine: &Engine, compiled: &[u8]) -> wasmtime::Result<Component> {
    // SAFETY: `deserialize` trusts the bytes to be the output of `Component::serialize`. The cache seals exactly that, and it
    // checked the seal of these bytes in this memory, which nobody else can change: whoever has not the key cannot have made
    // them. The key is open to this user alone, no grant reaches it, and it is used for nothing else.
    unsafe { Component::deserialize(engine, compiled) }
}
