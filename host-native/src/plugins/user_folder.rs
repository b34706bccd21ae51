//! Where a user's plugins have their files.

use std::path::PathBuf;

use etcetera::BaseStrategy;

/// Where what belongs to the user's plugins lies: `windlass/plugins` in the user's configuration directory; none when the user has
/// no home directory.
pub(crate) fn plugins_of_user() -> Option<PathBuf> {
    let base = etcetera::choose_base_strategy().ok()?;
    Some(base.config_dir().join("windlass").join("plugins"))
}
