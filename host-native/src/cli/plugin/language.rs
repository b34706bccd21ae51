//! The languages that plugins are written in.

use std::path::Path;

use super::error::AuthorError;

/// A language with a template and a toolchain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Language {
    /// Rust, by cargo.
    Rust,
    /// JavaScript, by Node and componentize-qjs.
    Js,
    /// TypeScript, by Node, esbuild and componentize-qjs.
    Ts,
    /// Python, by componentize-py.
    Python,
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
        } else if has("src/plugin.ts") {
            Ok(Self::Ts)
        } else if has("package.json") {
            Ok(Self::Js)
        } else if has("app.py") {
            Ok(Self::Python)
        } else {
            Err(AuthorError::NoSources(folder.to_owned()))
        }
    }

    /// The file with the first tool.
    pub(super) fn main_source(self) -> &'static str {
        match self {
            Self::Rust => "src/lib.rs",
            Self::Js => "app.js",
            Self::Ts => "src/plugin.ts",
            Self::Python => "app.py",
        }
    }
}
