//! Checks the paths that a copy or move would create.

use std::path::{Path, PathBuf};

use super::{
    entries::{MOST_ENTRIES, entries_below},
    followed,
};

/// What was found.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// This path would be created or written, and is refused.
    At(PathBuf),
    /// There is too much to check, or a path cannot be resolved.
    Unknown,
}

/// The first refused path among those that `source` would get at `target`: itself and, if `whole`, everything below
/// it. If there is a link in place of a file, the link's target is checked.
pub(crate) fn arrives(
    source: &Path,
    target: &Path,
    whole: bool,
    is_refused: impl Fn(&Path) -> bool,
) -> Option<Arrival> {
    arrives_of(source, target, whole, &is_refused, MOST_ENTRIES)
}

fn arrives_of(
    source: &Path,
    target: &Path,
    whole: bool,
    is_refused: &dyn Fn(&Path) -> bool,
    most: usize,
) -> Option<Arrival> {
    let Ok(target) = followed(target) else {
        return Some(Arrival::Unknown);
    };
    if is_refused(&target) {
        return Some(Arrival::At(target));
    }
    if !whole || !source.is_dir() {
        return None;
    }
    // What cannot be read is not copied; a moved folder takes its unreadable contents along, whose names nobody sees.
    for (count, (below, _)) in entries_below(source).enumerate() {
        let place = target.join(&below);
        let place = match place.is_symlink() {
            true => followed(&place),
            false => Ok(place),
        };
        match place {
            Ok(place) if count < most => {
                if is_refused(&place) {
                    return Some(Arrival::At(place));
                }
            }
            _ => return Some(Arrival::Unknown),
        }
    }
    None
}

/// Whether there is a link below a folder, or too much to check.
pub(crate) fn has_links(folder: &Path) -> bool {
    let mut entries = entries_below(folder).enumerate();
    entries.any(|(count, (_, entry))| {
        count >= MOST_ENTRIES || entry.file_type().map_or(true, |kind| kind.is_symlink())
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn all_that_arrives_is_seen_where_it_will_lie() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for made in ["new/a/b", "conf/a"] {
            fs::create_dir_all(at(made)).unwrap();
        }
        fs::write(at("new/a/b/file"), "").unwrap();
        fs::write(at("new/link"), "").unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(at("elsewhere"), at("conf/link")).unwrap();
        let refused = |name: &str| arrives(&at("new"), &at("conf"), true, |it| it == at(name));
        for (name, expected) in [
            ("conf", true),
            ("conf/a", true),
            ("conf/a/b/file", true),
            ("elsewhere", cfg!(unix)),
            ("conf/link", !cfg!(unix)),
            ("new/a", false),
            ("conf/x", false),
        ] {
            let found = refused(name);
            assert_eq!(found, expected.then(|| Arrival::At(at(name))), "{name}");
        }
        let alone = arrives(&at("new"), &at("conf"), false, |it| it == at("conf/a"));
        assert_eq!(alone, None);
        let few = arrives_of(&at("new"), &at("conf"), true, &|_| false, 2);
        assert_eq!(few, Some(Arrival::Unknown));
    }
}
