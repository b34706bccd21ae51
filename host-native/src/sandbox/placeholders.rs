//! Empty folders at the paths of files that do not exist and must not be created: something can then be mounted over
//! them. For the file by which a repository names another one, the placeholder is a file that names the repository
//! itself, since git reads it.

use std::{
    collections::BTreeMap,
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use crate::regular::{self, Link};

/// The placeholders of a sandbox, each with the number of commands that use it.
#[derive(Debug, Clone, Default)]
pub(super) struct Placeholders(Arc<Mutex<BTreeMap<PathBuf, usize>>>);

/// Placeholders that stay as long as this value lives.
#[derive(Debug)]
pub(super) struct Reserved {
    all: Placeholders,
    paths: Vec<PathBuf>,
    /// Set if processes may be left that could create files at these paths.
    kept: AtomicBool,
}

impl Placeholders {
    /// Creates the placeholders that are missing and may be created, and shares those of other commands. If something
    /// else exists at a path, no placeholder is needed.
    pub(super) fn reserve(&self, paths: &[PathBuf], may_make: impl Fn(&Path) -> bool) -> Reserved {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut reserved = Vec::new();
        for path in paths {
            let count = counts.get(path).copied().unwrap_or_default();
            if count > 0 || (may_make(path) && make(path).is_ok()) {
                counts.insert(path.clone(), count + 1);
                reserved.push(path.clone());
            }
        }
        Reserved {
            all: self.clone(),
            paths: reserved,
            kept: AtomicBool::new(false),
        }
    }
}

impl Reserved {
    /// Leaves the placeholders in place permanently.
    pub(super) fn keep(&self) {
        self.kept.store(true, Ordering::Relaxed);
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        if *self.kept.get_mut() {
            return;
        }
        let mut counts = self.all.0.lock().unwrap_or_else(PoisonError::into_inner);
        for path in &self.paths {
            let left = counts
                .get(path)
                .copied()
                .unwrap_or_default()
                .saturating_sub(1);
            if left > 0 {
                counts.insert(path.clone(), left);
            } else {
                counts.remove(path);
                remove(path);
            }
        }
    }
}

/// The file by which a repository names the one that it shares everything with.
const COMMON: &str = "commondir";

/// Names the repository itself.
const ITSELF: &[u8] = b".\n";

/// The settings of one work tree of a repository. Git opens a file of this name, and a folder would make it fail.
const OF_WORKTREE: &str = "config.worktree";

/// The content of a placeholder that is a file; `None` for a folder.
fn content(path: &Path) -> Option<&'static [u8]> {
    match path.file_name()?.to_str()? {
        COMMON => Some(ITSELF),
        OF_WORKTREE => Some(b""),
        _ => None,
    }
}

fn make(path: &Path) -> io::Result<()> {
    match content(path) {
        Some(content) => fs::File::create_new(path)?.write_all(content),
        None => fs::create_dir(path),
    }
}

/// Removes a placeholder, unless something was put into it.
fn remove(path: &Path) {
    match content(path) {
        None => {
            let _ = fs::remove_dir(path);
        }
        Some(content) if holds(path, content) => {
            let _ = fs::remove_file(path);
        }
        Some(_) => {}
    }
}

/// Whether a file has this content. Does not block if a command has put a pipe there.
fn holds(path: &Path, content: &[u8]) -> bool {
    let found = regular::read(path, Link::Refused, content.len() as u64);
    found.is_ok_and(|found| found == content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_placeholder_goes_with_the_last_who_needs_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(".mcp.json");
        let all = Placeholders::default();
        let first = all.reserve(std::slice::from_ref(&path), |_| true);
        let second = all.reserve(std::slice::from_ref(&path), |_| false);
        drop(first);
        assert!(path.is_dir());
        drop(second);
        assert!(!path.exists());
        let filled = all.reserve(std::slice::from_ref(&path), |_| true);
        fs::write(path.join("x"), "").unwrap();
        drop(filled);
        assert!(path.join("x").exists());
    }
}
