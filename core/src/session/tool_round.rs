//! The calls of a response: in which order they start, whether they may run, and what came of them.

use alloc::{borrow::ToOwned, format, string::String, vec::Vec};

use super::{
    Event, Outcome, Session, entry,
    run::{CallState, ToolCallInput},
};
use crate::{
    content::tool_result,
    effect::{Answer, Effect, PermissionRequest, PermissionResponse, ResolvePath, ResolvedPath},
    history::Role,
    id::{EffectId, Now, Stage},
    json::{RawJson, RawObject},
    message::{Message, PermissionDenial, ToolProgress, UserContent, UserMessage},
    permission::{
        CallFacts, Cause, Mode, PathFact, Rule, Verdict, deny_patterns, judge, workspace_roots,
    },
    provider::StopReason,
    schema,
    tool::{Access, FsGrant, GrantRoot, ToolCall, ToolDefinition, ToolResult},
};

/// Why a call runs that somebody was asked about.
const APPROVED: &str = "it was approved when asked";

impl Session {
    /// Starts every call whose turn it is: read-only calls beside each other, all others alone and
    /// in the order of the response (LOOP-15).
    pub(super) fn schedule_calls(&mut self, now: Now) {
        // What holds for the calls before: all are done, or those that are not only read.
        let (mut all_done, mut only_reading) = (true, true);
        for index in 0..self.run.calls.len() {
            let reads = self.only_reads(index);
            if self.run.calls[index].state == CallState::Waiting {
                if !(all_done || reads && only_reading) {
                    break;
                }
                self.begin(now, index);
            }
            if self.run.calls[index].state != CallState::Done {
                all_done = false;
                only_reading &= reads;
            }
        }
        let settled = self.run.calls.iter().all(|c| c.state == CallState::Done);
        if settled {
            self.transit(now, Event::Settled);
        }
    }

    fn only_reads(&self, index: usize) -> bool {
        self.spec
            .tool(&self.run.calls[index].name)
            .is_some_and(|tool| tool.annotations.read_only)
    }

    /// A call came to its end by an answer: others may have waited for it.
    pub(super) fn go_on_with_calls(&mut self, now: Now) {
        if self.phase == super::Phase::Tooling {
            self.schedule_calls(now);
        }
    }

    /// Checks a call and finds out which files it names.
    pub(super) fn begin(&mut self, now: Now, index: usize) {
        let call = &self.run.calls[index];
        let spec = self.spec.clone();
        let Some(tool) = spec.tool(&call.name) else {
            let text = unknown_tool(&call.name, spec.offered_tools().map(|t| t.name.as_str()));
            return self.finish_call(index, ToolResult::error(text));
        };
        let input = match &call.input {
            ToolCallInput::Json(input) => input.clone(),
            ToolCallInput::Unusable(text) => {
                let cut = self.run.stop_reason == Some(StopReason::MaxTokens);
                let text = unusable_input(&call.name, text, cut);
                return self.finish_call(index, ToolResult::error(text));
            }
        };
        // Readers of JSON differ in which of two equal fields counts: the one that was judged might not
        // be the one that runs.
        if let Some(field) = RawObject::parse(input.get())
            .ok()
            .and_then(|object| object.duplicate().map(ToOwned::to_owned))
        {
            let text = format!(
                "The input of {} has the field `{field}` twice, so the call was not run. Make the call again with each field once.",
                tool.name
            );
            return self.finish_call(index, ToolResult::error(text));
        }
        if let Err(fault) = schema::validate(&tool.input_schema, &input) {
            let text = format!("The input of {} is not valid: {fault}", tool.name);
            return self.finish_call(index, ToolResult::error(text));
        }
        let paths = named_paths(tool, &input, &spec.environment.cwd);
        if paths.is_empty() {
            self.run.calls[index].paths.clear();
            return self.judge_call(now, index);
        }
        let call = &mut self.run.calls[index];
        call.state = CallState::Resolving;
        // As the model wrote them, until the host says where they lead.
        call.paths = paths
            .iter()
            .map(|asked| PathFact {
                path: asked.path.clone(),
                access: asked.access,
            })
            .collect();
        let id = self.call_effect(index, Stage::Resolve);
        self.perform(id, Effect::Resolve(paths));
    }

    fn call_effect(&self, index: usize, stage: Stage) -> EffectId {
        let number = u32::try_from(index + 1).unwrap_or(u32::MAX);
        self.effect_id(number, stage, self.run.calls[index].attempt)
    }

    pub(super) fn call_answer(
        &mut self,
        now: Now,
        id: EffectId,
        answer: Answer,
        was_cancelled: bool,
    ) {
        let index = id.call.saturating_sub(1) as usize;
        if id.turn != self.turn || index >= self.run.calls.len() {
            return; // of a round that is over
        }
        if self.run.calls[index].state == CallState::Done {
            return;
        }
        let last = answer.is_last();
        match answer {
            Answer::Progress(_) => self.say_progress(now, index),
            Answer::Tool(result) => self.finish_call(index, result),
            // The run is ending: nothing new is started or judged.
            _ if was_cancelled => {}
            Answer::Resolved(paths) => self.resolved(now, index, paths),
            Answer::Permission(response) => self.permitted(now, index, response),
            _ => {
                let text = "The host dropped the call without a result.";
                self.finish_call(index, ToolResult::error(text));
            }
        }
        if last {
            self.go_on_with_calls(now);
        }
    }

    fn resolved(&mut self, now: Now, index: usize, answers: Vec<Result<ResolvedPath, String>>) {
        let asked = &mut self.run.calls[index].paths;
        let answers: Result<Vec<ResolvedPath>, String> = answers
            .into_iter()
            .map(|answer| match answer {
                // What is judged must be where the path leads, not how it was written.
                Ok(real) if real.path.split('/').any(|name| name == "..") => Err(format!(
                    "The host resolved a path to {}, which is not a real path.",
                    real.path
                )),
                answer => answer,
            })
            .collect();
        match answers {
            Ok(real) if real.len() == asked.len() => {
                for (fact, real) in asked.iter_mut().zip(real) {
                    fact.path = real.path;
                }
                self.judge_call(now, index);
            }
            Ok(_) => {
                let text = "The host resolved another number of paths than it was asked for.";
                self.finish_call(index, ToolResult::error(text));
            }
            Err(reason) => self.finish_call(index, ToolResult::error(reason)),
        }
    }

    fn judge_call(&mut self, now: Now, index: usize) {
        let spec = self.spec.clone();
        let call = &self.run.calls[index];
        let Some(tool) = spec.tool(&call.name) else {
            return;
        };
        let command = command_of(tool, &call.input);
        let decision = judge(
            &spec.permissions.rules,
            &self.session_allow,
            self.mode,
            spec.permissions.free_workspace_reads,
            &spec.environment,
            CallFacts {
                tool,
                command: command.as_deref(),
                paths: &call.paths,
            },
        );
        let reason = decision.cause.explain();
        match decision.verdict {
            Verdict::Deny => self.deny(index, &denial(tool, &decision.cause, self.mode)),
            Verdict::Allow => self.run_call(now, index, reason),
            Verdict::Ask if call.approved => {
                self.run_call(now, index, APPROVED.to_owned());
            }
            Verdict::Ask if !spec.permissions.can_ask => {
                let text = format!(
                    "{} needs permission ({reason}), and there is nobody to ask. Allow it with a rule such as {}.",
                    tool.name,
                    suggestion(tool, command.as_deref()).unwrap_or_else(|| tool.name.clone())
                );
                self.deny(index, &text);
            }
            Verdict::Ask => {
                let request = PermissionRequest {
                    tool_use_id: call.id.clone(),
                    tool_name: call.name.clone(),
                    input: call.input_or_empty(),
                    blocked_path: match &decision.cause {
                        Cause::OutsideWorkspace(path) => Some(path.clone()),
                        _ => None,
                    },
                    decision_reason: reason,
                    suggested_rule: suggestion(tool, command.as_deref()),
                };
                self.run.calls[index].state = CallState::Asking;
                let id = self.call_effect(index, Stage::Ask);
                self.perform(id, Effect::AskPermission(request));
            }
        }
    }

    fn permitted(&mut self, now: Now, index: usize, response: PermissionResponse) {
        match response {
            PermissionResponse::Deny { message, interrupt } => {
                self.deny(index, &message);
                if interrupt {
                    self.interrupt(now, Outcome::Interrupted);
                }
            }
            PermissionResponse::Allow {
                updated_input,
                allow_rules,
            } => {
                // A rule that cannot be read widens nothing; the call itself was allowed.
                let rules = allow_rules.iter().filter_map(|r| Rule::parse(r).ok());
                self.session_allow.extend(rules);
                let call = &mut self.run.calls[index];
                call.approved = true;
                match updated_input {
                    None => self.run_call(now, index, APPROVED.to_owned()),
                    Some(input) if !input.is_object() => {
                        let text = "The input was replaced by something that is not a JSON object, so the call was not run.";
                        self.finish_call(index, ToolResult::error(text));
                    }
                    Some(input) => {
                        // Another input is another call: checked, resolved and held against the
                        // deny rules again.
                        call.input = ToolCallInput::Json(input);
                        call.attempt += 1;
                        self.begin(now, index);
                    }
                }
            }
        }
    }

    pub(super) fn run_call(&mut self, now: Now, index: usize, decision: String) {
        let spec = self.spec.clone();
        let call = &mut self.run.calls[index];
        let (Some(tool), ToolCallInput::Json(input)) = (spec.tool(&call.name), &call.input) else {
            return;
        };
        let grant = grant(&spec, tool, &call.paths);
        let observed = if tool.paths.is_empty() {
            Vec::new()
        } else {
            let named = call.paths.iter().map(|fact| &fact.path);
            named
                .filter_map(|p| self.observed.get(p))
                .cloned()
                .collect()
        };
        let effect = Effect::CallTool(ToolCall {
            tool_use_id: call.id.clone(),
            name: call.name.clone(),
            input: input.clone(),
            grant,
            observed,
            timeout_ms: tool.timeout_ms,
        });
        call.decision = Some(decision);
        call.state = CallState::Running;
        call.started = now.mono;
        let id = self.call_effect(index, Stage::Run);
        self.perform(id, effect);
    }

    fn deny(&mut self, index: usize, text: &str) {
        let call = &self.run.calls[index];
        self.run.denials.push(PermissionDenial {
            tool_name: call.name.clone(),
            tool_use_id: call.id.clone(),
            tool_input: call.input_or_empty(),
        });
        self.finish_call(index, ToolResult::error(text));
    }

    /// Takes a call's result: observations into the session, the result into the message stream.
    /// What may start now is the caller's matter.
    pub(super) fn finish_call(&mut self, index: usize, mut result: ToolResult) {
        for seen in core::mem::take(&mut result.observed) {
            self.observed.insert(seen.path.clone(), seen);
        }
        let call = &mut self.run.calls[index];
        let block = tool_result(&call.id, &result.content, result.is_error);
        call.state = CallState::Done;
        call.answer = Some(block.clone());
        let uuid = self.ids.uuid();
        self.say(Message::User(UserMessage {
            message: UserContent::new(alloc::vec![block]),
            parent_tool_use_id: None,
            tool_use_result: result.structured,
            is_synthetic: false,
            uuid,
            session_id: self.id,
        }));
    }

    fn say_progress(&mut self, now: Now, index: usize) {
        let call = &self.run.calls[index];
        let message = ToolProgress {
            tool_use_id: call.id.clone(),
            tool_name: call.name.clone(),
            parent_tool_use_id: None,
            elapsed_time_seconds: now.mono.since(call.started) / 1000,
            uuid: self.ids.uuid(),
            session_id: self.id,
        };
        self.say(Message::ToolProgress(message));
    }

    /// Puts the results into the history, in the order of the calls, as one message.
    pub(super) fn collect_results(&mut self) -> Vec<RawJson> {
        let blocks: Vec<RawJson> = core::mem::take(&mut self.run.calls)
            .into_iter()
            .filter_map(|call| call.answer)
            .collect();
        self.history.push(Role::User, blocks.clone());
        blocks
    }

    pub(super) fn save_results(&mut self, now: Now) {
        self.run.tool_rounds += 1;
        let blocks = self.collect_results();
        self.save(now, Stage::SaveResults, entry(Role::User, blocks));
    }

    /// What written results lead to: the next request, unless a limit forbids it.
    pub(super) fn after_results(&mut self) -> Event {
        match self.spec.limits.max_turns {
            Some(max) if self.run.tool_rounds >= max => {
                self.run.outcome = Some(Outcome::MaxTurns(max));
                Event::Stop
            }
            _ => self.may_ask(),
        }
    }
}

fn unknown_tool<'a>(name: &str, offered: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<&str> = offered.collect();
    format!(
        "There is no tool named {name}. The tools are: {}.",
        names.join(", ")
    )
}

fn unusable_input(name: &str, text: &str, cut: bool) -> String {
    if cut {
        format!(
            "The input of {name} was cut off by the output limit after {} bytes, so the call was not run. Make the call again with a shorter input, or split it.",
            text.len()
        )
    } else {
        format!(
            "The input of {name} is not a JSON object, so the call was not run. Make the call again with valid JSON."
        )
    }
}

/// The paths a call names, with relative ones left to the host.
fn named_paths(tool: &ToolDefinition, input: &RawJson, cwd: &str) -> Vec<ResolvePath> {
    let Ok(fields) = RawObject::parse(input.get()) else {
        return Vec::new();
    };
    tool.paths
        .iter()
        .filter_map(|param| {
            let given = fields.get_string(&param.field).filter(|p| !p.is_empty());
            let path = given.or_else(|| param.default_cwd.then(|| cwd.to_owned()))?;
            Some(ResolvePath {
                path,
                access: param.access,
            })
        })
        .collect()
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

/// The files a call may touch: the workspace as far as the call names it, and what else was approved.
fn grant(spec: &crate::Spec, tool: &ToolDefinition, paths: &[PathFact]) -> FsGrant {
    let environment = &spec.environment;
    let mut grant = FsGrant {
        cwd: environment.cwd.clone(),
        roots: Vec::new(),
        deny: Vec::new(),
    };
    if tool.paths.is_empty() {
        return grant;
    }
    grant.deny = deny_patterns(&spec.permissions.rules, environment);
    for fact in paths {
        // Reading may look around in the workspace; writing reaches what was judged and no further.
        let workspace = workspace_roots(environment)
            .filter(|root| crate::permission::is_under(root, &fact.path))
            .max_by_key(|root| root.len());
        if let Some(root) = workspace {
            add_root(&mut grant, root, Access::Read);
        }
        if workspace.is_none() || fact.access == Access::Write {
            add_root(&mut grant, &fact.path, fact.access);
        }
    }
    grant
}

fn add_root(grant: &mut FsGrant, path: &str, access: Access) {
    match grant.roots.iter_mut().find(|known| known.path == path) {
        Some(known) => known.access = known.access.max(access),
        None => grant.roots.push(GrantRoot {
            path: path.to_owned(),
            access,
        }),
    }
}
