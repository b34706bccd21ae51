//! Glob: files by name pattern, newest first.

use serde::{Deserialize, Serialize};
use windlass_plugin::{ErrorCode, Place, ToolCall, ToolError, ToolResult, Tree, Workspace};

use crate::filter::Filter;
use crate::walk::Walk;

#[derive(Deserialize)]
struct Input {
    pattern: String,
    path: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Output<'a> {
    /// A component has no clock, so this is always 0; the host knows how long the call took.
    duration_ms: u32,
    num_files: usize,
    filenames: &'a [String],
    truncated: bool,
}

/// How many files are shown.
const LIMIT: usize = 100;

pub(crate) fn run<T: Tree>(
    call: &ToolCall,
    workspace: &Workspace<T>,
) -> Result<ToolResult, ToolError> {
    let input: Input = call.parse_input()?;
    let directory = workspace.resolve(input.path.as_deref().unwrap_or("."))?;
    let (prefix, pattern) = split_pattern(&input.pattern);
    let base = match prefix {
        "" => directory,
        absolute if absolute.starts_with('/') => workspace.resolve(absolute)?,
        relative => {
            // A misspelt directory is an error; a pattern without matches is not.
            directory
                .tree
                .stat(&directory.relative)
                .map_err(|code| directory.explain(code))?;
            workspace.resolve(&format!("{}/{relative}", directory.absolute))?
        }
    };
    let matches = match find(&base, pattern)? {
        Some(matches) => matches,
        None if prefix.is_empty() => {
            return Err(ToolError::new(format!(
                "There is no directory {}.",
                base.absolute
            )));
        }
        None => Matches::default(),
    };
    let filenames: Vec<String> = matches
        .files
        .iter()
        .take(LIMIT)
        .map(|file| {
            workspace
                .shortened(&base.absolute_of(&file.path))
                .to_owned()
        })
        .collect();
    let output = Output {
        duration_ms: 0,
        num_files: filenames.len(),
        filenames: &filenames,
        truncated: matches.files.len() > LIMIT,
    };
    ToolResult::text(report(&filenames, &matches)).with_structured(&output)
}

/// What a search found.
#[derive(Default)]
struct Matches {
    /// The newest first.
    files: Vec<File>,
    /// A note about the search for the result.
    note: String,
}

/// A file that matched.
struct File {
    /// Relative to the tree.
    path: String,
    /// Milliseconds since 1970.
    modified: f64,
}

/// The files below a directory that match; none if there is no such directory.
fn find<T: Tree>(base: &Place<'_, T>, pattern: &str) -> Result<Option<Matches>, ToolError> {
    let filter = Filter::new(&base.relative, [pattern], None)?;
    let mut walk = match Walk::new(base.tree, &base.relative, &filter, true) {
        Ok(walk) => walk,
        Err(ErrorCode::NotFound | ErrorCode::NotDirectory) => return Ok(None),
        Err(code) => return Err(base.explain(code)),
    };
    let mut files = Vec::new();
    while let Some(file) = walk.next() {
        files.push(File {
            path: file.path.to_owned(),
            modified: file.modified,
        });
    }
    // Files of the same age are sorted by name, so that the answer is deterministic.
    files.sort_unstable_by(|a, b| {
        b.modified
            .total_cmp(&a.modified)
            .then_with(|| a.path.cmp(&b.path))
    });
    Ok(Some(Matches {
        files,
        note: walk.note(),
    }))
}

/// The directory that a pattern starts with by name, and the rest, which starts with a slash then. Searching there
/// saves going through everything else, and a directory that is named is searched even if `.gitignore` excludes it.
fn split_pattern(pattern: &str) -> (&str, &str) {
    let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
    if pattern.starts_with('!') {
        return ("", pattern);
    }
    let literal = pattern
        .find(['*', '?', '[', '{', '\\'])
        .map_or(pattern, |end| &pattern[..end]);
    match literal.rfind('/') {
        None | Some(0) => ("", pattern),
        Some(end) => (&pattern[..end], &pattern[end..]),
    }
}

fn report(filenames: &[String], matches: &Matches) -> String {
    let Matches { files, note } = matches;
    if filenames.is_empty() {
        return format!("No files found.{note}");
    }
    let mut text = filenames.join("\n");
    if files.len() > LIMIT {
        text.push_str(&format!(
            "\n[The newest {LIMIT} of {} files are shown. A narrower pattern or path shows others.]",
            files.len()
        ));
    }
    text + note
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tool_4_glob_starts_where_the_pattern_leads_by_name() {
        assert_eq!(split_pattern("*.rs"), ("", "*.rs"));
        assert_eq!(split_pattern("./a.rs"), ("", "a.rs"));
        assert_eq!(split_pattern("src/**/*.rs"), ("src", "/**/*.rs"));
        assert_eq!(split_pattern("/w/a-{b,c}/d"), ("/w", "/a-{b,c}/d"));
        assert_eq!(split_pattern("src/main.rs"), ("src", "/main.rs"));
        assert_eq!(split_pattern("!src/*.rs"), ("", "!src/*.rs"));
    }
}
