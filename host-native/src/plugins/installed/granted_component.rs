//! The components of installed plugins, as a session uses them.

use std::{fs, io};

use windlass_core::tool::PluginGrant;

use super::{
    lockfile::{InstalledPlugin, Lockfile},
    store::PluginStore,
};
use crate::plugins::{
    code::InstalledComponent, grant::ComponentGrant, kept_grants::KeptGrants,
    load_fault::LoadError, state::StateIdentity,
};

/// A component of an installed plugin, with what it was granted for good; nothing, not even the workspace, if it was granted
/// nothing.
#[derive(Debug, Clone)]
pub struct GrantedComponent {
    /// By which messages call it, and by which it finds again what it remembers for good.
    pub name: String,
    /// The component.
    pub component: InstalledComponent,
    /// What it was granted.
    pub grant: ComponentGrant,
}

impl GrantedComponent {
    /// A component of the plugin of this name.
    pub(super) fn of(plugin: &str, component: InstalledComponent, grants: &KeptGrants) -> Self {
        let kept = grants.components.get(component.digest());
        let nothing = || ComponentGrant::from(PluginGrant::default());
        Self {
            name: name_of(plugin, &component.declaration().name),
            grant: kept.map_or_else(nothing, |kept| kept.grant.clone()),
            component,
        }
    }
}

impl PluginStore {
    /// The components of a plugin of this store. Their files are not read.
    ///
    /// # Errors
    /// [`LoadError`]: this version of windlass does not load one of them.
    pub fn components(
        &self,
        name: &str,
        plugin: &InstalledPlugin,
        grants: &KeptGrants,
    ) -> Result<Vec<GrantedComponent>, LoadError> {
        let components = plugin.components.iter().map(|locked| {
            let path = self.component_path(name, plugin, locked);
            let component = InstalledComponent::new(path, &locked.digest, &locked.declaration)
                .map_err(|fault| LoadError {
                    component: name.to_owned(),
                    fault,
                })?;
            Ok(GrantedComponent::of(name, component, grants))
        });
        components.collect()
    }

    /// Removes what the components of a plugin of this store remember for good, with these grants.
    ///
    /// # Errors
    /// What the system says.
    pub fn remove_state(
        &self,
        name: &str,
        plugin: &InstalledPlugin,
        grants: &KeptGrants,
    ) -> io::Result<()> {
        let granted = self.components(name, plugin, grants);
        for granted in granted.map_err(io::Error::other)? {
            let identity = match &granted.grant.state_id {
                Some(id) => StateIdentity::Granted(id),
                None => StateIdentity::Component {
                    name: &granted.name,
                    digest: granted.component.digest(),
                },
            };
            let root = granted.grant.state_directory.clone();
            let root = root.unwrap_or_else(|| self.state());
            match fs::remove_dir_all(root.join(identity.folder())) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }

    /// The components of all plugins of a lock file of this store.
    ///
    /// # Errors
    /// As [`components`](Self::components).
    pub fn all_components(
        &self,
        lockfile: &Lockfile,
        grants: &KeptGrants,
    ) -> Result<Vec<GrantedComponent>, LoadError> {
        let mut all = Vec::new();
        for (name, plugin) in &lockfile.plugins {
            all.extend(self.components(name, plugin, grants)?);
        }
        Ok(all)
    }
}

/// The name of a component for messages and state: that of the plugin, and its own where it is another.
fn name_of(plugin: &str, declared: &str) -> String {
    match declared == plugin {
        true => plugin.to_owned(),
        false => format!("{plugin}/{declared}"),
    }
}
