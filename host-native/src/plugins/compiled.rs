//! Loading compiled components: the one place in this crate that needs `unsafe`.

#![allow(unsafe_code)]

use std::path::Path;

use wasmtime::{Engine, component::Component};

/// Maps a compiled component into memory.
///
/// Call it only for a file that [`super::cache::Cache`] wrote: the content becomes native code.
///
/// # Errors
/// wasmtime's, for a file of another version, of other settings, or damaged.
pub(super) fn load(engine: &Engine, file: &Path) -> wasmtime::Result<Component> {
    // SAFETY: `deserialize_file` trusts the file to be the output of `Component::serialize`, and to stay
    // as it is while it is mapped. The cache writes exactly that, to a name made of the digests of the
    // component and of the engine, in one rename and never in place. Its directory belongs to this user and
    // can be changed by nobody else, which is checked before every load; and no grant reaches it, so no
    // component and no path a model names leads there.
    unsafe { Component::deserialize_file(engine, file) }
}
