//! From the sources of a plugin to a component, by the tools of its language.

mod js;
mod programs;
mod python;
mod rust;

use std::path::Path;

pub(in crate::cli) use self::programs::ToolchainError;
use super::language::Language;

/// What the tools of a language made of a plugin's sources.
pub(super) struct Built {
    /// The component without a declaration.
    pub(super) component: Vec<u8>,
    /// A component of the same sources that says what it declares; none if the component itself does.
    pub(super) declares: Option<Vec<u8>>,
}

/// Builds the component of a plugin's folder.
///
/// # Errors
/// [`ToolchainError`]: the tools are missing, or the build fails, which they have said on standard error.
pub(super) fn component(language: Language, folder: &Path) -> Result<Built, ToolchainError> {
    let wit = folder.join("sdk/wit");
    let by_itself = |component| Built {
        component,
        declares: None,
    };
    match language {
        Language::Rust => rust::component(folder),
        Language::Js => js::component(folder, &wit).map(by_itself),
        Language::Ts => js::component_of_typescript(folder, &wit).map(by_itself),
        Language::Python => python::component(folder, &wit).map(by_itself),
    }
}
