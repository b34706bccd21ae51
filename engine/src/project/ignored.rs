//! What stands in Markdown files that are used, and has no effect: whoever wrote it has to be told.

use super::FileProblem;
use crate::{frontmatter::Document, path::TextPath};

/// The field that agents, commands and skills of Claude Code have for hooks.
pub(super) const HOOKS: &str = "hooks";

/// Hooks at the head of a file.
pub(super) fn hooks(path: &TextPath, text: &str) -> Option<FileProblem> {
    let fields = Document::parse(text).ok()?.front?;
    fields.get(HOOKS)?;
    Some(FileProblem {
        path: path.clone(),
        problem:
            "the field `hooks`: hooks are those of settings, of a plugin's hooks/hooks.json and of components"
                .to_owned(),
    })
}

/// Command lines whose output Claude Code puts into the text: `!` and a line in backticks.
pub(super) fn shell_lines(path: &TextPath, text: &str) -> Option<FileProblem> {
    const BEGIN: &str = "!`";
    let body = Document::parse(text).ok()?.body;
    let mut places = body.match_indices(BEGIN);
    let at = places.find(|(at, _)| {
        let before = body[..*at].chars().next_back();
        let line = body[at + BEGIN.len()..].lines().next().unwrap_or_default();
        before.is_none_or(char::is_whitespace) && line.contains('`')
    });
    let (at, _) = at?;
    let line = body[at..].split('`').nth(1).unwrap_or_default();
    Some(FileProblem {
        path: path.clone(),
        problem: format!(
            "!`{line}` is not run, and stays in the text: ask the model to run it, or write a tool or hook"
        ),
    })
}
