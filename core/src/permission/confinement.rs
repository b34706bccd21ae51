//! Commands that the operating system confines: which of them do, which may leave, and what that decides.

use alloc::{format, string::String, vec::Vec};

use super::{CallFacts, CommandPattern, PolicyContext};

/// How the host confines commands (Agent SDK reference, `SandboxSettings`). The host must do so for every call that does not
/// say otherwise ([`ToolCall::outside_sandbox`](crate::tool::ToolCall::outside_sandbox)).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommandConfinement {
    /// Commands that run confined need no permission but what rules that deny or ask say.
    pub auto_allow: bool,
    /// The model may ask for a command to run outside, which is then judged like any other.
    pub allow_outside: bool,
    excluded: Vec<CommandPattern>,
}

/// Where a command runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Nothing is confined, or the call runs no command.
    Anywhere,
    /// Confined.
    Sandbox,
    /// Outside: the settings exclude all of its commands.
    Excluded,
    /// Outside, because the model asks for it.
    AskedOutside,
}

impl CommandConfinement {
    /// Confinement that commands beginning with these words are excluded from (`docker`, `npm run deploy`, `make *`).
    ///
    /// # Errors
    /// What is wrong with one of them.
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

/// Whether the command of a call runs outside of the sandbox that there is.
pub(crate) fn runs_outside(policy: &PolicyContext<'_>, call: CallFacts<'_>) -> bool {
    match place(policy, call) {
        Place::Excluded => true,
        Place::AskedOutside => policy.confinement.is_some_and(|it| it.allow_outside),
        Place::Anywhere | Place::Sandbox => false,
    }
}
