//! Changes of the permissions, written to the files of their destinations.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use windlass_core::{
    RawJson,
    json::RawObject,
    permission::{Destination, PermissionUpdate, RuleError},
};
use windlass_engine::settings::{change_permissions, changed, check_rules};

use super::{SettingsPlaces, load::MAX_BYTES};
use crate::store::{Readers, read_text, replace};

/// A change that was not written. The file is as it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The file cannot be read or written.
    #[error("the settings file {} cannot be changed: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the operating system says.
        #[source]
        error: io::Error,
    },
    /// What is in the file is no settings: it is left alone.
    #[error("the settings file {} is not changed, since what is in it cannot be read: {problem}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// A rule that would be refused when it is read.
    #[error(transparent)]
    Rule(#[from] RuleError),
}

/// Writes the changes whose destination is a file, in their order; the others are none of its business. Every file is
/// replaced as a whole: other keys, their order and their values stay, and changes that others make at the same time are not
/// lost. Folders and files that are missing are created.
///
/// The files that were changed come back.
///
/// # Errors
/// [`WriteError`] for the first file that cannot be changed. Rules of all changes are checked before anything is written.
pub fn write_permission_updates(
    places: &SettingsPlaces,
    updates: &[PermissionUpdate],
) -> Result<Vec<PathBuf>, WriteError> {
    check_rules(updates)?;
    let mut written = Vec::new();
    for destination in [
        Destination::UserSettings,
        Destination::ProjectSettings,
        Destination::LocalSettings,
    ] {
        let of_file: Vec<&PermissionUpdate> = updates
            .iter()
            .filter(|update| update.destination() == destination)
            .collect();
        if let Some(path) = places.file(destination).filter(|_| !of_file.is_empty()) {
            edit(&path, |settings| change_permissions(settings, of_file))?;
            written.push(path);
        }
    }
    Ok(written)
}

/// Writes texts under their keys into the file of a destination, beside what else is there. Nothing is written for a destination
/// that is no file.
///
/// # Errors
/// [`WriteError`]: the file is as it was.
pub fn write_settings(
    places: &SettingsPlaces,
    destination: Destination,
    settings: &BTreeMap<String, String>,
) -> Result<(), WriteError> {
    let Some(path) = places.file(destination) else {
        return Ok(());
    };
    edit(&path, |file| {
        for (key, text) in settings {
            file.set(key, RawJson::string(text));
        }
        Ok(())
    })
}

/// Replaces a file by what becomes of it; one that cannot be read, or that `change` refuses, stays.
pub(super) fn edit(
    path: &Path,
    change: impl FnOnce(&mut RawObject) -> Result<(), String>,
) -> Result<(), WriteError> {
    let failed = |error| WriteError::File {
        path: path.to_path_buf(),
        error,
    };
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(failed)?;
    // Held until the file is replaced: whoever changes it too waits, and then reads what stands there now.
    let _lock = lock(folder).map_err(failed)?;
    let text = match read_text(path, MAX_BYTES) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(failed(error)),
    };
    let content = changed(&text, change).map_err(|problem| WriteError::Malformed {
        path: path.to_path_buf(),
        problem,
    })?;
    replace(path, content.as_bytes(), Readers::Usual).map_err(failed)
}

/// Keeps others from changing files of this folder until it is dropped.
fn lock(folder: &Path) -> io::Result<File> {
    // The folder itself: nothing is left lying about. Elsewhere folders cannot be opened.
    #[cfg(unix)]
    let file = File::open(folder)?;
    #[cfg(not(unix))]
    let file = File::create(folder.join(".settings.lock"))?;
    file.lock()?;
    Ok(file)
}
