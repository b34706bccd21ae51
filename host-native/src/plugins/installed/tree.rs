//! The files of a plugin's folder, as one value with a digest.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use bytes::Bytes;
use sha2::{Digest as _, Sha256};
use windlass_engine::plugin::{MANIFEST, Plugin, PluginError};

use super::lockfile::is_below;
use crate::regular::{self, Link};

/// The most files of a folder.
const MOST_FILES: usize = 4_096;

/// Bytes of all files of a folder.
const MOST_BYTES: u64 = 256 << 20;

/// How deep folders may lie in each other.
const DEEPEST: usize = 16;

/// What is left out wherever it lies: of no use to a session, and often large.
const LEFT_OUT: [&str; 5] = [".git", ".venv", "__pycache__", "node_modules", "target"];

/// The files of a plugin's folder.
#[derive(Debug, Clone, Default)]
pub struct PluginTree {
    files: BTreeMap<String, TreeFile>,
}

/// A file of a plugin's folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeFile {
    /// What is in it.
    pub content: Bytes,
    /// Whether it is a program.
    pub is_executable: bool,
}

/// A folder that cannot be installed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TreeError {
    /// A file cannot be read, or is none.
    #[error("`{}`: {error}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// A link, a pipe or a device.
    #[error("`{}` is neither a file nor a folder: a plugin that is installed has no links, put what it leads to in its place", .0.display())]
    Kind(PathBuf),
    /// A name that not every system can have.
    #[error("`{}` has a name that cannot be installed: use UTF-8 without `\\` and `:`", .0.display())]
    Name(PathBuf),
    /// Too many files, or too deep.
    #[error("`{}` has more than {MOST_FILES} files, or folders more than {DEEPEST} deep: install the plugin's own folder", .0.display())]
    TooMany(PathBuf),
    /// Too many bytes.
    #[error("`{}` has more than {} MiB", .0.display(), MOST_BYTES >> 20)]
    TooLarge(PathBuf),
}

impl PluginTree {
    /// Checks that all is there which the manifest of a plugin names as a place of its Markdown files. Without it, the plugin would lack
    /// without a word what it may be there for.
    ///
    /// # Errors
    /// [`PluginError`]: something is not there.
    pub fn check_places(
        plugin: &Plugin,
        is_there: impl Fn(&str) -> bool,
    ) -> Result<(), PluginError> {
        let places = &plugin.places;
        let kinds = [
            ("commands", &places.commands),
            ("agents", &places.agents),
            ("skills", &places.skills),
            ("outputStyles", &places.output_styles),
        ];
        let mut named = kinds
            .into_iter()
            .flat_map(|(key, paths)| paths.iter().map(move |path| (key, path)));
        match named.find(|(_, path)| !is_there(path)) {
            None => Ok(()),
            Some((key, path)) => Err(PluginError {
                folder: plugin.folder.clone(),
                file: MANIFEST.to_owned(),
                problem: format!(
                    "`{key}` names `{path}`, and there is nothing of that name: put it there, or write another path"
                ),
            }),
        }
    }

    /// Whether it has a file of this path, or a folder with files in it.
    #[must_use]
    pub fn has(&self, path: &str) -> bool {
        let below = format!("{path}/");
        let mut files = self.files.keys();
        files.any(|file| file == path || file.starts_with(&below))
    }

    /// Reads a folder: regular files alone, a bounded number of bounded bytes. `.git`, `target` and `node_modules` are left out.
    ///
    /// # Errors
    /// [`TreeError`], with the path.
    pub fn read(folder: &Path) -> Result<Self, TreeError> {
        Self::read_without(folder, &LEFT_OUT)
    }

    /// The same with nothing left out: what lies in an installed folder, where somebody may have put something since.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub(super) fn read_all(folder: &Path) -> Result<Self, TreeError> {
        Self::read_without(folder, &[])
    }

    fn read_without(folder: &Path, left_out: &[&str]) -> Result<Self, TreeError> {
        let mut tree = Self::default();
        let mut left = MOST_BYTES;
        tree.add(folder, "", &mut left, (0, left_out))?;
        Ok(tree)
    }

    fn add(
        &mut self,
        folder: &Path,
        prefix: &str,
        left: &mut u64,
        (depth, left_out): (usize, &[&str]),
    ) -> Result<(), TreeError> {
        let io = |path: &Path| {
            let path = path.to_path_buf();
            move |error| TreeError::Io { path, error }
        };
        if depth > DEEPEST {
            return Err(TreeError::TooMany(folder.to_path_buf()));
        }
        for entry in fs::read_dir(folder).map_err(io(folder))? {
            let path = entry.map_err(io(folder))?.path();
            let name = path.file_name().and_then(|name| name.to_str());
            let name = name.filter(|name| is_below(name));
            let name = name.ok_or_else(|| TreeError::Name(path.clone()))?;
            if left_out.contains(&name) {
                continue;
            }
            let found = fs::symlink_metadata(&path).map_err(io(&path))?;
            let below = format!("{prefix}{name}");
            if found.is_dir() {
                let next = (depth + 1, left_out);
                self.add(&path, &format!("{below}/"), left, next)?;
            } else if found.is_file() {
                if self.files.len() == MOST_FILES {
                    return Err(TreeError::TooMany(path));
                }
                let content = regular::read(&path, Link::Refused, *left);
                let content = content.map_err(|error| match error.kind() {
                    io::ErrorKind::FileTooLarge => TreeError::TooLarge(path.clone()),
                    _ => io(&path)(error),
                })?;
                *left = left.saturating_sub(content.len() as u64);
                let is_executable = crate::os::is_executable(&found);
                let content = Bytes::from(content);
                self.files.insert(
                    below,
                    TreeFile {
                        content,
                        is_executable,
                    },
                );
            } else {
                return Err(TreeError::Kind(path));
            }
        }
        Ok(())
    }

    /// The files, by their paths in the folder, sorted.
    #[must_use]
    pub fn files(&self) -> &BTreeMap<String, TreeFile> {
        &self.files
    }

    /// The digest of all paths, contents, and of which of them are programs: `sha256:` and hexadecimal digits.
    #[must_use]
    pub fn digest(&self) -> String {
        let mut all = Sha256::new();
        for (path, file) in &self.files {
            // The parts have a fixed length or end with a byte that no path has, so that no two folders read the same.
            all.update(path.as_bytes());
            all.update([0, u8::from(file.is_executable)]);
            all.update(Sha256::digest(&file.content));
        }
        format!("sha256:{:x}", all.finalize())
    }

    /// Writes all of it into a new folder.
    ///
    /// # Errors
    /// What the system says.
    pub(super) fn write(&self, folder: &Path) -> io::Result<()> {
        for (path, file) in &self.files {
            let path = folder.join(path);
            if let Some(parent) = path.parent() {
                crate::os::create_private_directory(parent)?;
            }
            fs::write(&path, &file.content)?;
            crate::os::set_private(&path, file.is_executable)?;
        }
        Ok(())
    }
}
