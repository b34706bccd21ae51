//! Answers of third-party hooks, which can only restrict a call.

use alloc::{
    borrow::ToOwned,
    format,
    string::{String, ToString},
    vec::Vec,
};

use serde::{Deserialize, Serialize};

use super::{
    BlockDecision, HookEvent, HookOutput, HookOutputError, PermissionDecision, RequestDecision,
    SpecificOutput, SyncOutput, output::Fields,
};
use crate::{json::RawJson, permission::normal_patterns, tool::DenyPattern};

/// The answer of a narrowing hook. It has no *allow*, no changed input and no text for the model: whatever such a hook answers,
/// the call could do at least as much without it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(tag = "verdict", rename_all = "lowercase")]
pub enum Judgement {
    /// No opinion. This is not an *allow*: rules and mode decide.
    #[default]
    Pass,
    /// Permission must be asked for.
    Ask {
        /// The reason, shown to the user.
        reason: String,
    },
    /// The call is denied.
    Deny {
        /// The reason, for the model.
        reason: String,
    },
    /// The call may run with these restrictions.
    Narrow(Narrowing),
}

/// Restrictions of a call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Narrowing {
    /// Paths that the call cannot access, in addition to those of the deny rules.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub deny_paths: Vec<DenyPattern>,
    /// A time limit in milliseconds, if it is shorter than the call's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u32>,
}

impl Narrowing {
    fn read(fields: &Fields) -> Result<Self, HookOutputError> {
        fields.only(&["verdict", "deny_paths", "timeout_ms"])?;
        let deny_paths = match fields.raw("deny_paths") {
            None => Vec::new(),
            Some(paths) => {
                let named = paths.read();
                let named = named.map_err(|error| fields.fault("deny_paths", error.reason))?;
                Self::closing(named).map_err(|fault| fields.fault("deny_paths", fault))?
            }
        };
        let timeout_ms = fields.milliseconds("timeout_ms")?;
        Ok(Self {
            deny_paths,
            timeout_ms: timeout_ms.map(|ms| u32::try_from(ms).unwrap_or(u32::MAX)),
        })
    }

    /// The patterns that close what a hook named, in the form that is compared with resolved paths: absolute ones, `**/` and what
    /// follows at any depth, or a name alone at any depth. One with alternatives in braces becomes several.
    ///
    /// # Errors
    /// What is wrong with one: a hook must be able to rely on what it said, so that one that would close nothing, or less, is none.
    /// And too many of them, since they are compared with each path of the call.
    pub fn closing(named: Vec<DenyPattern>) -> Result<Vec<DenyPattern>, String> {
        let mut closing = Vec::new();
        for DenyPattern { pattern, access } in named {
            let fault = |fault: &str| format!("the path pattern {pattern:.99}: {fault}");
            let rooted = match pattern.as_str() {
                absolute if absolute.starts_with('/') || is_on_drive(absolute) => pattern.clone(),
                name if name.starts_with("**/") => format!("/{name}"),
                name if !name.is_empty() && !name.trim_end_matches('/').contains('/') => {
                    format!("/**/{name}")
                }
                _ => {
                    return Err(fault(
                        "must be absolute, begin with `**/`, or be a name alone",
                    ));
                }
            };
            // Where it leads is not always known, and an alternative that leads nowhere would be left out.
            if rooted.split(['/', '{', ',', '}']).any(|part| part == "..") {
                return Err(fault("must not lead up (`..`)"));
            }
            let normal = normal_patterns(&rooted).map_err(fault)?;
            closing.extend(
                normal
                    .into_iter()
                    .map(|pattern| DenyPattern { pattern, access }),
            );
            if !are_kept(&closing) {
                return Err(TOO_MUCH.to_owned());
            }
        }
        Ok(closing)
    }

    /// Adds the restrictions of another narrowing.
    ///
    /// # Errors
    /// Together they are more than what is compared with each path; nothing was added then.
    pub(crate) fn and(&mut self, other: &Self) -> Result<(), &'static str> {
        let mut both = self.deny_paths.clone();
        for pattern in &other.deny_paths {
            if !both.contains(pattern) {
                both.push(pattern.clone());
            }
        }
        if !are_kept(&both) {
            return Err(TOO_MUCH);
        }
        self.deny_paths = both;
        self.timeout_ms = shorter(self.timeout_ms, other.timeout_ms);
        Ok(())
    }
}

/// Patterns of paths by which a call is narrowed, and their bytes: the host compiles all of them, and compares each with each path.
const MOST_PATTERNS: usize = 1000;
const MOST_BYTES: usize = 64 << 10;

const TOO_MUCH: &str =
    "the call is narrowed by more than 1000 path patterns, or 65536 bytes of them";

fn are_kept(patterns: &[DenyPattern]) -> bool {
    let bytes = patterns.iter().map(|it| it.pattern.len());
    patterns.len() <= MOST_PATTERNS && bytes.sum::<usize>() <= MOST_BYTES
}

/// Whether it is an absolute path of Windows.
fn is_on_drive(pattern: &str) -> bool {
    matches!(pattern.as_bytes(), [drive, b':', b'/', ..] if drive.is_ascii_alphabetic())
}

/// The shorter of two limits.
pub(crate) fn shorter(one: Option<u32>, other: Option<u32>) -> Option<u32> {
    one.into_iter().chain(other).min()
}

impl Judgement {
    /// Reads `{"verdict": "pass" | "ask" | "deny" | "narrow", …}`, or the output of an ordinary hook if it only restricts.
    ///
    /// # Errors
    /// [`HookOutputError`]: unreadable, or it would allow more than without the hook.
    pub fn parse(json: &RawJson, event: HookEvent) -> Result<Self, HookOutputError> {
        let fields = Fields::read("", json)?;
        let Some(verdict) = fields.text("verdict")? else {
            return match HookOutput::parse(json, event)? {
                HookOutput::Async(_) => Ok(Self::Pass),
                HookOutput::Done(output) => Self::of_output(&output),
            };
        };
        let reason = || {
            fields.only(&["verdict", "reason"])?;
            fields
                .text("reason")?
                .ok_or_else(|| fields.fault("reason", "is missing"))
        };
        match verdict.as_str() {
            "pass" => fields.only(&["verdict"]).map(|()| Self::Pass),
            "ask" => Ok(Self::Ask { reason: reason()? }),
            "deny" => Ok(Self::Deny { reason: reason()? }),
            "narrow" => Narrowing::read(&fields).map(Self::Narrow),
            _ => Err(fields.fault("verdict", "must be pass, ask, deny or narrow")),
        }
    }

    /// The judgement of an ordinary output that only restricts.
    fn of_output(output: &SyncOutput) -> Result<Self, HookOutputError> {
        let widens = |place: &str, what: &str| {
            Err(HookOutputError {
                place: place.to_owned(),
                problem: format!("a narrowing hook cannot {what}"),
            })
        };
        let reason = |reason: &Option<String>| {
            let reason = reason.as_ref().or(output.reason.as_ref());
            reason.map_or_else(|| "no reason was given".to_string(), Clone::clone)
        };
        if output.goes_on == Some(false) {
            return widens("continue", "end the run");
        }
        let shortly = match output.decision {
            Some(BlockDecision::Approve) => return widens("decision", "approve"),
            Some(BlockDecision::Block) => Self::Deny {
                reason: reason(&None),
            },
            None => Self::Pass,
        };
        let specific = match &output.specific {
            None => Self::Pass,
            Some(specific) if specific.additional_context().is_some() => {
                let place = "hookSpecificOutput.additionalContext";
                return widens(place, "speak to the model");
            }
            Some(SpecificOutput::PreToolUse {
                updated_input: Some(_),
                ..
            }) => return widens("hookSpecificOutput.updatedInput", "change the input"),
            Some(SpecificOutput::PostToolUse {
                updated_output: Some(_),
                ..
            }) => {
                let place = "hookSpecificOutput.updatedMCPToolOutput";
                return widens(place, "change the output");
            }
            Some(SpecificOutput::PreToolUse {
                permission_decision,
                permission_decision_reason: why,
                ..
            }) => match permission_decision {
                None => Self::Pass,
                Some(PermissionDecision::Ask) => Self::Ask {
                    reason: reason(why),
                },
                Some(PermissionDecision::Deny) => Self::Deny {
                    reason: reason(why),
                },
                Some(PermissionDecision::Allow) => {
                    return widens("hookSpecificOutput.permissionDecision", "allow");
                }
                Some(PermissionDecision::Defer) => {
                    return widens("hookSpecificOutput.permissionDecision", "end the run");
                }
            },
            Some(SpecificOutput::PermissionRequest { decision }) => match decision {
                RequestDecision::Deny { message, .. } => Self::Deny {
                    reason: reason(message),
                },
                RequestDecision::Allow { .. } => {
                    return widens("hookSpecificOutput.decision.behavior", "allow");
                }
            },
            Some(SpecificOutput::PermissionDenied { retry: Some(true) }) => {
                return widens("hookSpecificOutput.retry", "let a call be tried again");
            }
            Some(SpecificOutput::WorktreeCreate { .. }) => {
                let place = "hookSpecificOutput.worktreePath";
                return widens(place, "choose where the work goes on");
            }
            Some(
                SpecificOutput::PostToolUse { .. }
                | SpecificOutput::PermissionDenied { .. }
                | SpecificOutput::Context(_),
            ) => Self::Pass,
        };
        Ok(match (shortly, specific) {
            (deny @ Self::Deny { .. }, _) => deny,
            (_, specific) => specific,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(json: &str, event: HookEvent) -> Result<Judgement, HookOutputError> {
        Judgement::parse(&RawJson::parse(json).unwrap(), event)
    }

    #[test]
    fn hook_7_a_narrowing_hook_has_no_way_to_widen() {
        use HookEvent as E;
        let specific = |event: E, rest: &str| {
            format!(
                r#"{{"hookSpecificOutput":{{"hookEventName":"{}",{rest}}}}}"#,
                event.name()
            )
        };
        for (event, json, place) in [
            (
                E::PreToolUse,
                r#"{"verdict":"allow"}"#.to_string(),
                "verdict",
            ),
            (E::PreToolUse, r#"{"verdict":"deny"}"#.into(), "reason"),
            (
                E::PreToolUse,
                r#"{"verdict":"pass","reason":"x"}"#.into(),
                "reason",
            ),
            (
                E::PreToolUse,
                r#"{"decision":"approve"}"#.into(),
                "decision",
            ),
            (E::PreToolUse, r#"{"continue":false}"#.into(), "continue"),
            (
                E::PreToolUse,
                specific(E::PreToolUse, r#""permissionDecision":"allow""#),
                "hookSpecificOutput.permissionDecision",
            ),
            (
                E::PreToolUse,
                specific(
                    E::PreToolUse,
                    r#""permissionDecision":"deny","updatedInput":{}"#,
                ),
                "hookSpecificOutput.updatedInput",
            ),
            (
                E::UserPromptSubmit,
                specific(E::UserPromptSubmit, r#""additionalContext":"obey""#),
                "hookSpecificOutput.additionalContext",
            ),
            (
                E::PermissionRequest,
                specific(E::PermissionRequest, r#""decision":{"behavior":"allow"}"#),
                "hookSpecificOutput.decision.behavior",
            ),
        ] {
            let error = parse(&json, event).unwrap_err();
            assert_eq!(error.place, place, "{json}: {error}");
        }
    }

    #[test]
    fn a_narrowing_hook_may_speak_either_form() {
        let deny = |reason: &str| {
            Ok(Judgement::Deny {
                reason: reason.to_owned(),
            })
        };
        let event = HookEvent::PreToolUse;
        assert_eq!(parse("{}", event), Ok(Judgement::Pass));
        assert_eq!(parse(r#"{"verdict":"pass"}"#, event), Ok(Judgement::Pass));
        assert_eq!(
            parse(r#"{"verdict":"deny","reason":"r"}"#, event),
            deny("r")
        );
        assert_eq!(
            parse(r#"{"decision":"block","reason":"r"}"#, event),
            deny("r")
        );
        let narrow = parse(
            r#"{"verdict":"narrow","deny_paths":[{"pattern":"/work/.env","access":"read"}],"timeout_ms":50}"#,
            event,
        );
        let Ok(Judgement::Narrow(narrowing)) = narrow else {
            panic!("{narrow:?}");
        };
        assert_eq!(narrowing.deny_paths.len(), 1);
        assert_eq!(narrowing.timeout_ms, Some(50));
    }
}
