//! What the plugin remembers between its calls (`grants.state` of the declaration): for a session or for good, as granted.

use serde::{Serialize, de::DeserializeOwned};

use crate::ToolError;
use crate::bindings::windlass::host::state as host;
pub use crate::bindings::windlass::host::state::StateError;

/// The value of a key, if there is one.
///
/// # Errors
/// [`StateError`] as the host gives it: `NotGranted` if nothing may be remembered.
pub fn get(key: &str) -> Result<Option<Vec<u8>>, StateError> {
    host::get(key)
}

/// Adds or replaces a value. A key has 1 to 120 bytes and no control characters.
///
/// # Errors
/// [`StateError`] as the host gives it: `Full` for a value of more than 1 MiB, or if all would be more than 16 MiB or 1,000.
pub fn set(key: &str, value: &[u8]) -> Result<(), StateError> {
    host::set(key, value)
}

/// Removes a value, if there is one.
///
/// # Errors
/// [`StateError`] as the host gives it.
pub fn remove(key: &str) -> Result<(), StateError> {
    host::remove(key)
}

/// The keys that begin with this text, sorted.
///
/// # Errors
/// [`StateError`] as the host gives it.
pub fn keys(prefix: &str) -> Result<Vec<String>, StateError> {
    host::keys(prefix)
}

/// The value of a key as it was given to [`set_json`].
///
/// # Errors
/// [`ToolError`] if the host gives none, or it has another shape.
pub fn get_json<T: DeserializeOwned>(key: &str) -> Result<Option<T>, ToolError> {
    let Some(value) = get(key)? else {
        return Ok(None);
    };
    let value = serde_json::from_slice(&value);
    value.map(Some).map_err(|error| {
        ToolError::new(format!(
            "What is remembered as `{key}` has another shape: {error}."
        ))
    })
}

/// Adds or replaces a value, as JSON.
///
/// # Errors
/// [`ToolError`] if the host does not take it, or it has no JSON form.
pub fn set_json<T: Serialize + ?Sized>(key: &str, value: &T) -> Result<(), ToolError> {
    let value = serde_json::to_vec(value)
        .map_err(|error| ToolError::new(format!("`{key}` has no JSON form: {error}.")))?;
    Ok(set(key, &value)?)
}

impl From<StateError> for ToolError {
    fn from(error: StateError) -> Self {
        Self::new(match error {
            StateError::NotGranted => {
                "The plugin may not remember anything: it was granted no state."
            }
            StateError::Invalid => {
                "A key of the plugin's state is empty, too long or has control characters."
            }
            StateError::Full => "The plugin's state is full.",
            StateError::Io => "The plugin's state cannot be read or written.",
        })
    }
}
