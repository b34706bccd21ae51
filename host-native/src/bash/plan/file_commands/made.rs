//! Links that a command creates: later paths through them lead elsewhere once they exist.

use std::{
    collections::HashSet,
    fs,
    path::{Path, PathBuf},
};

use crate::files::{followed, has_links, normalised};

/// The paths of links, or of folders that contain links, that will exist when a command handles its later operands,
/// or `xargs` makes its later calls. All of these are checked before the first one runs.
#[derive(Debug, Default)]
pub(super) struct Made {
    places: HashSet<PathBuf>,
    /// Whether there are later operands or calls.
    pub(super) is_looked_at: bool,
}

impl Made {
    /// Records a copied or moved path. `whole`: folders with all their contents, and links as links.
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

    /// Whether a path is one of these or leads through one.
    pub(super) fn leads_to(&self, path: &Path) -> bool {
        !self.places.is_empty()
            && (place(path).ancestors()).any(|above| self.places.contains(above))
    }
}

/// A name in the real path of its parent folder.
fn place(path: &Path) -> PathBuf {
    let real = |path: &Path| followed(path).unwrap_or_else(|_| normalised(path));
    match (path.parent(), path.file_name()) {
        (Some(folder), Some(name)) => real(folder).join(name),
        _ => real(path),
    }
}
