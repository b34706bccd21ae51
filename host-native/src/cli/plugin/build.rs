//! `windlass plugin build`: from a folder of sources to a component with its declaration.

use std::{
    fs,
    path::{Path, PathBuf},
};

use windlass::plugins::{Inspection, with_declaration_of};

use super::{error::AuthorError, language::Language, toolchain};

/// Builds the plugin in a folder. Unless another file is named, the component is in `components/`, where a session that loads the
/// folder finds it.
///
/// # Errors
/// [`AuthorError`]. A component of an earlier build stays as it was.
pub(super) fn build(
    folder: &Path,
    output: Option<&Path>,
) -> Result<(PathBuf, Inspection), AuthorError> {
    let folder = fs::canonicalize(folder).map_err(AuthorError::at(folder))?;
    let built = toolchain::component(Language::of(&folder)?, &folder)?;
    let asked = built.declares.as_ref().unwrap_or(&built.component);
    let component = with_declaration_of(&built.component, asked)?;
    let inspection = Inspection::of(&component)?;

    let path = match output {
        Some(file) => file.to_owned(),
        None => {
            let components = folder.join("components");
            fs::create_dir_all(&components).map_err(AuthorError::at(&components))?;
            components.join(format!("{}.wasm", inspection.declaration.name))
        }
    };
    // A session may be reading the old one.
    let draft = path.with_extension("wasm.new");
    fs::write(&draft, component).map_err(AuthorError::at(&draft))?;
    fs::rename(&draft, &path).map_err(AuthorError::at(&path))?;
    Ok((path, inspection))
}
