//! Hook outputs (Agent SDK reference, `HookJSONOutput`), parsed strictly.
//!
//! A misspelt field could be a refusal that goes unnoticed. Unknown fields are therefore an error that names the field, and the
//! hook counts as failed.

mod fields;

use alloc::{
    borrow::ToOwned,
    string::{String, ToString},
};

use serde::Serialize;

pub(super) use self::fields::Fields;
use self::fields::nothing;
use super::HookEvent;
use crate::json::RawJson;

/// The output of a hook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum HookOutput {
    /// The hook continues in the background: the loop does not wait, and ignores its further output.
    Async(AsyncOutput),
    /// The hook is done.
    Done(SyncOutput),
}

/// An output that asks the loop not to wait.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AsyncOutput {
    #[serde(rename = "async")]
    is_async: bool,
    /// The time in milliseconds after which the host may stop the hook.
    #[serde(rename = "asyncTimeout", skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
}

/// The output of a hook that is done.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SyncOutput {
    /// `false` ends the run.
    #[serde(rename = "continue", skip_serializing_if = "Option::is_none")]
    pub goes_on: Option<bool>,
    /// Leave the hook's output out of the messages.
    #[serde(skip_serializing_if = "nothing")]
    pub suppress_output: bool,
    /// Why the run ends; shown to the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
    /// The short form of a decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<BlockDecision>,
    /// A message for the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_message: Option<String>,
    /// The reason for `decision`, for the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Fields specific to the event.
    #[serde(rename = "hookSpecificOutput", skip_serializing_if = "Option::is_none")]
    pub specific: Option<SpecificOutput>,
}

/// The short form of a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum BlockDecision {
    /// Proceed: same as `allow` for a call.
    Approve,
    /// Refuse: a call is denied, a prompt dropped, a stop becomes another turn, a result gets the reason as feedback.
    Block,
}

/// Fields specific to one event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "hookEventName")]
#[non_exhaustive]
pub enum SpecificOutput {
    /// Before a call.
    #[serde(rename_all = "camelCase")]
    PreToolUse {
        /// The decision about the call.
        #[serde(skip_serializing_if = "Option::is_none")]
        permission_decision: Option<PermissionDecision>,
        /// The reason; on a denial the model receives it.
        #[serde(skip_serializing_if = "Option::is_none")]
        permission_decision_reason: Option<String>,
        /// Replaces the input of the call; an object. It is validated and judged like the model's own input.
        #[serde(skip_serializing_if = "Option::is_none")]
        updated_input: Option<RawJson>,
        /// Text for the model.
        #[serde(skip_serializing_if = "Option::is_none")]
        additional_context: Option<String>,
    },
    /// After a call.
    #[serde(rename_all = "camelCase")]
    PostToolUse {
        /// Text for the model.
        #[serde(skip_serializing_if = "Option::is_none")]
        additional_context: Option<String>,
        /// Replaces the tool's output for the model; also read under the name `updatedToolOutput`.
        #[serde(
            rename = "updatedMCPToolOutput",
            skip_serializing_if = "Option::is_none"
        )]
        updated_output: Option<RawJson>,
    },
    /// Instead of a permission request.
    PermissionRequest {
        /// The answer.
        decision: RequestDecision,
    },
    /// After a denial.
    PermissionDenied {
        /// Whether the model may try the call again.
        #[serde(skip_serializing_if = "Option::is_none")]
        retry: Option<bool>,
    },
    /// When a worktree is requested.
    #[serde(rename_all = "camelCase")]
    WorktreeCreate {
        /// The absolute path of the worktree that the hook created. No other one is created.
        worktree_path: String,
    },
    /// Text for the model, for events without other specific fields.
    #[serde(untagged)]
    Context(ContextOutput),
}

/// Text for the model: `UserPromptSubmit`, `SessionStart`, `Setup`, `SubagentStart`, `PostToolUseFailure`, `Notification`,
/// `PostToolBatch`, `UserPromptExpansion`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ContextOutput {
    /// The event.
    pub hook_event_name: HookEvent,
    /// The text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub additional_context: Option<String>,
}

/// A decision about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PermissionDecision {
    /// Run it, unless a deny rule applies.
    Allow,
    /// Ask for permission, whatever rules and mode say.
    Ask,
    /// Not now: the run ends with this call, and whoever started the run decides about it.
    Defer,
    /// Do not run it.
    Deny,
}

/// The answer to a permission request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "behavior", rename_all = "lowercase")]
pub enum RequestDecision {
    /// Run it.
    #[serde(rename_all = "camelCase")]
    Allow {
        /// Replaces the input of the call; an object. It is validated and judged again.
        #[serde(skip_serializing_if = "Option::is_none")]
        updated_input: Option<RawJson>,
        /// Permission updates (`PermissionUpdate[]`).
        #[serde(skip_serializing_if = "Option::is_none")]
        updated_permissions: Option<RawJson>,
    },
    /// Do not run it.
    Deny {
        /// The message for the model.
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<String>,
        /// Also end the run.
        #[serde(skip_serializing_if = "nothing")]
        interrupt: bool,
    },
}

/// An invalid hook output, with the position.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("hook output, {place}: {problem}")]
pub struct HookOutputError {
    /// The field, as a path from the outermost object; "the answer" for the whole output.
    pub place: String,
    /// What is wrong, and what would be valid.
    pub problem: String,
}

impl Default for HookOutput {
    /// No opinion.
    fn default() -> Self {
        Self::Done(SyncOutput::default())
    }
}

impl From<SyncOutput> for HookOutput {
    fn from(output: SyncOutput) -> Self {
        Self::Done(output)
    }
}

impl HookOutput {
    /// For `PreToolUse`: denies the call; the model receives the reason.
    pub fn deny(reason: impl Into<String>) -> Self {
        Self::ruling(PermissionDecision::Deny, Some(reason.into()))
    }

    /// For `PreToolUse`: permission must be asked for.
    pub fn ask(reason: impl Into<String>) -> Self {
        Self::ruling(PermissionDecision::Ask, Some(reason.into()))
    }

    /// For `PreToolUse`: allows the call unless a deny or ask rule applies.
    #[must_use]
    pub fn allow() -> Self {
        Self::ruling(PermissionDecision::Allow, None)
    }

    fn ruling(decision: PermissionDecision, reason: Option<String>) -> Self {
        Self::Done(SyncOutput {
            specific: Some(SpecificOutput::PreToolUse {
                permission_decision: Some(decision),
                permission_decision_reason: reason,
                updated_input: None,
                additional_context: None,
            }),
            ..SyncOutput::default()
        })
    }

    /// `decision: "block"`: a prompt is dropped, a run continues, a result gets the reason as feedback.
    pub fn block(reason: impl Into<String>) -> Self {
        Self::Done(SyncOutput {
            decision: Some(BlockDecision::Block),
            reason: Some(reason.into()),
            ..SyncOutput::default()
        })
    }

    /// `continue: false`: the run ends.
    pub fn stop(reason: impl Into<String>) -> Self {
        Self::Done(SyncOutput {
            goes_on: Some(false),
            stop_reason: Some(reason.into()),
            ..SyncOutput::default()
        })
    }

    /// For `WorktreeCreate`: the worktree was created at this absolute path.
    pub fn worktree(path: impl Into<String>) -> Self {
        Self::Done(SyncOutput {
            specific: Some(SpecificOutput::WorktreeCreate {
                worktree_path: path.into(),
            }),
            ..SyncOutput::default()
        })
    }

    /// The loop does not wait for the hook; the host may stop it after this many milliseconds.
    #[must_use]
    pub fn run_on(timeout_ms: Option<u64>) -> Self {
        Self::Async(AsyncOutput {
            is_async: true,
            timeout_ms,
        })
    }

    /// Parses the output of a hook of this event.
    ///
    /// # Errors
    /// [`HookOutputError`] with the position: a field that is unknown, duplicated, of the wrong type or of another event.
    pub fn parse(json: &RawJson, event: HookEvent) -> Result<Self, HookOutputError> {
        let fields = Fields::read("", json)?;
        if fields.boolean("async")? == Some(true) {
            fields.only(&["async", "asyncTimeout"])?;
            return Ok(Self::run_on(fields.milliseconds("asyncTimeout")?));
        }
        fields.only(&[
            "async",
            "asyncTimeout",
            "continue",
            "suppressOutput",
            "stopReason",
            "decision",
            "systemMessage",
            "reason",
            "hookSpecificOutput",
        ])?;
        Ok(Self::Done(SyncOutput {
            goes_on: fields.boolean("continue")?,
            suppress_output: fields.boolean("suppressOutput")?.unwrap_or_default(),
            stop_reason: fields.text("stopReason")?,
            decision: fields.one_of(
                "decision",
                &[
                    ("approve", BlockDecision::Approve),
                    ("block", BlockDecision::Block),
                ],
            )?,
            system_message: fields.text("systemMessage")?,
            reason: fields.text("reason")?,
            specific: fields
                .object("hookSpecificOutput")?
                .map(|specific| SpecificOutput::read(&specific, event))
                .transpose()?,
        }))
    }

    /// The output as JSON.
    #[must_use]
    pub fn to_json(&self) -> RawJson {
        // Strings, booleans, numbers and raw JSON only: encoding cannot fail.
        RawJson::encode(self).unwrap_or_else(|_| RawJson::empty_object())
    }
}

impl SpecificOutput {
    fn read(fields: &Fields, event: HookEvent) -> Result<Self, HookOutputError> {
        let named = fields.text("hookEventName")?;
        if named.as_deref() != Some(event.name()) {
            return Err(fields.fault(
                "hookEventName",
                alloc::format!(
                    "must be \"{}\", the event this hook was run for",
                    event.name()
                ),
            ));
        }
        let context = || fields.text("additionalContext");
        match event {
            HookEvent::PreToolUse => {
                fields.only(&[
                    "hookEventName",
                    "permissionDecision",
                    "permissionDecisionReason",
                    "updatedInput",
                    "additionalContext",
                ])?;
                Ok(Self::PreToolUse {
                    permission_decision: fields.one_of(
                        "permissionDecision",
                        &[
                            ("allow", PermissionDecision::Allow),
                            ("ask", PermissionDecision::Ask),
                            ("defer", PermissionDecision::Defer),
                            ("deny", PermissionDecision::Deny),
                        ],
                    )?,
                    permission_decision_reason: fields.text("permissionDecisionReason")?,
                    updated_input: fields.raw_object("updatedInput")?,
                    additional_context: context()?,
                })
            }
            HookEvent::PostToolUse => {
                let names = ["updatedMCPToolOutput", "updatedToolOutput"];
                fields.only(&["hookEventName", "additionalContext", names[0], names[1]])?;
                Ok(Self::PostToolUse {
                    additional_context: context()?,
                    updated_output: names.into_iter().find_map(|name| fields.raw(name)),
                })
            }
            HookEvent::PermissionRequest => {
                fields.only(&["hookEventName", "decision"])?;
                let decision = fields.object("decision")?.ok_or_else(|| {
                    fields.fault("decision", "is missing: an object with `behavior`")
                })?;
                Ok(Self::PermissionRequest {
                    decision: RequestDecision::read(&decision)?,
                })
            }
            HookEvent::PermissionDenied => {
                fields.only(&["hookEventName", "retry"])?;
                let retry = fields.boolean("retry")?;
                Ok(Self::PermissionDenied { retry })
            }
            HookEvent::WorktreeCreate => {
                fields.only(&["hookEventName", "worktreePath"])?;
                let worktree_path = fields.text("worktreePath")?.ok_or_else(|| {
                    fields.fault("worktreePath", "is missing: where the worktree is")
                })?;
                Ok(Self::WorktreeCreate { worktree_path })
            }
            // `suppressOriginalPrompt` is accepted without effect: the text of a refusal never repeats the prompt.
            HookEvent::UserPromptExpansion => {
                fields.only(&[
                    "hookEventName",
                    "additionalContext",
                    "suppressOriginalPrompt",
                ])?;
                Ok(Self::Context(ContextOutput {
                    hook_event_name: event,
                    additional_context: context()?,
                }))
            }
            event if event.takes_context() => {
                fields.only(&["hookEventName", "additionalContext"])?;
                Ok(Self::Context(ContextOutput {
                    hook_event_name: event,
                    additional_context: context()?,
                }))
            }
            event => Err(HookOutputError {
                place: "hookSpecificOutput".to_owned(),
                problem: alloc::format!("{} has none: leave it out", event.name()),
            }),
        }
    }

    /// Its text for the model.
    #[must_use]
    pub fn additional_context(&self) -> Option<&str> {
        match self {
            Self::PreToolUse {
                additional_context, ..
            }
            | Self::PostToolUse {
                additional_context, ..
            } => additional_context.as_deref(),
            Self::Context(context) => context.additional_context.as_deref(),
            Self::PermissionRequest { .. }
            | Self::PermissionDenied { .. }
            | Self::WorktreeCreate { .. } => None,
        }
    }
}

impl RequestDecision {
    fn read(fields: &Fields) -> Result<Self, HookOutputError> {
        #[derive(Clone, Copy)]
        enum Behavior {
            Allow,
            Deny,
        }
        let behavior = fields.one_of(
            "behavior",
            &[("allow", Behavior::Allow), ("deny", Behavior::Deny)],
        )?;
        match behavior {
            Some(Behavior::Allow) => {
                fields.only(&["behavior", "updatedInput", "updatedPermissions"])?;
                Ok(Self::Allow {
                    updated_input: fields.raw_object("updatedInput")?,
                    updated_permissions: fields.raw_array("updatedPermissions")?,
                })
            }
            Some(Behavior::Deny) => {
                fields.only(&["behavior", "message", "interrupt"])?;
                Ok(Self::Deny {
                    message: fields.text("message")?,
                    interrupt: fields.boolean("interrupt")?.unwrap_or_default(),
                })
            }
            None => Err(fields.fault("behavior", "is missing: \"allow\" or \"deny\"".to_string())),
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::{format, string::ToString};

    use super::*;

    fn parse(json: &str, event: HookEvent) -> Result<HookOutput, HookOutputError> {
        HookOutput::parse(&RawJson::parse(json).unwrap(), event)
    }

    #[test]
    fn hook_4_every_output_of_the_reference_is_read_and_written_again() {
        use HookEvent as E;
        for (event, json) in [
            (E::Stop, "{}".to_string()),
            (E::Stop, r#"{"async":true}"#.into()),
            (E::Stop, r#"{"async":true,"asyncTimeout":15000}"#.into()),
            (
                E::Stop,
                r#"{"continue":false,"suppressOutput":true,"stopReason":"s","decision":"block","systemMessage":"m","reason":"r"}"#.into(),
            ),
            (E::Stop, r#"{"decision":"approve"}"#.into()),
            (
                E::PreToolUse,
                r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"r","updatedInput":{"z":1.50},"additionalContext":"c"}}"#.into(),
            ),
            (
                E::PostToolUse,
                r#"{"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"c","updatedMCPToolOutput":[null]}}"#.into(),
            ),
            (
                E::PermissionRequest,
                r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow","updatedInput":{},"updatedPermissions":[{"type":"setMode"}]}}}"#.into(),
            ),
            (
                E::PermissionRequest,
                r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"m","interrupt":true}}}"#.into(),
            ),
            (
                E::WorktreeCreate,
                r#"{"hookSpecificOutput":{"hookEventName":"WorktreeCreate","worktreePath":"/wt/f"}}"#.into(),
            ),
        ]
        .into_iter()
        .chain(
            HookEvent::ALL
                .into_iter()
                .filter(|event| event.takes_context())
                .map(|event| {
                    let name = event.name();
                    let json = format!(r#"{{"hookSpecificOutput":{{"hookEventName":"{name}","additionalContext":"c"}}}}"#);
                    (event, json)
                }),
        ) {
            let output = parse(&json, event).unwrap_or_else(|error| panic!("{json}: {error}"));
            assert_eq!(output.to_json().get(), json);
        }
    }

    #[test]
    fn hook_7_nonsense_is_an_error_that_names_the_place() {
        use HookEvent as E;
        let specific = |event: E, rest: &str| {
            format!(
                r#"{{"hookSpecificOutput":{{"hookEventName":"{}",{rest}}}}}"#,
                event.name()
            )
        };
        for (event, json, place) in [
            (E::Stop, "[]".to_string(), "the answer"),
            (E::Stop, "\"no\"".into(), "the answer"),
            (E::Stop, r#"{"contine":false}"#.into(), "contine"),
            (E::Stop, r#"{"continue":"no"}"#.into(), "continue"),
            (E::Stop, r#"{"decision":"deny"}"#.into(), "decision"),
            (
                E::Stop,
                r#"{"decision":"block","decision":"approve"}"#.into(),
                "decision",
            ),
            (
                E::Stop,
                r#"{"async":true,"decision":"block"}"#.into(),
                "decision",
            ),
            (
                E::Stop,
                r#"{"async":true,"asyncTimeout":-1}"#.into(),
                "asyncTimeout",
            ),
            (
                E::Stop,
                specific(E::Stop, r#""additionalContext":"c""#),
                "hookSpecificOutput",
            ),
            (
                E::PreToolUse,
                specific(E::PostToolUse, r#""additionalContext":"c""#),
                "hookSpecificOutput.hookEventName",
            ),
            (
                E::PreToolUse,
                r#"{"hookSpecificOutput":{"permissionDecision":"deny"}}"#.into(),
                "hookSpecificOutput.hookEventName",
            ),
            (
                E::PreToolUse,
                specific(E::PreToolUse, r#""permissionDecison":"deny""#),
                "hookSpecificOutput.permissionDecison",
            ),
            (
                E::PreToolUse,
                specific(E::PreToolUse, r#""permissionDecision":"no""#),
                "hookSpecificOutput.permissionDecision",
            ),
            (
                E::PreToolUse,
                specific(E::PreToolUse, r#""updatedInput":[]"#),
                "hookSpecificOutput.updatedInput",
            ),
            (
                E::PermissionRequest,
                specific(E::PermissionRequest, r#""x":1"#),
                "hookSpecificOutput.x",
            ),
            (
                E::WorktreeCreate,
                specific(E::WorktreeCreate, r#""worktreePath":null"#),
                "hookSpecificOutput.worktreePath",
            ),
            (
                E::PermissionRequest,
                specific(E::PermissionRequest, r#""decision":{"behavior":"maybe"}"#),
                "hookSpecificOutput.decision.behavior",
            ),
            (
                E::PermissionRequest,
                specific(
                    E::PermissionRequest,
                    r#""decision":{"behavior":"deny","updatedInput":{}}"#,
                ),
                "hookSpecificOutput.decision.updatedInput",
            ),
        ] {
            let error = parse(&json, event).unwrap_err();
            assert_eq!(error.place, place, "{json}: {error}");
        }
    }

    #[test]
    fn null_is_as_good_as_absent() {
        let json = r#"{"continue":null,"reason":null,"hookSpecificOutput":null}"#;
        assert_eq!(parse(json, HookEvent::Stop), Ok(HookOutput::default()));
    }
}
