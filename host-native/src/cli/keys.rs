//! The environment of this process, and the keys that are no longer in it.

use std::{env, sync::OnceLock};

use windlass::credentials::Credentials;

static HANDED_OVER: OnceLock<Credentials> = OnceLock::new();

/// Takes the keys out of the environment, and closes this process to the programs that it starts. To be called before anything else.
///
/// Where that is not possible the program works all the same: what it starts is given no keys either way.
pub(crate) fn put_away() {
    #[cfg(unix)]
    {
        match super::anew::without_keys() {
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

/// The value of a variable, be it still in the environment or not. An empty one is none.
pub(crate) fn variable(name: &str) -> Option<String> {
    let handed_over = HANDED_OVER.get().and_then(|keys| keys.get(name));
    handed_over
        .map(str::to_owned)
        .or_else(|| env::var(name).ok())
        .filter(|value| !value.is_empty())
}
