//! Read: text with line numbers, images, notebooks.

mod image;
mod missing;
mod notebook;
mod text;

use serde::{Deserialize, Serialize};
use windlass_plugin::{ErrorCode, ToolCall, ToolError, ToolResult, Tree, Workspace};

pub(crate) use text::numbered;

#[derive(Deserialize)]
struct Input {
    file_path: String,
    offset: Option<usize>,
    limit: Option<usize>,
    pages: Option<String>,
}

/// The structured output: what kind of file it is, and the file in the shape of its kind.
#[derive(Serialize)]
struct Output<F> {
    #[serde(rename = "type")]
    kind: &'static str,
    file: F,
}

/// How much is read at a time, in bytes.
const PIECE: u32 = 256 * 1024;
/// Where NUL bytes are looked for to tell binary files from text, in bytes from the start.
const SNIFFED: usize = 8 * 1024;

pub(crate) fn run<T: Tree>(
    call: &ToolCall,
    workspace: &Workspace<T>,
) -> Result<ToolResult, ToolError> {
    let input: Input = call.parse_input()?;
    let place = workspace.resolve(&input.file_path)?;
    let head = place
        .tree
        .read(&place.relative, 0, PIECE)
        .map_err(|code| match code {
            ErrorCode::IsDirectory => ToolError::new(format!(
                "{} is a directory. Use Glob to list files in it.",
                place.absolute
            )),
            ErrorCode::NotFound => missing::explain(&place),
            other => place.explain(other),
        })?;
    if head.starts_with(b"%PDF-") {
        return Err(ToolError::new(format!(
            "{} is a PDF, which Read cannot show yet. If a command such as pdftotext is at hand, use that.",
            place.absolute
        )));
    }
    if input.pages.is_some() {
        return Err(ToolError::new(format!(
            "pages is for PDF files only, and {} is none. Leave it out.",
            place.absolute
        )));
    }
    if let Some(media_type) = image::media_type(&head) {
        return image::show(&place, media_type);
    }
    if place.absolute.ends_with(".ipynb") && input.offset.is_none() && input.limit.is_none() {
        return notebook::show(&place);
    }
    if memchr::memchr(0, &head[..head.len().min(SNIFFED)]).is_some() {
        return Err(ToolError::new(format!(
            "{} is a binary file: Read shows text, images and notebooks.",
            place.absolute
        )));
    }
    text::show(&place, head, input.offset, input.limit)
}
