//! From the sources of a plugin to a component, by the tools of its language.

mod rust;

use std::path::Path;

use super::{error::AuthorError, language::Language};

/// What the tools of a language made of a plugin's sources.
pub(super) struct Built {
    /// The component without a declaration.
    pub(super) component: Vec<u8>,
    /// A component with the same sources that says what it declares; none if the component itself does.
    pub(super) declares: Option<Vec<u8>>,
}

/// Builds the component of a plugin's folder.
///
/// # Errors
/// [`AuthorError`]: the tools are missing, or the build fails, which they have said on standard error.
pub(super) fn component(language: Language, folder: &Path) -> Result<Built, AuthorError> {
    match language {
        Language::Rust => rust::component(folder),
    }
}
