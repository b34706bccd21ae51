//! Output styles from files.

use windlass_core::context::OutputStyle;

use crate::frontmatter::{Document, FrontmatterError};

/// An output style's file that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum StyleError {
    #[error(transparent)]
    Fields(#[from] FrontmatterError),
    #[error("the style says nothing: write its instructions below the fields")]
    Empty,
}

/// Parses `name` (by default the name of the file), `description`, `keep-coding-instructions` and the instructions.
pub(super) fn parse(text: &str, file: &str) -> Result<OutputStyle, StyleError> {
    let document = Document::parse(text)?;
    let fields = document.front.unwrap_or_default();
    let instructions = document.body.trim();
    if instructions.is_empty() {
        return Err(StyleError::Empty);
    }
    Ok(OutputStyle {
        name: fields.text("name")?.unwrap_or(file).to_owned(),
        description: fields.text("description")?.unwrap_or_default().to_owned(),
        instructions: instructions.to_owned(),
        keep_coding_instructions: fields.flag("keep-coding-instructions")?.unwrap_or(false),
    })
}
