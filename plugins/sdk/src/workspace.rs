//! The directory trees of a call, and the resolution of paths to them.

use crate::bindings::windlass::host::filesystem::{self, Directory};
use crate::{Access, ErrorCode, ToolError, Tree, WriteOptions};

/// A granted tree and its absolute path.
#[derive(Debug)]
pub struct Root<T> {
    /// Absolute, without a slash at the end (except `/` itself).
    pub path: String,
    /// The access that is granted below it.
    pub access: Access,
    /// The tree.
    pub tree: T,
}

/// Everything that a call may access, and the directory to which relative paths refer.
#[derive(Debug)]
pub struct Workspace<T = Directory> {
    roots: Vec<Root<T>>,
    working_directory: String,
}

/// A resolved path: a tree and a path in it.
#[derive(Debug)]
pub struct Place<'a, T> {
    /// The granted tree.
    pub tree: &'a T,
    /// The access that is granted there.
    pub access: Access,
    /// The path in the tree; empty for the tree itself.
    pub relative: String,
    /// The absolute path, without `.`, `..` and doubled slashes.
    pub absolute: String,
    /// The absolute path of the tree.
    root: &'a str,
}

/// A path that does not resolve to a place in the granted trees.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// The path is empty.
    #[error("The path is empty. Give an absolute path.")]
    Empty,
    /// The path contains a NUL character, which no file name has.
    #[error("The path {0:?} contains a NUL character.")]
    Nul(String),
    /// No granted tree contains it.
    #[error("{path} is outside the directories this call may use ({granted}).")]
    Outside {
        /// The path in question, absolute.
        path: String,
        /// The granted trees, separated by commas.
        granted: String,
    },
}

impl From<PathError> for ToolError {
    fn from(error: PathError) -> Self {
        Self::new(error.to_string())
    }
}

impl Workspace<Directory> {
    /// The workspace that the host has granted to this call.
    #[must_use]
    pub fn granted() -> Self {
        let roots = filesystem::roots().into_iter().map(|root| Root {
            path: root.path,
            access: root.access,
            tree: root.directory,
        });
        Self::new(roots.collect(), &filesystem::working_directory())
    }
}

impl<T: Tree> Workspace<T> {
    /// A workspace of these trees. `working_directory` is absolute.
    #[must_use]
    pub fn new(mut roots: Vec<Root<T>>, working_directory: &str) -> Self {
        for root in &mut roots {
            root.path = normalised(&root.path);
        }
        Self {
            roots,
            working_directory: normalised(working_directory),
        }
    }

    /// The trees.
    #[must_use]
    pub fn roots(&self) -> &[Root<T>] {
        &self.roots
    }

    /// The directory to which relative paths refer: absolute, without a slash at the end.
    #[must_use]
    pub fn working_directory(&self) -> &str {
        &self.working_directory
    }

    /// The absolute form of a path: relative ones start at the working directory; `.` and `..` are worked out by name.
    ///
    /// # Errors
    /// [`PathError::Empty`] and [`PathError::Nul`].
    pub fn absolute(&self, path: &str) -> Result<String, PathError> {
        if path.is_empty() {
            return Err(PathError::Empty);
        }
        if path.contains('\0') {
            return Err(PathError::Nul(path.to_owned()));
        }
        if path.starts_with('/') {
            Ok(normalised(path))
        } else {
            Ok(normalised(&format!("{}/{path}", self.working_directory)))
        }
    }

    /// Finds the innermost tree that contains a path.
    ///
    /// # Errors
    /// [`PathError`] if the path is malformed or no granted tree contains it.
    pub fn resolve(&self, path: &str) -> Result<Place<'_, T>, PathError> {
        let absolute = self.absolute(path)?;
        let innermost = self
            .roots
            .iter()
            .filter_map(|root| Some((root, below(&root.path, &absolute)?)))
            .max_by_key(|(root, _)| root.path.len());
        let Some((root, relative)) = innermost else {
            return Err(PathError::Outside {
                granted: self.granted_paths(),
                path: absolute,
            });
        };
        Ok(Place {
            tree: &root.tree,
            access: root.access,
            relative: relative.to_owned(),
            absolute,
            root: &root.path,
        })
    }

    /// The content of a file of at most `limit` bytes.
    ///
    /// # Errors
    /// [`ToolError`] that names the path: outside of the granted trees, missing, no file, or larger.
    pub fn read(&self, path: &str, limit: usize) -> Result<Vec<u8>, ToolError> {
        let place = self.resolve(path)?;
        let bytes = place.tree.read_all(&place.relative, limit);
        bytes.map_err(|code| place.explain(code))
    }

    /// The text of a file of at most `limit` bytes.
    ///
    /// # Errors
    /// As [`read`](Self::read), and [`ToolError`] for a file that is not UTF-8.
    pub fn read_text(&self, path: &str, limit: usize) -> Result<String, ToolError> {
        String::from_utf8(self.read(path, limit)?)
            .map_err(|_| ToolError::new(format!("{path} is not a text file (UTF-8).")))
    }

    /// Replaces or creates a file in one step, with the directories it needs.
    ///
    /// # Errors
    /// [`ToolError`] that names the path: outside of the granted trees, or granted for reading only.
    pub fn write(&self, path: &str, data: &[u8]) -> Result<(), ToolError> {
        let place = self.resolve(path)?;
        let options = WriteOptions {
            expected_digest: None,
            create_new: false,
            create_parents: true,
        };
        let written = place.tree.write(&place.relative, data, &options);
        written.map_err(|code| place.explain(code))
    }

    /// The shortest unambiguous spelling of an absolute path: relative to the working directory when it is below it.
    #[must_use]
    pub fn shortened<'a>(&self, absolute: &'a str) -> &'a str {
        match below(&self.working_directory, absolute) {
            Some("") => ".",
            Some(relative) => relative,
            None => absolute,
        }
    }

    fn granted_paths(&self) -> String {
        if self.roots.is_empty() {
            return "none".to_owned();
        }
        let paths: Vec<&str> = self.roots.iter().map(|root| root.path.as_str()).collect();
        paths.join(", ")
    }
}

impl<T> Place<'_, T> {
    /// The absolute form of another path in the same tree.
    #[must_use]
    pub fn absolute_of(&self, relative: &str) -> String {
        match relative {
            "" => self.root.to_owned(),
            relative => format!("{}/{relative}", self.root.trim_end_matches('/')),
        }
    }

    /// The error message for a failed operation of the host.
    #[must_use]
    pub fn explain(&self, code: ErrorCode) -> ToolError {
        let path = &self.absolute;
        ToolError::new(match code {
            ErrorCode::NotFound => format!("{path} does not exist."),
            ErrorCode::Exists => format!("{path} exists already."),
            ErrorCode::NotDirectory => {
                format!("{path} cannot be reached: a part of the path is a file, not a directory.")
            }
            ErrorCode::IsDirectory => format!("{path} is a directory, not a file."),
            ErrorCode::ReadOnly => {
                format!("{path} may only be read: writing there is not granted.")
            }
            ErrorCode::Invalid => format!(
                "{path} is not a regular file or directory, or the host does not accept the path."
            ),
            ErrorCode::TooLarge => format!("{path} is too large to be handled in one piece."),
            ErrorCode::Changed => {
                format!("{path} was changed by something else in the meantime. Read it again.")
            }
            ErrorCode::Cancelled => format!("The call was stopped before it was done with {path}."),
            ErrorCode::Io => format!("{path} could not be used: the disk reported a fault."),
        })
    }
}

/// The part of `path` below `root`; both normalised.
fn below<'a>(root: &str, path: &'a str) -> Option<&'a str> {
    let rest = path.strip_prefix(root.trim_end_matches('/'))?;
    if rest.is_empty() {
        Some(rest)
    } else {
        rest.strip_prefix('/')
    }
}

/// An absolute path without empty, `.` and `..` segments. `..` at the top stays at the top.
fn normalised(path: &str) -> String {
    let mut segments: Vec<&str> = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." => {
                segments.pop();
            }
            name => segments.push(name),
        }
    }
    format!("/{}", segments.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::MemoryTree;

    fn workspace() -> Workspace<MemoryTree> {
        let root = |path: &str, access| Root {
            path: path.to_owned(),
            access,
            tree: MemoryTree::new(),
        };
        Workspace::new(
            vec![
                root("/work", Access::Write),
                root("/work/vendor/", Access::Read),
            ],
            "/work/project",
        )
    }

    #[test]
    fn a_relative_path_starts_at_the_working_directory() {
        let workspace = workspace();
        let place = workspace.resolve("src/./a/../main.rs").unwrap();
        assert_eq!(place.relative, "project/src/main.rs");
        assert_eq!(place.absolute, "/work/project/src/main.rs");
    }

    #[test]
    fn the_innermost_root_wins() {
        let workspace = workspace();
        let place = workspace.resolve("/work/vendor/x/lib.rs").unwrap();
        assert_eq!(place.relative, "x/lib.rs");
        assert_eq!(place.access, Access::Read);
        assert_eq!(workspace.resolve("/work/vendor").unwrap().relative, "");
        assert_eq!(
            workspace.resolve("/work/vendored").unwrap().relative,
            "vendored"
        );
    }

    #[test]
    fn a_path_outside_every_root_is_an_error_that_names_the_roots() {
        let error = workspace().resolve("/work/../etc/passwd").unwrap_err();
        assert_eq!(
            error.to_string(),
            "/etc/passwd is outside the directories this call may use (/work, /work/vendor)."
        );
    }

    #[test]
    fn paths_are_shortened_only_below_the_working_directory() {
        let workspace = workspace();
        assert_eq!(workspace.shortened("/work/project/a.rs"), "a.rs");
        assert_eq!(
            workspace.shortened("/work/project2/a.rs"),
            "/work/project2/a.rs"
        );
    }
}
