//! Writes changes of settings to a store.

use std::collections::BTreeMap;

use windlass_core::{
    RawJson,
    json::RawObject,
    permission::{Destination, PermissionUpdate},
};

use super::change::{change_permissions, changed, check_rules};
use crate::store::{Store, StoreError, digest};

/// How often a change is retried after a concurrent one.
const TRIES: usize = 100;

/// A change that was not written. The settings are unchanged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The settings cannot be read or written.
    #[error("the settings file {place} cannot be changed: {reason}")]
    Store {
        /// The place of the settings.
        place: String,
        /// The error of the store.
        reason: String,
    },
    /// The existing settings are invalid, and are not changed.
    #[error(
        "the settings file {place} is not changed, since what is in it cannot be read: {problem}"
    )]
    Malformed {
        /// The place of the settings.
        place: String,
        /// The problem.
        problem: String,
    },
    /// A rule that would be refused when it is read.
    #[error(transparent)]
    Rule(#[from] windlass_core::permission::RuleError),
}

/// Settings that were written: destination and place.
pub type Written = (Destination, String);

/// Writes the updates whose destination is persistent, in order; all others are ignored. Other keys, their order and their
/// values are preserved, and concurrent changes are not lost.
///
/// # Errors
/// [`WriteError`] for the first destination that cannot be changed. The rules of all updates are checked before anything is
/// written.
pub async fn write_permissions(
    store: &impl Store,
    updates: &[PermissionUpdate],
) -> Result<Vec<Written>, WriteError> {
    check_rules(updates)?;
    let mut written = Vec::new();
    for destination in [
        Destination::UserSettings,
        Destination::ProjectSettings,
        Destination::LocalSettings,
    ] {
        let of = |update: &&PermissionUpdate| update.destination() == destination;
        let mine: Vec<&PermissionUpdate> = updates.iter().filter(of).collect();
        if mine.is_empty() {
            continue;
        }
        let change = |settings: &mut RawObject| change_permissions(settings, mine.iter().copied());
        written.extend(write(store, destination, change).await?);
    }
    Ok(written)
}

/// Writes string values by key into the settings of a destination, preserving everything else. Nothing is written for a
/// destination that is not persistent.
///
/// # Errors
/// [`WriteError`].
pub async fn write_texts(
    store: &impl Store,
    destination: Destination,
    texts: &BTreeMap<String, String>,
) -> Result<Option<Written>, WriteError> {
    let change = |settings: &mut RawObject| {
        for (key, text) in texts {
            settings.set(key, RawJson::string(text));
        }
        Ok(())
    };
    write(store, destination, change).await
}

/// Applies a change to settings. Settings that cannot be parsed, or that `change` rejects, are not modified.
async fn write(
    store: &impl Store,
    destination: Destination,
    change: impl Fn(&mut RawObject) -> Result<(), String>,
) -> Result<Option<Written>, WriteError> {
    let Some(place) = store.settings_place(destination) else {
        return Ok(None);
    };
    let failed = |error: StoreError| WriteError::Store {
        place: place.clone(),
        reason: error.into_source().to_string(),
    };
    let malformed = |problem: String| WriteError::Malformed {
        place: place.clone(),
        problem,
    };
    for _ in 0..TRIES {
        let read = store.settings(destination).await.map_err(failed)?;
        let text = std::str::from_utf8(read.as_deref().unwrap_or_default());
        let text = text.map_err(|error| malformed(error.to_string()))?;
        let after = changed(text, &change).map_err(malformed)?;
        let read = read.as_deref().map(digest);
        let replaced = store.replace_settings(destination, read.as_deref(), after.as_bytes());
        match replaced.await {
            Err(StoreError::Changed(_)) => {}
            done => {
                return done
                    .map(|()| Some((destination, place.clone())))
                    .map_err(failed);
            }
        }
    }
    Err(failed(StoreError::Changed(place.clone())))
}
