//! What a plugin is granted, by whoever loads it. A settings file or a lock file can hold it: it names secrets, without values.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
};

use serde::{Deserialize, Serialize};
use windlass_core::tool::{Access, PluginGrant};

use super::{
    declaration::DeclaredGrants,
    origin::{Method, Origin, OriginMethods},
    role::RoleDirectory,
    state::StateScope,
};

/// The most that the tools of a plugin can reach. Nothing by default. What the plugin does not declare to need it does not get; a
/// grant of something for which it does not ask is an error ([`GrantError`]), but for directories, of which it gets less.
///
/// ```
/// use windlass::plugins::{ComponentGrant, Method, StateScope};
/// use windlass::core::tool::{Access, PluginGrant};
///
/// let grant = ComponentGrant::from(PluginGrant::workspace(Access::Read))
///     .origin("https://api.example.com".parse()?, [Method::Get, Method::Post])
///     .secret("API_TOKEN", "EXAMPLE_API_TOKEN")
///     .env("LANG")
///     .state(StateScope::Session);
/// # Ok::<(), windlass::plugins::InvalidOrigin>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ComponentGrant {
    /// The workspace, and directories without a role.
    pub directories: PluginGrant,
    /// The directories of the roles that the plugin declares. Every call that runs and every hook reaches them, as far as rules
    /// close nothing there. In one that is granted to be read the plugin writes nothing, whatever else it is granted.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub roles: BTreeMap<String, RoleDirectory>,
    /// The origins that requests may go to, with the methods.
    pub http: Vec<OriginMethods>,
    /// The secrets: the name that the plugin declares, and by which the [`SecretSource`](super::SecretSource) knows it: the name
    /// of an environment variable, if the host has no source of its own.
    pub secrets: BTreeMap<String, String>,
    /// Where a secret may be sent, of the origins that the plugin declares for it. One that is not named here may be sent to all of
    /// them, so a grant that is kept for another version names it.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub audiences: BTreeMap<String, BTreeSet<Origin>>,
    /// The environment variables that may be read. Their values are those of the host's process.
    pub env: BTreeSet<String>,
    /// What may be remembered between calls.
    pub state: StateScope,
    /// Whose durable state it is: 1 to 64 letters, digits and hyphens. What was granted the same id before, such as an older
    /// version, has the same state. Without one, durable state is that of the component with exactly these bytes, and another
    /// version begins anew.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state_id: Option<String>,
    /// Where durable state lies; by default below [`PluginHostConfig::state`](super::PluginHostConfig::state).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state_directory: Option<PathBuf>,
}

impl ComponentGrant {
    /// Adds the directory of a role: the one that the plugin declares, and the absolute path of the directory with links resolved.
    #[must_use]
    pub fn role(
        mut self,
        role: impl Into<String>,
        path: impl Into<String>,
        access: Access,
    ) -> Self {
        let path = path.into();
        self.roles
            .insert(role.into(), RoleDirectory { path, access });
        self
    }

    /// Adds an origin, with the methods that may be used there.
    #[must_use]
    pub fn origin(mut self, origin: Origin, methods: impl IntoIterator<Item = Method>) -> Self {
        self.http.push(OriginMethods::new(origin, methods));
        self
    }

    /// Adds a secret: the name that the plugin declares, and the one by which the host finds its value. It may be sent wherever the
    /// plugin declares it for.
    #[must_use]
    pub fn secret(mut self, name: impl Into<String>, reference: impl Into<String>) -> Self {
        let name = name.into();
        // Whoever grants it anew means the plugin as it is now.
        self.audiences.remove(&name);
        self.secrets.insert(name, reference.into());
        self
    }

    /// Adds an environment variable.
    #[must_use]
    pub fn env(mut self, name: impl Into<String>) -> Self {
        self.env.insert(name.into());
        self
    }

    /// Sets what may be remembered between calls.
    #[must_use]
    pub fn state(mut self, scope: StateScope) -> Self {
        self.state = scope;
        self
    }

    /// Sets whose durable state it is, so that another version of the component finds it again.
    #[must_use]
    pub fn state_id(mut self, id: impl Into<String>) -> Self {
        self.state_id = Some(id.into());
        self
    }

    /// The same grant, which says of each secret where it may be sent: where it might before, as far as these declare it. What
    /// another version declares beside that is not granted by it.
    #[must_use]
    pub fn with_audiences_of(mut self, declared: &DeclaredGrants) -> Self {
        let audiences = self.secrets.keys().map(|name| {
            let mut asked = declared.secrets.iter();
            let asked = asked.find(|asked| asked.name == *name);
            let audience = asked.map(|asked| self.audience(name, &asked.audience));
            (name.clone(), audience.unwrap_or_default())
        });
        self.audiences = audiences.collect();
        self
    }

    /// What is declared, with the secrets for no more origins than are granted.
    pub(super) fn narrowing<'a>(&self, declared: &'a DeclaredGrants) -> Cow<'a, DeclaredGrants> {
        if self.audiences.is_empty() {
            return Cow::Borrowed(declared);
        }
        let mut declared = declared.clone();
        for secret in &mut declared.secrets {
            secret.audience = self.audience(&secret.name, &secret.audience);
        }
        Cow::Owned(declared)
    }

    fn audience(&self, secret: &str, declared: &BTreeSet<Origin>) -> BTreeSet<Origin> {
        match self.audiences.get(secret) {
            None => declared.clone(),
            Some(granted) => granted.intersection(declared).cloned().collect(),
        }
    }
}

impl From<PluginGrant> for ComponentGrant {
    fn from(directories: PluginGrant) -> Self {
        Self {
            directories,
            ..Self::default()
        }
    }
}

/// A grant that does not fit the declaration of the plugin: what is granted is not what its author asks for, so it may be another
/// plugin, another version or a slip.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GrantError {
    /// Files are granted, and it does not ask for any.
    #[error(
        "it is granted files, for which it does not ask (`grants.filesystem` of its declaration)"
    )]
    Files,
    /// Files are granted to be written that it asks to read.
    #[error(
        "it is granted to write files, and asks to read them (`grants.filesystem` of its declaration)"
    )]
    FilesAccess,
    /// A directory is granted for a role that it does not declare.
    #[error(
        "it is granted a directory for the role `{0}`, for which it does not ask (`grants.directories` of its declaration)"
    )]
    Role(String),
    /// A directory is granted to be written that it asks to read.
    #[error(
        "it is granted to write the directory of the role `{0}`, and asks to read it (`grants.directories` of its declaration)"
    )]
    RoleAccess(String),
    /// Where the directory of a role is depends on where the program runs.
    #[error(
        "the directory `{path}` of the role `{role}` has no absolute path: grant it with one, without `..`"
    )]
    RolePath {
        /// The role.
        role: String,
        /// What was granted.
        path: String,
    },
    /// A directory is to be written and lies in one that is only read.
    #[error(
        "`{written}` is granted to be written and lies in the directory of the role `{role}`, which is granted to be read: grant directories apart from each other, or both with the same access"
    )]
    RoleOverlap {
        /// The role that is read.
        role: String,
        /// The directory that is written.
        written: String,
    },
    /// An origin is granted that it does not declare.
    #[error(
        "it is granted requests to {0}, for which it does not ask (`grants.http` of its declaration)"
    )]
    Origin(Origin),
    /// A method is granted that it does not declare for the origin.
    #[error("it is granted {} to {origin}, for which it does not ask (`grants.http` of its declaration)", .method.as_str())]
    Method {
        /// Where.
        origin: Origin,
        /// The method.
        method: Method,
    },
    /// A secret is granted that it does not declare.
    #[error(
        "it is granted the secret `{0}`, for which it does not ask (`grants.secrets` of its declaration)"
    )]
    Secret(String),
    /// A variable is granted that it does not declare.
    #[error(
        "it is granted the variable `{0}`, for which it does not ask (`grants.env` of its declaration)"
    )]
    Env(String),
    /// More state is granted than it declares.
    #[error(
        "it is granted {granted} state and asks for {declared} (`grants.state` of its declaration)"
    )]
    State {
        /// What is granted.
        granted: StateScope,
        /// What is declared.
        declared: StateScope,
    },
    /// Nothing can be kept under the id of its state.
    #[error("`{0}` is no id of durable state: use 1 to 64 letters, digits and hyphens")]
    StateId(String),
    /// Durable state is granted, and nothing says where it lies.
    #[error(
        "it is granted durable state, and the host has no directory for it: set `state` of its configuration, or `state_directory` of the grant"
    )]
    NoStateDirectory,
}
