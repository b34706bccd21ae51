//! Lists everything below a folder without following links.

use std::{
    fs::{DirEntry, ReadDir},
    path::{Path, PathBuf},
};

/// The maximum number of entries.
pub(super) const MOST_ENTRIES: usize = 200_000;

/// The entries of a folder and of all folders in it, with relative paths. A folder that cannot be read counts as empty.
pub(super) fn entries_below(folder: &Path) -> impl Iterator<Item = (PathBuf, DirEntry)> {
    let root = folder.to_path_buf();
    let mut folders = vec![PathBuf::new()];
    let mut open: Option<(PathBuf, ReadDir)> = None;
    std::iter::from_fn(move || {
        loop {
            if let Some((folder, entries)) = &mut open
                && let Some(entry) = entries.find_map(Result::ok)
            {
                let path = folder.join(entry.file_name());
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    folders.push(path.clone());
                }
                return Some((path, entry));
            }
            let folder = folders.pop()?;
            open = std::fs::read_dir(root.join(&folder))
                .ok()
                .map(|entries| (folder, entries));
        }
    })
}
