//! A plugin with what it was granted.

use std::sync::Arc;

use windlass_core::tool::{PluginGrant, ToolDefinition};

use super::{
    authority::{Authority, Bound},
    component::Plugin,
    grant::{ComponentGrant, GrantError},
    role_directories::ClosedPlaces,
    session_instance::SessionInstance,
    state::{PluginState, StateIdentity, StateScope},
};
use crate::session_shares::SessionShares;

impl Plugin {
    /// The plugin with what it may reach: what is granted, as far as it declares to need it. What was granted before is no longer.
    ///
    /// # Errors
    /// [`GrantError`]: something is granted for which it does not ask.
    pub fn granted(&self, grant: &ComponentGrant) -> Result<Self, GrantError> {
        let declared = grant.narrowing(&self.0.declaration.grants);
        let authority = Authority::of(&declared, grant)?;
        for (_, secret) in authority.secrets() {
            self.0.host.config.secrets.withhold(&secret.reference);
        }
        let directories = authority.roles.beside(authority.directories.clone());
        let tools = with_grant(&self.1.tools, &directories);
        let state = match authority.state {
            StateScope::None => PluginState::None,
            StateScope::Session => PluginState::of_session(),
            StateScope::Durable => {
                let root = grant
                    .state_directory
                    .as_ref()
                    .or(self.0.host.config.state.as_ref());
                let root = root.ok_or(GrantError::NoStateDirectory)?;
                let identity = match &grant.state_id {
                    Some(id) => StateIdentity::Granted(id),
                    None => StateIdentity::Component {
                        name: &self.0.name,
                        digest: self.0.code.digest(),
                    },
                };
                PluginState::in_folder(root, &identity)
            }
        };
        let is_kept = authority.state == StateScope::Session || self.session_instance().is_some();
        let bound = Bound {
            tools,
            identity: is_kept.then(|| identity(&self.0.name, grant)),
            authority: Arc::new(authority),
            state: Arc::new(state),
            known_secrets: Arc::default(),
            closed: Arc::clone(&self.1.closed),
        };
        Ok(Self(Arc::clone(&self.0), bound, self.another_instance()))
    }

    /// The same plugin, for which this stays closed in the directories of its roles.
    #[must_use]
    pub(crate) fn closing(self, closed: &Arc<ClosedPlaces>) -> Self {
        let bound = Bound {
            closed: Arc::clone(closed),
            ..self.1
        };
        Self(self.0, bound, self.2)
    }

    /// The same plugin in another session: what it remembers of a session is of that one alone, and so is an instance that it keeps.
    #[must_use]
    pub fn for_session(&self) -> Self {
        self.of_session(&mut SessionShares::default())
            .unwrap_or_else(|| self.clone())
    }

    /// What its tools run in, if they keep an instance.
    pub(crate) fn session_instance(&self) -> Option<&Arc<SessionInstance>> {
        self.2.as_ref()
    }

    fn another_instance(&self) -> Option<Arc<SessionInstance>> {
        let instance = self.session_instance()?;
        Some(Arc::new(instance.anew()))
    }

    /// The same plugin with what it has in a session, if it keeps anything there: what it remembers, and the instance of its tools. Both stay
    /// where settings or plugins are read again, as long as it is the same component with the same grant.
    pub(crate) fn of_session(&self, shares: &mut SessionShares) -> Option<Self> {
        let remembers = self.1.authority.state == StateScope::Session;
        let instance = self.session_instance();
        if !remembers && instance.is_none() {
            return None;
        }
        let identity = self.1.identity.as_deref().unwrap_or_default();
        let named = |what: &str| format!("{what} of {} {identity}", self.0.code.digest());
        let instance = instance.map(|common| {
            let name = format!("{} in {}", named("instance"), common.host());
            shares.get_or_make(&name, || common.anew())
        });
        let state = match remembers {
            true => shares.get_or_make(&named("state"), PluginState::of_session),
            false => Arc::clone(&self.1.state),
        };
        let bound = Bound {
            state,
            ..self.1.clone()
        };
        Some(Self(Arc::clone(&self.0), bound, instance))
    }
}

/// What tells a plugin with this grant from others of the same component.
fn identity(name: &str, grant: &ComponentGrant) -> Arc<str> {
    // A grant has nothing that JSON lacks. Without it, what is kept would be kept for less long.
    let grant = serde_json::to_string(grant).unwrap_or_default();
    format!("{name} {grant}").into()
}

/// The tools with what they reach. Most plugins are granted nothing, and theirs are as they were declared.
fn with_grant(tools: &Arc<[ToolDefinition]>, grant: &PluginGrant) -> Arc<[ToolDefinition]> {
    match tools.iter().all(|tool| tool.grant.as_ref() == Some(grant)) {
        true => Arc::clone(tools),
        false => {
            let granted = tools.iter().map(|tool| ToolDefinition {
                grant: Some(grant.clone()),
                ..tool.clone()
            });
            granted.collect()
        }
    }
}
