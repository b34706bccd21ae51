//! What a call saw of a file, and whether an earlier call saw it as it is now.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};
use windlass_plugin::{Observation, ToolCall, ToolError};

/// The digest of a content that arrives in pieces.
#[derive(Default)]
pub(crate) struct ContentDigest(Sha256);

impl ContentDigest {
    pub(crate) fn update(&mut self, piece: &[u8]) {
        self.0.update(piece);
    }

    /// `sha256:<hex>`.
    pub(crate) fn finish(self) -> String {
        let mut text = "sha256:".to_owned();
        for byte in self.0.finalize() {
            // Writing to a String cannot fail.
            let _ = write!(text, "{byte:02x}");
        }
        text
    }
}

/// The digest of a whole content.
pub(crate) fn digest(content: &[u8]) -> String {
    let mut digest = ContentDigest::default();
    digest.update(content);
    digest.finish()
}

/// Records that the model knows this content, because it has read or written it.
pub(crate) fn observation(path: &str, digest: String, whole: bool) -> Observation {
    Observation {
        path: path.to_owned(),
        digest,
        whole,
    }
}

/// Fails if the model has not seen the file, or has seen it with another content.
///
/// Having seen a part is sufficient: otherwise a file longer than one Read shows could not be changed. The digest covers the
/// whole file.
pub(crate) fn require_current(call: &ToolCall, path: &str, current: &str) -> Result<(), ToolError> {
    let mut seen = false;
    for observation in call.observations(path) {
        if observation.digest == current {
            return Ok(());
        }
        seen = true;
    }
    Err(ToolError::new(if seen {
        format!(
            "{path} changed since it was last read, by the user or by another program. Read it again, then repeat the change."
        )
    } else {
        format!("{path} has not been read yet. Read it first, then repeat the change.")
    }))
}
