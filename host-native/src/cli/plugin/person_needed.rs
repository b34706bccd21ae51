//! The person who decides what installed plugins get.

use super::{consent, error::AuthorError, grant};
use crate::cli::{install_args::PluginAnswerArgs, terminal::has_person};

/// What a person answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Consent {
    Given,
    Refused,
    /// There is nobody to ask.
    NobodyThere,
}

/// Whether this command may change plugins at all.
///
/// # Errors
/// [`AuthorError`]: an agent started this program.
pub(super) fn check() -> Result<(), AuthorError> {
    consent::check(&grant::file()?)
}

/// Asks, if there is a terminal and the arguments do not answer.
pub(super) fn consent(about: &str, question: &str, args: &PluginAnswerArgs) -> Consent {
    if args.yes {
        return Consent::Given;
    }
    if args.grant_nothing {
        return Consent::Refused;
    }
    if !has_person() {
        return Consent::NobodyThere;
    }
    match consent::agrees(&format!("{about}{question}")) {
        true => Consent::Given,
        false => Consent::Refused,
    }
}
