//! The store of the user, as the commands use it.

use std::path::PathBuf;

use windlass::plugins::{GrantFile, KeptGrants, PluginStore};
use windlass_engine::plugin;

use super::error::InstallError;

/// The installed plugins of the user, and what components were granted.
pub(super) fn of_user() -> Result<(PluginStore, GrantFile), InstallError> {
    let store = PluginStore::of_user().zip(GrantFile::of_user());
    store.ok_or(InstallError::NoHome)
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
    for (plugin, installed) in &lockfile.plugins {
        let components = store.components(plugin, installed, &KeptGrants::default())?;
        let mut components = components.into_iter().map(|granted| granted.component);
        if let Some(component) = components.find(|it| it.declaration().name == name) {
            return Ok(component.path().to_path_buf());
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
