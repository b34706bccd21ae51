//! One run of a hook: the request to the host, the hook's answer, and its interpretation.

use alloc::{borrow::ToOwned, format, string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use super::output::ContextOutput;
use super::{
    BlockDecision, HookEvent, HookKind, HookOutput, Judgement, SpecificOutput, SyncOutput,
};
use crate::{json::RawJson, tool::DenyPattern};

/// A run of a hook. Whether the hook is a component, a program or a closure is up to the host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookCall {
    /// The name under which the hook was registered.
    pub hook: String,
    /// The event.
    pub event: HookEvent,
    /// The input of the hook ([`HookInput`](super::HookInput)).
    pub input: RawJson,
    /// The tool call that the event concerns.
    pub tool_use_id: Option<String>,
    /// The time limit in milliseconds. The core enforces it: the cancel signal fires when the time is over.
    pub timeout_ms: u64,
    /// Whether the hook is trusted or may only narrow.
    pub kind: HookKind,
    /// What rules close to a hook that may only narrow, whatever else it was granted. A trusted hook has the rights of whoever
    /// registered it, and nothing here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deny: Vec<DenyPattern>,
}

/// How a hook ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum HookAnswer {
    /// It answered with this JSON: a callback, a component.
    Output(RawJson),
    /// A program exited: exit code 0 is an answer (JSON or text), 2 refuses with its standard error as the reason, any other code
    /// is a failure.
    Exited {
        /// The exit code; none when a signal ended it.
        code: Option<i32>,
        /// Standard output.
        stdout: String,
        /// Standard error.
        stderr: String,
    },
    /// It gave no answer (it trapped, threw, could not be started), with the reason.
    Failed(String),
}

/// The interpretation of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InterpretedAnswer {
    /// The output of a trusted hook.
    Trusted(SyncOutput),
    /// The judgement of a narrowing hook.
    Narrowing(Judgement),
    /// It continues in the background and gives no further answer.
    Async,
    /// It failed, with the reason.
    Failed(String),
}

impl HookAnswer {
    /// Interprets the answer of a hook of this kind to this event. An unreadable answer is a failure.
    #[must_use]
    pub fn interpret(&self, event: HookEvent, kind: HookKind) -> InterpretedAnswer {
        match self {
            Self::Output(json) => read(json, event, kind),
            Self::Failed(reason) => InterpretedAnswer::Failed(reason.clone()),
            Self::Exited {
                code: Some(0),
                stdout,
                ..
            } => {
                let text = stdout.trim();
                if text.starts_with('{') {
                    return match RawJson::parse(text) {
                        Ok(json) => read(&json, event, kind),
                        Err(error) => InterpretedAnswer::Failed(format!(
                            "its output is not JSON: {}",
                            error.reason
                        )),
                    };
                }
                let specific = plain(text, event);
                match kind {
                    HookKind::Trusted => InterpretedAnswer::Trusted(SyncOutput {
                        specific,
                        ..SyncOutput::default()
                    }),
                    // The text is for people, not for the model.
                    HookKind::Narrowing => InterpretedAnswer::Narrowing(Judgement::Pass),
                }
            }
            Self::Exited {
                code: Some(2),
                stderr,
                ..
            } => {
                let reason = match stderr.trim() {
                    "" => "no reason was given".to_owned(),
                    reason => reason.to_owned(),
                };
                match kind {
                    HookKind::Trusted => InterpretedAnswer::Trusted(SyncOutput {
                        decision: Some(BlockDecision::Block),
                        reason: Some(reason),
                        ..SyncOutput::default()
                    }),
                    HookKind::Narrowing => InterpretedAnswer::Narrowing(Judgement::Deny { reason }),
                }
            }
            Self::Exited { code, stderr, .. } => {
                let ended = match code {
                    Some(code) => format!("it ended with exit code {code}"),
                    None => "a signal ended it".to_owned(),
                };
                InterpretedAnswer::Failed(match stderr.trim() {
                    "" => ended,
                    words => format!("{ended}: {words}"),
                })
            }
        }
    }

    /// Its standard output and standard error, or their equivalents.
    #[must_use]
    pub fn written(&self) -> (&str, &str) {
        match self {
            Self::Output(json) => (json.get(), ""),
            Self::Exited { stdout, stderr, .. } => (stdout, stderr),
            Self::Failed(reason) => ("", reason),
        }
    }

    /// The exit code, if the hook is a program.
    #[must_use]
    pub fn exit_code(&self) -> Option<i32> {
        match self {
            Self::Exited { code, .. } => *code,
            Self::Output(_) | Self::Failed(_) => None,
        }
    }
}

/// The meaning of a program's plain text: the path of a worktree, context for the model, or nothing.
fn plain(text: &str, event: HookEvent) -> Option<SpecificOutput> {
    if text.is_empty() {
        return None;
    }
    if event == HookEvent::WorktreeCreate {
        return Some(SpecificOutput::WorktreeCreate {
            worktree_path: text.to_owned(),
        });
    }
    event.takes_plain_context().then(|| {
        SpecificOutput::Context(ContextOutput {
            hook_event_name: event,
            additional_context: Some(text.to_owned()),
        })
    })
}

fn read(json: &RawJson, event: HookEvent, kind: HookKind) -> InterpretedAnswer {
    let read = match kind {
        HookKind::Trusted => HookOutput::parse(json, event).map(|output| match output {
            HookOutput::Async(_) => InterpretedAnswer::Async,
            HookOutput::Done(output) => InterpretedAnswer::Trusted(output),
        }),
        HookKind::Narrowing => Judgement::parse(json, event).map(InterpretedAnswer::Narrowing),
    };
    read.unwrap_or_else(|error| InterpretedAnswer::Failed(format!("{error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exited(code: Option<i32>, stdout: &str, stderr: &str) -> HookAnswer {
        HookAnswer::Exited {
            code,
            stdout: stdout.to_owned(),
            stderr: stderr.to_owned(),
        }
    }

    #[test]
    fn hook_4_a_program_answers_by_its_exit_code() {
        let event = HookEvent::PreToolUse;
        let interpreted = |answer: HookAnswer| answer.interpret(event, HookKind::Trusted);
        let nothing = InterpretedAnswer::Trusted(SyncOutput::default());
        assert_eq!(interpreted(exited(Some(0), "", "")), nothing);
        assert_eq!(interpreted(exited(Some(0), "just words\n", "")), nothing);
        let blocks = |reason: &str| {
            InterpretedAnswer::Trusted(SyncOutput {
                decision: Some(BlockDecision::Block),
                reason: Some(reason.to_owned()),
                ..SyncOutput::default()
            })
        };
        assert_eq!(
            interpreted(exited(Some(2), "ignored", " not here\n")),
            blocks("not here")
        );
        let json = "\n {\"decision\": \"block\", \"reason\": \"r\"}\n";
        assert_eq!(interpreted(exited(Some(0), json, "")), blocks("r"));
        for (answer, named) in [
            (exited(Some(1), "{}", "boom"), "exit code 1: boom"),
            (exited(Some(127), "", ""), "exit code 127"),
            (exited(None, "", ""), "signal"),
            (exited(Some(0), "{\"decision\":", ""), "JSON"),
            (exited(Some(0), "{\"decison\":1}", ""), "decison"),
            (HookAnswer::Failed("trap".to_owned()), "trap"),
        ] {
            let InterpretedAnswer::Failed(reason) = interpreted(answer) else {
                panic!("{named}");
            };
            assert!(reason.contains(named), "{reason}");
        }
    }

    #[test]
    fn hook_11_plain_text_is_context_for_prompts_and_session_starts_only() {
        for event in HookEvent::ALL {
            let interpreted = exited(Some(0), "text", "").interpret(event, HookKind::Trusted);
            let InterpretedAnswer::Trusted(output) = interpreted else {
                panic!("{event:?}");
            };
            let context = output
                .specific
                .as_ref()
                .and_then(|s| s.additional_context());
            let expected = matches!(event, HookEvent::UserPromptSubmit | HookEvent::SessionStart);
            assert_eq!(context.is_some(), expected, "{event:?}");
        }
    }
}
