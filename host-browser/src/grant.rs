//! Functions of the core that the JavaScript file system needs.

use sha2::{Digest, Sha256};
use wasm_bindgen::prelude::*;
use windlass_core::{
    RawJson,
    tool::{Access, FsGrant},
};

/// The files that one call may access.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Grant(FsGrant);

#[wasm_bindgen]
impl Grant {
    /// Parses the `grant` of a tool call.
    ///
    /// # Errors
    /// What is wrong with the JSON.
    #[wasm_bindgen(constructor)]
    pub fn new(json: &str) -> Result<Grant, JsError> {
        Ok(Self(RawJson::parse(json)?.decode()?))
    }

    /// The access to an absolute path: `read`, `write`, or `undefined`, as if it did not exist.
    #[must_use]
    pub fn access(&self, path: &str) -> Option<String> {
        let name = match self.0.access(path)? {
            Access::Read => "read",
            Access::Write => "write",
        };
        Some(name.to_owned())
    }
}

/// The digest of a file's content, as used in observations: `sha256:` and 64 hexadecimal digits.
#[wasm_bindgen]
#[must_use]
pub fn digest(content: &[u8]) -> String {
    let mut text = "sha256:".to_owned();
    for byte in Sha256::digest(content) {
        // Writing to a string cannot fail.
        let _ = std::fmt::Write::write_fmt(&mut text, format_args!("{byte:02x}"));
    }
    text
}
