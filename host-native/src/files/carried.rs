//! What comes along with a folder that is copied or moved.

use std::path::{Path, PathBuf};

use windlass_core::permission::becomes_authority;

/// More entries than anybody wants to wait for.
const MOST_ENTRIES: usize = 200_000;

/// A file below a folder from which programs or later sessions take orders, as its path from there; with the folder comes what
/// it says. Links are not followed: what they lead to does not come along. A folder with too much in it to be looked through
/// may bring anything, and is named itself.
pub(crate) fn brings_along(folder: &Path) -> Option<String> {
    brings_any(folder, MOST_ENTRIES, |below| {
        becomes_authority(&below.to_string_lossy())
    })
}

/// The first file below a folder of which this is true, as its path from there; `.` if there are more than so many.
pub(crate) fn brings(folder: &Path, is_it: impl Fn(&Path) -> bool) -> Option<String> {
    brings_any(folder, MOST_ENTRIES, is_it)
}

fn brings_any(folder: &Path, most: usize, is_it: impl Fn(&Path) -> bool) -> Option<String> {
    let mut folders = vec![PathBuf::new()];
    let mut count = 0;
    while let Some(below) = folders.pop() {
        // What cannot be read is not copied either; what is moved keeps who may read it.
        let Ok(entries) = std::fs::read_dir(folder.join(&below)) else {
            continue;
        };
        for entry in entries.flatten() {
            count += 1;
            let path = below.join(entry.file_name());
            if is_it(&path) {
                return Some(path.to_string_lossy().into_owned());
            }
            if count > most {
                return Some(".".to_owned());
            }
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(path);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_becomes_authority_is_found_wherever_it_lies() {
        for (file, expected) in [
            (".claude/settings.json", Some(".claude")),
            ("a/b/.mcp.json", Some("a/b/.mcp.json")),
            ("a/.git/config", Some("a/.git")),
            ("a/.bashrc", Some("a/.bashrc")),
            ("hooks/pre-commit", None),
            ("a/config", None),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
            assert_eq!(brings_along(folder.path()).as_deref(), expected, "{file}");
        }
    }

    #[test]
    fn a_folder_with_more_than_is_looked_through_may_bring_anything() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a", "b", "c"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        let none = |_: &Path| false;
        assert_eq!(brings_any(folder.path(), 3, none), None);
        assert_eq!(brings_any(folder.path(), 2, none).as_deref(), Some("."));
    }

    #[test]
    #[cfg(unix)]
    fn what_a_link_leads_to_does_not_come_along() {
        let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::write(other.path().join(".mcp.json"), "").unwrap();
        std::os::unix::fs::symlink(other.path(), folder.path().join("l")).unwrap();
        assert_eq!(brings_along(folder.path()), None);
    }
}
