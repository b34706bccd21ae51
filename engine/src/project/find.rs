//! Finds files in folders, in an order that does not depend on the file system.

use super::{
    FileProblem,
    read::{Entry, EntryKind, ReadProject},
};
use crate::path::TextPath;

/// The maximum depth of nested folders that are searched.
pub const MAX_DEPTH: usize = 8;

/// The maximum number of entries that are visited in a folder and the folders below it. Such a folder may be a link to any
/// other folder, up to the root of a disk.
pub const MAX_ENTRIES: usize = 10_000;

/// The Markdown files in a folder and the folders below it, sorted by path. Empty if the folder does not exist. Links to
/// files are followed, links to folders are not.
pub(super) fn markdown(
    reader: &dyn ReadProject,
    folder: &TextPath,
    problems: &mut Vec<FileProblem>,
) -> Vec<TextPath> {
    let mut search = Search::new(reader, folder, problems);
    search.markdown(folder, MAX_DEPTH);
    search.found()
}

/// The folders directly in a folder, sorted. Links are followed.
pub(super) fn folders(
    reader: &dyn ReadProject,
    folder: &TextPath,
    problems: &mut Vec<FileProblem>,
) -> Vec<TextPath> {
    let mut search = Search::new(reader, folder, problems);
    search.folders(folder);
    search.found()
}

/// A search with a limited number of entries.
struct Search<'a> {
    reader: &'a dyn ReadProject,
    top: &'a TextPath,
    /// The number of entries that may still be visited; `None` once the limit was exceeded.
    left: Option<usize>,
    found: Vec<TextPath>,
    problems: &'a mut Vec<FileProblem>,
}

impl<'a> Search<'a> {
    fn new(
        reader: &'a dyn ReadProject,
        top: &'a TextPath,
        problems: &'a mut Vec<FileProblem>,
    ) -> Self {
        Self {
            reader,
            top,
            left: Some(MAX_ENTRIES),
            found: Vec::new(),
            problems,
        }
    }

    fn found(mut self) -> Vec<TextPath> {
        self.found.sort();
        self.found
    }

    fn markdown(&mut self, folder: &TextPath, depth: usize) {
        for (path, entry) in self.entries(folder) {
            let is_wanted = match entry.kind {
                EntryKind::Folder => depth > 0,
                EntryKind::File => path.extension() == Some("md"),
                EntryKind::LinkedFolder | EntryKind::Other => false,
            };
            if !is_wanted || !is_named(&path, &entry, self.problems) {
                continue;
            }
            match entry.kind {
                EntryKind::Folder => self.markdown(&path, depth - 1),
                _ => self.found.push(path),
            }
        }
    }

    fn folders(&mut self, folder: &TextPath) {
        for (path, entry) in self.entries(folder) {
            let is_folder = matches!(entry.kind, EntryKind::Folder | EntryKind::LinkedFolder);
            if is_folder && is_named(&path, &entry, self.problems) {
                self.found.push(path);
            }
        }
    }

    /// The entries of a folder, within the limit.
    fn entries(&mut self, folder: &TextPath) -> Vec<(TextPath, Entry)> {
        let Some(left) = self.left else {
            return Vec::new();
        };
        // One more than allowed, to detect that there are more.
        let mut entries = match self.reader.list(folder, left + 1) {
            Ok(entries) => entries,
            Err(problem) => {
                let path = folder.clone();
                self.problems.push(FileProblem { path, problem });
                return Vec::new();
            }
        };
        self.left = left.checked_sub(entries.len());
        if self.left.is_none() {
            entries.truncate(left);
            self.problems.push(FileProblem {
                path: self.top.clone(),
                problem: format!(
                    "it holds more than {MAX_ENTRIES} files and folders, those in the folders below it counted, and the rest was not looked at: take out what does not belong there, or link to a smaller folder"
                ),
            });
        }
        let named = entries.into_iter();
        named
            .map(|entry| (folder.join(&entry.name), entry))
            .collect()
    }
}

/// Whether an entry can be opened by its path; reports a problem if not.
fn is_named(path: &TextPath, entry: &Entry, problems: &mut Vec<FileProblem>) -> bool {
    if !entry.is_text {
        problems.push(FileProblem {
            path: path.clone(),
            problem: "its name is not UTF-8".to_owned(),
        });
    }
    entry.is_text
}
