//! Error messages in the wording of the emulated shell.

use std::{ffi::OsStr, io};

use windlass_shell::{Part, Simple};

/// The shell that is emulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    Bash,
    /// Debian's `/bin/sh`.
    Dash,
}

/// The shell in whose name messages are printed.
#[derive(Debug, Clone)]
pub(super) struct Voice {
    /// The name under which it was called.
    pub(super) name: String,
    pub(super) dialect: Dialect,
}

impl Voice {
    /// The bash that runs the command line.
    pub(super) fn bash() -> Self {
        Self {
            name: "bash".to_owned(),
            dialect: Dialect::Bash,
        }
    }

    /// A message with its prefix and line number.
    pub(super) fn line(&self, line: u32, text: &[u8]) -> Vec<u8> {
        let word = match self.dialect {
            Dialect::Bash => "line ",
            Dialect::Dash => "",
        };
        let begin = format!("{}: {word}{line}: ", self.name);
        [begin.as_bytes(), text, b"\n"].concat()
    }

    pub(super) fn is_dash(&self) -> bool {
        self.dialect == Dialect::Dash
    }
}

/// The system's message for an error, without its number.
pub(super) fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    match text.rfind(" (os error ") {
        Some(end) if error.raw_os_error().is_some() => text[..end].to_owned(),
        _ => text,
    }
}

/// A text with a name that may not be UTF-8.
pub(super) fn with_name(before: &str, name: impl AsRef<OsStr>, after: &str) -> Vec<u8> {
    let name = std::os::unix::ffi::OsStrExt::as_bytes(name.as_ref());
    [before.as_bytes(), name, after.as_bytes()].concat()
}

/// The text of a command in the message that a signal has ended it.
pub(super) fn command_text(simple: &Simple) -> String {
    let words = simple.words.iter().map(|word| {
        let parts = word.parts.iter().map(|part| match part {
            Part::Literal(text) | Part::Pattern(text) => text.clone(),
            Part::Tilde => "~".to_owned(),
            Part::Variable { name, .. } | Part::Operation { name, .. } => format!("${name}"),
            Part::Status => "$?".to_owned(),
            Part::Substitution { .. } => "$(…)".to_owned(),
            Part::Process { .. } => "<(…)".to_owned(),
        });
        parts.collect::<String>()
    });
    words.collect::<Vec<_>>().join(" ")
}
