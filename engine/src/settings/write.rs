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
    permission::{
        Destination, DirectoryChange, PermissionUpdate, Rule, RuleChange, RuleEntry, RuleError,
        RuleValue,
    },
};

use super::{
    SettingsPlaces,
    load::{MAX_BYTES, MAX_DEPTH},
    pretty::pretty,
};
use crate::{
    atomic::{self, Readers},
    read_text,
};

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
    for update in updates {
        if let PermissionUpdate::AddRules(change) | PermissionUpdate::ReplaceRules(change) = update
        {
            for rule in &change.rules {
                rule.to_rule()?;
            }
        }
    }
    let mut changed = Vec::new();
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
            change(&path, &of_file)?;
            changed.push(path);
        }
    }
    Ok(changed)
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

fn change(path: &Path, updates: &[&PermissionUpdate]) -> Result<(), WriteError> {
    edit(path, |settings| {
        let mut permissions = match settings.get("permissions") {
            Some(permissions) => object(permissions.get())?,
            None => RawObject::default(),
        };
        for update in updates {
            apply(&mut permissions, update)?;
        }
        settings.set("permissions", permissions.to_raw());
        Ok(())
    })
}

pub(super) fn object(json: &str) -> Result<RawObject, String> {
    RawObject::parse(json).map_err(|error| error.reason)
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
    let malformed = |problem: String| WriteError::Malformed {
        path: path.to_path_buf(),
        problem,
    };
    let text = text.trim_start_matches('\u{feff}').trim();
    let text = if text.is_empty() { "{}" } else { text };
    let mut settings = object(text).map_err(malformed)?;
    if settings.to_raw().depth() > MAX_DEPTH {
        let problem = format!("it is nested deeper than {MAX_DEPTH} levels");
        return Err(malformed(problem));
    }
    change(&mut settings).map_err(malformed)?;
    let content = pretty(&settings.to_raw());
    atomic::replace(path, content.as_bytes(), Readers::Usual).map_err(failed)
}

fn apply(permissions: &mut RawObject, update: &PermissionUpdate) -> Result<(), String> {
    match update {
        PermissionUpdate::AddRules(change) => {
            let mut rules = list(permissions, change.behavior.name())?;
            for rule in &change.rules {
                if !rules.iter().any(|known| is_rule(known, rule)) {
                    rules.push(RawJson::string(&rule.to_string()));
                }
            }
            set(permissions, change.behavior.name(), &rules);
        }
        PermissionUpdate::ReplaceRules(RuleChange {
            rules, behavior, ..
        }) => {
            let rules: Vec<RawJson> = (rules.iter())
                .map(|rule| RawJson::string(&rule.to_string()))
                .collect();
            set(permissions, behavior.name(), &rules);
        }
        PermissionUpdate::RemoveRules(change) => {
            let mut rules = list(permissions, change.behavior.name())?;
            rules.retain(|known| !change.rules.iter().any(|rule| is_rule(known, rule)));
            set(permissions, change.behavior.name(), &rules);
        }
        PermissionUpdate::SetMode { mode, .. } => {
            permissions.set("defaultMode", RawJson::string(mode.name()));
        }
        PermissionUpdate::AddDirectories(DirectoryChange { directories, .. }) => {
            let mut known = list(permissions, DIRECTORIES)?;
            for directory in directories {
                let directory = RawJson::string(directory);
                if !known.contains(&directory) {
                    known.push(directory);
                }
            }
            set(permissions, DIRECTORIES, &known);
        }
        PermissionUpdate::RemoveDirectories(DirectoryChange { directories, .. }) => {
            let mut known = list(permissions, DIRECTORIES)?;
            let gone: Vec<RawJson> = directories.iter().map(|d| RawJson::string(d)).collect();
            known.retain(|directory| !gone.contains(directory));
            set(permissions, DIRECTORIES, &known);
        }
    }
    Ok(())
}

const DIRECTORIES: &str = "additionalDirectories";

fn list(permissions: &RawObject, key: &str) -> Result<Vec<RawJson>, String> {
    let Some(list) = permissions.get(key) else {
        return Ok(Vec::new());
    };
    let decoded = list.decode();
    decoded.map_err(|error| format!("`permissions.{key}`: {}", error.reason))
}

fn set(permissions: &mut RawObject, key: &str, list: &[RawJson]) {
    // Values that are JSON already: encoding cannot fail.
    let list = RawJson::encode(list).unwrap_or_else(|_| RawJson::null());
    permissions.set(key, list);
}

/// Whether an entry of a file is this rule, however it is spelled.
fn is_rule(entry: &RawJson, rule: &RuleValue) -> bool {
    let Ok(entry) = entry.decode::<RuleEntry>() else {
        return false;
    };
    let same_text = entry.rule == rule.to_string();
    let parsed = || Some((Rule::parse(&entry.rule).ok()?, rule.to_rule().ok()?));
    same_text || parsed().is_some_and(|(known, rule)| known.value() == rule.value())
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
