//! Where the values of secrets come from, and what was used of them.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use secrecy::{ExposeSecret as _, SecretString};

use crate::redact::Redactor;

/// Bytes of the shortest secret that is used: a shorter one cannot be told from other text in an answer.
pub(super) const SHORTEST: usize = 8;

/// The most secrets whose values are looked for in answers; a source that changes them more often is refused further ones.
const MOST: usize = 64;

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

/// Where a host finds the values of secrets. It is asked at the moment of use, on the thread of the call.
#[derive(Clone)]
pub struct SecretSource(Arc<dyn Fn(SecretRequest<'_>) -> Option<SecretString> + Send + Sync>);

impl SecretSource {
    /// A source that asks a function, such as one that opens a key ring.
    pub fn new(
        find: impl Fn(SecretRequest<'_>) -> Option<SecretString> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(find))
    }

    /// The environment of this process: a reference is the name of a variable. The default.
    #[must_use]
    pub fn environment() -> Self {
        Self::new(|wanted| std::env::var(wanted.reference).ok().map(SecretString::from))
    }

    /// The value, without white space around it, if it can be used as a secret.
    pub(super) fn find(&self, wanted: SecretRequest<'_>) -> Option<SecretString> {
        let found = (self.0)(wanted)?;
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

/// The secrets that a plugin has used. A server may repeat one in a later answer too, so all are looked for in every answer.
#[derive(Debug, Default)]
pub(super) struct UsedSecrets(Mutex<Used>);

#[derive(Debug, Default)]
struct Used {
    values: Vec<SecretString>,
    redactor: Redactor,
}

impl UsedSecrets {
    /// Looks for this value from now on. False if there are too many already.
    pub(super) fn add(&self, value: SecretString) -> bool {
        let mut used = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_known = |known: &SecretString| known.expose_secret() == value.expose_secret();
        if used.values.iter().any(is_known) {
            return true;
        }
        if used.values.len() >= MOST {
            return false;
        }
        used.values.push(value);
        used.redactor = Redactor::of_secrets(&used.values, SHORTEST);
        true
    }

    /// Finds all of them.
    pub(super) fn redactor(&self) -> Redactor {
        let used = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        used.redactor.clone()
    }
}
