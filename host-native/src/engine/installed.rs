//! The plugins that the user has installed, beside those that are named.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Display,
};

use windlass_engine::protocol::flags::Flags;

use crate::{
    plugin_dir::{InstalledFolder, PluginOnDisk},
    plugins::{KeptGrants, PluginStore, SessionPlugin, SessionPlugins, StoreError},
};

/// The installed plugins.
pub(super) struct Installed(SessionPlugins);

/// The installed plugins, if any are wanted and there are any.
///
/// # Errors
/// [`StoreError`]: nobody can say which there are. Without one that judges calls, more could be done than the user wants.
pub(super) fn plugins(flags: &Flags) -> Result<Option<Installed>, StoreError> {
    let store = PluginStore::of_user().filter(|_| flags.wants_installed_plugins());
    let Some(store) = store else { return Ok(None) };
    let plugins = store.read_for_session()?;
    Ok((!plugins.is_empty()).then_some(Installed(plugins)))
}

impl Installed {
    /// Adds them to plugins that are named; one that is named is loaded in place of an installed one of its name, but for one that
    /// judges calls in place of which would be none that does. Returns what is wrong with those that cannot be loaded.
    pub(super) fn add_to(
        self,
        plugins: &mut Vec<PluginOnDisk>,
        grants: &KeptGrants,
        components_only: bool,
    ) -> Vec<LeftOut> {
        let named: BTreeMap<String, bool> = plugins
            .iter()
            .map(|plugin| (plugin.info.name.clone(), plugin.judges()))
            .collect();
        let tools = plugins.iter().flat_map(PluginOnDisk::tools);
        let mut tools: BTreeSet<String> = tools.map(str::to_owned).collect();
        let mut faults = Vec::new();
        for (name, plugin) in self.0 {
            let judges = match &plugin {
                Ok(plugin) => plugin.judges,
                Err(not_loaded) => not_loaded.judges,
            };
            if let Some(is_judge_named) = named.get(&name) {
                if judges && !is_judge_named {
                    let fault = format!(
                        "the installed plugin {name} judges calls, and the plugin that was named with its name does not: {}",
                        ways(&name)
                    );
                    faults.push(LeftOut { fault, judges });
                }
                continue;
            }
            let plugin = plugin.map_err(|not_loaded| remedy(&name, &not_loaded.error));
            let read = plugin.and_then(|plugin| {
                let folder = folder_of(&plugin, components_only);
                if matches!(folder, InstalledFolder::Changed) {
                    // Its judges are loaded: they have digests of their own.
                    let (fault, judges) = (changed(&plugin), false);
                    faults.push(LeftOut { fault, judges });
                }
                with_tools_of_its_own(read(&plugin, grants, folder)?, &tools)
            });
            match read {
                Ok(read) => {
                    tools.extend(read.tools().map(str::to_owned));
                    plugins.push(read);
                }
                Err(fault) => faults.push(LeftOut { fault, judges }),
            }
        }
        faults
    }
}

/// An installed plugin, or a part of it, that is not loaded.
pub(super) struct LeftOut {
    /// What is wrong, and what to do.
    pub(super) fault: String,
    /// Whether it judges calls, or may do so: without it, more could be done than the user wants.
    pub(super) judges: bool,
}

/// What can be done about an installed plugin that others stand in the way of.
fn ways(name: &str) -> String {
    format!(
        "`windlass plugin remove {name}` removes it, and --no-plugins leaves out installed ones"
    )
}

fn folder_of(plugin: &SessionPlugin, components_only: bool) -> InstalledFolder {
    match plugin.folder {
        false => InstalledFolder::None,
        true if !plugin.is_folder_intact() => InstalledFolder::Changed,
        true => InstalledFolder::Intact {
            components_only: components_only || !plugin.runs_programs,
        },
    }
}

fn read(
    plugin: &SessionPlugin,
    grants: &KeptGrants,
    folder: InstalledFolder,
) -> Result<PluginOnDisk, String> {
    let name = &plugin.name;
    PluginOnDisk::installed(&plugin.path, plugin.granted(grants), name, folder)
        .map_err(|fault| remedy(name, &fault))
}

/// The plugin, if none of these tools has the name of one of its own.
fn with_tools_of_its_own(
    plugin: PluginOnDisk,
    tools: &BTreeSet<String>,
) -> Result<PluginOnDisk, String> {
    let name = &plugin.info.name;
    if let Some(tool) = plugin.tools().find(|tool| tools.contains(*tool)) {
        return Err(format!(
            "the installed plugin {name} has a tool {tool}, which another plugin has already: {}",
            ways(name)
        ));
    }
    Ok(plugin)
}

/// What is said of a folder that somebody changed. A person agreed to what was installed, not to what is there.
fn changed(plugin: &SessionPlugin) -> String {
    let (name, path) = (&plugin.name, plugin.path.display());
    format!(
        "the plugin {name} was changed since it was installed, in {path}: nothing of its folder is used but components whose own files are as they were. `windlass plugin update {name}` installs it again, and `windlass plugin remove {name}` removes it"
    )
}

/// What is said of a plugin that cannot be loaded.
fn remedy(name: &str, fault: &dyn Display) -> String {
    format!("{fault}: `windlass plugin update {name}` or `windlass plugin remove {name}` helps")
}
