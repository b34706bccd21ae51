//! The store of the user, as the commands use it.

use std::path::PathBuf;

use windlass::plugins::{GrantFile, KeptGrants, PluginStore};

use super::error::InstallError;

/// The installed plugins of the user, and what components were granted.
pub(super) fn of_user() -> Result<(PluginStore, GrantFile), InstallError> {
    let store = PluginStore::of_user().zip(GrantFile::of_user());
    store.ok_or(InstallError::NoHome)
}

/// The file of an installed component that declares this name, where there is no file of that name.
pub(in crate::cli::plugin) fn component_named(file: PathBuf) -> PathBuf {
    let find = || {
        let (store, _) = of_user().ok()?;
        let lockfile = store.read().ok()?;
        lockfile.plugins.iter().find_map(|(name, plugin)| {
            let components = store
                .components(name, plugin, &KeptGrants::default())
                .ok()?;
            let mut named = components.into_iter().filter(|granted| {
                file.to_str() == Some(granted.component.declaration().name.as_str())
            });
            named
                .next()
                .map(|granted| granted.component.path().to_path_buf())
        })
    };
    match file.exists() {
        true => file,
        false => find().unwrap_or(file),
    }
}
