//! `windlass plugin remove`.

use super::{authority, error::InstallError, store::of_user};
use crate::cli::{install_args::PluginRemoveArgs, plain::one_line, plugin::person_needed};

/// Removes a plugin: its files, what it was granted, and what it remembers.
///
/// # Errors
/// [`InstallError`]: there is none of that name, or something of it cannot be removed.
pub(in crate::cli::plugin) fn remove(args: &PluginRemoveArgs) -> Result<String, InstallError> {
    person_needed::check()?;
    let (store, grants) = of_user()?;
    let kept = grants.read()?;
    let mut change = store.change()?;
    let removed = change.remove(&args.name)?;
    let removed = removed.ok_or_else(|| InstallError::NotInstalled(args.name.clone()))?;
    authority::take_back(&removed.components, change.lockfile(), &grants)?;
    let state = match args.keep_state {
        true => ", but for what it remembers",
        false => {
            let gone = store.remove_state(&args.name, &removed, &kept);
            gone.map_err(InstallError::at(&args.name))?;
            ""
        }
    };
    Ok(format!("removed {}{state}\n", one_line(&args.name)))
}
