//! `windlass plugin remove`.

use std::collections::BTreeSet;

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
            // Another plugin can have the same file as a component, if an older version of windlass installed both.
            let others = change.lockfile().plugins.values();
            let others = others.flat_map(|plugin| &plugin.components);
            let others: BTreeSet<&str> = others.map(|it| it.digest.as_str()).collect();
            let mut gone = removed.clone();
            gone.components
                .retain(|component| !others.contains(component.digest.as_str()));
            let gone = store.remove_state(&args.name, &gone, &kept);
            gone.map_err(InstallError::at(&args.name))?;
            ""
        }
    };
    Ok(format!("removed {}{state}\n", one_line(&args.name)))
}
