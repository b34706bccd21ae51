//! The permission decision on a call, and the answer to a permission request.

use alloc::{borrow::ToOwned, format, string::String, vec::Vec};

use super::{
    super::{Outcome, Shared, Thread},
    record::{Call, CallState, ToolCallInput},
};
use crate::{
    effect::{Effect, PermissionRequest, PermissionResponse, Stage},
    json::RawJson,
    message::{Message, PermissionDenial, PermissionDenied, SystemMessage},
    permission::{
        CallFacts, Cause, Decision, Mode, PermissionUpdate, PolicyContext, Scope, Verdict,
        first_rule, judge, suggestions, visible,
    },
    spec::Spec,
    tool::{ApprovedCommand, CoreTool, FsGrant, ToolCall, ToolDefinition, ToolResult},
    tools::task::TaskInput,
};

/// The reason recorded for a call that was approved on request.
const APPROVED: &str = "it was approved when asked";

/// A call that starts an agent in a worktree of its own also creates one: deny and ask rules for EnterWorktree apply to it.
fn with_worktree(
    decision: Decision,
    context: &PolicyContext<'_>,
    spec: &Spec,
    tool: &ToolDefinition,
    input: &RawJson,
) -> Decision {
    let isolates = tool.core == Some(CoreTool::Task)
        && (input.read::<TaskInput>())
            .is_ok_and(|input| input.isolation.is_some() && input.resume.is_none());
    let worktree = spec
        .offered_tools()
        .find(|tool| tool.core == Some(CoreTool::EnterWorktree));
    let (true, Some(worktree)) = (isolates && decision.verdict != Verdict::Deny, worktree) else {
        return decision;
    };
    let of_worktree = judge(context, CallFacts::of(worktree), None);
    let is_stricter = match of_worktree.verdict {
        Verdict::Deny => true,
        Verdict::Ask => decision.verdict == Verdict::Allow,
        Verdict::Allow => false,
    };
    match (is_stricter, &of_worktree.cause) {
        (true, Cause::Rules(_)) => of_worktree,
        _ => decision,
    }
}

impl Thread {
    /// The policy for calls of this thread at this time.
    pub(in crate::session) fn policy<'a>(&'a self, shared: &'a Shared) -> PolicyContext<'a> {
        let policy = &shared.spec.policy.permissions;
        PolicyContext {
            rules: shared.permissions.rules(policy),
            mode: shared.permissions.mode(),
            free_workspace_reads: policy.free_workspace_reads,
            environment: &self.spec.environment,
            directories: shared.permissions.directories(&shared.spec.environment),
            left: self.workplace.left(),
            own_deny: match self.number() {
                0 => &[],
                _ => &self.spec.policy.permissions.rules.deny,
            },
            narrowing: self.narrowing(),
            guarded: shared.permissions.guarded(),
            confinement: policy.confinement.as_ref(),
        }
    }

    pub(super) fn judge_call(&mut self, shared: &mut Shared, index: usize) {
        let spec = self.spec.clone();
        let call = &self.run.calls[index];
        let (Some(tool), ToolCallInput::Json(input)) = (spec.tool(&call.name), call.input.clone())
        else {
            return;
        };
        let subject = self.subject(index, tool, &input);
        let call = &self.run.calls[index];
        let facts = subject.facts(tool, &call.paths);
        let context = self.policy(shared);
        let decision = judge(&context, facts, call.hooks.verdict().as_ref());
        let decision = with_worktree(decision, &context, &spec, tool, &input);
        let command = approved_command(&decision, facts, &context);
        let mode = context.mode();
        let is_approved = call.approved;
        let updates = match decision.verdict {
            Verdict::Ask if !is_approved => suggestions(&context, facts, &decision),
            _ => Vec::new(),
        };
        self.run.calls[index].command = command;
        match decision.verdict {
            Verdict::Deny => {
                let text = denial(tool, &decision.cause, mode);
                self.deny_unasked(shared, index, &decision.cause, &text);
            }
            Verdict::Allow => self.run_call(shared, index, decision.cause.explain()),
            Verdict::Ask if is_approved => {
                self.run_call(shared, index, APPROVED.to_owned());
            }
            Verdict::Ask => {
                if let Some(path) = self.unread_by(index) {
                    let text = format!(
                        "{path} has not been read yet. Read it first, then repeat the change."
                    );
                    return self.finish_call(shared, index, ToolResult::error(text));
                }
                if self.ask_hooks_instead(shared, index, &updates) {
                    return;
                }
                self.ask(shared, index, &decision, updates);
            }
        }
    }

    /// The file that must be read before the call can succeed; asking for permission is then pointless. None while earlier calls,
    /// which may still read it, are unfinished.
    fn unread_by(&self, index: usize) -> Option<String> {
        let (before, call) = (&self.run.calls[..index], &self.run.calls[index]);
        let are_over = before.iter().all(|call| call.answer.is_some());
        call.unread.clone().filter(|_| are_over)
    }

    /// Sends the permission request: to the application, or to the MCP tool that answers for it.
    fn ask(
        &mut self,
        shared: &mut Shared,
        index: usize,
        decision: &Decision,
        suggestions: Vec<PermissionUpdate>,
    ) {
        let spec = self.spec.clone();
        let policy = &spec.policy.permissions;
        let call = &self.run.calls[index];
        let reason = self.reason_to_ask(call, decision);
        if policy.prompt_tool.is_none() && !policy.can_ask {
            let core = spec.tool(&call.name).and_then(|tool| tool.core);
            if let (Cause::AsksThePerson, Some(core)) = (&decision.cause, core) {
                let text = core.nobody_to_ask();
                return self.deny_unasked(shared, index, &decision.cause, text);
            }
            let remedy = if suggestions.is_empty() {
                String::new()
            } else {
                let rule = first_rule(&suggestions).unwrap_or_else(|| call.name.clone());
                format!(" Allow it with a rule such as {rule}.")
            };
            let text = format!(
                "{} needs permission ({reason}), and there is nobody to ask.{remedy}",
                call.name
            );
            return self.deny_unasked(shared, index, &decision.cause, &text);
        }
        let request = PermissionRequest {
            tool_use_id: call.id.clone(),
            tool_name: call.name.clone(),
            input: call.input_or_empty(),
            blocked_path: match &decision.cause {
                Cause::OutsideWorkspace(path) => Some(path.clone()),
                _ => None,
            },
            decision_reason: visible(&reason),
            suggestions,
            agent_id: self.agent_id(),
        };
        let effect = match &policy.prompt_tool {
            None => Effect::AskPermission(request),
            // The tool belongs to the session, whichever tools the agent has.
            Some(name) => match shared.spec.tool(name) {
                Some(tool) => Effect::CallTool(prompt_call(tool, &spec, &request)),
                None => {
                    let text = format!(
                        "{} needs permission ({}), and the tool {name} that was to be asked does not exist: connect its MCP server, or name another `permissionPromptToolName`.",
                        request.tool_name, request.decision_reason
                    );
                    return self.deny(shared, index, &text);
                }
            },
        };
        if matches!(effect, Effect::AskPermission(_)) {
            self.notify_of_question(shared, index);
        }
        self.run.calls[index].state = CallState::Asking;
        let id = self.call_effect(shared, index, Stage::Ask);
        self.perform(shared, id, effect);
    }

    /// The reason in a permission request. If a command does not start in the working directory, the reason says so.
    fn reason_to_ask(&self, call: &Call, decision: &Decision) -> String {
        let reason = decision.cause.explain();
        let directory = self.command_directory();
        match call.command.is_some() && directory != self.spec.environment.cwd {
            true => format!("{reason}; it runs in {directory}"),
            false => reason,
        }
    }

    /// The answer of the permission tool: a `PermissionResult` as the text of its result.
    pub(super) fn prompt_answered(
        &mut self,
        shared: &mut Shared,
        index: usize,
        result: &ToolResult,
    ) {
        let text = result.joined_text();
        let response = match crate::json::read::from_str(&text) {
            Ok(response) if !result.is_error => response,
            Ok(_) => PermissionResponse::deny("The tool that was asked for permission failed."),
            Err(error) => PermissionResponse::deny(format!(
                "The tool that was asked for permission gave no permission result ({error}): {text}"
            )),
        };
        self.permitted(shared, index, response);
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
                    // An interrupt requested for a subagent's call interrupts the whole run.
                    shared.interrupt_main = true;
                    self.interrupt(shared, Outcome::Interrupted);
                }
            }
            PermissionResponse::Allow {
                updated_input,
                updated_permissions,
            } => {
                // If one of the updates cannot be applied, none is; the call itself was allowed.
                shared.update_permissions(&updated_permissions);
                let call = &mut self.run.calls[index];
                call.approved = true;
                match updated_input {
                    None => self.run_call(shared, index, APPROVED.to_owned()),
                    Some(input) if !input.is_object() => {
                        let text = "The input was replaced by something that is not a JSON object, so the call was not run.";
                        self.finish_call(shared, index, ToolResult::error(text));
                    }
                    Some(input) => {
                        // A changed input makes it a different call: it is validated, resolved and checked against the deny rules
                        // again.
                        call.input = ToolCallInput::Json(input);
                        call.attempt += 1;
                        self.begin(shared, index);
                    }
                }
            }
        }
    }

    /// Denies a call without asking anybody.
    fn deny_unasked(&mut self, shared: &mut Shared, index: usize, cause: &Cause, text: &str) {
        if let Some(kind) = cause.kind()
            && self.spec.policy.permissions.tell_denials
        {
            let call = &self.run.calls[index];
            let denied = PermissionDenied {
                tool_name: call.name.clone(),
                tool_use_id: call.id.clone(),
                decision_reason_type: kind.to_owned(),
                message: text.to_owned(),
                agent_id: self.agent_id(),
                uuid: shared.ids.uuid(),
                session_id: shared.id,
            };
            shared.say(Message::System(SystemMessage::PermissionDenied(denied)));
        }
        self.deny(shared, index, text);
    }

    pub(super) fn deny(&mut self, shared: &mut Shared, index: usize, text: &str) {
        self.list_denial(shared, index);
        self.tell_hooks_of_denial(shared, index, text);
    }

    /// Ends a call that a hook has denied. Hooks are not told of it: they know.
    pub(super) fn deny_by_hook(&mut self, shared: &mut Shared, index: usize, text: &str) {
        self.list_denial(shared, index);
        self.finish_call(shared, index, ToolResult::error(text));
    }

    /// Adds a denied call to those that the result lists.
    fn list_denial(&mut self, shared: &mut Shared, index: usize) {
        let call = &self.run.calls[index];
        let denials = match self.is_main() {
            true => &mut self.run.denials,
            false => &mut shared.unreported.denials,
        };
        // The tool's own name, even if the model used an alias.
        let tool = self.spec.tool(&call.name);
        denials.push(PermissionDenial {
            tool_name: tool.map_or_else(|| call.name.clone(), |tool| tool.name.clone()),
            tool_use_id: call.id.clone(),
            tool_input: call.input_or_empty(),
        });
    }
}

/// Which part of a command runs under this decision. A person who is asked sees the whole text and approves all of it.
fn approved_command(
    decision: &Decision,
    facts: CallFacts<'_>,
    context: &PolicyContext<'_>,
) -> Option<ApprovedCommand> {
    let line = facts.command?;
    match decision.scope {
        Scope::Whole => Some(ApprovedCommand::AsWritten),
        Scope::Parts => {
            let plan = line.plan(context, facts.tool, facts.paths)?;
            Some(ApprovedCommand::Plan(plan))
        }
    }
}

/// The call of the permission tool.
fn prompt_call(tool: &ToolDefinition, spec: &Spec, request: &PermissionRequest) -> ToolCall {
    #[derive(serde::Serialize)]
    struct Question<'a> {
        tool_name: &'a str,
        input: &'a RawJson,
        tool_use_id: &'a str,
    }
    let question = Question {
        tool_name: &request.tool_name,
        input: &request.input,
        tool_use_id: &request.tool_use_id,
    };
    ToolCall {
        tool_use_id: request.tool_use_id.clone(),
        name: tool.name.clone(),
        // Strings and raw JSON only: encoding cannot fail.
        input: RawJson::encode(&question).unwrap_or_else(|_| RawJson::empty_object()),
        grant: FsGrant {
            cwd: spec.environment.cwd.clone(),
            ..FsGrant::default()
        },
        observed: Vec::new(),
        timeout_ms: tool.timeout_ms,
        // The session makes this call: an agent's own server must not answer it.
        agent: None,
        command: None,
        outside_sandbox: false,
        shell: None,
        model: None,
    }
}

fn denial(tool: &ToolDefinition, cause: &Cause, mode: Mode) -> String {
    let reason = cause.explain();
    match mode {
        Mode::Plan if matches!(cause, Cause::Mode(_)) => format!(
            "{} did not run: this is plan mode, in which nothing is changed. Present a plan instead.",
            tool.name
        ),
        _ => format!("Permission to use {} was denied: {reason}.", tool.name),
    }
}
