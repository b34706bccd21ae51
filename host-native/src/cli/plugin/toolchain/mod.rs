//! From the sources of a plugin to a component, by the tools of its language.

mod js;
mod programs;
mod python;
mod rust;
mod sources;

use std::path::{Path, PathBuf};

pub(in crate::cli) use self::programs::ToolchainError;
use super::language::Language;

/// What the tools of a language made of a plugin's sources.
pub(super) struct Built {
    /// The component without a declaration.
    pub(super) component: Vec<u8>,
    /// A component of the same sources that says what it declares; none if the component itself does.
    pub(super) declares: Option<Vec<u8>>,
}

/// A plugin's folder whose tools are there.
pub(super) enum Prepared {
    Rust(PathBuf),
    /// JavaScript, or what TypeScript became.
    Js(js::Module),
    Python(python::Module),
}

impl Prepared {
    /// Looks for the tools of a plugin's folder, and installs those that are missing.
    ///
    /// # Errors
    /// [`ToolchainError`]: they cannot be had, or sources of TypeScript cannot be read, which they have said on standard error.
    pub(super) fn new(language: Language, folder: &Path) -> Result<Self, ToolchainError> {
        Ok(match language {
            Language::Rust => Self::Rust(folder.to_owned()),
            Language::Js => Self::Js(js::Module::of_javascript(folder)?),
            Language::Ts => Self::Js(js::Module::of_typescript(folder)?),
            Language::Python => Self::Python(python::Module::new(folder)?),
        })
    }

    /// A digest of what the component is built from, if its tools make another one of the same each time: they take an interpreter
    /// that has begun, with its random numbers. None as well where the digest would not tell all: then it is built.
    pub(super) fn sources(&self) -> Option<String> {
        match self {
            // Cargo knows itself what has changed, and gives the same for the same.
            Self::Rust(_) => None,
            Self::Js(module) => module.sources().ok(),
            Self::Python(module) => module.sources().ok(),
        }
    }

    /// Builds the component.
    ///
    /// # Errors
    /// [`ToolchainError`]: the build fails, which the tools have said on standard error.
    pub(super) fn build(&self) -> Result<Built, ToolchainError> {
        let by_itself = |component| Built {
            component,
            declares: None,
        };
        match self {
            Self::Rust(folder) => rust::component(folder),
            Self::Js(module) => module.component().map(by_itself),
            Self::Python(module) => module.component().map(by_itself),
        }
    }
}

/// Where a plugin's folder has the package `windlass:plugin`, and the others in `deps`.
fn wit(folder: &Path) -> PathBuf {
    folder.join("sdk/wit")
}
