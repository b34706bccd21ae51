//! The store of the user, as the commands use it.

use std::{collections::BTreeSet, path::PathBuf};

use windlass::plugins::{GrantFile, InstalledPlugin, KeptGrants, PluginStore};
use windlass_engine::plugin;

use super::error::InstallError;

/// The installed plugins of the user, and what components were granted.
pub(super) fn of_user() -> Result<(PluginStore, GrantFile), InstallError> {
    let store = PluginStore::of_user().zip(GrantFile::of_user());
    store.ok_or(InstallError::NoHome)
}

/// All that a person is asked for on behalf of an installed plugin, in the words of this version of windlass: those of the one that
/// installed it may have been others.
pub(super) fn wishes(store: &PluginStore, name: &str, plugin: &InstalledPlugin) -> Vec<String> {
    let asks = asks(store, name, plugin).into_iter();
    asks.chain(plugin.programs.iter().cloned()).collect()
}

/// What the components of an installed plugin ask for.
pub(super) fn asks(store: &PluginStore, name: &str, plugin: &InstalledPlugin) -> Vec<String> {
    match store.components(name, plugin, &KeptGrants::default()) {
        Ok(components) => {
            let components = components.iter();
            components
                .flat_map(|granted| granted.component.declaration().asks())
                .collect()
        }
        // They cannot be read any more: what was noted then is left.
        Err(_) => plugin.asks.clone(),
    }
}

/// The limits that the components of an installed plugin declare, and what they say of their secrets; none if they cannot be read any
/// more.
pub(super) fn details(
    store: &PluginStore,
    name: &str,
    plugin: &InstalledPlugin,
) -> Option<Vec<String>> {
    let components = store.components(name, plugin, &KeptGrants::default());
    let components = components.ok()?.into_iter();
    let details = components.flat_map(|granted| granted.component.declaration().details());
    Some(details.collect())
}

/// The digests of all components of installed plugins.
///
/// # Errors
/// [`InstallError`]: the lock file cannot be read.
pub(in crate::cli::plugin) fn installed_digests() -> Result<BTreeSet<String>, InstallError> {
    let (store, _) = of_user()?;
    let plugins = store.read()?.plugins;
    let components = plugins.into_values().flat_map(|plugin| plugin.components);
    Ok(components.map(|component| component.digest).collect())
}

/// The component that is named: by its file, by its own name, or by that of an installed plugin that has no other. A name of something
/// installed is not taken for a file.
///
/// # Errors
/// [`InstallError`]: there is none, or there are several.
pub(in crate::cli::plugin) fn component_named(file: PathBuf) -> Result<PathBuf, InstallError> {
    let name = file.to_str().filter(|name| plugin::is_name(name));
    let Some(name) = name else {
        return Ok(file);
    };
    let (store, _) = of_user()?;
    let lockfile = store.read()?;
    let mut found = Vec::new();
    for (plugin, installed) in &lockfile.plugins {
        let components = store.components(plugin, installed, &KeptGrants::default())?;
        let components = components.into_iter().map(|granted| granted.component);
        let of_name = components.filter(|it| it.declaration().name == name);
        found.extend(of_name.map(|it| (plugin.clone(), it.path().to_path_buf())));
    }
    match found.as_slice() {
        [] => {}
        [(_, only)] => return Ok(only.clone()),
        // An older version of windlass installed such plugins.
        several => {
            return Err(InstallError::Ambiguous {
                name: name.to_owned(),
                plugins: several.iter().map(|(plugin, _)| plugin.clone()).collect(),
            });
        }
    }
    if let Some(installed) = lockfile.plugins.get(name) {
        let components = store.components(name, installed, &KeptGrants::default())?;
        return match components.as_slice() {
            [only] => Ok(only.component.path().to_path_buf()),
            others => Err(InstallError::Several {
                name: name.to_owned(),
                components: (others.iter())
                    .map(|granted| granted.component.declaration().name.clone())
                    .collect(),
            }),
        };
    }
    match file.is_file() {
        true => Ok(file),
        false => Err(InstallError::NoComponent(name.to_owned())),
    }
}
