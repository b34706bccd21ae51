//! Hooks around a call: before the permission decision, instead of the permission request, and after the call.

use alloc::{borrow::ToOwned, format, string::String, vec::Vec};

use super::{
    super::{
        Shared, Thread,
        hook::{HookRound, context_block},
    },
    hook_state::HookRuling,
    record::{CallState, ToolCallInput},
};
use crate::{
    content::ResultBlock,
    effect::PermissionResponse,
    hook::{
        HookEvent, Merged, Occurrence, PermissionDecision, RequestDecision,
        input::{
            Notification, PermissionDenied, PermissionRequested, PostToolUse, PostToolUseFailure,
            PreToolUse,
        },
    },
    id::Millis,
    json::{RawJson, RawObject},
    message::{DeferredToolUse, InformationLevel},
    permission::PermissionUpdate,
    tool::ToolResult,
};

impl Thread {
    /// Runs the hooks before the permission decision. False if there are none, or they have run already.
    pub(super) fn ask_hooks_before(&mut self, shared: &mut Shared, index: usize) -> bool {
        let call = &mut self.run.calls[index];
        if core::mem::replace(&mut call.hooks.asked_before, true) {
            return false;
        }
        let occurrence = Occurrence::PreToolUse(PreToolUse {
            tool_name: call.name.clone(),
            tool_input: call.input_or_empty(),
            tool_use_id: call.id.clone(),
        });
        self.wait_for_hooks(shared, index, occurrence, CallState::Vetting)
    }

    /// Runs the hooks that can answer a permission request. False if there are none, or they have run already.
    pub(super) fn ask_hooks_instead(
        &mut self,
        shared: &mut Shared,
        index: usize,
        suggestions: &[PermissionUpdate],
    ) -> bool {
        let call = &mut self.run.calls[index];
        if core::mem::replace(&mut call.hooks.asked_instead, true) {
            return false;
        }
        let occurrence = Occurrence::PermissionRequest(PermissionRequested {
            tool_name: call.name.clone(),
            tool_input: call.input_or_empty(),
            permission_suggestions: (!suggestions.is_empty())
                .then(|| RawJson::encode(suggestions).ok())
                .flatten(),
        });
        self.wait_for_hooks(shared, index, occurrence, CallState::Requesting)
    }

    pub(super) fn wait_for_hooks(
        &mut self,
        shared: &mut Shared,
        index: usize,
        occurrence: Occurrence,
        state: CallState,
    ) -> bool {
        let waits = self.fire(shared, occurrence, Some(index));
        if waits {
            self.run.calls[index].state = state;
        }
        waits
    }

    /// Passes the result of a call to the hooks for results, if any, before it is used.
    pub(in crate::session) fn review(
        &mut self,
        shared: &mut Shared,
        index: usize,
        result: ToolResult,
    ) {
        let call = &self.run.calls[index];
        let (tool_name, tool_input) = (call.name.clone(), call.input_or_empty());
        let tool_use_id = call.id.clone();
        // A call that was answered without running has no duration.
        let duration_ms = (call.started != Millis(0)).then(|| shared.now.mono.since(call.started));
        let occurrence = if result.is_error {
            Occurrence::PostToolUseFailure(PostToolUseFailure {
                tool_name,
                tool_input,
                tool_use_id,
                error: result.joined_text(),
                is_interrupt: Some(false),
                duration_ms,
            })
        } else {
            let tool_response = match &result.structured {
                Some(structured) => structured.clone(),
                None => RawJson::string(&result.joined_text()),
            };
            Occurrence::PostToolUse(PostToolUse {
                tool_name,
                tool_input,
                tool_response,
                tool_use_id,
                duration_ms,
            })
        };
        // An interrupt does not wait for hooks that examine results.
        let interrupted = self.phase() == super::Phase::Stopping;
        if !interrupted && self.wait_for_hooks(shared, index, occurrence, CallState::Reviewing) {
            self.run.calls[index].hooks.result = Some(result);
            return;
        }
        // An error result during an interrupt counts as interrupted, even if the tool cleaned up and reported so.
        if interrupted && result.is_error {
            self.tell_hooks_of_interrupt(shared, index);
        }
        self.finish_call(shared, index, result);
    }

    /// A running call ended without a result because the run is interrupted: runs the hooks for failures.
    pub(super) fn tell_hooks_of_interrupt(&mut self, shared: &mut Shared, index: usize) {
        let call = &self.run.calls[index];
        if call.state != CallState::Running {
            return;
        }
        let occurrence = Occurrence::PostToolUseFailure(PostToolUseFailure {
            tool_name: call.name.clone(),
            tool_input: call.input_or_empty(),
            tool_use_id: call.id.clone(),
            error: "The call was interrupted while it ran.".to_owned(),
            is_interrupt: Some(true),
            duration_ms: Some(shared.now.mono.since(call.started)),
        });
        self.fire(shared, occurrence, Some(index));
    }

    /// Ends a call that was denied, after running the hooks for denials.
    pub(super) fn tell_hooks_of_denial(&mut self, shared: &mut Shared, index: usize, text: &str) {
        let call = &self.run.calls[index];
        let occurrence = Occurrence::PermissionDenied(PermissionDenied {
            tool_name: call.name.clone(),
            tool_input: call.input_or_empty(),
            tool_use_id: call.id.clone(),
            reason: text.to_owned(),
        });
        let result = ToolResult::error(text);
        if self.wait_for_hooks(shared, index, occurrence, CallState::Reviewing) {
            self.run.calls[index].hooks.result = Some(result);
        } else {
            self.finish_call(shared, index, result);
        }
    }

    /// Runs the hooks that notify the user of a permission request. Nothing waits for them.
    pub(super) fn notify_of_question(&mut self, shared: &mut Shared, index: usize) {
        let name = &self.run.calls[index].name;
        let occurrence = Occurrence::Notification(Notification {
            message: format!("Whether {name} may run waits for your decision."),
            title: None,
            notification_type: "permission_prompt".to_owned(),
        });
        self.tell_hooks(shared, occurrence);
    }

    pub(in crate::session) fn call_hooks_settled(
        &mut self,
        shared: &mut Shared,
        round: &HookRound,
        merged: Merged,
    ) {
        let index = round.call.saturating_sub(1) as usize;
        let Some(call) = self.run.calls.get_mut(index) else {
            return; // of a round that is over
        };
        let event = round.event();
        call.hooks.context.extend(
            merged
                .context
                .iter()
                .filter_map(|t| context_block(event, t)),
        );
        match (call.state, event) {
            (CallState::Vetting, HookEvent::PreToolUse) => self.vetted(shared, index, merged),
            (CallState::Requesting, HookEvent::PermissionRequest) => {
                self.requested(shared, index, merged);
            }
            (CallState::Preparing, HookEvent::WorktreeCreate) => {
                self.worktree_prepared(shared, index, merged);
            }
            (CallState::Reviewing, _) => self.reviewed(shared, index, event, merged),
            _ => {}
        }
        self.go_on_with_calls(shared);
    }

    fn vetted(&mut self, shared: &mut Shared, index: usize, merged: Merged) {
        if self.run.hook_stop.is_some() {
            return self.refuse_after_stop(shared, index);
        }
        let call = &mut self.run.calls[index];
        if let Err(reason) = call.hooks.narrowing.and(&merged.narrowing) {
            let text = format!("A hook denied {}: {reason}", call.name);
            return self.deny_by_hook(shared, index, &text);
        }
        match &merged.permission {
            Some(ruling) if ruling.decision == PermissionDecision::Deny => {
                let text = format!("A hook denied {}: {}", call.name, ruling.reason);
                return self.deny_by_hook(shared, index, &text);
            }
            Some(ruling) if ruling.decision == PermissionDecision::Defer => {
                return self.defer(shared, index);
            }
            ruling => {
                call.hooks.asks = ruling.as_ref().map(|ruling| HookRuling {
                    allows: ruling.decision == PermissionDecision::Allow,
                    hook: ruling.hook.clone(),
                    reason: ruling.reason.clone(),
                });
            }
        }
        if let Some(input) = merged.updated_input {
            // A changed input makes it a different call: it is validated, resolved and judged like one of the model's.
            call.input = ToolCallInput::Json(input);
        }
        self.begin(shared, index);
    }

    /// Defers a call to whoever started the run: the run ends without running it. If the response has other calls, it cannot be
    /// deferred, since they would run without it; permission is asked for instead.
    fn defer(&mut self, shared: &mut Shared, index: usize) {
        let alone = self.run.calls.len() == 1 && self.is_main();
        let call = &mut self.run.calls[index];
        if !alone {
            let content = format!(
                "A hook defers {}, which only the one call of a response on the main thread can be: it is asked about instead.",
                call.name
            );
            call.hooks.asks = Some(HookRuling {
                allows: false,
                hook: "a hook".to_owned(),
                reason: "it cannot be deferred here".to_owned(),
            });
            self.inform(shared, InformationLevel::Warning, content);
            return self.begin(shared, index);
        }
        self.run.deferred = Some(DeferredToolUse {
            id: call.id.clone(),
            name: call.name.clone(),
            input: call.input_or_empty(),
        });
        let text = "The call did not run: it was deferred, and the run ended with it.";
        self.finish_call(shared, index, ToolResult::error(text));
    }

    fn requested(&mut self, shared: &mut Shared, index: usize, merged: Merged) {
        if self.run.hook_stop.is_some() {
            return self.refuse_after_stop(shared, index);
        }
        match merged.request {
            None => self.judge_call(shared, index),
            Some(RequestDecision::Deny { message, interrupt }) => {
                let name = &self.run.calls[index].name;
                let message = message.unwrap_or_else(|| "no reason was given".to_owned());
                let message = format!("A hook denied {name}: {message}");
                self.permitted(
                    shared,
                    index,
                    PermissionResponse::Deny { message, interrupt },
                );
            }
            Some(RequestDecision::Allow {
                updated_input,
                updated_permissions,
            }) => {
                let updates = updated_permissions.map_or(Ok(Vec::new()), |json| json.read());
                match updates {
                    Ok(updated_permissions) => {
                        let response = PermissionResponse::Allow {
                            updated_input,
                            updated_permissions,
                        };
                        self.permitted(shared, index, response);
                    }
                    // An incomplete answer does not count: permission is asked for.
                    Err(error) => {
                        let content = format!(
                            "A hook allowed {} with permission updates that cannot be read: {error}",
                            self.run.calls[index].name
                        );
                        self.inform(shared, InformationLevel::Warning, content);
                        self.judge_call(shared, index);
                    }
                }
            }
        }
    }

    fn reviewed(&mut self, shared: &mut Shared, index: usize, event: HookEvent, merged: Merged) {
        let call = &mut self.run.calls[index];
        let Some(mut result) = call.hooks.result.take() else {
            return;
        };
        if let Some(reason) = merged.block {
            let feedback = format!("It objects to this result of {}: {reason}", call.name);
            call.hooks.context.extend(context_block(event, &feedback));
        }
        if let Some(output) = merged.updated_output {
            result.content = content_of(&output);
        }
        if merged.retry {
            let text = format!("{} may be tried again.", call.name);
            call.hooks.context.extend(context_block(event, &text));
        }
        self.finish_call(shared, index, result);
    }

    /// Ends a call that has not started because a hook has ended the run.
    pub(super) fn refuse_after_stop(&mut self, shared: &mut Shared, index: usize) {
        let text = "The call was not run: a hook ended the run before it.";
        self.finish_call(shared, index, ToolResult::error(text));
    }
}

/// The content for the model of an output set by a hook: text, content blocks, an MCP result, or any JSON as text.
fn content_of(output: &RawJson) -> Vec<ResultBlock> {
    if let Ok(text) = output.read::<String>() {
        return ToolResult::text(text).content;
    }
    let blocks = |json: &RawJson| json.read::<Vec<ResultBlock>>().ok();
    let inside = RawObject::parse(output.get())
        .ok()
        .and_then(|object| object.get("content").and_then(blocks));
    inside
        .or_else(|| blocks(output))
        .filter(|blocks| !blocks.is_empty())
        .unwrap_or_else(|| ToolResult::text(output.get()).content)
}
