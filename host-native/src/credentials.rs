//! The keys in the environment: which variables hold them, and which processes get them. They are those of model servers, and those
//! that plugins were granted as secrets.
//!
//! Processes started by this one get none of them (`crate::child`), except that an MCP server gets a key that its own
//! configuration names.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::{Arc, PoisonError, RwLock},
};

use secrecy::{ExposeSecret as _, SecretString};

/// Every variable that is read as a credential here, or in which similar programs keep one.
pub const VARIABLES: [&str; 6] = [
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    // Headers of requests to the model server, which often hold a key.
    "ANTHROPIC_CUSTOM_HEADERS",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "OPENAI_API_KEY",
    // What lets clients in to the tools that this process serves.
    "WINDLASS_MCP_TOKEN",
];

/// The variables from which plugins of this process get secrets. A variable stays here: who was granted it once may use it again.
static OF_PLUGINS: RwLock<BTreeSet<String>> = RwLock::new(BTreeSet::new());

/// From now on no process that is started gets this variable: a plugin was granted it as a secret, and what the model can read with
/// a command it could hand to any plugin.
#[cfg(feature = "plugins")]
pub(crate) fn withhold(name: &str) {
    let mut names = OF_PLUGINS.write().unwrap_or_else(PoisonError::into_inner);
    names.insert(name.to_owned());
}

/// Whether processes that are started do not get a variable: it holds a credential, or a secret of a plugin.
pub(crate) fn is_withheld(name: &str) -> bool {
    let names = OF_PLUGINS.read().unwrap_or_else(PoisonError::into_inner);
    is_credential(name) || names.contains(name)
}

/// All variables that processes do not get.
pub(crate) fn withheld() -> Vec<String> {
    let names = OF_PLUGINS.read().unwrap_or_else(PoisonError::into_inner);
    let of_servers = VARIABLES.into_iter().map(str::to_owned);
    of_servers.chain(names.iter().cloned()).collect()
}

/// Whether a variable holds a credential of a model server.
#[must_use]
pub fn is_credential(name: &str) -> bool {
    VARIABLES.contains(&name)
}

/// The credentials in the environment of this process, by variable. Cloning is cheap; debug output shows names only.
#[derive(Clone, Default)]
pub struct Credentials(Arc<BTreeMap<&'static str, SecretString>>);

impl Credentials {
    /// Reads the credentials of an environment. An empty variable counts as unset.
    pub fn read(variable: impl Fn(&str) -> Option<String>) -> Self {
        let given = VARIABLES.into_iter().filter_map(|name| {
            let value = variable(name).filter(|value| !value.is_empty())?;
            Some((name, SecretString::from(value)))
        });
        Self(Arc::new(given.collect()))
    }

    /// The value of a variable.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(|value| value.expose_secret())
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Each credential with its variable.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &SecretString)> {
        self.0.iter().map(|(name, value)| (*name, value))
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_output_shows_no_value() {
        let credentials = Credentials::read(|name| match name {
            "OPENAI_API_KEY" => Some("sk-canary".to_owned()),
            "ANTHROPIC_API_KEY" => Some(String::new()),
            _ => None,
        });
        assert_eq!(format!("{credentials:?}"), r#"{"OPENAI_API_KEY"}"#);
        assert_eq!(credentials.get("OPENAI_API_KEY"), Some("sk-canary"));
        assert_eq!(credentials.get("ANTHROPIC_API_KEY"), None);
    }
}
