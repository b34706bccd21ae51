//! Edit: an exact replacement in a file that the model knows.

use std::borrow::Cow;

use memchr::memmem;
use serde::{Deserialize, Serialize};
use windlass_plugin::{
    ErrorCode, Place, ToolCall, ToolError, ToolResult, Tree, Workspace, WriteOptions,
};

use crate::observation::{digest, observation, require_current};
use crate::patch::{Hunk, structured_patch};
use crate::read::numbered;
use crate::write::LARGEST;

#[derive(Deserialize)]
struct Input {
    file_path: String,
    old_string: String,
    new_string: String,
    #[serde(default)]
    replace_all: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Output<'a> {
    file_path: &'a str,
    old_string: &'a str,
    new_string: &'a str,
    original_file: &'a str,
    structured_patch: Vec<Hunk>,
    /// Always false: a proposed edit cannot be modified by the user here.
    user_modified: bool,
    replace_all: bool,
}

/// Unchanged lines shown before and after the new text.
const AROUND: usize = 4;
/// The most lines of the result that are shown.
const SHOWN: usize = 40;

pub(crate) fn run<T: Tree>(
    call: &ToolCall,
    workspace: &Workspace<T>,
) -> Result<ToolResult, ToolError> {
    let input: Input = call.parse_input()?;
    let place = workspace.resolve(&input.file_path)?;
    if input.old_string == input.new_string {
        return Err(ToolError::new(
            "old_string and new_string are the same: there is nothing to change.",
        ));
    }
    let original = read_original(&place, &input)?;
    let original_digest = original.as_deref().map(digest);
    if let Some(digest) = &original_digest {
        require_current(call, &place.absolute, digest)?;
    }
    let create = original.is_none();
    let original = original.unwrap_or_default();
    let change = replace(&original, &input, &place.absolute)?;
    let options = WriteOptions {
        create_new: create,
        create_parents: create,
        expected_digest: original_digest,
    };
    place
        .tree
        .write(&place.relative, &change.content, &options)
        .map_err(|code| place.explain(code))?;

    let old_text = String::from_utf8_lossy(&original);
    let new_text = String::from_utf8_lossy(&change.content);
    let output = Output {
        file_path: &place.absolute,
        old_string: &input.old_string,
        new_string: &input.new_string,
        original_file: &old_text,
        structured_patch: structured_patch(&old_text, &new_text),
        user_modified: false,
        replace_all: input.replace_all,
    };
    Ok(ToolResult::text(report(&place.absolute, &change))
        .with_structured(&output)?
        .with_observation(observation(&place.absolute, digest(&change.content), true)))
}

/// The file as it is; none if there is none and the edit (an empty `old_string`) is to create it.
fn read_original<T: Tree>(
    place: &Place<'_, T>,
    input: &Input,
) -> Result<Option<Vec<u8>>, ToolError> {
    match place.tree.read_all(&place.relative, LARGEST) {
        Ok(content) => Ok(Some(content)),
        Err(ErrorCode::NotFound) if input.old_string.is_empty() => Ok(None),
        Err(code) => Err(place.explain(code)),
    }
}

/// The content after the replacements.
struct Change {
    content: Vec<u8>,
    /// The range of the new text in it, for the first replacement.
    first: std::ops::Range<usize>,
    count: usize,
}

/// Makes the replacement in bytes, so that everything else in the file is preserved, whatever its encoding.
fn replace(original: &[u8], input: &Input, path: &str) -> Result<Change, ToolError> {
    if input.old_string.is_empty() {
        return fill(original, input, path);
    }
    let spelled = Spelling::of(original, input);
    let (old, new) = (spelled.old.as_bytes(), spelled.new.as_bytes());
    let found: Vec<usize> = memmem::find_iter(original, old).collect();
    let Some(&first) = found.first() else {
        return Err(not_found(original, input, path));
    };
    if found.len() > 1 && !input.replace_all {
        return Err(ToolError::new(format!(
            "old_string occurs {} times in {path}, and only one may be meant. Take in more of the lines around it, or set \
             replace_all to change every occurrence.",
            found.len()
        )));
    }
    let mut content =
        Vec::with_capacity(original.len() + found.len() * new.len().saturating_sub(old.len()));
    let mut copied = 0;
    for start in &found {
        content.extend_from_slice(&original[copied..*start]);
        content.extend_from_slice(new);
        copied = start + old.len();
    }
    content.extend_from_slice(&original[copied..]);
    Ok(Change {
        content,
        first: first..first + new.len(),
        count: found.len(),
    })
}

/// An empty `old_string` fills a file that is empty or does not exist.
fn fill(original: &[u8], input: &Input, path: &str) -> Result<Change, ToolError> {
    if !original.is_empty() {
        return Err(ToolError::new(format!(
            "old_string is empty, but {path} is not. Give the text to replace, or use Write to replace the whole file."
        )));
    }
    Ok(Change {
        content: input.new_string.clone().into_bytes(),
        first: 0..input.new_string.len(),
        count: 1,
    })
}

/// The two strings with the line ends of the file. Read shows no carriage returns, so the model writes `\n`.
struct Spelling<'a> {
    old: Cow<'a, str>,
    new: Cow<'a, str>,
}

impl<'a> Spelling<'a> {
    fn of(original: &[u8], input: &'a Input) -> Self {
        let as_given = Self {
            old: Cow::Borrowed(&input.old_string),
            new: Cow::Borrowed(&input.new_string),
        };
        let lines = memchr::memchr_iter(b'\n', original).count();
        let with_carriage_return = memmem::find_iter(original, b"\r\n").count();
        if with_carriage_return * 2 <= lines {
            return as_given;
        }
        let spelled = Self {
            old: Cow::Owned(carriage_returns(&input.old_string)),
            new: Cow::Owned(carriage_returns(&input.new_string)),
        };
        // In a file with mixed line ends the text may occur as the model gave it.
        if memmem::find(original, spelled.old.as_bytes()).is_some() {
            spelled
        } else {
            as_given
        }
    }
}

fn carriage_returns(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\n', "\r\n")
}

/// Reports that the text does not occur, and the text that is there instead if it can be determined.
fn not_found(original: &[u8], input: &Input, path: &str) -> ToolError {
    let text = String::from_utf8_lossy(original);
    let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let wanted = squeezed(&input.old_string);
    let hint = if !wanted.is_empty() && squeezed(&text).contains(&wanted) {
        "The same words are there with other spaces or line breaks: copy the text as Read shows it, after the tab."
    } else {
        "Read the file again and copy the text as it stands there."
    };
    ToolError::new(format!("old_string was not found in {path}. {hint}"))
}

fn report(path: &str, change: &Change) -> String {
    if change.count > 1 {
        return format!("Changed {} places in {path}.", change.count);
    }
    let content = &change.content;
    if content.is_empty() {
        return format!("Changed {path}. It is empty now.");
    }
    let line_of = |position: usize| memchr::memchr_iter(b'\n', &content[..position]).count();
    let first = line_of(change.first.start).saturating_sub(AROUND);
    let last = line_of(change.first.end) + AROUND;
    let text = String::from_utf8_lossy(content);
    let mut snippet = String::new();
    for (index, line) in text
        .lines()
        .enumerate()
        .skip(first)
        .take((last - first + 1).min(SHOWN))
    {
        snippet.push('\n');
        numbered(&mut snippet, index + 1, line);
    }
    format!("Changed {path}. It now reads:{snippet}")
}
