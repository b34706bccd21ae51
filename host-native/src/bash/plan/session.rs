//! What a plan starts from: directory, environment, search path.

use std::{
    ffi::{OsStr, OsString},
    io,
    os::unix::ffi::{OsStrExt, OsStringExt as _},
    path::{Path, PathBuf},
};

use rustix::fs::{Access, AtFlags, CWD, accessat};

use super::{directory::Directory, variables::Variables};

/// The search path of bash where there is no other.
const DEFAULT_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Variables that change how a shell reads or finds commands. No program is told of them.
const UNTOLD: [&str; 7] = [
    "BASH_ENV",
    "ENV",
    "SHELLOPTS",
    "BASHOPTS",
    "PS4",
    "CDPATH",
    "GLOBIGNORE",
];

/// Functions that a bash hands to those it starts.
const FUNCTIONS: &[u8] = b"BASH_FUNC_";

/// The directory and the environment of a plan.
#[derive(Debug, Clone)]
pub struct Session {
    pub(super) variables: Variables,
    pub(super) directory: Directory,
    path: Vec<PathBuf>,
    /// Those that git may use; none for any.
    pub(super) repositories: Option<Vec<PathBuf>>,
}

/// Why there can be no session.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The directory cannot be entered.
    #[error("The working directory `{directory}` cannot be entered: {source}.")]
    Directory {
        /// As it was given.
        directory: String,
        /// What the system says.
        source: io::Error,
    },
}

impl Session {
    /// The variables that programs get.
    pub(crate) fn environment(&self) -> Vec<(OsString, OsString)> {
        self.variables.exported().collect()
    }

    /// With variables that programs do not get.
    #[must_use]
    pub fn with_variables(
        mut self,
        variables: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Self {
        for (name, value) in variables {
            if let Some(name) = name.to_str() {
                // What lasts is far smaller than what a line may set.
                let _ = self.variables.set(name, value);
            }
        }
        self
    }

    /// With git using these repositories only.
    #[must_use]
    pub fn with_repositories(mut self, repositories: Vec<PathBuf>) -> Self {
        self.repositories = Some(repositories);
        self
    }

    /// Where it begins, without links.
    ///
    /// # Errors
    /// What the system says: it has no such name any more.
    pub(crate) fn directory(&self) -> io::Result<PathBuf> {
        self.directory.physical()
    }

    /// With these variables, as a process would inherit them, in an absolute directory.
    ///
    /// # Errors
    /// [`SessionError`] when there is no such directory.
    pub fn new(
        directory: &str,
        environment: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Result<Self, SessionError> {
        let fault = |source| SessionError::Directory {
            directory: directory.to_owned(),
            source,
        };
        if !directory.starts_with('/') {
            return Err(fault(io::ErrorKind::InvalidInput.into()));
        }
        let entered = Directory::open(directory.into()).map_err(fault)?;
        let mut told: Vec<(OsString, OsString)> = environment
            .into_iter()
            .filter(|(name, _)| !is_untold(name))
            .collect();
        let mut path = DEFAULT_PATH.into();
        if let Some((_, value)) = told.iter_mut().find(|(name, _)| name == "PATH") {
            *value = absolute_entries(value);
            path = value.clone();
        }
        Ok(Self {
            variables: Variables::inherited(told, entered.logical()),
            directory: entered,
            path: std::env::split_paths(&path)
                .filter(|entry| entry.is_absolute())
                .collect(),
            repositories: None,
        })
    }

    /// The same as [`find`](Self::find), for a line that is printed; none for what is no text.
    pub(crate) fn find_text(&self, name: &str) -> Option<String> {
        self.find(name.as_ref())?
            .into_os_string()
            .into_string()
            .ok()
    }

    /// The file that a program's name means, as bash finds it: the first that can be executed, else the first that is there.
    pub(crate) fn find(&self, name: &OsStr) -> Option<PathBuf> {
        let mut there = None;
        // A path is no name.
        if name.is_empty() || name.as_bytes().contains(&b'/') {
            return None;
        }
        for directory in &self.path {
            let candidate = directory.join(name);
            let is_file = std::fs::metadata(&candidate).is_ok_and(|found| !found.is_dir());
            if is_file && is_executable(&candidate) {
                return Some(candidate);
            }
            if is_file && there.is_none() {
                there = Some(candidate);
            }
        }
        there
    }
}

/// Whether this process may execute a file.
pub(super) fn is_executable(path: &Path) -> bool {
    accessat(CWD, path, Access::EXEC_OK, AtFlags::EACCESS).is_ok()
}

fn is_untold(name: &OsStr) -> bool {
    name.as_bytes().starts_with(FUNCTIONS) || UNTOLD.iter().any(|untold| name == *untold)
}

/// A search path without the entries that mean another place in another directory.
fn absolute_entries(path: &OsStr) -> OsString {
    let entries = path.as_bytes().split(|b| *b == b':');
    let absolute: Vec<&[u8]> = entries.filter(|entry| entry.starts_with(b"/")).collect();
    OsString::from_vec(absolute.join(&b':'))
}
