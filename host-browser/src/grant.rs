//! Functions of the core that the JavaScript file system needs.

use sha2::{Digest, Sha256};
use wasm_bindgen::prelude::*;
use windlass_core::{
    RawJson,
    permission::is_protected_by_name,
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

    /// The access to an absolute path: `read`, `write`, or `undefined`, as if it did not exist. Files from which programs and later
    /// sessions take orders are written only where they were granted by their names, not as parts of a directory around them.
    #[must_use]
    pub fn access(&self, path: &str) -> Option<String> {
        let name = match self.0.access(path)? {
            Access::Write if !is_protected_by_name(path) || self.names_place(path) => "write",
            Access::Read | Access::Write => "read",
        };
        Some(name.to_owned())
    }
}

impl Grant {
    /// Whether such a place was granted to be written that this path is, or lies in.
    fn names_place(&self, path: &str) -> bool {
        let roots = self.0.roots.iter();
        let mut written = roots.filter(|root| root.access == Access::Write);
        written.any(|root| {
            let root = root.path.trim_end_matches('/');
            let below = path.strip_prefix(root);
            let is_in = below.is_some_and(|below| below.is_empty() || below.starts_with('/'));
            is_in && is_protected_by_name(root)
        })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn card_5_places_that_others_obey_are_written_by_their_names_alone() {
        let grant = |root: &str| {
            let json = format!(
                r#"{{"cwd": "/w", "roots": [{{"path": "{root}", "access": "write"}}], "deny": []}}"#
            );
            Grant::new(&json).unwrap_or_else(|_| panic!("{json}"))
        };
        for (root, path, access) in [
            ("/w", "/w/a.txt", "write"),
            ("/w", "/w/.git/hooks/pre-commit", "read"),
            ("/w/", "/w/sub/.claude/settings.json", "read"),
            ("/w", "/w/.MCP.json", "read"),
            ("/w/.git", "/w/.git/config", "write"),
            ("/w/.mcp.json", "/w/.mcp.json", "write"),
        ] {
            assert_eq!(grant(root).access(path).as_deref(), Some(access), "{path}");
        }
    }
}
