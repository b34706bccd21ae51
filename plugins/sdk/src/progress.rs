//! What a long call is doing, for whoever waits for it.

use crate::bindings::windlass::host::progress as host;

/// Reports what the call is doing. The host takes 100 reports of a call and drops further ones.
pub fn report(message: &str) {
    host::report(message, None);
}

/// Reports what the call is doing and how much of it is done, between 0 and 1.
pub fn report_fraction(message: &str, fraction: f64) {
    host::report(message, Some(fraction));
}
