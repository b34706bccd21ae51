//! Whether a call may run, and what whoever was asked said.

use alloc::{borrow::ToOwned, format, string::String};

use super::super::{
    Outcome, Shared, Thread,
    run::{CallState, ToolCallInput},
};
use crate::{
    effect::{Effect, PermissionRequest, PermissionResponse},
    id::Stage,
    json::RawObject,
    message::PermissionDenial,
    permission::{CallFacts, Cause, Mode, Rule, Verdict, judge},
    tool::{ToolDefinition, ToolResult},
};

/// Why a call runs that somebody was asked about.
const APPROVED: &str = "it was approved when asked";

impl Thread {
    pub(super) fn judge_call(&mut self, shared: &mut Shared, index: usize) {
        let spec = self.spec.clone();
        let call = &self.run.calls[index];
        let Some(tool) = spec.tool(&call.name) else {
            return;
        };
        let command = command_of(tool, &call.input);
        let input = call.input_or_empty();
        let subject = tool.core.and_then(|core| core.subject(&input));
        let decision = judge(
            &spec.permissions.rules,
            &shared.session_allow,
            shared.mode,
            spec.permissions.free_workspace_reads,
            &spec.environment,
            CallFacts {
                tool,
                command: command.as_deref(),
                paths: &call.paths,
                subject: subject.as_deref(),
                consent: tool
                    .core
                    .map(|core| core.consent(&input))
                    .unwrap_or_default(),
            },
        );
        let reason = decision.cause.explain();
        match decision.verdict {
            Verdict::Deny => self.deny(shared, index, &denial(tool, &decision.cause, shared.mode)),
            Verdict::Allow => self.run_call(shared, index, reason),
            Verdict::Ask if call.approved => {
                self.run_call(shared, index, APPROVED.to_owned());
            }
            Verdict::Ask if !spec.permissions.can_ask => {
                let text = match (&decision.cause, tool.core) {
                    (Cause::AsksThePerson, Some(core)) => core.nobody_to_ask().to_owned(),
                    _ => format!(
                        "{} needs permission ({reason}), and there is nobody to ask. Allow it with a rule such as {}.",
                        tool.name,
                        suggestion(tool, command.as_deref()).unwrap_or_else(|| tool.name.clone())
                    ),
                };
                self.deny(shared, index, &text);
            }
            Verdict::Ask => {
                let request = PermissionRequest {
                    tool_use_id: call.id.clone(),
                    tool_name: call.name.clone(),
                    input,
                    blocked_path: match &decision.cause {
                        Cause::OutsideWorkspace(path) => Some(path.clone()),
                        _ => None,
                    },
                    decision_reason: reason,
                    suggested_rule: match (&decision.cause, &subject) {
                        // No rule could answer next time.
                        (Cause::AsksThePerson, _) => None,
                        (_, Some(subject)) => Some(format!("{}({subject})", tool.name)),
                        (_, None) => suggestion(tool, command.as_deref()),
                    },
                };
                self.run.calls[index].state = CallState::Asking;
                let id = self.call_effect(shared, index, Stage::Ask);
                self.perform(shared, id, Effect::AskPermission(request));
            }
        }
    }

    pub(super) fn permitted(
        &mut self,
        shared: &mut Shared,
        index: usize,
        response: PermissionResponse,
    ) {
        match response {
            PermissionResponse::Deny { message, interrupt } => {
                self.deny(shared, index, &message);
                if interrupt {
                    self.interrupt(shared, Outcome::Interrupted);
                }
            }
            PermissionResponse::Allow {
                updated_input,
                allow_rules,
            } => {
                // A rule that cannot be read widens nothing; the call itself was allowed.
                let rules = allow_rules.iter().filter_map(|r| Rule::parse(r).ok());
                shared.session_allow.extend(rules);
                let call = &mut self.run.calls[index];
                call.approved = true;
                match updated_input {
                    None => self.run_call(shared, index, APPROVED.to_owned()),
                    Some(input) if !input.is_object() => {
                        let text = "The input was replaced by something that is not a JSON object, so the call was not run.";
                        self.finish_call(shared, index, ToolResult::error(text));
                    }
                    Some(input) => {
                        // Another input is another call: checked, resolved and held against the
                        // deny rules again.
                        call.input = ToolCallInput::Json(input);
                        call.attempt += 1;
                        self.begin(shared, index);
                    }
                }
            }
        }
    }

    pub(super) fn deny(&mut self, shared: &mut Shared, index: usize, text: &str) {
        let call = &self.run.calls[index];
        self.run.denials.push(PermissionDenial {
            tool_name: call.name.clone(),
            tool_use_id: call.id.clone(),
            tool_input: call.input_or_empty(),
        });
        self.finish_call(shared, index, ToolResult::error(text));
    }
}

fn command_of(tool: &ToolDefinition, input: &ToolCallInput) -> Option<String> {
    let field = tool.command_param.as_deref()?;
    match input {
        ToolCallInput::Json(input) => RawObject::parse(input.get()).ok()?.get_string(field),
        ToolCallInput::Unusable(_) => None,
    }
}

fn denial(tool: &ToolDefinition, cause: &Cause, mode: Mode) -> String {
    let reason = cause.explain();
    match mode {
        Mode::Plan if !matches!(cause, Cause::Rule(_)) => format!(
            "{} did not run: this is plan mode, in which nothing is changed. Present a plan instead.",
            tool.name
        ),
        _ => format!("Permission to use {} was denied: {reason}.", tool.name),
    }
}

/// A rule that would allow such calls; none for a command that no rule can describe.
fn suggestion(tool: &ToolDefinition, command: Option<&str>) -> Option<String> {
    match command {
        // Only what can be read back as a rule is worth suggesting.
        Some(command) => {
            let rule = format!("{}({})", tool.name, command.trim());
            Rule::parse(&rule).is_ok().then_some(rule)
        }
        None => Some(tool.name.clone()),
    }
}
