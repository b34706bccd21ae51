//! Where the values of secrets come from, and which are known.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use secrecy::{ExposeSecret as _, SecretString};

use crate::{credentials::withhold, redact::Redactor};

/// Bytes of the shortest secret that is used: a shorter one cannot be told from other text in an answer.
pub const SHORTEST: usize = 8;

/// The most values that are looked for in answers, also in the forms in which headers had them; a plugin whose secrets change more
/// often sends nothing more.
const MOST: usize = 256;

/// Which secret a plugin uses.
#[derive(Debug, Clone, Copy)]
pub struct SecretRequest<'a> {
    /// The name of the component.
    pub component: &'a str,
    /// The name that the plugin declares.
    pub name: &'a str,
    /// The name that it was granted under ([`ComponentGrant::secrets`](super::ComponentGrant::secrets)).
    pub reference: &'a str,
}

/// Where a host finds the values of secrets. It is asked for all granted secrets of a plugin before each of its requests, on the
/// thread of the call: each is looked for in the answer.
#[derive(Clone)]
pub struct SecretSource {
    find: Arc<Find>,
    is_environment: bool,
}

type Find = dyn Fn(SecretRequest<'_>) -> Option<SecretString> + Send + Sync;

impl SecretSource {
    /// A source that asks a function, such as one that opens a key ring.
    pub fn new(
        find: impl Fn(SecretRequest<'_>) -> Option<SecretString> + Send + Sync + 'static,
    ) -> Self {
        Self {
            find: Arc::new(find),
            is_environment: false,
        }
    }

    /// The environment of this process: a reference is the name of a variable. The default. A variable that was granted is in the
    /// environment of no program that this process starts, and no plugin reads it ([`ComponentGrant::env`](super::ComponentGrant::env)).
    #[must_use]
    pub fn environment() -> Self {
        Self {
            is_environment: true,
            ..Self::new(|wanted| std::env::var(wanted.reference).ok().map(SecretString::from))
        }
    }

    /// Keeps a secret that is granted from whoever could read it elsewhere.
    pub(super) fn withhold(&self, reference: &str) {
        if self.is_environment {
            withhold(reference);
        }
    }

    /// The value, without white space around it, if it can be used as a secret.
    pub(super) fn find(&self, wanted: SecretRequest<'_>) -> Option<SecretString> {
        let found = (self.find)(wanted)?;
        let text = found.expose_secret().trim();
        (text.len() >= SHORTEST).then(|| SecretString::from(text))
    }
}

impl Default for SecretSource {
    fn default() -> Self {
        Self::environment()
    }
}

impl fmt::Debug for SecretSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretSource")
    }
}

/// The values of a plugin's secrets, those that they had before too: whatever a server ever got may be in any answer.
#[derive(Debug, Default)]
pub(super) struct KnownSecrets(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    values: Vec<SecretString>,
    redactor: Redactor,
}

impl KnownSecrets {
    /// Looks for these values from now on. False if there are too many.
    pub(super) fn add(&self, values: impl IntoIterator<Item = SecretString>) -> bool {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = known.values.len();
        for value in values {
            let is_it = |other: &SecretString| other.expose_secret() == value.expose_secret();
            if known.values.iter().any(is_it) {
                continue;
            }
            if known.values.len() >= MOST {
                return false;
            }
            known.values.push(value);
        }
        if known.values.len() > before {
            known.redactor = Redactor::of_secrets(&known.values, SHORTEST);
        }
        true
    }

    /// Finds all of them.
    pub(super) fn redactor(&self) -> Redactor {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.redactor.clone()
    }
}
