//! Where a user's plugins have their files.

use std::path::PathBuf;

use etcetera::BaseStrategy;

use crate::os;

/// Where what belongs to the user's plugins lies: `windlass/plugins` in the user's configuration directory; none when the user has
/// no home directory.
pub(crate) fn plugins_of_user() -> Option<PathBuf> {
    let base = etcetera::choose_base_strategy().ok()?;
    Some(base.config_dir().join("windlass").join("plugins"))
}

/// The same folder, made for its owner alone if it is not there, so that nobody else makes it and it can be covered before the first
/// command runs. Where it cannot be made, whoever runs commands as this user cannot make it either.
pub(crate) fn plugins_of_user_made() -> Option<PathBuf> {
    let folder = plugins_of_user()?;
    os::create_private_directory(&folder).ok()?;
    Some(folder)
}
