//! The user's state file, as the official program writes it, and changes of it.

use std::{
    io,
    path::{Path, PathBuf},
};

use windlass_core::json::RawObject;
use windlass_engine::{settings, store::digest};

use super::WriteError;
use crate::{
    config_dir::ConfigDir,
    regular::{self, Link},
    store::{Replaced, read_settings, replace_settings},
};

/// The maximum size of the file, in bytes: other programs store much in it.
const MOST_READ: u64 = 64 << 20;

/// The path of that file: inside the configuration directory, or beside it if it is the default one and no variable names it.
pub(super) fn person_file(config: &ConfigDir, home: Option<&Path>) -> PathBuf {
    let is_default = |home: &&Path| !config.is_named() && home.join(".claude") == config.root();
    let beside = home.filter(is_default);
    beside.unwrap_or(config.root()).join(".claude.json")
}

/// The text of that file.
pub(super) fn read_person(config: &ConfigDir, home: Option<&Path>) -> io::Result<String> {
    regular::read_text(&person_file(config, home), Link::Followed, MOST_READ)
}

/// Changes a file of JSON. The rest of it is preserved, and concurrent changes are not lost.
///
/// # Errors
/// [`WriteError`]: the file is unchanged.
pub(super) fn change<T>(
    path: &Path,
    change: impl Fn(&mut RawObject) -> Result<T, String>,
) -> Result<T, WriteError> {
    let failed = |error: io::Error| WriteError::Store {
        place: path.display().to_string(),
        reason: error.to_string(),
    };
    loop {
        let read = read_settings(path).map_err(failed)?;
        let text = read.as_deref().unwrap_or_default();
        let mut outcome = None;
        let content = settings::changed(text, |file| {
            outcome = Some(change(file)?);
            Ok(())
        });
        let content = content.map_err(|problem| WriteError::Malformed {
            place: path.display().to_string(),
            problem,
        })?;
        let read = read.as_deref().map(|text| digest(text.as_bytes()));
        let replaced = replace_settings(path, read.as_deref(), content.as_bytes());
        // Retried if another process has changed the file since.
        if let (Replaced::Yes, Some(outcome)) = (replaced.map_err(failed)?, outcome) {
            return Ok(outcome);
        }
    }
}
