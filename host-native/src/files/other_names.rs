//! Hard links: a file that a deny rule covers is also denied under its other names.

use std::{collections::HashSet, io};

use cap_fs_ext::{DirExt, MetadataExt};
use cap_std::fs::{Dir, Metadata};
use windlass_core::tool::Access;

use super::{MAX_DEPTH, exact::deepest_directory, grant::Grant, path_text::is_within};

/// The maximum number of names and nested folders that are searched; beyond it, the set of denied files is unknown.
const MAX_NAMES: usize = 500_000;

/// The identity of a file, independent of its names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Identity {
    device: u64,
    inode: u64,
}

impl Identity {
    /// The identity of a file, if it has more than one name.
    pub(super) fn of_several_names(metadata: &Metadata) -> Option<Self> {
        (metadata.is_file() && metadata.nlink() > 1).then(|| Self::of(metadata))
    }

    /// The identity of whatever it is.
    pub(super) fn of(metadata: &Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
        }
    }
}

/// Denied files that have several names.
#[derive(Debug)]
pub(super) struct ClosedFiles {
    found: HashSet<Identity>,
    /// There are too many names to search: every file with several names may be a denied one.
    is_unknown: bool,
}

impl ClosedFiles {
    /// Searches where the deny patterns begin; if that is above the granted paths, searches the granted paths.
    pub(super) fn find(grant: &Grant, granted: &[&str]) -> Self {
        let mut search = Search {
            grant,
            found: HashSet::new(),
            left: MAX_NAMES,
        };
        let is_unknown = places(grant, granted)
            .iter()
            .any(|place| search.place(place).is_none());
        Self {
            found: search.found,
            is_unknown,
        }
    }

    pub(super) fn has(&self, file: Identity) -> bool {
        self.is_unknown || self.found.contains(&file)
    }
}

/// Where denied files can be. No path is inside of another.
fn places(grant: &Grant, granted: &[&str]) -> Vec<String> {
    let mut all = Vec::new();
    for beginning in grant.beginnings_of_closed() {
        if granted.iter().any(|area| is_within(area, beginning)) {
            all.extend(granted.iter().map(|area| (*area).to_owned()));
        } else {
            all.push(beginning.to_owned());
        }
    }
    all.sort_unstable();
    // Paths below another one come after it, though not always directly.
    let mut places: Vec<String> = Vec::new();
    for place in all {
        if !places.iter().any(|above| is_within(&place, above)) {
            places.push(place);
        }
    }
    places
}

struct Search<'a> {
    grant: &'a Grant,
    found: HashSet<Identity>,
    left: usize,
}

impl Search<'_> {
    /// Searches a file or a folder. `None` if there is too much to search.
    fn place(&mut self, path: &str) -> Option<()> {
        // What does not exist or cannot be opened contains no file.
        let Ok(deepest) = deepest_directory(path.as_ref()) else {
            return Some(());
        };
        let is_closed = self.grant.denied_anywhere_above(path) == Some(Access::Read);
        let below = path.as_ref() as &std::path::Path;
        match below.strip_prefix(&deepest.path) {
            Ok(rest) if rest.as_os_str().is_empty() => {
                self.folder(&deepest.dir, path, is_closed, 0)
            }
            Ok(rest) if is_closed => {
                if let Ok(metadata) = deepest.dir.symlink_metadata(rest) {
                    self.found.extend(Identity::of_several_names(&metadata));
                }
                Some(())
            }
            _ => Some(()),
        }
    }

    fn folder(&mut self, folder: &Dir, path: &str, is_closed: bool, depth: usize) -> Option<()> {
        if depth > MAX_DEPTH {
            return None;
        }
        for entry in or_nothing(folder.entries())?.into_iter().flatten() {
            self.left = self.left.checked_sub(1)?;
            let entry = entry.ok()?;
            let name = entry.file_name();
            let path = format!("{}/{}", path.trim_end_matches('/'), name.to_string_lossy());
            let is_closed = is_closed || self.grant.denied(&path) == Some(Access::Read);
            if entry.file_type().ok()?.is_dir() {
                if let Some(below) = or_nothing(folder.open_dir_nofollow(&name))? {
                    self.folder(&below, &path, is_closed, depth + 1)?;
                }
            } else if is_closed && let Ok(metadata) = folder.symlink_metadata(&name) {
                self.found.extend(Identity::of_several_names(&metadata));
            }
        }
        Some(())
    }
}

/// A file that no longer exists, or that this user may not open, could not be read anyway. `None` for any other error.
fn or_nothing<T>(opened: io::Result<T>) -> Option<Option<T>> {
    use io::ErrorKind as K;
    match opened {
        Ok(opened) => Some(Some(opened)),
        Err(error) => match error.kind() {
            K::NotFound | K::NotADirectory | K::PermissionDenied => Some(None),
            _ => None,
        },
    }
}
