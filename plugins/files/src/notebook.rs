//! NotebookEdit: replaces, inserts or deletes one cell of a Jupyter notebook (nbformat 4).
//!
//! Only the bytes of that cell change: everything else in the file stays as it was written.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use windlass_plugin::{ErrorCode, ToolCall, ToolError, ToolResult, Tree, Workspace, WriteOptions};

use crate::observation::{digest, observation, require_current};
use crate::write::LARGEST;

#[derive(Deserialize)]
struct Input {
    notebook_path: String,
    cell_id: Option<String>,
    new_source: String,
    cell_type: Option<CellType>,
    #[serde(default)]
    edit_mode: EditMode,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum CellType {
    Code,
    Markdown,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum EditMode {
    #[default]
    Replace,
    Insert,
    Delete,
}

/// The structured output (Agent SDK reference, `NotebookEditOutput`).
#[derive(Serialize)]
struct Output<'a> {
    new_source: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    cell_id: Option<&'a str>,
    cell_type: CellType,
    language: &'a str,
    edit_mode: EditMode,
    notebook_path: &'a str,
    original_file: &'a str,
    updated_file: &'a str,
}

pub(crate) fn run<T: Tree>(
    call: &ToolCall,
    workspace: &Workspace<T>,
) -> Result<ToolResult, ToolError> {
    let input: Input = call.parse_input()?;
    let place = workspace.resolve(&input.notebook_path)?;
    let path = &place.absolute;
    if !path.ends_with(".ipynb") {
        return Err(ToolError::new(format!(
            "{path} is no notebook (.ipynb). Use Edit for other files."
        )));
    }
    let bytes = place
        .tree
        .read_all(&place.relative, LARGEST)
        .map_err(|code| match code {
            ErrorCode::NotFound => ToolError::new(format!(
                "{path} does not exist. NotebookEdit changes notebooks; Write creates one."
            )),
            other => place.explain(other),
        })?;
    let original_digest = digest(&bytes);
    require_current(call, path, &original_digest)?;
    let original = String::from_utf8(bytes)
        .map_err(|_| ToolError::new(format!("{path} is not a notebook: it is not UTF-8.")))?;
    let notebook = Notebook::read(&original).map_err(|reason| {
        ToolError::new(format!("{path} is not a notebook of format 4: {reason}."))
    })?;
    let change = notebook.changed(&input)?;
    let options = WriteOptions {
        create_new: false,
        create_parents: false,
        expected_digest: Some(original_digest),
    };
    place
        .tree
        .write(&place.relative, change.text.as_bytes(), &options)
        .map_err(|code| place.explain(code))?;
    let output = Output {
        new_source: &input.new_source,
        cell_id: change.id.as_deref(),
        cell_type: change.cell_type,
        language: &notebook.language,
        edit_mode: input.edit_mode,
        notebook_path: path,
        original_file: &original,
        updated_file: &change.text,
    };
    let done = match input.edit_mode {
        EditMode::Replace => "Replaced",
        EditMode::Insert => "Inserted",
        EditMode::Delete => "Deleted",
    };
    let cell = change.id.as_deref().unwrap_or("without an id");
    let text = format!("{done} the cell {cell} in {path}.");
    Ok(ToolResult::text(text)
        .with_structured(&output)?
        .with_observation(observation(path, digest(change.text.as_bytes()), true)))
}

/// A notebook as text, with the places of its cells.
struct Notebook<'a> {
    text: &'a str,
    cells: Vec<Cell>,
    /// Where the list of cells is, with its brackets.
    list: Range<usize>,
    language: String,
    /// Whether cells have ids (nbformat 4.5).
    has_ids: bool,
}

struct Cell {
    range: Range<usize>,
    fields: Map<String, Value>,
}

/// The text after a change.
struct Change {
    text: String,
    id: Option<String>,
    cell_type: CellType,
}

impl<'a> Notebook<'a> {
    fn read(text: &'a str) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct File<'a> {
            nbformat: Option<u32>,
            nbformat_minor: Option<u32>,
            #[serde(borrow)]
            cells: Option<&'a RawValue>,
            metadata: Option<Value>,
        }
        let file: File<'a> = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if file.nbformat != Some(4) {
            return Err("its nbformat is another one".to_owned());
        }
        let list = file.cells.ok_or("it has no cells")?.get();
        let raw: Vec<&RawValue> = serde_json::from_str(list).map_err(|error| error.to_string())?;
        let cells = raw.into_iter().map(|cell| {
            let fields = serde_json::from_str(cell.get()).map_err(|error| error.to_string())?;
            Ok(Cell {
                range: place_in(text, cell.get()),
                fields,
            })
        });
        let metadata = file.metadata.unwrap_or_default();
        let named = metadata["language_info"]["name"].as_str();
        let named = named.or_else(|| metadata["kernelspec"]["language"].as_str());
        Ok(Self {
            text,
            cells: cells.collect::<Result<_, String>>()?,
            list: place_in(text, list),
            language: named.unwrap_or("python").to_owned(),
            has_ids: file.nbformat_minor.unwrap_or(0) >= 5,
        })
    }

    fn changed(&self, input: &Input) -> Result<Change, ToolError> {
        let named = input
            .cell_id
            .as_deref()
            .map(|id| self.find(id))
            .transpose()?;
        match (input.edit_mode, named) {
            (EditMode::Insert, after) => self.insert(input, after),
            (_, None) => Err(ToolError::new(
                "cell_id is missing: Read shows the ids of the cells.",
            )),
            (EditMode::Replace, Some(index)) => Ok(self.replace(input, index)),
            (EditMode::Delete, Some(index)) => Ok(self.delete(index)),
        }
    }

    /// The cell with this id, or with this number (`cell-3`), as Read names cells without one.
    fn find(&self, id: &str) -> Result<usize, ToolError> {
        let has_id = |cell: &Cell| cell.fields.get("id").and_then(Value::as_str) == Some(id);
        let by_number = || {
            let number: usize = id.strip_prefix("cell-")?.parse().ok()?;
            (number < self.cells.len()).then_some(number)
        };
        let found = self.cells.iter().position(has_id).or_else(by_number);
        found.ok_or_else(|| {
            let ids: Vec<String> = (0..self.cells.len().min(20))
                .map(|index| self.id(index))
                .collect();
            ToolError::new(format!(
                "The notebook has no cell {id}. It has: {}.",
                ids.join(", ")
            ))
        })
    }

    fn id(&self, index: usize) -> String {
        let id = self.cells[index].fields.get("id").and_then(Value::as_str);
        id.map_or_else(|| format!("cell-{index}"), str::to_owned)
    }

    fn replace(&self, input: &Input, index: usize) -> Change {
        let cell = &self.cells[index];
        let mut fields = cell.fields.clone();
        let before = match fields.get("cell_type").and_then(Value::as_str) {
            Some("code") => CellType::Code,
            _ => CellType::Markdown,
        };
        // A raw cell stays one, unless another type is asked for.
        let cell_type = input.cell_type.unwrap_or(before);
        if input.cell_type.is_some_and(|wanted| wanted != before) || cell_type == CellType::Code {
            fields.insert("cell_type".to_owned(), json!(cell_type));
        }
        fields.insert("source".to_owned(), lines(&input.new_source));
        with_outputs(&mut fields, cell_type);
        Change {
            text: self.with(cell.range.clone(), &self.written(&fields)),
            id: Some(self.id(index)),
            cell_type,
        }
    }

    fn insert(&self, input: &Input, after: Option<usize>) -> Result<Change, ToolError> {
        let cell_type = input.cell_type.ok_or_else(|| {
            ToolError::new("cell_type is missing: a new cell is code or markdown.")
        })?;
        let mut fields = Map::new();
        let id = self.has_ids.then(|| self.new_id(&input.new_source));
        if let Some(id) = &id {
            fields.insert("id".to_owned(), id.clone().into());
        }
        fields.insert("cell_type".to_owned(), json!(cell_type));
        fields.insert("metadata".to_owned(), json!({}));
        fields.insert("source".to_owned(), lines(&input.new_source));
        with_outputs(&mut fields, cell_type);
        let (cell, separator) = (self.written(&fields), self.separator());
        let index = after.map_or(0, |after| after + 1);
        let text = match (after, self.cells.first()) {
            (Some(after), _) => {
                let end = self.cells[after].range.end;
                self.with(end..end, &format!(",{separator}{cell}"))
            }
            (None, Some(first)) => {
                let start = first.range.start;
                self.with(start..start, &format!("{cell},{separator}"))
            }
            (None, None) => self.with(self.list.clone(), &format!("[{cell}]")),
        };
        Ok(Change {
            text,
            id: id.or_else(|| Some(format!("cell-{index}"))),
            cell_type,
        })
    }

    fn delete(&self, index: usize) -> Change {
        let cell = &self.cells[index];
        // With the comma on one of its sides.
        let range = match (index.checked_sub(1), self.cells.get(index + 1)) {
            (_, Some(next)) => cell.range.start..next.range.start,
            (Some(before), None) => self.cells[before].range.end..cell.range.end,
            (None, None) => self.list.start + 1..self.list.end - 1,
        };
        Change {
            text: self.with(range, ""),
            id: Some(self.id(index)),
            cell_type: match cell.fields.get("cell_type").and_then(Value::as_str) {
                Some("code") => CellType::Code,
                _ => CellType::Markdown,
            },
        }
    }

    /// The text with something else in a range.
    fn with(&self, range: Range<usize>, replacement: &str) -> String {
        [
            &self.text[..range.start],
            replacement,
            &self.text[range.end..],
        ]
        .concat()
    }

    /// The white space in front of a cell.
    fn separator(&self) -> &'a str {
        let end = self
            .cells
            .first()
            .map_or(self.list.start + 1, |cell| cell.range.start);
        &self.text[self.list.start + 1..end]
    }

    /// A cell in the form of the file: in one line, or indented like the others.
    fn written(&self, fields: &Map<String, Value>) -> String {
        let separator = self.separator();
        let compact = || Value::Object(fields.clone()).to_string();
        let Some(indentation) = separator
            .rsplit_once('\n')
            .map(|(_, indentation)| indentation)
        else {
            return compact();
        };
        let Ok(pretty) = serde_json::to_string_pretty(fields) else {
            return compact();
        };
        // Cells are two levels deep. Line ends within strings are escaped, so every line begins with its own indentation.
        let step = &indentation[..indentation.len() / 2];
        let lines = pretty.lines().map(|line| {
            let text = line.trim_start_matches(' ');
            step.repeat((line.len() - text.len()) / 2) + text
        });
        lines.collect::<Vec<_>>().join(&format!("\n{indentation}"))
    }

    /// An id that no cell has. It follows from the cell and its place, so that the same change gives the same file.
    fn new_id(&self, source: &str) -> String {
        let mut salt = self.cells.len();
        loop {
            let digest = digest(format!("{salt}:{source}").as_bytes());
            let id = digest.trim_start_matches("sha256:")[..8].to_owned();
            let is_taken = |cell: &Cell| cell.fields.get("id").and_then(Value::as_str) == Some(&id);
            if !self.cells.iter().any(is_taken) {
                return id;
            }
            salt += 1;
        }
    }
}

/// Where a part of a text is in it.
fn place_in(text: &str, part: &str) -> Range<usize> {
    let start = part.as_ptr() as usize - text.as_ptr() as usize;
    start..start + part.len()
}

/// A source as notebooks store it: its lines, with their ends.
fn lines(source: &str) -> Value {
    source.split_inclusive('\n').collect::<Vec<_>>().into()
}

/// Code has outputs, none of which belong to a new source; other cells have none.
fn with_outputs(fields: &mut Map<String, Value>, cell_type: CellType) {
    match cell_type {
        CellType::Code => {
            fields.insert("outputs".to_owned(), json!([]));
            fields.insert("execution_count".to_owned(), Value::Null);
        }
        CellType::Markdown => {
            fields.remove("outputs");
            fields.remove("execution_count");
        }
    }
}
