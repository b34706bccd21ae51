//! Jupyter notebooks, as cells (nbformat 4).

use std::fmt::Write as _;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use windlass_plugin::{Content, Image, Place, ToolError, ToolResult, Tree};

use super::Output;
use crate::observation::{digest, observation};

/// The largest notebook that is shown, in bytes.
const LARGEST: usize = 16 << 20;
/// Characters of the outputs of one cell that are shown.
const LONGEST_OUTPUT: usize = 10_000;

#[derive(Deserialize)]
struct Notebook {
    cells: Vec<Cell>,
}

#[derive(Deserialize)]
struct Cell {
    cell_type: String,
    id: Option<String>,
    #[serde(default)]
    source: Text,
    #[serde(default)]
    outputs: Vec<Value>,
    execution_count: Option<Value>,
}

/// Text as notebooks store it: a string, or its lines.
#[derive(Deserialize)]
#[serde(untagged)]
enum Text {
    One(String),
    Lines(Vec<String>),
}

impl Default for Text {
    fn default() -> Self {
        Self::One(String::new())
    }
}

impl Text {
    fn joined(self) -> String {
        match self {
            Self::One(text) => text,
            Self::Lines(lines) => lines.concat(),
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct File<'a> {
    file_path: &'a str,
    cells: Vec<Map<String, Value>>,
}

pub(super) fn show<T: Tree>(place: &Place<'_, T>) -> Result<ToolResult, ToolError> {
    let data = place
        .tree
        .read_all(&place.relative, LARGEST)
        .map_err(|code| place.explain(code))?;
    let notebook: Notebook = serde_json::from_slice(&data).map_err(|error| {
        ToolError::new(format!(
            "{} is not a notebook of format 4: {error}. To see it as text, read it with offset 1.",
            place.absolute
        ))
    })?;
    let mut text = String::new();
    let mut images = Vec::new();
    let mut cells = Vec::new();
    for (index, cell) in notebook.cells.into_iter().enumerate() {
        cells.push(show_cell(cell, index, &mut text, &mut images));
    }
    let output = Output {
        kind: "notebook",
        file: File {
            file_path: &place.absolute,
            cells,
        },
    };
    let mut result = ToolResult::text(text)
        .with_structured(&output)?
        .with_observation(observation(&place.absolute, digest(&data), true));
    result
        .content
        .extend(images.into_iter().map(Content::Image));
    Ok(result)
}

/// Appends a cell to the text and returns its structured form.
fn show_cell(
    cell: Cell,
    index: usize,
    text: &mut String,
    images: &mut Vec<Image>,
) -> Map<String, Value> {
    let id = cell.id.unwrap_or_else(|| format!("cell-{index}"));
    let source = cell.source.joined();
    let mut outputs = String::new();
    for output in &cell.outputs {
        show_output(output, &mut outputs, images);
    }
    if let Some((end, _)) = outputs.char_indices().nth(LONGEST_OUTPUT) {
        outputs.truncate(end);
        outputs.push_str("\n[the output goes on]");
    }
    // Writing to a String cannot fail.
    let _ = write!(
        text,
        "<cell id=\"{id}\" type=\"{}\">\n{source}\n</cell>\n",
        cell.cell_type
    );
    if !outputs.is_empty() {
        let _ = write!(text, "<output of=\"{id}\">\n{outputs}\n</output>\n");
    }

    let mut fields = Map::new();
    fields.insert("cellType".to_owned(), cell.cell_type.into());
    fields.insert("source".to_owned(), source.into());
    fields.insert("cell_id".to_owned(), id.into());
    if let Some(count) = cell.execution_count {
        fields.insert("execution_count".to_owned(), count);
    }
    if !outputs.is_empty() {
        fields.insert("outputs".to_owned(), outputs.into());
    }
    fields
}

/// Appends what an output shows as text, and its image if it has one.
fn show_output(output: &Value, text: &mut String, images: &mut Vec<Image>) {
    let joined = |value: &Value| {
        Text::deserialize(value)
            .map(Text::joined)
            .unwrap_or_default()
    };
    match output["output_type"].as_str() {
        Some("stream") => text.push_str(&joined(&output["text"])),
        Some("error") => {
            let field = |name: &str| output[name].as_str().unwrap_or_default();
            // Writing to a String cannot fail.
            let _ = write!(text, "{}: {}", field("ename"), field("evalue"));
        }
        _ => {
            let data = &output["data"];
            text.push_str(&joined(&data["text/plain"]));
            for media_type in ["image/png", "image/jpeg"] {
                let base64: String = joined(&data[media_type]).split_ascii_whitespace().collect();
                match STANDARD.decode(&base64) {
                    Ok(data) if !data.is_empty() => images.push(Image {
                        media_type: media_type.to_owned(),
                        data,
                    }),
                    // There is no image of this type, or it is damaged: the text is shown instead.
                    _ => {}
                }
            }
        }
    }
}
