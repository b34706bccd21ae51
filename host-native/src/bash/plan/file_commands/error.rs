//! Why a file command is not started.

use std::{ffi::OsString, path::PathBuf};

/// Why a program is not started.
pub(in crate::bash) enum FileCommandError {
    /// An argument names a file that now leads elsewhere.
    Moved(OsString),
    /// The named files were not approved.
    NotApproved,
    /// A folder contains a file from which programs take instructions.
    CarriesInstructions(OsString, String),
    /// A folder contains a file that a rule denies.
    ContainsDenied(OsString, String),
    /// A copy or move would create a path that needs approval.
    Creates(PathBuf),
    /// There is too much to copy or move to be checked.
    TooMuch(PathBuf),
    /// The error of the operating system.
    Failed(std::io::Error),
}
