//! `windlass plugin build`: from a folder of sources to a component with its declaration.

use std::{
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use windlass::{
    child,
    plugins::{InspectedComponent, Inspection, KnownBuilds, with_declaration_of},
};

use super::{error::AuthorError, language::Language, toolchain::Prepared};

/// The folder of components in that of a plugin.
const COMPONENTS: &str = "components";

/// Builds the plugin in a folder. Unless another file is named, the component is in `components/`, where a session that loads the
/// folder finds it. What was built from the same sources is left as it is, with its digest and what it was granted.
///
/// # Errors
/// [`AuthorError`]. A component of an earlier build stays as it was.
pub(super) fn build(
    folder: &Path,
    output: Option<&Path>,
) -> Result<(PathBuf, Inspection), AuthorError> {
    is_there(folder)?;
    let folder = fs::canonicalize(folder).map_err(AuthorError::at(folder))?;
    let output = match output {
        Some(file) => Some(std::path::absolute(file).map_err(AuthorError::at(file))?),
        None => None,
    };
    let prepared = Prepared::new(Language::of(&folder)?, &folder)?;
    let sources = prepared.sources();
    let builds = known_builds();
    let known = sources.as_ref().zip(builds.as_ref());
    let known = known.and_then(|(sources, builds)| builds.component_of(sources));
    if let Some((path, inspection)) =
        known.and_then(|digest| kept(&folder, output.as_deref(), &digest))
    {
        if output.is_none() {
            check_neighbours(&path, &inspection)?;
        }
        return Ok((path, inspection));
    }
    let built = prepared.build()?;
    let asked = built.declares.as_ref().unwrap_or(&built.component);
    let component = with_declaration_of(&built.component, asked)?;
    let inspection = checked(&component)?;

    let path = match &output {
        Some(file) => file.clone(),
        None => {
            let components = folder.join(COMPONENTS);
            fs::create_dir_all(&components).map_err(AuthorError::at(&components))?;
            components.join(file_of(&inspection))
        }
    };
    write(&path, &component).map_err(AuthorError::at(&path))?;
    // Of what was changed while it was built nobody knows whether it is in the component.
    if let (Some(sources), Some(builds)) = (sources, builds)
        && prepared.sources().as_ref() == Some(&sources)
    {
        // What cannot be noted is built again, as if it had changed.
        let _ = builds.note(&sources, &Inspection::digest(&component));
    }
    if output.is_none() {
        check_neighbours(&path, &inspection)?;
    }
    Ok((path, inspection))
}

/// What was built. Where it declares a limit of memory, its code is checked against that, as `windlass plugin check` does.
///
/// # Errors
/// [`AuthorError::Refused`].
fn checked(component: &[u8]) -> Result<Inspection, AuthorError> {
    let built = InspectedComponent::of(component.to_vec())?;
    built.check_limits()?;
    Ok(built.inspection().clone())
}

/// Checks that there is a folder to build or to test.
///
/// # Errors
/// [`AuthorError::NoFolder`].
pub(super) fn is_there(folder: &Path) -> Result<(), AuthorError> {
    match folder.try_exists() {
        Ok(false) => Err(AuthorError::NoFolder(folder.to_owned())),
        _ => Ok(()),
    }
}

/// What was built before; none below an agent, which can choose the programs that build: what those made would be taken for a build
/// of the person's afterwards.
fn known_builds() -> Option<KnownBuilds> {
    match child::is_below_agent() {
        true => None,
        false => KnownBuilds::of_user(),
    }
}

/// The component with this digest, if it is where the build would put it and this version would load it.
fn kept(folder: &Path, output: Option<&Path>, digest: &str) -> Option<(PathBuf, Inspection)> {
    let candidates = match output {
        Some(file) => vec![file.to_owned()],
        None => {
            let entries = fs::read_dir(folder.join(COMPONENTS)).ok()?;
            entries.flatten().map(|entry| entry.path()).collect()
        }
    };
    candidates.into_iter().find_map(|path| {
        let component = InspectedComponent::read(&path).ok()?;
        let inspection = component.inspection().clone();
        let is_in_place =
            output.is_some() || path.file_name() == Some(file_of(&inspection).as_ref());
        (is_in_place && component.digest() == digest).then_some((path, inspection))
    })
}

/// The name of the file that a component is written into.
fn file_of(inspection: &Inspection) -> String {
    format!("{}.wasm", inspection.declaration.name)
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
