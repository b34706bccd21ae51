//! `windlass plugin remove`.

use std::collections::BTreeSet;

use windlass::plugins::KeptGrants;

use super::{authority, error::InstallError, store::of_user};
use crate::cli::{
    install_args::PluginRemoveArgs,
    plain::one_line,
    plugin::{person_needed, revoke::SESSIONS},
};

/// Removes a plugin: its files, what it was granted, and what it remembers or remembered with a grant that it has no more.
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
    authority::take_back(&args.name, &removed.components, change.lockfile(), &grants)?;
    let name = one_line(&args.name);
    if args.keep_state {
        grants.change(|now: &mut KeptGrants| now.keep_left(&args.name, &kept))?;
        return Ok(format!(
            "removed {name}, but for what it remembers, which the same file finds again when it is installed again; {SESSIONS}\n"
        ));
    }
    // Another plugin can have the same file as a component, if an older version of windlass installed both.
    let others = change.lockfile().plugins.values();
    let others = others.flat_map(|plugin| &plugin.components);
    let others: BTreeSet<&str> = others.map(|it| it.digest.as_str()).collect();
    let mut gone = removed;
    gone.components
        .retain(|component| !others.contains(component.digest.as_str()));
    let removed = store.remove_state(&args.name, &gone, &kept);
    removed.map_err(InstallError::at(&args.name))?;
    let is_gone = |digest: &str| gone.components.iter().any(|it| it.digest == digest);
    store.remove_left_state(&grants, Some(&args.name), is_gone)?;
    Ok(format!("removed {name}; {SESSIONS}\n"))
}
