//! Where the command of a call runs: confined by the operating system, or outside.

use super::{CallFacts, PolicyContext};

/// Where a command runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// The host confines nothing, or the call runs no command.
    Anywhere,
    /// Confined.
    Sandbox,
    /// Outside, because the settings exclude all of its commands.
    Excluded,
    /// Outside, because the model asks for it.
    AskedOutside,
}

/// Where the command of a call would run.
pub(super) fn place(policy: &PolicyContext<'_>, call: CallFacts<'_>) -> Place {
    let (Some(confinement), Some(line)) = (policy.confinement, call.command) else {
        return Place::Anywhere;
    };
    if call.tool.grant.is_some() {
        // What a plugin does with the text of a command is its own affair.
        return Place::Anywhere;
    }
    if call.asks_outside {
        Place::AskedOutside
    } else if line.are_all(&confinement.excluded) {
        Place::Excluded
    } else {
        Place::Sandbox
    }
}

/// Whether the command of a call runs outside of a sandbox that exists.
pub(crate) fn runs_outside(policy: &PolicyContext<'_>, call: CallFacts<'_>) -> bool {
    match place(policy, call) {
        Place::Excluded => true,
        Place::AskedOutside => policy.confinement.is_some_and(|it| it.allow_outside),
        Place::Anywhere | Place::Sandbox => false,
    }
}
