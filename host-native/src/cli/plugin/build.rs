//! `windlass plugin build`: from a folder of sources to a component with its declaration.

use std::{
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use windlass::plugins::{InspectedComponent, Inspection, with_declaration_of};

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
        Some(file) => std::path::absolute(file).map_err(AuthorError::at(file))?,
        None => {
            let components = folder.join("components");
            fs::create_dir_all(&components).map_err(AuthorError::at(&components))?;
            components.join(format!("{}.wasm", inspection.declaration.name))
        }
    };
    write(&path, &component).map_err(AuthorError::at(&path))?;
    if output.is_none() {
        check_neighbours(&path, &inspection)?;
    }
    Ok((path, inspection))
}

/// Checks that no other component in the folder has a tool of this one, such as an older build under another name: no session would
/// load the folder.
///
/// # Errors
/// [`AuthorError::ToolTwice`].
fn check_neighbours(built: &Path, inspection: &Inspection) -> Result<(), AuthorError> {
    let folder = built.parent().unwrap_or(Path::new("/"));
    let own = &inspection.declaration.tools;
    for entry in fs::read_dir(folder).map_err(AuthorError::at(folder))? {
        let path = entry.map_err(AuthorError::at(folder))?.path();
        if path == built || path.extension().is_none_or(|extension| extension != "wasm") {
            continue;
        }
        // What is no component is told when the folder is loaded.
        let Ok(other) = InspectedComponent::read(&path) else {
            continue;
        };
        let mut theirs = other.inspection().declaration.tools.iter();
        if let Some(tool) = theirs.find(|tool| own.iter().any(|own| own.name == tool.name)) {
            return Err(AuthorError::ToolTwice {
                built: built.to_owned(),
                other: path,
                tool: tool.name.clone(),
            });
        }
    }
    Ok(())
}

/// Writes a component under a new name that nobody knows, and moves it: a session may be reading the old one, and what lies in its
/// place, or a link there, is replaced and not written into.
fn write(path: &Path, component: &[u8]) -> io::Result<()> {
    let mut draft = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        // As a file that a program makes: the system takes away what the person lets nobody else do.
        draft.permissions(fs::Permissions::from_mode(0o666));
    }
    let folder = path.parent().unwrap_or(Path::new("/"));
    let mut draft = draft.suffix(".tmp").tempfile_in(folder)?;
    draft.write_all(component)?;
    draft.persist(path).map(drop).map_err(io::Error::from)
}

#[cfg(all(test, unix))]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn card_5_what_is_built_is_written_into_no_file_that_a_link_leads_to() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("components")).unwrap();
        fs::write(at("mine"), "MINE").unwrap();
        // In the place of the component, and of drafts whose names are known.
        for name in ["a.wasm", "a.wasm.new"] {
            symlink(at("mine"), at("components").join(name)).unwrap();
        }
        write(&at("components/a.wasm"), b"built").unwrap();
        assert_eq!(fs::read(at("components/a.wasm")).unwrap(), b"built");
        assert!(
            fs::symlink_metadata(at("components/a.wasm"))
                .unwrap()
                .is_file()
        );
        assert_eq!(fs::read_to_string(at("mine")).unwrap(), "MINE");
        // Nothing is left behind where it cannot be written.
        assert!(write(&at("gone/a.wasm"), b"built").is_err());
        assert_eq!(fs::read_dir(at("components")).unwrap().count(), 2);
    }
}
