//! The initial state of a plan: directory, environment, search path.

use std::{
    ffi::{OsStr, OsString},
    io,
    os::unix::ffi::{OsStrExt, OsStringExt as _},
    path::{Path, PathBuf},
};

use rustix::fs::{Access, AtFlags, CWD, accessat};

use super::{directory::Directory, variables::Variables};

/// The default search path of bash.
const DEFAULT_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Variables that change how a shell parses or finds commands. They are not passed to programs.
const UNTOLD: [&str; 7] = [
    "BASH_ENV",
    "ENV",
    "SHELLOPTS",
    "BASHOPTS",
    "PS4",
    "CDPATH",
    "GLOBIGNORE",
];

/// The prefix of functions that bash exports to its children.
const FUNCTIONS: &[u8] = b"BASH_FUNC_";

/// The directory and the environment of a plan.
#[derive(Debug, Clone)]
pub struct Session {
    pub(super) variables: Variables,
    pub(super) directory: Directory,
    path: Vec<PathBuf>,
    /// The repositories that git may use; `None` for any.
    pub(super) repositories: Option<Vec<PathBuf>>,
}

/// Why a session cannot be created.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The directory cannot be entered.
    #[error("The working directory `{directory}` cannot be entered: {source}.")]
    Directory {
        /// The path as given.
        directory: String,
        /// The error of the operating system.
        source: io::Error,
    },
}

impl Session {
    /// The exported variables.
    pub(crate) fn environment(&self) -> Vec<(OsString, OsString)> {
        self.variables.exported().collect()
    }

    /// Adds variables that are not exported.
    #[must_use]
    pub fn with_variables(
        mut self,
        variables: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Self {
        for (name, value) in variables {
            if let Some(name) = name.to_str() {
                // The persisted variables are far below the size limit.
                let _ = self.variables.set(name, value);
            }
        }
        self
    }

    /// Limits git to these repositories.
    #[must_use]
    pub fn with_repositories(mut self, repositories: Vec<PathBuf>) -> Self {
        self.repositories = Some(repositories);
        self
    }

    /// The initial directory, without symbolic links.
    ///
    /// # Errors
    /// The error of the operating system if the directory no longer has such a path.
    pub(crate) fn directory(&self) -> io::Result<PathBuf> {
        self.directory.physical()
    }

    /// With these environment variables, in an absolute directory.
    ///
    /// # Errors
    /// [`SessionError`] if the directory cannot be entered.
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

    /// Like [`find`](Self::find), for printing a plan; `None` if the path is not UTF-8.
    pub(crate) fn find_text(&self, name: &str) -> Option<String> {
        self.find(name.as_ref())?
            .into_os_string()
            .into_string()
            .ok()
    }

    /// The file of a program name, as bash finds it: the first executable one, else the first existing one.
    pub(crate) fn find(&self, name: &OsStr) -> Option<PathBuf> {
        let mut there = None;
        // A path is not looked up.
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

/// The search path without relative entries, which depend on the directory.
fn absolute_entries(path: &OsStr) -> OsString {
    let entries = path.as_bytes().split(|b| *b == b':');
    let absolute: Vec<&[u8]> = entries.filter(|entry| entry.starts_with(b"/")).collect();
    OsString::from_vec(absolute.join(&b':'))
}
