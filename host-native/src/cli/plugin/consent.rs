//! What only a person does: changing what components are granted.
//!
//! A model that may run this command must not widen what its own plugins have. So no program that an agent started changes anything
//! here, whatever terminal it has and whatever it is told. Else a person is asked at the terminal; without one, `--yes` says that the
//! person's own script means it.

use std::io::{self, BufRead as _, Write as _};

use anstream::eprint;
use windlass::{child, plugins::GrantFile};

use super::error::AuthorError;
use crate::cli::{os, plain::clean, terminal::has_person};

/// Whether somebody has read what was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shown {
    /// At the terminal.
    Asked,
    /// Nothing was shown to anybody.
    Nothing,
}

/// Asks a person, unless `--yes` says that nobody has to be asked. The question is shown with the answers that are possible.
///
/// # Errors
/// [`AuthorError`]: an agent started this program, there is nobody to ask, or the answer is no.
pub(super) fn given(question: &str, yes: bool, grants: &GrantFile) -> Result<Shown, AuthorError> {
    check(grants)?;
    if yes {
        return Ok(Shown::Nothing);
    }
    if !has_person() {
        return Err(AuthorError::NobodyToAsk);
    }
    match agrees(question) {
        true => Ok(Shown::Asked),
        false => Err(AuthorError::Declined),
    }
}

/// Whether this command may change what plugins have at all.
///
/// # Errors
/// [`AuthorError::BelowAgent`]: an agent started this program.
pub(super) fn check(grants: &GrantFile) -> Result<(), AuthorError> {
    match child::is_below_agent() {
        true => Err(AuthorError::BelowAgent(grants.path().to_owned())),
        false => Ok(()),
    }
}

/// Asks at the terminal. Whoever says nothing says no.
pub(super) fn agrees(question: &str) -> bool {
    eprint!("{}", clean(question));
    os::discard_typed_ahead();
    eprint!(" y/N > ");
    // A terminal that is gone is noticed when reading from it.
    let _ = io::stderr().flush();
    let mut line = String::new();
    let read = io::stdin().lock().read_line(&mut line);
    read.is_ok() && matches!(line.trim().to_ascii_lowercase().as_str(), "y" | "yes")
}
