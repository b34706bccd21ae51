//! What would lie where, if a file or folder was copied or moved there.

use std::path::{Path, PathBuf};

use super::{
    entries::{MOST_ENTRIES, entries_below},
    followed,
};

/// What is found on the way.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// Something would lie, or be written, here that is refused.
    At(PathBuf),
    /// There is more than can be looked at, or a name leads nowhere.
    Unknown,
}

/// The first place that is refused among those that `source` would have at `target`: itself, and all that lies below it if `whole`
/// says so. Where a link stands in the place of a file, the place is where it leads.
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
    // What cannot be read is not copied either; what is moved as a whole brings what it held under names nobody sees.
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

/// Whether a link lies below a folder, or there is more than can be looked at.
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
