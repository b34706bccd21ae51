//! Files in folders, in an order that does not depend on the file system.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use super::FileProblem;

/// No file of more bytes is read.
pub const MAX_FILE_BYTES: u64 = 1024 * 1024;
/// Folders within folders that are searched.
pub const MAX_DEPTH: usize = 8;

/// The Markdown files in a folder and those below it, by their paths. A folder that is not there has none. Links to files
/// are followed, links to folders are not.
pub(super) fn markdown(folder: &Path, problems: &mut Vec<FileProblem>) -> Vec<PathBuf> {
    let mut found = Vec::new();
    search(folder, MAX_DEPTH, &mut found, problems);
    found.sort();
    found
}

fn search(folder: &Path, depth: usize, found: &mut Vec<PathBuf>, problems: &mut Vec<FileProblem>) {
    for path in entries(folder, problems) {
        let is_link = path.is_symlink();
        if path.is_dir() && !is_link {
            if depth > 0 {
                search(&path, depth - 1, found, problems);
            }
        } else if path.extension().is_some_and(|ext| ext == "md") && path.is_file() {
            found.push(path);
        }
    }
}

/// The folders in a folder, by their names. Links are followed.
pub(super) fn folders(folder: &Path, problems: &mut Vec<FileProblem>) -> Vec<PathBuf> {
    let mut found = entries(folder, problems);
    found.retain(|path| path.is_dir());
    found.sort();
    found
}

fn entries(folder: &Path, problems: &mut Vec<FileProblem>) -> Vec<PathBuf> {
    let listed =
        fs::read_dir(folder).and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect());
    match listed {
        Ok(paths) => paths,
        Err(error) if is_absent(&error) => Vec::new(),
        Err(error) => {
            problems.push(FileProblem {
                path: folder.to_path_buf(),
                problem: error.to_string(),
            });
            Vec::new()
        }
    }
}

pub(super) fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}
