//! How the host confines commands.

use alloc::{format, string::String, vec::Vec};

use super::CommandPattern;

/// How the host confines commands (Agent SDK reference, `SandboxSettings`). The host must confine every call that does not say
/// otherwise ([`ToolCall::outside_sandbox`](crate::tool::ToolCall::outside_sandbox)).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommandConfinement {
    /// Whether confined commands run without permission, unless a deny or ask rule applies.
    pub auto_allow: bool,
    /// Whether the model may ask for a command to run outside. Such a command is judged like any other.
    pub allow_outside: bool,
    pub(super) excluded: Vec<CommandPattern>,
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
