//! Reads files of the user and the project from the disk: the part of
//! [`ReadProject`](windlass_engine::project::ReadProject) that permission rules do not apply to.

use std::{fs, io, path::Path};

use windlass_engine::{
    TextPath,
    project::{Entry, EntryKind, MAX_FILE_BYTES, ReadFile},
};

use crate::{
    regular::{self, Link},
    text_path::lossy,
};

/// Reads a file of the user's own configuration, to which session rules do not apply. `None` if it does not exist.
pub(crate) fn read_own(path: &TextPath) -> Result<Option<ReadFile>, String> {
    let path = Path::new(path.as_str());
    let read = || {
        // Anything but a regular file counts as absent.
        if !fs::metadata(path)?.is_file() {
            return Err(io::ErrorKind::NotFound.into());
        }
        Ok(ReadFile {
            // The path is only compared, never opened.
            real: lossy(&fs::canonicalize(path)?),
            text: regular::read_text(path, Link::Followed, MAX_FILE_BYTES)?,
        })
    };
    match read() {
        Ok(file) => Ok(Some(file)),
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}

/// The entries of a folder, up to a maximum number. Empty if the folder does not exist.
pub(crate) fn list(folder: &TextPath, most: usize) -> Result<Vec<Entry>, String> {
    let listed = fs::read_dir(Path::new(folder.as_str()))
        .and_then(|entries| entries.take(most).map(|entry| Ok(entry?.path())).collect());
    let paths: Vec<_> = match listed {
        Ok(paths) => paths,
        Err(error) if is_absent(&error) => return Ok(Vec::new()),
        Err(error) => return Err(error.to_string()),
    };
    let entries = paths.iter().map(|path| {
        let name = path.file_name().unwrap_or_default();
        Entry {
            name: name.to_string_lossy().into_owned(),
            is_text: name.to_str().is_some(),
            kind: kind_of(path),
        }
    });
    Ok(entries.collect())
}

fn kind_of(path: &Path) -> EntryKind {
    match (path.is_dir(), path.is_symlink()) {
        (true, true) => EntryKind::LinkedFolder,
        (true, false) => EntryKind::Folder,
        (false, _) if path.is_file() => EntryKind::File,
        (false, _) => EntryKind::Other,
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_the_user_is_read_up_to_a_size() {
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| lossy(&root.path().join(name));
        fs::write(root.path().join("a.md"), "a").unwrap();
        fs::write(root.path().join("large.md"), "x".repeat(2_000_000)).unwrap();
        fs::write(root.path().join("bytes.md"), [0xff]).unwrap();
        assert_eq!(read_own(&path("a.md")).unwrap().unwrap().text, "a");
        for absent in ["none.md", "a.md/none.md", ""] {
            assert_eq!(read_own(&path(absent)), Ok(None), "{absent}");
        }
        let problem = |name: &str| read_own(&path(name)).unwrap_err();
        assert_eq!(problem("large.md"), "it is larger than 1048576 bytes");
        assert!(problem("bytes.md").contains("UTF-8"));
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_says_what_is_a_link_and_what_has_no_name() {
        use std::{ffi::OsStr, os::unix::ffi::OsStrExt as _, os::unix::fs::symlink};
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        fs::create_dir(at("folder")).unwrap();
        fs::write(at("a.md"), "a").unwrap();
        fs::write(root.path().join(OsStr::from_bytes(b"\xff.md")), "").unwrap();
        for (link, target) in [
            ("linked.md", "a.md"),
            ("linked", "folder"),
            ("nowhere", "none"),
        ] {
            symlink(target, at(link)).unwrap();
        }
        let mut listed: Vec<_> = (list(&lossy(root.path()), 9).unwrap().into_iter())
            .map(|entry| (entry.name, entry.is_text, entry.kind))
            .collect();
        listed.sort_by(|a, b| a.0.cmp(&b.0));
        let wanted = [
            ("a.md", true, EntryKind::File),
            ("folder", true, EntryKind::Folder),
            ("linked", true, EntryKind::LinkedFolder),
            ("linked.md", true, EntryKind::File),
            ("nowhere", true, EntryKind::Other),
            ("\u{fffd}.md", false, EntryKind::File),
        ];
        assert_eq!(
            listed,
            wanted.map(|(name, is_text, kind)| (name.to_owned(), is_text, kind))
        );
        assert_eq!(list(&lossy(&at("none")), 9), Ok(Vec::new()));
        assert_eq!(list(&lossy(&at("a.md")), 9), Ok(Vec::new()));
        assert_eq!(list(&lossy(root.path()), 2).unwrap().len(), 2);
    }
}
