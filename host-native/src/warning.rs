//! Warnings on standard error.

use windlass_core::permission::visible_line;

/// Prints a warning on one line. The text may contain names and texts from a folder, a server or a model: control
/// sequences and line breaks are shown, not executed.
#[doc(hidden)]
pub fn warn(text: &str) {
    anstream::eprintln!("windlass: {}", visible_line(text));
}
