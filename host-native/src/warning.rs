//! What is said on standard error beside the answers.

use windlass_core::permission::visible;

/// Says something to the person. Names and texts of a folder, a server or a model stand in it: what would steer the terminal is
/// shown, and does nothing.
#[doc(hidden)]
pub fn warn(text: &str) {
    anstream::eprintln!("windlass: {}", visible(text));
}
