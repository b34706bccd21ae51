//! The text styles of what a person reads in a terminal.

use anstyle::{AnsiColor, Style};

pub(super) const BOLD: Style = Style::new().bold();
pub(super) const DIM: Style = Style::new().dimmed();
pub(super) const GOOD: Style = AnsiColor::Green.on_default();
pub(super) const WARNING: Style = AnsiColor::Yellow.on_default();
pub(super) const BAD: Style = AnsiColor::Red.on_default();

/// The mark before a question, and before the place for a prompt.
pub(super) const ASKING: Style = AnsiColor::Yellow.on_default().bold();
