//! Empty folders in the place of files that there are not and must not be: what is mounted over one holds its name. The file by which
//! a repository names another one, which git would read, names its own.

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

/// The placeholders of a sandbox, each with how many commands need it.
#[derive(Debug, Clone, Default)]
pub(super) struct Placeholders(Arc<Mutex<BTreeMap<PathBuf, usize>>>);

/// Placeholders that are needed as long as the value lives.
#[derive(Debug)]
pub(super) struct Reserved {
    all: Placeholders,
    paths: Vec<PathBuf>,
    /// Somebody may be left who would take them.
    kept: AtomicBool,
}

impl Placeholders {
    /// Makes those that are not there and may be made, and keeps those that other commands made. What somebody else put there
    /// is there, and that is enough.
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
    /// Leaves them in their places for good.
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

/// By it a repository says where the one is that it shares everything with.
const COMMON: &str = "commondir";

/// It is that one itself.
const ITSELF: &[u8] = b".\n";

/// The settings of one work tree of a repository: git opens what has this name, so a folder would stop it.
const OF_WORKTREE: &str = "config.worktree";

/// What is in a place that is held by a file; none for a folder.
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

/// Takes one away. Whoever put something in it means it to be there.
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

/// Whether a file holds this. A command may have put a pipe in its place, which nobody waits for.
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
