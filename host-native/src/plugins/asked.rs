//! What a declaration asks for beyond files, and whether a host could grant it at all.

use std::collections::BTreeSet;

use serde::Deserialize;

use super::origin::{Origin, OriginMethods};
use crate::credentials::is_credential;

/// The longest name of a secret or a variable.
const LONGEST_NAME: usize = 64;

/// The longest description, of a secret or of a tool, and the longest input schema, in bytes: every request to a model has those of tools.
pub(super) const LONGEST_TEXT: usize = 64 << 10;

/// The most origins, secrets and variables of each kind.
const MOST: usize = 64;

/// A secret that a plugin asks for.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeclaredSecret {
    /// The name by which the plugin uses it.
    pub name: String,
    /// What it is, for whoever grants it.
    pub description: String,
    /// Where it is sent: each is among the origins of `grants.http`.
    pub audience: BTreeSet<Origin>,
}

impl DeclaredSecret {
    /// Whether it has the name of a variable that holds a key of windlass itself. Who says yes to all that a plugin asks for does not
    /// give that away: it is granted by name, if at all.
    #[must_use]
    pub fn is_own_key(&self) -> bool {
        is_credential(&self.name)
    }
}

/// A declaration that asks for what no host can grant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AskedFault {
    /// An origin is named more than once.
    #[error("`grants.http` has the origin {0} twice: name it once, with all methods")]
    RepeatedOrigin(Origin),
    /// A secret or variable has no possible name.
    #[error(
        "`{0}` is no name of a secret or variable: 1 to {LONGEST_NAME} letters, digits and `_`, and no digit at the beginning"
    )]
    Name(String),
    /// A secret or variable is named more than once.
    #[error("it asks for `{0}` twice")]
    RepeatedName(String),
    /// Nobody would read what a secret is.
    #[error("the `description` of the secret `{0}` has more than {LONGEST_TEXT} bytes")]
    Description(String),
    /// A secret is meant for no origin.
    #[error("the secret `{0}` has no `audience`: name the origins that it is sent to")]
    NoAudience(String),
    /// A secret is meant for an origin to which no request can go.
    #[error("the secret `{secret}` is meant for {origin}, which is not among `grants.http`")]
    Audience {
        /// The secret.
        secret: String,
        /// The origin.
        origin: Origin,
    },
    /// A variable that holds a key.
    #[error("the variable `{0}` holds a key: no component can read it, ask for a secret instead")]
    Credential(String),
    /// More of one kind than anybody would look through.
    #[error("`grants.{0}` has more than {MOST} entries")]
    TooMany(&'static str),
    /// More roles than anybody would find directories for.
    #[error("`grants.directories` has {0} roles: at most 16")]
    TooManyRoles(usize),
    /// A role has no possible name.
    #[error(
        "`{0}` is no name of a role in `grants.directories`: 1 to 64 letters, digits, `_` and `-`"
    )]
    Role(String),
    /// A role is named more than once.
    #[error(
        "`grants.directories` has the role `{0}` twice: name it once, with the most that it needs"
    )]
    RepeatedRole(String),
    /// Nobody could tell what a role is for.
    #[error(
        "the role `{0}` has no usable `description`: say on one line, with at most 200 characters and none that controls or turns text, what is expected there"
    )]
    RoleDescription(String),
}

/// Checks what a declaration asks for.
pub(super) fn check(
    http: &[OriginMethods],
    secrets: &[DeclaredSecret],
    env: &[String],
) -> Result<(), AskedFault> {
    let counts = [
        ("http", http.len()),
        ("secrets", secrets.len()),
        ("env", env.len()),
    ];
    if let Some((kind, _)) = counts.into_iter().find(|(_, count)| *count > MOST) {
        return Err(AskedFault::TooMany(kind));
    }
    let mut origins = BTreeSet::new();
    for asked in http {
        if !origins.insert(&asked.origin) {
            return Err(AskedFault::RepeatedOrigin(asked.origin.clone()));
        }
    }
    check_names(secrets.iter().map(|secret| &secret.name))?;
    check_names(env.iter())?;
    if let Some(name) = env.iter().find(|name| is_credential(name)) {
        return Err(AskedFault::Credential(name.clone()));
    }
    for secret in secrets {
        if secret.description.len() > LONGEST_TEXT {
            return Err(AskedFault::Description(secret.name.clone()));
        }
        if secret.audience.is_empty() {
            return Err(AskedFault::NoAudience(secret.name.clone()));
        }
        if let Some(origin) = secret
            .audience
            .iter()
            .find(|origin| !origins.contains(origin))
        {
            return Err(AskedFault::Audience {
                secret: secret.name.clone(),
                origin: origin.clone(),
            });
        }
    }
    Ok(())
}

fn check_names<'a>(names: impl Iterator<Item = &'a String>) -> Result<(), AskedFault> {
    let mut known = BTreeSet::new();
    for name in names {
        let letters = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let begins = name.chars().next().is_some_and(|c| !c.is_ascii_digit());
        if !begins || name.len() > LONGEST_NAME || !name.chars().all(letters) {
            return Err(AskedFault::Name(name.clone()));
        }
        if !known.insert(name) {
            return Err(AskedFault::RepeatedName(name.clone()));
        }
    }
    Ok(())
}
