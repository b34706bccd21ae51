//! The plugins that the user has installed, beside those that are named.

use std::collections::BTreeSet;

use windlass_engine::protocol::flags::Flags;

use crate::{
    plugin_dir::PluginOnDisk,
    plugins::{InstalledPlugin, KeptGrants, Lockfile, PluginStore, StoreError},
};

/// The installed plugins.
pub(super) struct Installed {
    store: PluginStore,
    lockfile: Lockfile,
}

/// The installed plugins, if any are wanted and there are any.
///
/// # Errors
/// [`StoreError`]: nobody can say which there are. Without one that judges calls, more could be done than the user wants.
pub(super) fn lockfile(flags: &Flags) -> Result<Option<Installed>, StoreError> {
    let store = PluginStore::of_user().filter(|_| flags.wants_installed_plugins());
    let Some(store) = store else { return Ok(None) };
    let lockfile = store.read()?;
    let is_empty = lockfile.plugins.is_empty();
    Ok((!is_empty).then_some(Installed { store, lockfile }))
}

impl Installed {
    /// Adds them to plugins that are named; one that is named is loaded in place of an installed one of its name. Returns what
    /// is wrong with those that cannot be loaded.
    pub(super) fn add_to(
        &self,
        plugins: &mut Vec<PluginOnDisk>,
        grants: &KeptGrants,
        components_only: bool,
    ) -> Vec<String> {
        let named: BTreeSet<String> = plugins
            .iter()
            .map(|plugin| plugin.info.name.clone())
            .collect();
        let tools = plugins.iter().flat_map(PluginOnDisk::tools);
        let mut tools: BTreeSet<String> = tools.map(str::to_owned).collect();
        let mut faults = Vec::new();
        for (name, plugin) in &self.lockfile.plugins {
            if named.contains(name) {
                continue;
            }
            let read = match self.read(name, plugin, grants, components_only) {
                Ok(read) => read,
                Err(fault) => {
                    faults.push(fault);
                    continue;
                }
            };
            let own: BTreeSet<String> = read.tools().map(str::to_owned).collect();
            if let Some(tool) = own.intersection(&tools).next() {
                faults.push(format!(
                    "the installed plugin {name} has a tool {tool}, which another plugin has already: `windlass plugin remove {name}` removes it, and --no-plugins leaves out installed ones"
                ));
                continue;
            }
            tools.extend(own);
            plugins.push(read);
        }
        faults
    }

    fn read(
        &self,
        name: &str,
        plugin: &InstalledPlugin,
        grants: &KeptGrants,
        components_only: bool,
    ) -> Result<PluginOnDisk, String> {
        let remedy = |fault: &dyn std::fmt::Display| {
            format!(
                "{fault}: `windlass plugin update {name}` or `windlass plugin remove {name}` helps"
            )
        };
        let granted = self.store.components(name, plugin, grants);
        let granted = granted.map_err(|fault| remedy(&fault))?;
        let path = self.store.path(name, plugin);
        let components_only = components_only || !plugin.runs_programs;
        let folder = plugin.folder.then_some(components_only);
        PluginOnDisk::installed(&path, granted, name, folder).map_err(|fault| remedy(&fault))
    }
}
