//! What a plugin may not have in common with the others that are installed.

use std::collections::BTreeSet;

use windlass::plugins::{KeptGrants, Lockfile, PluginStore};

use super::{candidate::Candidate, error::InstallError};

/// Checks that no other installed plugin has a tool of this one, or a component of one of its names. By the name of a component a
/// person grants it something, and a component that is the very same file has the very same grant and memory: neither may be
/// another plugin's.
///
/// # Errors
/// [`InstallError::Tool`], [`InstallError::Component`].
pub(super) fn check(
    candidate: &Candidate,
    store: &PluginStore,
    lockfile: &Lockfile,
) -> Result<(), InstallError> {
    let inspections = candidate.components.values();
    let tools = inspections
        .clone()
        .flat_map(|inspection| &inspection.declaration.tools);
    let tools: BTreeSet<&str> = tools.map(|tool| tool.name.as_str()).collect();
    let names = inspections.map(|inspection| inspection.declaration.name.as_str());
    let names: BTreeSet<&str> = names.collect();
    let others = lockfile.plugins.iter();
    for (plugin, installed) in others.filter(|(plugin, _)| **plugin != candidate.name) {
        let taken = |name: &str| InstallError::Component {
            name: name.to_owned(),
            plugin: plugin.clone(),
        };
        if names.contains(plugin.as_str()) {
            return Err(taken(plugin));
        }
        for granted in store.components(plugin, installed, &KeptGrants::default())? {
            let declaration = granted.component.declaration();
            let name = declaration.name.as_str();
            if names.contains(name) || candidate.name == name {
                return Err(taken(name));
            }
            let mut theirs = declaration.tools.iter();
            if let Some(tool) = theirs.find(|tool| tools.contains(tool.name.as_str())) {
                return Err(InstallError::Tool {
                    tool: tool.name.clone(),
                    plugin: plugin.clone(),
                });
            }
        }
    }
    Ok(())
}
