//! Finds the existing files that deny patterns match.

use std::{
    fs,
    path::{Path, PathBuf},
};

use windlass_core::tool::{Access, DenyPattern, FsGrant, GrantRoot};

use crate::files::with_followed;

/// The maximum number of names compared with patterns before one command.
const LIMIT: usize = 500_000;

/// Pseudo file systems of the kernel; patterns do not apply there.
const OF_THE_KERNEL: [&str; 3] = ["/proc", "/sys", "/dev"];

/// The paths found. No path is below another one of the same list.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) read_only: Vec<PathBuf>,
    pub(super) closed: Vec<PathBuf>,
}

/// There are too many names to compare.
#[derive(Debug, thiserror::Error)]
#[error("there are more than {LIMIT} files to be compared with the patterns that close files")]
pub(crate) struct TooMany;

/// Finds the files that deny patterns match. A pattern without wildcards is looked up directly; for the others, their
/// base folders are walked, each once and without following symbolic links.
pub(super) fn closed_files(deny: &[DenyPattern]) -> Result<Found, TooMany> {
    let deny = &with_followed(deny);
    let grant = FsGrant {
        cwd: "/".to_owned(),
        roots: vec![GrantRoot {
            path: "/".to_owned(),
            access: Access::Write,
        }],
        deny: deny.to_vec(),
    };
    let mut found = Found::default();
    let mut folders: Vec<&Path> = Vec::new();
    for pattern in deny {
        match base(&pattern.pattern) {
            None => found.add_named(Path::new(&pattern.pattern), pattern.access),
            Some(folder) => folders.push(Path::new(folder)),
        }
    }
    folders.sort();
    folders.dedup();
    let mut left = LIMIT;
    for (index, folder) in folders.iter().enumerate() {
        let is_within = folders[..index]
            .iter()
            .any(|other| folder.starts_with(other));
        if let (false, Ok(real)) = (is_within, fs::canonicalize(folder)) {
            found.walk(&real, &grant, &mut left)?;
        }
    }
    for list in [&mut found.read_only, &mut found.closed] {
        list.sort();
        // Paths are sorted by component, so the contents of a folder come after it.
        list.dedup_by(|later, earlier| later.starts_with(&*earlier));
    }
    Ok(found)
}

/// The folder below which a pattern's matches lie; `None` for a pattern that names one file.
fn base(pattern: &str) -> Option<&str> {
    let wild = pattern.find(['*', '?', '[', '{', '\\'])?;
    let end = pattern[..wild].rfind('/').unwrap_or(0);
    Some(if end == 0 { "/" } else { &pattern[..end] })
}

impl Found {
    fn add(&mut self, path: PathBuf, access: Access) {
        match access {
            Access::Read => self.closed.push(path),
            Access::Write => self.read_only.push(path),
        }
    }

    /// A path that a person names also applies to the target of a link, except to `/`, to which a link may have been redirected.
    fn add_named(&mut self, path: &Path, access: Access) {
        if let Ok(real) = fs::canonicalize(path)
            && real != Path::new("/")
        {
            self.add(real, access);
        }
    }

    fn walk(&mut self, folder: &Path, grant: &FsGrant, left: &mut usize) -> Result<(), TooMany> {
        if OF_THE_KERNEL
            .iter()
            .any(|kernel| folder == Path::new(kernel))
        {
            return Ok(());
        }
        let mut folders = vec![folder.to_path_buf()];
        while let Some(folder) = folders.pop() {
            // A folder that this process cannot list, the command cannot list either.
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                *left = left.checked_sub(1).ok_or(TooMany)?;
                let Ok(kind) = entry.file_type() else {
                    continue;
                };
                let path = entry.path();
                let access = grant.access(&path.to_string_lossy());
                let is_kernel = || OF_THE_KERNEL.iter().any(|kernel| path == Path::new(kernel));
                match access {
                    // A link grants nothing by itself: its target has its own path.
                    _ if kind.is_symlink() => {}
                    None => self.add(path, Access::Read),
                    Some(access) => {
                        if access == Access::Read {
                            self.add(path.clone(), Access::Write);
                        }
                        if kind.is_dir() && !is_kernel() {
                            folders.push(path);
                        }
                    }
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_patterns_close_is_found_where_it_lies() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for file in [
            ".env",
            "a/.env",
            "a/b/key.pem",
            "a/open",
            "gen/x",
            "gen/y/.env",
            "named",
        ] {
            let path = root.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        let deny = |pattern: &str, access| DenyPattern {
            pattern: format!("{}/{pattern}", root.display()),
            access,
        };
        let found = closed_files(&[
            deny("**/.env", Access::Read),
            deny("a/**/*.pem", Access::Read),
            deny("gen", Access::Write),
            deny("named", Access::Read),
            deny("missing", Access::Read),
        ])
        .unwrap();
        let expected =
            |names: &[&str]| names.iter().map(|name| root.join(name)).collect::<Vec<_>>();
        assert_eq!(
            found,
            Found {
                read_only: expected(&["gen"]),
                closed: expected(&[".env", "a/.env", "a/b/key.pem", "gen/y/.env", "named"]),
            }
        );
    }
}
