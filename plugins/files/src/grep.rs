//! Grep: files by content.

mod content;
mod search;

use serde::{Deserialize, Serialize};
use windlass_plugin::{EntryKind, Place, ToolCall, ToolError, ToolResult, Tree, Workspace};

use crate::filter::{Filter, split_globs};
use crate::walk::Walk;
use content::Lines;
use search::Search;

#[derive(Deserialize)]
struct Input {
    pattern: String,
    path: Option<String>,
    glob: Option<String>,
    #[serde(rename = "type")]
    file_type: Option<String>,
    #[serde(default)]
    output_mode: Mode,
    #[serde(rename = "-i", default)]
    ignore_case: bool,
    #[serde(rename = "-n")]
    line_numbers: Option<bool>,
    #[serde(rename = "-B")]
    before: Option<usize>,
    #[serde(rename = "-A")]
    after: Option<usize>,
    #[serde(rename = "-C")]
    around: Option<usize>,
    context: Option<usize>,
    head_limit: Option<usize>,
    #[serde(default)]
    offset: usize,
    #[serde(default)]
    multiline: bool,
}

impl Input {
    fn lines_before(&self) -> usize {
        self.before.or(self.context).or(self.around).unwrap_or(0)
    }

    fn lines_after(&self) -> usize {
        self.after.or(self.context).or(self.around).unwrap_or(0)
    }
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
enum Mode {
    Content,
    #[default]
    FilesWithMatches,
    Count,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Output {
    mode: Mode,
    num_files: usize,
    filenames: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    num_lines: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    num_matches: Option<u64>,
    /// The limit, if it omitted something.
    #[serde(skip_serializing_if = "Option::is_none")]
    applied_limit: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    applied_offset: Option<usize>,
}

/// The default number of entries shown: lines of content, or files.
const DEFAULT_LIMIT: usize = 250;
/// The maximum size of the content shown, in bytes, whatever the limit.
const LONGEST_CONTENT: usize = 40_000;

/// The part of the entries that is shown.
#[derive(Clone, Copy)]
struct Window {
    offset: usize,
    limit: usize,
}

impl Window {
    fn of(input: &Input) -> Self {
        Self {
            offset: input.offset,
            limit: match input.head_limit.unwrap_or(DEFAULT_LIMIT) {
                0 => usize::MAX,
                limit => limit,
            },
        }
    }

    /// The index after its last entry.
    fn end(self) -> usize {
        self.offset.saturating_add(self.limit)
    }

    fn applied_offset(self) -> Option<usize> {
        (self.offset > 0).then_some(self.offset)
    }

    /// A note about entries that are left out.
    fn note(self, left_out: bool) -> String {
        if left_out && self.limit < usize::MAX {
            format!(
                "\n[Only {} are shown. To go on, set offset {}.]",
                self.limit,
                self.end()
            )
        } else {
            String::new()
        }
    }
}

pub(crate) fn run<T: Tree>(
    call: &ToolCall,
    workspace: &Workspace<T>,
) -> Result<ToolResult, ToolError> {
    let input: Input = call.parse_input()?;
    let base = workspace.resolve(input.path.as_deref().unwrap_or("."))?;
    let globs = split_globs(input.glob.as_deref().unwrap_or_default());
    let filter = Filter::new(&base.relative, globs, input.file_type.as_deref())?;
    let search = Search::new(&input)?;
    let mut files = Files::below(&base, &filter)?;
    let window = Window::of(&input);
    let (text, output) = match input.output_mode {
        Mode::FilesWithMatches => list(workspace, &base, &mut files, search, window),
        Mode::Count => count(workspace, &base, &mut files, search, window),
        Mode::Content => {
            let numbers = input.line_numbers.unwrap_or(true);
            let grouped = input.lines_before() + input.lines_after() > 0;
            let lines = Lines::new(window, numbers, grouped);
            content(workspace, &base, &mut files, search, lines)
        }
    };
    ToolResult::text(text + &files.note()).with_structured(&output)
}

/// The files to search: one by name, or those below a directory.
enum Files<'a, T> {
    One(Option<&'a str>),
    Below(Walk<'a, T>),
}

impl<'a, T: Tree> Files<'a, T> {
    fn below(base: &'a Place<'a, T>, filter: &'a Filter) -> Result<Self, ToolError> {
        let stat = base
            .tree
            .stat(&base.relative)
            .map_err(|code| base.explain(code))?;
        match stat.kind {
            EntryKind::Directory => Walk::new(base.tree, &base.relative, filter, false)
                .map(Self::Below)
                .map_err(|code| base.explain(code)),
            _ => Ok(Self::One(Some(&base.relative))),
        }
    }

    /// The path of the next file, relative to the tree.
    fn next(&mut self) -> Option<&str> {
        match self {
            Self::One(file) => file.take(),
            Self::Below(walk) => walk.next().map(|file| file.path),
        }
    }

    /// A note about directories that were left out.
    fn note(&self) -> String {
        match self {
            Self::One(_) => String::new(),
            Self::Below(walk) => walk.note(),
        }
    }
}

/// The files with matches, newest first.
fn list<T: Tree>(
    workspace: &Workspace<T>,
    base: &Place<'_, T>,
    files: &mut Files<'_, T>,
    mut search: Search,
    window: Window,
) -> (String, Output) {
    let mut found: Vec<(f64, String)> = Vec::new();
    while let Some(path) = files.next() {
        if search.matches(base.tree, path) {
            // The modification time is read only for files that match.
            let modified = base.tree.stat(path).map_or(0.0, |stat| stat.modified);
            found.push((modified, base.absolute_of(path)));
        }
    }
    found.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    let left_out = found.len() > window.end();
    let filenames: Vec<String> = found
        .iter()
        .skip(window.offset)
        .take(window.limit)
        .map(|(_, path)| workspace.shortened(path).to_owned())
        .collect();
    let text = match found.len() {
        0 => "No files found.".to_owned(),
        1 => format!("Found 1 file\n{}", filenames.join("\n")),
        total => format!(
            "Found {total} files\n{}{}",
            filenames.join("\n"),
            window.note(left_out)
        ),
    };
    let output = Output {
        mode: Mode::FilesWithMatches,
        num_files: filenames.len(),
        filenames,
        content: None,
        num_lines: None,
        num_matches: None,
        applied_limit: left_out.then_some(window.limit),
        applied_offset: window.applied_offset(),
    };
    (text, output)
}

/// The number of matching lines in each file, in the order of names.
fn count<T: Tree>(
    workspace: &Workspace<T>,
    base: &Place<'_, T>,
    files: &mut Files<'_, T>,
    mut search: Search,
    window: Window,
) -> (String, Output) {
    let mut matching_files = 0;
    let mut num_matches = 0;
    let mut filenames = Vec::new();
    let mut lines = Vec::new();
    while let Some(path) = files.next() {
        let matches = search.count(base.tree, path);
        if matches == 0 {
            continue;
        }
        matching_files += 1;
        if matching_files > window.end() {
            break;
        }
        if matching_files > window.offset {
            let absolute = base.absolute_of(path);
            let name = workspace.shortened(&absolute);
            lines.push(format!("{name}:{matches}"));
            filenames.push(name.to_owned());
            num_matches += matches;
        }
    }
    let left_out = matching_files > window.end();
    let content = lines.join("\n");
    let text = if lines.is_empty() {
        "No matches found.".to_owned()
    } else {
        format!(
            "{content}\n\nFound {num_matches} {} in {} {}.{}",
            plural(num_matches == 1, "match", "matches"),
            filenames.len(),
            plural(filenames.len() == 1, "file", "files"),
            window.note(left_out)
        )
    };
    let output = Output {
        mode: Mode::Count,
        num_files: filenames.len(),
        filenames,
        content: Some(content),
        num_lines: None,
        num_matches: Some(num_matches),
        applied_limit: left_out.then_some(window.limit),
        applied_offset: window.applied_offset(),
    };
    (text, output)
}

/// The matching lines and their context, in the order of file names.
fn content<T: Tree>(
    workspace: &Workspace<T>,
    base: &Place<'_, T>,
    files: &mut Files<'_, T>,
    mut search: Search,
    mut lines: Lines,
) -> (String, Output) {
    while let Some(path) = files.next() {
        if lines.is_full() {
            break;
        }
        // The name is computed only for files that match.
        let name = || workspace.shortened(&base.absolute_of(path)).to_owned();
        search.lines(base.tree, path, &mut lines.of_file(&name));
    }
    let Lines {
        window,
        text: content,
        shown,
        filenames,
        left_out,
        too_long,
        ..
    } = lines;
    let text = if content.is_empty() {
        "No matches found.".to_owned()
    } else if too_long {
        format!(
            "{content}\n[The text grew too long after {shown} lines. To go on, set offset {}; or narrow the search.]",
            window.offset + shown
        )
    } else {
        format!("{content}{}", window.note(left_out))
    };
    let output = Output {
        mode: Mode::Content,
        num_files: filenames.len(),
        filenames,
        content: Some(content),
        num_lines: Some(shown),
        num_matches: None,
        applied_limit: (left_out || too_long).then_some(if too_long {
            shown
        } else {
            window.limit
        }),
        applied_offset: window.applied_offset(),
    };
    (text, output)
}

fn plural(one: bool, singular: &'static str, plural: &'static str) -> &'static str {
    if one { singular } else { plural }
}
