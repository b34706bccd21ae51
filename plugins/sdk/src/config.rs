//! Settings of the environment, by names that the plugin declares (`grants.env`).

/// The value of a variable; none if it is not set, or was not granted.
#[must_use]
pub fn get(name: &str) -> Option<String> {
    crate::bindings::windlass::host::config::get(name)
}
