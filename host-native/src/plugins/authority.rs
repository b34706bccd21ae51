//! What a plugin may do: what it declares and was granted, both.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use windlass_core::tool::{PluginGrant, ToolDefinition};

use super::{
    declaration::DeclaredGrants,
    grant::{ComponentGrant, GrantError},
    origin::{Method, Origin},
    role_directories::{ClosedPlaces, RoleDirectories},
    secret::KnownSecrets,
    state::{PluginState, StateScope, is_state_id},
};

/// What a plugin may do beyond the files that each call is granted. Made here and nowhere else, of declaration and grant.
#[derive(Debug, Default)]
pub(super) struct Authority {
    pub(super) directories: PluginGrant,
    pub(super) roles: RoleDirectories,
    origins: BTreeMap<Origin, BTreeSet<Method>>,
    secrets: BTreeMap<String, GrantedSecret>,
    env: BTreeSet<String>,
    pub(super) state: StateScope,
}

/// A secret that is declared and granted.
#[derive(Debug)]
pub(super) struct GrantedSecret {
    /// By which the source of secrets knows it.
    pub(super) reference: String,
    /// Where it may be sent: origins that are granted.
    pub(super) audience: BTreeSet<Origin>,
}

impl Authority {
    /// What is both declared and granted.
    ///
    /// # Errors
    /// [`GrantError`]: something is granted for which the plugin does not ask.
    pub(super) fn of(
        declared: &DeclaredGrants,
        grant: &ComponentGrant,
    ) -> Result<Self, GrantError> {
        let origins = origins(declared, grant)?;
        let secrets = secrets(declared, grant, &origins)?;
        if let Some(name) = grant.env.iter().find(|name| !declared.env.contains(name)) {
            return Err(GrantError::Env(name.clone()));
        }
        if let Some(id) = grant.state_id.as_ref().filter(|id| !is_state_id(id)) {
            return Err(GrantError::StateId(id.clone()));
        }
        if grant.state > declared.state {
            return Err(GrantError::State {
                granted: grant.state,
                declared: declared.state,
            });
        }
        let directories = grant.directories.clone();
        let directories = directories.within(declared.filesystem.access());
        Ok(Self {
            roles: RoleDirectories::of(declared, grant, &directories)?,
            directories,
            origins,
            secrets,
            env: grant.env.clone(),
            state: grant.state,
        })
    }

    /// Whether there is any origin that requests may go to.
    pub(super) fn has_network(&self) -> bool {
        !self.origins.is_empty()
    }

    /// Whether a request with this method may go to this origin.
    pub(super) fn lets_send(&self, origin: &Origin, method: Method) -> bool {
        let methods = self.origins.get(origin);
        methods.is_some_and(|methods| methods.contains(&method))
    }

    /// The granted secrets, by the names that the plugin declares.
    pub(super) fn secrets(&self) -> impl Iterator<Item = (&str, &GrantedSecret)> {
        let all = self.secrets.iter();
        all.map(|(name, secret)| (name.as_str(), secret))
    }

    pub(super) fn secret(&self, name: &str) -> Option<&GrantedSecret> {
        self.secrets.get(name)
    }

    /// Whether this environment variable may be read.
    pub(super) fn lets_read_variable(&self, name: &str) -> bool {
        self.env.contains(name)
    }
}

fn origins(
    declared: &DeclaredGrants,
    grant: &ComponentGrant,
) -> Result<BTreeMap<Origin, BTreeSet<Method>>, GrantError> {
    let mut origins: BTreeMap<Origin, BTreeSet<Method>> = BTreeMap::new();
    for granted in &grant.http {
        let asked = declared
            .http
            .iter()
            .find(|asked| asked.origin == granted.origin);
        let Some(asked) = asked else {
            return Err(GrantError::Origin(granted.origin.clone()));
        };
        if let Some(method) = granted.methods.difference(&asked.methods).next() {
            return Err(GrantError::Method {
                origin: granted.origin.clone(),
                method: *method,
            });
        }
        let methods = origins.entry(granted.origin.clone()).or_default();
        methods.extend(&granted.methods);
    }
    Ok(origins)
}

fn secrets(
    declared: &DeclaredGrants,
    grant: &ComponentGrant,
    origins: &BTreeMap<Origin, BTreeSet<Method>>,
) -> Result<BTreeMap<String, GrantedSecret>, GrantError> {
    let granted = grant.secrets.iter().map(|(name, reference)| {
        let asked = declared.secrets.iter().find(|asked| asked.name == *name);
        let asked = asked.ok_or_else(|| GrantError::Secret(name.clone()))?;
        let audience = asked
            .audience
            .iter()
            .filter(|origin| origins.contains_key(origin));
        let secret = GrantedSecret {
            reference: reference.clone(),
            audience: audience.cloned().collect(),
        };
        Ok((name.clone(), secret))
    });
    granted.collect()
}

/// What a loaded component was bound to: its tools with their files, what it may do, and what it remembers.
#[derive(Debug, Clone, Default)]
pub(super) struct Bound {
    pub(super) tools: Arc<[ToolDefinition]>,
    /// Its name and its grant, if it keeps anything for a session, which is kept under them.
    pub(super) identity: Option<Arc<str>>,
    pub(super) authority: Arc<Authority>,
    pub(super) known_secrets: Arc<KnownSecrets>,
    /// What stays closed in the directories of roles.
    pub(super) closed: Arc<ClosedPlaces>,
    pub(super) state: Arc<PluginState>,
}
