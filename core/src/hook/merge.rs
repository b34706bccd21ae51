//! Merges the answers of all hooks of one event.

use alloc::{
    borrow::ToOwned,
    format,
    string::{String, ToString},
    vec::Vec,
};

use super::{
    BlockDecision, FailurePolicy, HookEvent, InterpretedAnswer, Judgement, Narrowing,
    PermissionDecision, RequestDecision, SpecificOutput, SyncOutput,
};
use crate::json::RawJson;

/// A hook with its interpreted answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnsweredHook {
    /// The hook.
    pub hook: String,
    /// How a failure of it is treated.
    pub on_failure: FailurePolicy,
    /// Its interpreted answer.
    pub answer: InterpretedAnswer,
}

/// The merged answers of the hooks of one event. The result depends on the order of registration, never on which hook finished
/// first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Merged {
    /// Set if the run is to end: the first reason given.
    pub stop: Option<String>,
    /// The decision about a call: deny wins over defer, defer over ask, ask over allow.
    pub permission: Option<Ruling>,
    /// The input that replaces the call's input: the last one given.
    pub updated_input: Option<RawJson>,
    /// The answer to a permission request: deny wins over allow.
    pub request: Option<RequestDecision>,
    /// `decision: "block"`, with all reasons; for calls this is a denial.
    pub block: Option<String>,
    /// Texts for the model, in order.
    pub context: Vec<String>,
    /// Messages for the user, in order.
    pub system_messages: Vec<String>,
    /// The replacement for a tool's output: the last one given.
    pub updated_output: Option<RawJson>,
    /// The path of the worktree that a hook created: the last one given.
    pub worktree_path: Option<String>,
    /// The restrictions of the call.
    pub narrowing: Narrowing,
    /// Whether the model may retry a call that was denied.
    pub retry: bool,
}

/// The hooks' decision about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ruling {
    /// The strictest decision.
    pub decision: PermissionDecision,
    /// The reasons of the hooks that made this decision, one per line.
    pub reason: String,
    /// The first hook that made this decision.
    pub hook: String,
}

/// Merges the answers of hooks, given in the order of registration.
///
/// - **Deny wins over defer, defer over ask, ask over allow.** The reasons of all hooks with the winning decision are kept.
/// - **The last changed input wins**, and an *allow* counts only for the input that runs: the hook must have seen the input
///   unchanged, or have set it itself. An *allow* for any other input is ignored.
/// - Context and messages are kept in order; the first `stopReason` counts; the last changed output wins.
#[must_use]
pub fn merge(event: HookEvent, hooks: &[AnsweredHook]) -> Merged {
    let mut merged = Merged::default();
    let mut rulings = Vec::new();
    let mut answers = Vec::new();
    let mut blocks = Vec::new();
    for answered in hooks {
        match &answered.answer {
            InterpretedAnswer::Async => {}
            InterpretedAnswer::Trusted(output) => {
                merged.take(output);
                rulings.extend(ruling(event, answered, output));
                answers.extend(answer(event, output));
                if output.decision == Some(BlockDecision::Block) {
                    blocks.push(reason_of(output));
                }
            }
            InterpretedAnswer::Narrowing(judgement) => match judgement {
                Judgement::Pass => {}
                Judgement::Narrow(narrowing) => {
                    if let Err(reason) = merged.narrowing.and(narrowing) {
                        let deny = PermissionDecision::Deny;
                        rulings.push((deny, reason.to_owned(), answered, None));
                    }
                }
                Judgement::Ask { reason } => {
                    rulings.push((PermissionDecision::Ask, reason.clone(), answered, None));
                }
                Judgement::Deny { reason } => {
                    rulings.push((PermissionDecision::Deny, reason.clone(), answered, None));
                    answers.push(denied(reason));
                    if event.can_be_refused() {
                        blocks.push(reason.clone());
                    }
                }
            },
            InterpretedAnswer::Failed(reason) => {
                let reason = format!("the hook {} failed: {reason}", answered.hook);
                match answered.on_failure {
                    FailurePolicy::Continue => {}
                    FailurePolicy::Ask => {
                        rulings.push((PermissionDecision::Ask, reason, answered, None));
                    }
                    FailurePolicy::Block => {
                        rulings.push((PermissionDecision::Deny, reason.clone(), answered, None));
                        answers.push(denied(&reason));
                        if event.can_be_refused() {
                            blocks.push(reason);
                        }
                    }
                }
            }
        }
    }
    if event == HookEvent::PreToolUse {
        merged.rule(rulings);
    }
    if event == HookEvent::PermissionRequest {
        merged.settle(answers);
    }
    if !event.judges_calls() && !blocks.is_empty() {
        merged.block = Some(blocks.join("\n"));
    }
    merged
}

/// A decision with its reason, its hook, and the input that the hook set.
type Taken<'a> = (
    PermissionDecision,
    String,
    &'a AnsweredHook,
    Option<&'a RawJson>,
);

impl Merged {
    fn take(&mut self, output: &SyncOutput) {
        if output.goes_on == Some(false) && self.stop.is_none() {
            let reason = output.stop_reason.as_deref();
            self.stop = Some(reason.unwrap_or("a hook ended the run").to_owned());
        }
        self.system_messages.extend(output.system_message.clone());
        let Some(specific) = &output.specific else {
            return;
        };
        self.context
            .extend(specific.additional_context().map(ToOwned::to_owned));
        match specific {
            SpecificOutput::PreToolUse {
                updated_input: Some(input),
                ..
            } => self.updated_input = Some(input.clone()),
            SpecificOutput::PostToolUse {
                updated_output: Some(output),
                ..
            } => self.updated_output = Some(output.clone()),
            SpecificOutput::WorktreeCreate { worktree_path } => {
                self.worktree_path = Some(worktree_path.clone());
            }
            SpecificOutput::PermissionDenied { retry } => self.retry |= *retry == Some(true),
            _ => {}
        }
    }

    fn rule(&mut self, mut rulings: Vec<Taken<'_>>) {
        // An *allow* for another input than the one that runs does not count.
        let runs = self.updated_input.as_ref();
        rulings
            .retain(|(decision, _, _, set)| *decision != PermissionDecision::Allow || *set == runs);
        let Some(decision) = rulings.iter().map(|(decision, ..)| *decision).max() else {
            return;
        };
        rulings.retain(|(taken, ..)| *taken == decision);
        let reasons: Vec<&str> = rulings.iter().map(|(_, why, ..)| why.as_str()).collect();
        let reason = reasons.join("\n");
        self.permission = rulings.first().map(|(.., answered, _)| Ruling {
            decision,
            reason,
            hook: answered.hook.clone(),
        });
    }

    fn settle(&mut self, answers: Vec<RequestDecision>) {
        let denials = answers.iter().filter_map(|answer| match answer {
            RequestDecision::Deny { message, interrupt } => Some((message, *interrupt)),
            RequestDecision::Allow { .. } => None,
        });
        let interrupt = denials.clone().any(|(_, interrupt)| interrupt);
        let messages: Vec<String> = denials.clone().filter_map(|(m, _)| m.clone()).collect();
        if denials.count() > 0 {
            self.request = Some(RequestDecision::Deny {
                message: (!messages.is_empty()).then(|| messages.join("\n")),
                interrupt,
            });
            return;
        }
        for answer in answers {
            let RequestDecision::Allow {
                updated_input: input,
                updated_permissions: permissions,
            } = answer
            else {
                continue;
            };
            let (mut last_input, mut all_permissions) = match self.request.take() {
                Some(RequestDecision::Allow {
                    updated_input,
                    updated_permissions,
                }) => (updated_input, updated_permissions),
                _ => (None, None),
            };
            last_input = input.or(last_input);
            all_permissions = joined(all_permissions, permissions);
            self.request = Some(RequestDecision::Allow {
                updated_input: last_input,
                updated_permissions: all_permissions,
            });
        }
    }
}

fn ruling<'a>(
    event: HookEvent,
    answered: &'a AnsweredHook,
    output: &'a SyncOutput,
) -> Option<Taken<'a>> {
    if event != HookEvent::PreToolUse {
        return None;
    }
    let shortly = output.decision.map(|decision| match decision {
        BlockDecision::Approve => PermissionDecision::Allow,
        BlockDecision::Block => PermissionDecision::Deny,
    });
    let (at_length, why, set) = match &output.specific {
        Some(SpecificOutput::PreToolUse {
            permission_decision,
            permission_decision_reason,
            updated_input,
            ..
        }) => (
            *permission_decision,
            permission_decision_reason.clone(),
            updated_input.as_ref(),
        ),
        _ => (None, None, None),
    };
    let decision = shortly.into_iter().chain(at_length).max()?;
    Some((
        decision,
        why.unwrap_or_else(|| reason_of(output)),
        answered,
        set,
    ))
}

fn answer(event: HookEvent, output: &SyncOutput) -> Vec<RequestDecision> {
    if event != HookEvent::PermissionRequest {
        return Vec::new();
    }
    let shortly = output.decision.map(|decision| match decision {
        BlockDecision::Approve => RequestDecision::Allow {
            updated_input: None,
            updated_permissions: None,
        },
        BlockDecision::Block => denied(&reason_of(output)),
    });
    let at_length = match &output.specific {
        Some(SpecificOutput::PermissionRequest { decision }) => Some(decision.clone()),
        _ => None,
    };
    shortly.into_iter().chain(at_length).collect()
}

fn denied(reason: &str) -> RequestDecision {
    RequestDecision::Deny {
        message: Some(reason.to_owned()),
        interrupt: false,
    }
}

fn reason_of(output: &SyncOutput) -> String {
    output
        .reason
        .clone()
        .unwrap_or_else(|| "no reason was given".to_string())
}

/// Concatenates two JSON arrays.
fn joined(one: Option<RawJson>, other: Option<RawJson>) -> Option<RawJson> {
    let (Some(first), Some(second)) = (&one, &other) else {
        return one.or(other);
    };
    let mut all: Vec<RawJson> = first.read().unwrap_or_default();
    all.extend(second.read::<Vec<RawJson>>().unwrap_or_default());
    RawJson::encode(&all).ok()
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;
    use crate::hook::{HookAnswer, HookKind};

    fn answered(event: HookEvent, outputs: &[&str]) -> Vec<AnsweredHook> {
        outputs
            .iter()
            .enumerate()
            .map(|(index, json)| AnsweredHook {
                hook: format!("h{index}"),
                on_failure: FailurePolicy::of(event),
                answer: HookAnswer::Output(RawJson::parse(*json).unwrap())
                    .interpret(event, HookKind::Trusted),
            })
            .collect()
    }

    fn before(outputs: &[&str]) -> Merged {
        let whole: Vec<String> = outputs
            .iter()
            .map(|rest| {
                format!(r#"{{"hookSpecificOutput":{{"hookEventName":"PreToolUse",{rest}}}}}"#)
            })
            .collect();
        let whole: Vec<&str> = whole.iter().map(String::as_str).collect();
        merge(
            HookEvent::PreToolUse,
            &answered(HookEvent::PreToolUse, &whole),
        )
    }

    const ALLOW: &str = r#""permissionDecision":"allow""#;
    const ASK: &str = r#""permissionDecision":"ask","permissionDecisionReason":"sure?""#;
    const DENY: &str = r#""permissionDecision":"deny","permissionDecisionReason":"no""#;

    fn decision(merged: &Merged) -> Option<PermissionDecision> {
        merged.permission.as_ref().map(|ruling| ruling.decision)
    }

    #[test]
    fn hook_2_deny_wins_over_ask_and_ask_over_allow_in_any_order() {
        use PermissionDecision as D;
        for (outputs, expected) in [
            (vec![ALLOW, ASK, DENY], D::Deny),
            (vec![DENY, ASK, ALLOW], D::Deny),
            (vec![ASK, ALLOW], D::Ask),
            (vec![ALLOW, ASK], D::Ask),
            (vec![ALLOW, ALLOW], D::Allow),
        ] {
            assert_eq!(decision(&before(&outputs)), Some(expected), "{outputs:?}");
        }
        let ruling = before(&[DENY, ALLOW, DENY]).permission.unwrap();
        assert_eq!(ruling.reason, "no\nno");
        assert_eq!(ruling.hook, "h0");
        assert_eq!(decision(&before(&[])), None);
    }

    #[test]
    fn hook_10_an_allow_counts_only_for_the_input_that_runs() {
        let changes = r#""updatedInput":{"a":1}"#;
        let allows_its_own = r#""permissionDecision":"allow","updatedInput":{"a":2}"#;
        assert_eq!(decision(&before(&[ALLOW, changes])), None);
        assert_eq!(decision(&before(&[allows_its_own, changes])), None);
        let merged = before(&[changes, allows_its_own]);
        assert_eq!(decision(&merged), Some(PermissionDecision::Allow));
        assert_eq!(merged.updated_input.unwrap().get(), r#"{"a":2}"#);
    }

    #[test]
    fn hook_4_everything_else_is_kept_in_the_order_of_registration() {
        let event = HookEvent::PostToolUse;
        let said = |text: &str, output: &str| {
            format!(
                r#"{{"systemMessage":"{text}","decision":"block","reason":"{text}","hookSpecificOutput":{{"hookEventName":"PostToolUse","additionalContext":"{text}","updatedMCPToolOutput":{output}}}}}"#
            )
        };
        let outputs = [
            said("one", "1"),
            r#"{"continue":false,"stopReason":"enough"}"#.to_string(),
            r#"{"continue":false,"stopReason":"later"}"#.to_string(),
            said("two", "2"),
            r#"{"async":true}"#.to_string(),
        ];
        let outputs: Vec<&str> = outputs.iter().map(String::as_str).collect();
        let merged = merge(event, &answered(event, &outputs));
        assert_eq!(merged.system_messages, ["one", "two"]);
        assert_eq!(merged.context, ["one", "two"]);
        assert_eq!(merged.block.as_deref(), Some("one\ntwo"));
        assert_eq!(merged.stop.as_deref(), Some("enough"));
        assert_eq!(merged.updated_output.unwrap().get(), "2");
        assert_eq!(merged.permission, None);
    }

    #[test]
    fn hook_13_of_answers_to_a_question_deny_wins() {
        let event = HookEvent::PermissionRequest;
        let answer = |decision: &str| {
            format!(
                r#"{{"hookSpecificOutput":{{"hookEventName":"PermissionRequest","decision":{decision}}}}}"#
            )
        };
        let allow = |rest: &str| answer(&format!(r#"{{"behavior":"allow"{rest}}}"#));
        let one = allow(r#","updatedInput":{"a":1},"updatedPermissions":[1]"#);
        let two = allow(r#","updatedPermissions":[2]"#);
        let no = answer(r#"{"behavior":"deny","message":"no","interrupt":true}"#);
        let together = |outputs: &[&String]| {
            let outputs: Vec<&str> = outputs.iter().map(|o| o.as_str()).collect();
            merge(event, &answered(event, &outputs)).request
        };
        assert_eq!(
            together(&[&one, &two]),
            Some(RequestDecision::Allow {
                updated_input: Some(RawJson::parse(r#"{"a":1}"#).unwrap()),
                updated_permissions: Some(RawJson::parse("[1,2]").unwrap()),
            })
        );
        assert_eq!(
            together(&[&one, &no, &two]),
            Some(RequestDecision::Deny {
                message: Some("no".to_owned()),
                interrupt: true
            })
        );
        assert_eq!(together(&[]), None);
    }

    #[test]
    fn hook_7_a_failure_means_what_the_policy_says() {
        let failed = |event, on_failure| {
            let answered = AnsweredHook {
                hook: "guard".to_owned(),
                on_failure,
                answer: InterpretedAnswer::Failed("trap".to_owned()),
            };
            merge(event, &[answered])
        };
        use FailurePolicy as P;
        let event = HookEvent::PreToolUse;
        assert_eq!(P::of(event), P::Ask);
        let asked = failed(event, P::Ask);
        assert_eq!(decision(&asked), Some(PermissionDecision::Ask));
        assert!(
            asked
                .permission
                .unwrap()
                .reason
                .contains("guard failed: trap")
        );
        let blocked = failed(event, P::Block);
        assert_eq!(decision(&blocked), Some(PermissionDecision::Deny));
        assert_eq!(failed(event, P::Continue), Merged::default());
        let event = HookEvent::PermissionRequest;
        assert_eq!(failed(event, P::Ask), Merged::default());
        let blocked = failed(event, P::Block).request;
        assert!(matches!(blocked, Some(RequestDecision::Deny { .. })));
        assert_eq!(failed(HookEvent::Stop, P::Block), Merged::default());
        assert!(
            failed(HookEvent::UserPromptSubmit, P::Block)
                .block
                .is_some()
        );
        for event in HookEvent::ALL.into_iter().filter(|e| !e.judges_calls()) {
            assert_eq!(failed(event, P::of(event)), Merged::default(), "{event:?}");
        }
    }

    #[test]
    fn a_third_party_only_takes_away() {
        let narrow = |ms| {
            InterpretedAnswer::Narrowing(Judgement::Narrow(Narrowing {
                deny_paths: Vec::new(),
                timeout_ms: Some(ms),
            }))
        };
        let answered = |answer| AnsweredHook {
            hook: "plugin".to_owned(),
            on_failure: FailurePolicy::Ask,
            answer,
        };
        let merged = merge(
            HookEvent::PreToolUse,
            &[
                answered(narrow(80)),
                answered(narrow(50)),
                answered(narrow(90)),
            ],
        );
        assert_eq!(merged.narrowing.timeout_ms, Some(50));
        // Each may close something, but not all together as much as they like.
        let close = |hook: usize| {
            let pattern = format!("/{hook}/{}", "x".repeat(60_000));
            let access = crate::tool::Access::Read;
            let deny_paths = vec![crate::tool::DenyPattern { pattern, access }];
            answered(InterpretedAnswer::Narrowing(Judgement::Narrow(Narrowing {
                deny_paths,
                timeout_ms: None,
            })))
        };
        let merged = merge(HookEvent::PreToolUse, &[close(1), close(2)]);
        let ruling = merged.permission.unwrap();
        assert_eq!(ruling.decision, PermissionDecision::Deny);
        assert!(ruling.reason.contains("65536 bytes"), "{ruling:?}");
        assert_eq!(merged.narrowing.deny_paths.len(), 1);
        let deny = || {
            InterpretedAnswer::Narrowing(Judgement::Deny {
                reason: "no".to_owned(),
            })
        };
        // A narrowing hook cannot keep a session from ending.
        assert_eq!(
            merge(HookEvent::Stop, &[answered(deny())]),
            Merged::default()
        );
        let refused = merge(HookEvent::UserPromptSubmit, &[answered(deny())]);
        assert_eq!(refused.block.as_deref(), Some("no"));
    }
}
