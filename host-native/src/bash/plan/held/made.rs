//! Links that a command makes: what it names behind them leads elsewhere once they are there.

use std::{
    collections::HashSet,
    fs,
    path::{Path, PathBuf},
};

use crate::files::{followed, has_links, normalised};

/// Where links, or folders with links in them, will lie by the time that a command comes to its later operands, or `xargs` to its later
/// calls. Everything is looked at before the first.
#[derive(Debug, Default)]
pub(super) struct Made {
    places: HashSet<PathBuf>,
    /// Something comes later.
    pub(super) is_looked_at: bool,
}

impl Made {
    /// Notes what was copied or moved. `whole` for folders with all that is in them, and links as they are.
    pub(super) fn add(&mut self, source: &Path, target: &Path, whole: bool) {
        if !self.is_looked_at || !whole {
            return;
        }
        let found = fs::symlink_metadata(source);
        let brings_links =
            found.is_ok_and(|found| found.is_symlink() || found.is_dir() && has_links(source));
        if brings_links {
            self.places.insert(place(target));
        }
    }

    /// Whether a path is one of these places or leads through one.
    pub(super) fn leads_to(&self, path: &Path) -> bool {
        !self.places.is_empty()
            && (place(path).ancestors()).any(|above| self.places.contains(above))
    }
}

/// A name in the real folder in which it lies.
fn place(path: &Path) -> PathBuf {
    let real = |path: &Path| followed(path).unwrap_or_else(|_| normalised(path));
    match (path.parent(), path.file_name()) {
        (Some(folder), Some(name)) => real(folder).join(name),
        _ => real(path),
    }
}
