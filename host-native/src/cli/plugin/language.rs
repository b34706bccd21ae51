//! The languages that plugins are written in.

use std::path::Path;

use super::error::AuthorError;

/// A language with a template and a toolchain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Language {
    /// Rust, for wasm32-unknown-unknown.
    Rust,
}

impl Language {
    /// The language of a plugin's folder, by the file that its build starts from.
    ///
    /// # Errors
    /// [`AuthorError::NoSources`].
    pub(super) fn of(folder: &Path) -> Result<Self, AuthorError> {
        let has = |name: &str| folder.join(name).is_file();
        if has("Cargo.toml") {
            Ok(Self::Rust)
        } else {
            Err(AuthorError::NoSources(folder.to_owned()))
        }
    }
}
