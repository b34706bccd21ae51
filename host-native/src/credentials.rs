//! The keys of model servers in the environment: which variables hold them, and which processes get them.
//!
//! Processes started by this one get none of them (`crate::child`), except that an MCP server gets a key that its own
//! configuration names.

use std::{collections::BTreeMap, fmt, sync::Arc};

use secrecy::{ExposeSecret as _, SecretString};

/// Every variable that is read as a credential here, or in which similar programs keep one.
pub const VARIABLES: [&str; 4] = [
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "OPENAI_API_KEY",
];

/// Whether a variable holds a credential.
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
