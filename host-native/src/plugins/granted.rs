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
        let bound = Bound {
            tools,
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
        let fresh = match self.session_state() {
            Some(_) => self.remembering(Arc::new(PluginState::of_session())),
            None => self.clone(),
        };
        fresh.in_instance_of_session(self.another_instance())
    }

    /// What its tools run in, if they keep an instance.
    pub(crate) fn session_instance(&self) -> Option<&Arc<SessionInstance>> {
        self.2.as_ref()
    }

    /// The same plugin whose tools run in this.
    pub(crate) fn in_instance_of_session(&self, instance: Option<Arc<SessionInstance>>) -> Self {
        Self(Arc::clone(&self.0), self.1.clone(), instance)
    }

    fn another_instance(&self) -> Option<Arc<SessionInstance>> {
        let instance = self.session_instance()?;
        Some(Arc::new(instance.anew()))
    }

    /// What it remembers of a session, if it remembers anything.
    pub(crate) fn session_state(&self) -> Option<&Arc<PluginState>> {
        let is_of_session = self.1.authority.state == StateScope::Session;
        is_of_session.then_some(&self.1.state)
    }

    /// The same plugin with this in its memory.
    pub(crate) fn remembering(&self, state: Arc<PluginState>) -> Self {
        let bound = Bound {
            state,
            ..self.1.clone()
        };
        Self(Arc::clone(&self.0), bound, self.2.clone())
    }
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
