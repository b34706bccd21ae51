//! Files in folders, in an order that does not depend on the file system.

use super::{
    FileProblem,
    read::{Entry, EntryKind, ReadProject},
};
use crate::path::TextPath;

/// Folders within folders that are searched.
pub const MAX_DEPTH: usize = 8;

/// The Markdown files in a folder and those below it, by their paths. A folder that is not there has none. Links to files
/// are followed, links to folders are not.
pub(super) fn markdown(
    reader: &dyn ReadProject,
    folder: &TextPath,
    problems: &mut Vec<FileProblem>,
) -> Vec<TextPath> {
    let mut found = Vec::new();
    search(reader, folder, MAX_DEPTH, &mut found, problems);
    found.sort();
    found
}

fn search(
    reader: &dyn ReadProject,
    folder: &TextPath,
    depth: usize,
    found: &mut Vec<TextPath>,
    problems: &mut Vec<FileProblem>,
) {
    for (path, entry) in entries(reader, folder, problems) {
        let is_wanted = match entry.kind {
            EntryKind::Folder => depth > 0,
            EntryKind::File => path.extension() == Some("md"),
            EntryKind::LinkedFolder | EntryKind::Other => false,
        };
        if !is_wanted || !is_named(&path, &entry, problems) {
            continue;
        }
        match entry.kind {
            EntryKind::Folder => search(reader, &path, depth - 1, found, problems),
            _ => found.push(path),
        }
    }
}

/// The folders in a folder, by their names. Links are followed.
pub(super) fn folders(
    reader: &dyn ReadProject,
    folder: &TextPath,
    problems: &mut Vec<FileProblem>,
) -> Vec<TextPath> {
    let mut found = Vec::new();
    for (path, entry) in entries(reader, folder, problems) {
        let is_folder = matches!(entry.kind, EntryKind::Folder | EntryKind::LinkedFolder);
        if is_folder && is_named(&path, &entry, problems) {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn entries(
    reader: &dyn ReadProject,
    folder: &TextPath,
    problems: &mut Vec<FileProblem>,
) -> Vec<(TextPath, Entry)> {
    match reader.list(folder) {
        Ok(entries) => entries
            .into_iter()
            .map(|entry| (folder.join(&entry.name), entry))
            .collect(),
        Err(problem) => {
            let path = folder.clone();
            problems.push(FileProblem { path, problem });
            Vec::new()
        }
    }
}

/// Whether an entry can be opened by its path.
fn is_named(path: &TextPath, entry: &Entry, problems: &mut Vec<FileProblem>) -> bool {
    if !entry.is_text {
        problems.push(FileProblem {
            path: path.clone(),
            problem: "its name is not UTF-8".to_owned(),
        });
    }
    entry.is_text
}
