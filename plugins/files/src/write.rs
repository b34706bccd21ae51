//! Write: creates a file, or replaces one that the model knows.

use serde::{Deserialize, Serialize};
use windlass_plugin::{ErrorCode, ToolCall, ToolError, ToolResult, Tree, Workspace, WriteOptions};

use crate::observation::{digest, observation, require_current};
use crate::patch::{Hunk, structured_patch};

#[derive(Deserialize)]
struct Input {
    file_path: String,
    content: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Output<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    file_path: &'a str,
    content: &'a str,
    structured_patch: Vec<Hunk>,
    original_file: Option<&'a str>,
}

/// The maximum size of a file that is changed, in bytes: the old and new content and the patch are held in memory together.
pub(crate) const LARGEST: usize = 16 << 20;

pub(crate) fn run<T: Tree>(
    call: &ToolCall,
    workspace: &Workspace<T>,
) -> Result<ToolResult, ToolError> {
    let Input { file_path, content } = call.parse_input()?;
    let place = workspace.resolve(&file_path)?;
    let path = &place.absolute;
    let original = match place.tree.read_all(&place.relative, LARGEST) {
        Ok(original) => Some(original),
        Err(ErrorCode::NotFound) => None,
        Err(code) => return Err(place.explain(code)),
    };
    let original_digest = original.as_deref().map(digest);
    if let Some(digest) = &original_digest {
        require_current(call, path, digest)?;
    }
    let options = WriteOptions {
        create_new: original.is_none(),
        create_parents: true,
        expected_digest: original_digest,
    };
    place
        .tree
        .write(&place.relative, content.as_bytes(), &options)
        .map_err(|code| place.explain(code))?;

    let original = original.as_deref().map(String::from_utf8_lossy);
    let output = Output {
        kind: if original.is_some() {
            "update"
        } else {
            "create"
        },
        file_path: path,
        content: &content,
        structured_patch: original
            .as_deref()
            .map(|original| structured_patch(original, &content))
            .unwrap_or_default(),
        original_file: original.as_deref(),
    };
    let text = match original {
        None => format!("Created {path}."),
        Some(_) => format!("Replaced the content of {path}."),
    };
    Ok(ToolResult::text(text)
        .with_structured(&output)?
        .with_observation(observation(path, digest(content.as_bytes()), true)))
}
