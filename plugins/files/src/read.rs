//! Read: text with line numbers, images, notebooks, the text of PDF.

mod image;
mod missing;
mod notebook;
#[cfg(feature = "pdf")]
mod pdf;
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

/// The structured output: the type of the file, and the fields of that type.
#[derive(Serialize)]
struct Output<F> {
    #[serde(rename = "type")]
    kind: &'static str,
    file: F,
}

/// The maximum size of one read, in bytes.
const PIECE: u32 = 256 * 1024;
/// The number of bytes, from the start, in which NUL bytes identify a binary file.
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
        #[cfg(feature = "pdf")]
        return pdf::show(&place, input.pages.as_deref());
        #[cfg(not(feature = "pdf"))]
        return Err(ToolError::new(format!(
            "{} is a PDF, which cannot be shown here. If a command such as pdftotext is at hand, use that.",
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
            "{} is a binary file: Read shows text, images, PDF and notebooks.",
            place.absolute
        )));
    }
    text::show(&place, head, input.offset, input.limit)
}
