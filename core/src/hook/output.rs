//! What a hook answers (Agent SDK reference, `HookJSONOutput`), read strictly.
//!
//! A field that is misspelt would be a refusal that nobody hears, so what is unknown is an error with its
//! place, and the hook counts as failed.

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

/// What a hook answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum HookOutput {
    /// It goes on by itself: the loop does not wait, and nothing more is heard of it.
    Async(AsyncOutput),
    /// It is done.
    Done(SyncOutput),
}

/// An answer that asks not to be waited for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AsyncOutput {
    #[serde(rename = "async")]
    is_async: bool,
    /// Milliseconds after which whoever runs the hook may stop it.
    #[serde(rename = "asyncTimeout", skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
}

/// An answer with everything it has to say.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SyncOutput {
    /// `false` ends the run.
    #[serde(rename = "continue", skip_serializing_if = "Option::is_none")]
    pub goes_on: Option<bool>,
    /// Keep what the hook wrote out of the messages.
    #[serde(skip_serializing_if = "nothing")]
    pub suppress_output: bool,
    /// Why the run ends; the person reads it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
    /// The short form of a verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<BlockDecision>,
    /// A message for the person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_message: Option<String>,
    /// Why `decision` is what it is; the model reads it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What only this event's hooks can say.
    #[serde(rename = "hookSpecificOutput", skip_serializing_if = "Option::is_none")]
    pub specific: Option<SpecificOutput>,
}

/// The short form of a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum BlockDecision {
    /// Go ahead: what `allow` is for a call.
    Approve,
    /// Do not: a call is denied, a prompt dropped, a stop becomes another turn, a result gets the reason as feedback.
    Block,
}

/// What only one event's hooks can say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "hookEventName")]
#[non_exhaustive]
pub enum SpecificOutput {
    /// Before a call.
    #[serde(rename_all = "camelCase")]
    PreToolUse {
        /// Whether it may run.
        #[serde(skip_serializing_if = "Option::is_none")]
        permission_decision: Option<PermissionDecision>,
        /// Why; on a denial the model reads it.
        #[serde(skip_serializing_if = "Option::is_none")]
        permission_decision_reason: Option<String>,
        /// Run it with this input instead: an object. It is checked and judged as the model's own.
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
        /// What the model sees in place of the tool's output; also read under the name `updatedToolOutput`.
        #[serde(
            rename = "updatedMCPToolOutput",
            skip_serializing_if = "Option::is_none"
        )]
        updated_output: Option<RawJson>,
    },
    /// In place of a question.
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
    /// When a worktree is needed.
    #[serde(rename_all = "camelCase")]
    WorktreeCreate {
        /// Where the hook has made it: an absolute path. None is made besides.
        worktree_path: String,
    },
    /// Text for the model, of the events that say nothing else.
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

/// Whether a call may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PermissionDecision {
    /// Yes, unless a deny rule says no.
    Allow,
    /// Somebody must be asked, whatever rules and mode say.
    Ask,
    /// Not now: the run ends with the call, and whoever started it decides about it.
    Defer,
    /// No.
    Deny,
}

/// The answer to a permission question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "behavior", rename_all = "lowercase")]
pub enum RequestDecision {
    /// Run it.
    #[serde(rename_all = "camelCase")]
    Allow {
        /// With this input instead: an object. It is checked and judged again.
        #[serde(skip_serializing_if = "Option::is_none")]
        updated_input: Option<RawJson>,
        /// Changes of the permissions (`PermissionUpdate[]`).
        #[serde(skip_serializing_if = "Option::is_none")]
        updated_permissions: Option<RawJson>,
    },
    /// Do not run it.
    Deny {
        /// What the model reads.
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<String>,
        /// End the run too.
        #[serde(skip_serializing_if = "nothing")]
        interrupt: bool,
    },
}

/// An answer that cannot be read, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("hook output, {place}: {problem}")]
pub struct HookOutputError {
    /// The field, as a path from the outermost object; "the answer" for the whole.
    pub place: String,
    /// What is wrong, and what would be right.
    pub problem: String,
}

impl Default for HookOutput {
    /// Nothing to say.
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
    /// Before a call: it must not run; the model reads why.
    pub fn deny(reason: impl Into<String>) -> Self {
        Self::ruling(PermissionDecision::Deny, Some(reason.into()))
    }

    /// Before a call: somebody must be asked.
    pub fn ask(reason: impl Into<String>) -> Self {
        Self::ruling(PermissionDecision::Ask, Some(reason.into()))
    }

    /// Before a call: it may run unless a deny or ask rule stands against it.
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

    /// `decision: "block"`: a prompt is dropped, a run goes on, a result gets the reason as feedback.
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

    /// When a worktree is needed: it is there, at this absolute path.
    pub fn worktree(path: impl Into<String>) -> Self {
        Self::Done(SyncOutput {
            specific: Some(SpecificOutput::WorktreeCreate {
                worktree_path: path.into(),
            }),
            ..SyncOutput::default()
        })
    }

    /// Not to be waited for; whoever runs it may stop it after so many milliseconds.
    #[must_use]
    pub fn run_on(timeout_ms: Option<u64>) -> Self {
        Self::Async(AsyncOutput {
            is_async: true,
            timeout_ms,
        })
    }

    /// Reads the answer of a hook of this event.
    ///
    /// # Errors
    /// [`HookOutputError`] with the place: a field that is unknown, doubled, of the wrong kind or of another event.
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

    /// The answer as JSON.
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
            // Kept out of the words of a refusal; the prompt is not repeated in ours.
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

    /// What it adds for the model.
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
