//! What is said on standard error beside the answers.

use windlass_core::permission::visible_line;

/// Says something to the person, on one line. Names and texts of a folder, a server or a model stand in it: what would steer the
/// terminal, or begin a line that reads like another of ours, is shown and does nothing.
#[doc(hidden)]
pub fn warn(text: &str) {
    anstream::eprintln!("windlass: {}", visible_line(text));
}
