//! Why a plugin is not made, built or tested.

use std::{
    io,
    path::{Path, PathBuf},
};

use windlass::plugins::{self, InspectError, LoadFault};

use super::toolchain::ToolchainError;

/// What went wrong, where, and what to do.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AuthorError {
    /// The name does not fit.
    #[error(
        "`{0}` is no name of a plugin: use small letters, digits and hyphens, a letter first, at most 64"
    )]
    Name(String),
    /// There is no name in the path.
    #[error("`{}` is no name of a plugin: type that of a folder that is not there yet, such as `windlass plugin new count`", .0.display())]
    NoName(PathBuf),
    /// The plugin would be built from a crate of its own name.
    #[error(
        "`{0}` is the name of a crate that plugins in Rust are built from, so cargo would not build it: choose another name"
    )]
    NameOfCrate(String),
    /// There is nothing to build or test.
    #[error("there is no folder `{path}`: `windlass plugin new {path}` makes one", path = .0.display())]
    NoFolder(PathBuf),
    /// The folder is there already.
    #[error("`{}` exists already: choose another name, or remove it", .0.display())]
    Exists(PathBuf),
    /// No sources of a known language.
    #[error("`{}` has no Cargo.toml, package.json, src/plugin.ts or app.py: it is no folder that `windlass plugin new` made", .0.display())]
    NoSources(PathBuf),
    /// A file or folder cannot be used.
    #[error("`{}`: {error}", .path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// The tools of the language made no component.
    #[error(transparent)]
    Toolchain(#[from] ToolchainError),
    /// It does not declare itself.
    #[error(transparent)]
    Declare(#[from] plugins::AuthorError),
    /// Another component of the folder has such a tool.
    #[error("`{}` was built, and `{}` has the tool `{tool}` as well, so no session would load the folder: remove the one that is not wanted, such as an older build", .built.display(), .other.display())]
    ToolTwice {
        /// What was built.
        built: PathBuf,
        /// The component that was there.
        other: PathBuf,
        /// The tool.
        tool: String,
    },
    /// The declaration would be refused, or the code does not fit it.
    #[error("no host would load the plugin: {0}")]
    Refused(#[from] LoadFault),
    /// A test cannot be read.
    #[error("the test `{}`: {reason}", .path.display())]
    Test {
        /// Its file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A grant cannot be given.
    #[error("{0}")]
    Grant(String),
    /// There is a yes to nothing.
    #[error(
        "--yes names nothing, so nothing was changed: name what is granted with --workspace, --dir, --http, --secret, --env or --state"
    )]
    NothingNamed,
    /// Only a person changes what components are granted, and an agent is none.
    #[error(
        "an agent does not change what components are granted: do it yourself, at a terminal or in a script that no agent started (or by hand, in {})", .0.display()
    )]
    BelowAgent(PathBuf),
    /// There is no terminal at which a person could be asked.
    #[error(
        "there is no terminal at which you could be asked: run it at one, or with --yes in a script of your own"
    )]
    NobodyToAsk,
    /// The person said no, or nothing.
    #[error("you said no")]
    Declined,
    /// A component cannot be read.
    #[error("`{}`: {}", .path.display(), .error.with_remedy())]
    Component {
        /// Its file.
        path: PathBuf,
        /// What is wrong with it.
        error: InspectError,
    },
    /// There is nothing to take back.
    #[error("no component `{0}` was granted anything: `windlass plugin list` says which were")]
    NotGranted(String),
    /// Nowhere to keep grants.
    #[error("there is no home directory to keep grants in: set HOME")]
    NoHome,
    /// The grants cannot be used.
    #[error(transparent)]
    GrantFile(#[from] plugins::GrantFileError),
    /// There is no test.
    #[error("`{}` has no test: a test is a file `tests/*.json` (docs/plugins.md)", .0.display())]
    NoTest(PathBuf),
    /// The session of a test does not start.
    #[error("its session cannot start: {0}")]
    Session(String),
}

impl AuthorError {
    /// Adds the path to what is wrong with a component.
    pub(super) fn of_component(path: &Path) -> impl FnOnce(InspectError) -> Self {
        let path = path.to_owned();
        move |error| match error {
            InspectError::Io(error) => Self::Io { path, error },
            error => Self::Component { path, error },
        }
    }

    /// Adds the file of a test to what keeps its session from starting.
    pub(super) fn of_test(path: &Path) -> impl FnOnce(Self) -> Self {
        let path = path.to_owned();
        move |error| match error {
            Self::Session(_) => Self::Test {
                path,
                reason: error.to_string(),
            },
            error => error,
        }
    }

    /// Adds the path to an error of the system.
    pub(super) fn at(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |error| Self::Io { path, error }
    }
}
