//! Reading an event and building the judgement of a hook.

use serde::de::DeserializeOwned;

use crate::{DeniedAccess, DeniedPath, HookEvent, Judgement, Narrowing};

/// Why a hook failed, in one sentence: what, where and what to do. A judge that fails has refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct HookError(String);

impl HookError {
    /// An error with this message.
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

impl From<String> for HookError {
    fn from(message: String) -> Self {
        Self(message)
    }
}

impl HookEvent {
    /// Reads what happened into a type, with the fields that the Agent SDK reference names for the event.
    ///
    /// # Errors
    /// [`HookError`] with the name of the event and what does not fit.
    pub fn input<T: DeserializeOwned>(&self) -> Result<T, HookError> {
        serde_json::from_str(&self.input).map_err(|error| {
            HookError::new(format!("the input of {} does not fit: {error}", self.event))
        })
    }
}

impl Judgement {
    /// Refuses, with a reason that the model reads.
    pub fn deny(reason: impl Into<String>) -> Self {
        Self::Deny(reason.into())
    }

    /// Asks for permission, with a reason that the person reads.
    pub fn ask(reason: impl Into<String>) -> Self {
        Self::Ask(reason.into())
    }
}

impl From<Narrowing> for Judgement {
    fn from(narrowing: Narrowing) -> Self {
        Self::Narrow(narrowing)
    }
}

impl Narrowing {
    /// Restrictions without any restriction, to be added to.
    #[must_use]
    pub fn new() -> Self {
        Self {
            deny_paths: Vec::new(),
            timeout_ms: None,
        }
    }

    /// Closes the paths that a pattern matches for reading and writing: an absolute pattern (`/work/secrets/**`), one at any
    /// depth (`**/.env`), or a name alone (`*.pem`).
    #[must_use]
    pub fn without(self, pattern: impl Into<String>) -> Self {
        self.with(pattern.into(), DeniedAccess::Read)
    }

    /// Closes them for writing only.
    #[must_use]
    pub fn without_writing(self, pattern: impl Into<String>) -> Self {
        self.with(pattern.into(), DeniedAccess::Write)
    }

    /// Gives the call at most this time, in milliseconds.
    #[must_use]
    pub fn within_ms(mut self, timeout_ms: u32) -> Self {
        self.timeout_ms = Some(timeout_ms);
        self
    }

    fn with(mut self, pattern: String, access: DeniedAccess) -> Self {
        self.deny_paths.push(DeniedPath { pattern, access });
        self
    }
}

impl Default for Narrowing {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Deserialize)]
    struct Call {
        tool_name: String,
    }

    fn event(input: &str) -> HookEvent {
        HookEvent {
            hook: "Policy".to_owned(),
            event: "PreToolUse".to_owned(),
            input: input.to_owned(),
            tool_use_id: None,
        }
    }

    #[test]
    fn an_input_is_read_or_the_event_is_named() {
        let call: Call = event(r#"{"tool_name":"Write","cwd":"/work"}"#)
            .input()
            .unwrap();
        assert_eq!(call.tool_name, "Write");
        let error = event("{}")
            .input::<Call>()
            .map(drop)
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("PreToolUse") && error.contains("tool_name"),
            "{error}"
        );
    }

    #[test]
    fn a_narrowing_grows_by_its_restrictions() {
        let narrowing = Narrowing::new()
            .without("**/.env")
            .without_writing("/etc/**")
            .within_ms(50);
        let accesses: Vec<DeniedAccess> = narrowing
            .deny_paths
            .iter()
            .map(|path| path.access)
            .collect();
        assert_eq!(accesses, [DeniedAccess::Read, DeniedAccess::Write]);
        assert!(matches!(
            Judgement::from(narrowing),
            Judgement::Narrow(Narrowing {
                timeout_ms: Some(50),
                ..
            })
        ));
    }
}
