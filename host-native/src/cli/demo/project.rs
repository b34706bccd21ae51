//! The project that the demonstration repairs.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

macro_rules! files {
    ($($path:literal),+ $(,)?) => {
        [(".gitignore", IGNORED), $(($path, include_str!(concat!("../../../demo/project/", $path)))),+]
    };
}

/// The content of `.gitignore`. It is repeated here because packaging leaves hidden files out; a test compares it.
const IGNORED: &str = "__pycache__/\n";

/// The files and their contents, sorted by path.
const FILES: [(&str, &str); 11] = files![
    "README.md",
    "shop/__init__.py",
    "shop/cart.py",
    "shop/discounts.py",
    "shop/money.py",
    "shop/shipping.py",
    "tests/__init__.py",
    "tests/test_cart.py",
    "tests/test_discounts.py",
    "tests/test_money.py",
];

/// 2026-01-05 09:00 UTC, in seconds since 1970: the date of the first file. Each further file is one minute newer, so
/// that sorting by time gives the same order everywhere.
const FIRST_DATE: Duration = Duration::from_secs(1_767_603_600);
const APART: Duration = Duration::from_secs(60);

/// A copy of the project in its own directory, removed with this value.
#[derive(Debug)]
pub(super) struct Project {
    directory: tempfile::TempDir,
    root: PathBuf,
}

impl Project {
    /// Copies it into the system's temporary directory.
    pub(super) fn copy() -> io::Result<Self> {
        let directory = tempfile::Builder::new()
            .prefix("windlass-demo-")
            .tempdir()?;
        // With links resolved, as the agent will see it.
        let root = fs::canonicalize(directory.path())?;
        let mut date = SystemTime::UNIX_EPOCH + FIRST_DATE;
        for (path, content) in FILES {
            let path = root.join(path);
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent)?;
            }
            fs::write(&path, content)?;
            File::options()
                .write(true)
                .open(&path)?
                .set_modified(date)?;
            date += APART;
        }
        Ok(Self { directory, root })
    }

    /// Its path: absolute, without links.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// The files that have changed since they were copied.
    pub(super) fn changed(&self) -> Vec<&'static str> {
        let is_changed = |(path, content): &(&str, &str)| {
            fs::read(self.root.join(path)).ok().as_deref() != Some(content.as_bytes())
        };
        let changed = FILES.into_iter().filter(is_changed);
        changed.map(|(path, _)| path).collect()
    }

    /// Keeps the directory.
    pub(super) fn keep(self) -> PathBuf {
        self.directory.keep()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_copy_is_the_folder_in_the_repository() {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("demo/project");
        let mut found = Vec::new();
        let mut folders = vec![source.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                match path.is_dir() {
                    true => folders.push(path),
                    false => found.push(
                        path.strip_prefix(&source)
                            .unwrap()
                            .to_str()
                            .unwrap()
                            .to_owned(),
                    ),
                }
            }
        }
        found.sort();
        assert_eq!(found, FILES.map(|(path, _)| path));
    }

    #[test]
    fn the_hidden_file_is_as_it_stands_in_the_project() {
        let stands = include_str!("../../../demo/project/.gitignore");
        assert_eq!(IGNORED, stands);
    }

    #[test]
    fn a_copy_knows_what_was_changed_and_goes_with_its_value() {
        let project = Project::copy().unwrap();
        let root = project.root().to_owned();
        assert!(project.changed().is_empty());
        fs::write(root.join("shop/money.py"), "").unwrap();
        fs::remove_file(root.join("README.md")).unwrap();
        assert_eq!(project.changed(), ["README.md", "shop/money.py"]);
        drop(project);
        assert!(!root.exists());
    }
}
