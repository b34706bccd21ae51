//! Git repositories below a workspace: submodules, clones, work trees, and git directories.

use std::{
    collections::VecDeque,
    fs,
    path::{Path, PathBuf},
};

use crate::regular::{self, Link};

/// The maximum number of directory entries visited, nearest first, so that a large tree does not delay a session.
const MOST_ENTRIES: usize = 3_000;

/// The maximum number of repositories.
const MOST_FOUND: usize = 64;

/// How many bytes of `.gitmodules` are read.
const MOST_BYTES: u64 = 1 << 20;

/// Large folders that are filled by other programs; not searched.
const PASSED_OVER: [&str; 2] = ["node_modules", "target"];

/// The repositories below a folder.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Nested {
    /// Folders with a `.git`.
    pub(super) work_trees: Vec<PathBuf>,
    /// Folders that git would recognize as a repository, by their contents.
    pub(super) kept: Vec<PathBuf>,
}

impl Nested {
    /// Searches the folder, and reads the list of submodules. Symbolic links are not followed.
    pub(super) fn below(root: &Path) -> Self {
        let mut found = Self::default();
        let listed = listed(root).into_iter().map(|folder| root.join(folder));
        let listed = listed.filter(|folder| fs::symlink_metadata(folder.join(".git")).is_ok());
        found.work_trees.extend(listed);
        let mut folders = VecDeque::from([root.to_path_buf()]);
        let mut left = MOST_ENTRIES;
        while let Some(folder) = folders.pop_front() {
            let (mut marks, mut is_work_tree) = (0, false);
            let mut below = Vec::new();
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                left = match left.checked_sub(1) {
                    Some(left) => left,
                    None => return found,
                };
                let name = entry.file_name();
                if name == ".git" {
                    is_work_tree = true;
                    continue;
                }
                marks += usize::from(name == "HEAD" || name == "objects" || name == "refs");
                let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
                if is_folder && !PASSED_OVER.iter().any(|passed| name == *passed) {
                    below.push(entry.path());
                }
            }
            if marks == 3 && folder != root {
                found.kept.push(folder);
                continue;
            }
            folders.extend(below);
            if is_work_tree && folder != root && !found.work_trees.contains(&folder) {
                found.work_trees.push(folder);
            }
            if found.work_trees.len() + found.kept.len() > MOST_FOUND {
                return found;
            }
        }
        found
    }
}

/// The folders of submodules, as `.gitmodules` lists them.
fn listed(root: &Path) -> Vec<PathBuf> {
    let list = root.join(".gitmodules");
    let bytes = regular::read(&list, Link::Followed, MOST_BYTES).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let values = text.lines().filter_map(|line| line.split_once('='));
    let paths = values.filter(|(key, _)| key.trim().eq_ignore_ascii_case("path"));
    let paths = paths.map(|(_, value)| PathBuf::from(value.trim().trim_matches('"')));
    paths.take(MOST_FOUND).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn perm_4_repositories_are_found_wherever_they_lie() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for made in [
            ".git",
            "a/b/.git",
            ".bare/objects",
            ".bare/refs",
            "node_modules/x/.git",
            "c/HEAD",
        ] {
            fs::create_dir_all(root.join(made)).unwrap();
        }
        for (file, text) in [
            (".bare/HEAD", ""),
            ("sub", ""),
            (
                ".gitmodules",
                "[submodule \"s\"]\n\tpath = node_modules/x\n",
            ),
        ] {
            fs::write(root.join(file), text).unwrap();
        }
        let found = Nested::below(&root);
        assert_eq!(
            found.work_trees,
            [root.join("node_modules/x"), root.join("a/b")]
        );
        assert_eq!(found.kept, [root.join(".bare")]);
    }

    #[test]
    fn a_large_tree_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..=MOST_ENTRIES {
            fs::write(folder.path().join(number.to_string()), "").unwrap();
        }
        assert_eq!(Nested::below(folder.path()), Nested::default());
    }
}
