//! Running the programs of a toolchain.

use std::{
    io,
    path::PathBuf,
    process::{Command, ExitStatus},
};

/// Why a toolchain made no component.
#[derive(Debug, thiserror::Error)]
pub(in crate::cli) enum ToolchainError {
    /// A program cannot be started.
    #[error("`{program}` cannot be started ({source}): {remedy}")]
    NoProgram {
        /// Its name.
        program: String,
        /// What the system says.
        source: io::Error,
        /// What to do.
        remedy: &'static str,
    },
    /// A program failed.
    #[error("`{program}` failed ({status}): it says why above")]
    Failed {
        /// Its name.
        program: String,
        /// How it ended.
        status: ExitStatus,
    },
    /// A program is there and does not do the least thing.
    #[error("`{program}` does not run: {said} (run `{remedy}`)")]
    Unusable {
        /// Its name.
        program: &'static str,
        /// What it says of it.
        said: String,
        /// The command that mends it.
        remedy: &'static str,
    },
    /// The compiler cannot build for WebAssembly.
    #[error("the Rust here cannot build for {target}: run `rustup target add {target}`")]
    NoTarget {
        /// The target.
        target: &'static str,
    },
    /// The build gave no WebAssembly.
    #[error(
        "the build gave no WebAssembly file: Cargo.toml needs `[lib] crate-type = [\"cdylib\"]`"
    )]
    NoModule,
    /// The module is no component.
    #[error("what the build gave cannot become a component: {0}")]
    Component(String),
    /// A file cannot be used.
    #[error("`{}`: {source}", .path.display())]
    File {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

impl ToolchainError {
    /// Adds the path to an error of the system.
    pub(super) fn at(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { path, source }
    }
}

/// Runs a program to its end. What it prints goes where windlass prints errors.
pub(super) fn run(command: &mut Command, remedy: &'static str) -> Result<(), ToolchainError> {
    let program = command.get_program().to_string_lossy().into_owned();
    // Standard output is for what was built.
    command.stdout(io::stderr());
    let status = command
        .status()
        .map_err(|source| ToolchainError::NoProgram {
            program: program.clone(),
            source,
            remedy,
        })?;
    match status.success() {
        true => Ok(()),
        false => Err(ToolchainError::Failed { program, status }),
    }
}
