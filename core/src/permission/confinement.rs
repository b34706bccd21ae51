//! Commands that the operating system confines: which ones are confined, which may run outside, and how that affects the
//! decision.

use alloc::{format, string::String, vec::Vec};

use super::{CallFacts, CommandPattern, PolicyContext};

/// How the host confines commands (Agent SDK reference, `SandboxSettings`). The host must confine every call that does not say
/// otherwise ([`ToolCall::outside_sandbox`](crate::tool::ToolCall::outside_sandbox)).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommandConfinement {
    /// Whether confined commands run without permission, unless a deny or ask rule applies.
    pub auto_allow: bool,
    /// Whether the model may ask for a command to run outside. Such a command is judged like any other.
    pub allow_outside: bool,
    excluded: Vec<CommandPattern>,
}

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

impl CommandConfinement {
    /// A confinement that does not apply to commands beginning with these words (`docker`, `npm run deploy`, `make *`).
    ///
    /// # Errors
    /// What is wrong with one of the entries.
    pub fn new<S: AsRef<str>>(
        auto_allow: bool,
        allow_outside: bool,
        excluded: impl IntoIterator<Item = S>,
    ) -> Result<Self, String> {
        let pattern = |text: S| {
            let text = text.as_ref();
            if text.chars().all(|c| c == '*' || c.is_whitespace()) {
                return Err(format!(
                    "the excluded command {text:?} cannot be used: it names no command, and would exclude all"
                ));
            }
            let open = match text.contains('*') {
                true => String::from(text),
                false => format!("{text}:*"),
            };
            CommandPattern::parse(&open)
                .map_err(|reason| format!("the excluded command {text:?} cannot be used: {reason}"))
        };
        Ok(Self {
            auto_allow,
            allow_outside,
            excluded: excluded
                .into_iter()
                .map(pattern)
                .collect::<Result<_, _>>()?,
        })
    }
}

/// Where the command of a call would run.
pub(super) fn place(policy: &PolicyContext<'_>, call: CallFacts<'_>) -> Place {
    let (Some(confinement), Some(line)) = (policy.confinement, call.command) else {
        return Place::Anywhere;
    };
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
