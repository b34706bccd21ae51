//! The environment of this process, and the keys that were removed from it.

use std::{env, sync::OnceLock};

use windlass::credentials::Credentials;

static HANDED_OVER: OnceLock<Credentials> = OnceLock::new();

/// Removes the keys from the environment, and protects this process from the programs that it starts. Must be called first.
///
/// If that fails, the program works anyway: the programs that it starts get no keys in either case.
pub(crate) fn put_away() {
    #[cfg(unix)]
    {
        match super::reexec::without_keys() {
            Ok(keys) => drop(HANDED_OVER.set(keys)),
            Err(error) => anstream::eprintln!("windlass: the keys: {error}"),
        }
        if let Err(error) = windlass::child::protect_process() {
            anstream::eprintln!(
                "windlass: the memory of this process stays open to programs of the same user: {error}"
            );
        }
    }
}

/// The value of a variable, whether it was removed from the environment or not. An empty value counts as unset.
pub(crate) fn variable(name: &str) -> Option<String> {
    let handed_over = HANDED_OVER.get().and_then(|keys| keys.get(name));
    handed_over
        .map(str::to_owned)
        .or_else(|| env::var(name).ok())
        .filter(|value| !value.is_empty())
}
