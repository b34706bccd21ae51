//! Running an allowed call: its grant, and its progress reports.

use alloc::{borrow::ToOwned, string::String, vec::Vec};

use super::{
    super::{ApprovedCall, Shared, Thread},
    record::{Call, CallState, ToolCallInput},
    worktree::worktree_input,
};
use crate::{
    effect::{Effect, Probe, Stage},
    hook::shorter,
    id::Millis,
    json::{RawJson, RawObject},
    message::{Message, ToolProgress},
    permission::{
        PathFact, PolicyContext, closed_patterns, deny_patterns_for, granted_root, runs_outside,
    },
    tool::{Access, CoreTool, FsGrant, GrantRoot, ToolCall, ToolDefinition},
};

impl Thread {
    /// Records why a call may run, and marks it as running.
    pub(in crate::session) fn let_run(&mut self, shared: &mut Shared, index: usize, cause: String) {
        let effect = self.call_effect(shared, index, Stage::Run);
        let parent_tool_use_id = self.parent_tool_use_id();
        let call = &mut self.run.calls[index];
        shared.approved_calls.push(ApprovedCall {
            effect,
            tool_use_id: call.id().to_owned(),
            parent_tool_use_id,
            tool_name: call.tool_name().to_owned(),
            cause: cause.clone(),
        });
        call.let_run(cause, shared.now.mono);
    }

    pub(in crate::session) fn run_call(
        &mut self,
        shared: &mut Shared,
        index: usize,
        decision: String,
    ) {
        let spec = self.spec.clone();
        let tool = spec.tool(&self.run.calls[index].name);
        let core = tool.and_then(|tool| tool.core);
        // The host or a hook creates a worktree; the session handles its result.
        let is_worktree = core == Some(CoreTool::EnterWorktree);
        if let Some(core) = core.filter(|_| !is_worktree) {
            return self.run_in_core(shared, index, core, decision);
        }
        if is_worktree && self.ask_hooks_for_worktree(shared, index, None) {
            self.run.calls[index].decision = Some(decision);
            return;
        }
        let call = &self.run.calls[index];
        let (Some(tool), ToolCallInput::Json(input)) = (tool, call.input.clone()) else {
            return;
        };
        let in_background = wants_background(tool, &input);
        let effect = Effect::CallTool(self.handed_over(shared, index, tool, &input));
        self.let_run(shared, index, decision);
        let call = &mut self.run.calls[index];
        let interval = spec.stream.progress_interval_ms.filter(|ms| *ms > 0);
        call.progress_at = interval.map(|ms| shared.now.mono.after(ms));
        let id = self.call_effect(shared, index, Stage::Run);
        self.perform(shared, id, effect);
        if in_background {
            self.detach_call(shared, index, false);
        }
    }

    /// Asks the host for the outcome of a call that was lost while it ran.
    pub(in crate::session) fn probe_call(&mut self, shared: &mut Shared, index: usize) {
        let spec = self.spec.clone();
        let call = &self.run.calls[index];
        let (Some(tool), ToolCallInput::Json(input)) = (spec.tool(&call.name), call.input.clone())
        else {
            return;
        };
        let effect = Effect::ProbeTool(Probe {
            lost: self.call_effect(shared, index, Stage::Run),
            call: self.handed_over(shared, index, tool, &input),
        });
        let id = self.call_effect(shared, index, Stage::Probe);
        self.perform(shared, id, effect);
    }

    /// The call in the form that the host receives.
    fn handed_over(
        &mut self,
        shared: &Shared,
        index: usize,
        tool: &ToolDefinition,
        input: &RawJson,
    ) -> ToolCall {
        let subject = self.subject(index, tool, input);
        let call = &self.run.calls[index];
        let policy = self.policy(shared);
        let mut grant = grant(&policy, tool, &call.paths);
        let outside_sandbox =
            policy.confinement.is_some() && runs_outside(&policy, subject.facts(tool, &call.paths));
        let narrowing = &call.hooks.narrowing;
        grant.deny.extend_from_slice(&narrowing.deny_paths);
        let observed = if tool.paths.is_empty() {
            Vec::new()
        } else {
            self.observed(shared, call)
        };
        let input = match tool.core {
            Some(CoreTool::EnterWorktree) => worktree_input(call, None),
            _ if tool.paths.is_empty() => input.clone(),
            _ => self.reachable(tool, call, &grant, input),
        };
        ToolCall {
            tool_use_id: call.id.clone(),
            name: call.name.clone(),
            input,
            grant,
            observed,
            timeout_ms: shorter(tool.timeout_ms, narrowing.timeout_ms),
            agent: self.agent().map(|agent| agent.agent_type.clone()),
            command: call.command.clone(),
            outside_sandbox,
            shell: (self.workplace.copy_of_shell()).filter(|_| tool.command_param.is_some()),
            model: tool.asks_model.then(|| self.model().to_owned()),
        }
    }

    /// When the next progress report of a running call is due (LOOP-33).
    pub(in crate::session) fn progress_due(&self) -> Option<Millis> {
        let running = |call: &&Call| call.state == CallState::Running;
        let calls = self.run.calls.iter().filter(running);
        calls.filter_map(|call| call.progress_at).min()
    }

    /// Reports the running calls whose progress report is due.
    pub(in crate::session) fn emit_due_progress(&mut self, shared: &mut Shared) {
        let interval = self.spec.stream.progress_interval_ms.unwrap_or(u64::MAX);
        for index in 0..self.run.calls.len() {
            let call = &mut self.run.calls[index];
            let due = call.progress_at.is_some_and(|at| at <= shared.now.mono);
            if due && call.state == CallState::Running {
                call.progress_at = Some(shared.now.mono.after(interval));
                self.emit_progress(shared, index);
            }
        }
    }

    pub(super) fn emit_progress(&mut self, shared: &mut Shared, index: usize) {
        let call = &self.run.calls[index];
        let message = ToolProgress {
            tool_use_id: call.id.clone(),
            tool_name: call.name.clone(),
            parent_tool_use_id: self.parent_tool_use_id(),
            elapsed_time_seconds: shared.now.mono.since(call.started) / 1000,
            task_id: None,
            uuid: shared.ids.uuid(),
            session_id: shared.id,
        };
        shared.say(Message::ToolProgress(message));
    }
}

/// Whether a call asks to run in the background.
fn wants_background(tool: &ToolDefinition, input: &RawJson) -> bool {
    let field = tool.background_param.as_deref();
    let fields = RawObject::parse(input.get()).unwrap_or_default();
    field.is_some_and(|field| fields.get(field).is_some_and(|value| value.get() == "true"))
}

/// The grant of a call: the workspace, or the directories of its plugin, as far as the call names them, and what else was
/// approved.
fn grant(policy: &PolicyContext<'_>, tool: &ToolDefinition, paths: &[PathFact]) -> FsGrant {
    let mut grant = FsGrant {
        cwd: policy.environment.cwd.clone(),
        roots: Vec::new(),
        // Set even if nothing is granted: a host that confines commands denies them these files.
        deny: deny_patterns_for(policy, &tool.name),
    };
    // The files that a command names are judged, but the command is not limited to them: a host that confines commands confines
    // them to the workspace.
    if tool.command_param.is_some() && policy.confinement.is_some() && tool.grant.is_none() {
        for root in policy.workspace_roots() {
            add_root(&mut grant, root, Access::Write);
        }
    }
    if tool.paths.is_empty() {
        return grant;
    }
    grant.deny.extend(closed_patterns(policy.environment));
    for fact in paths {
        // Read access covers the whole directory; write access only the paths that were judged.
        let containing = granted_root(tool, policy, &fact.path, Access::Read);
        if let Some(root) = containing {
            add_root(&mut grant, root, Access::Read);
        }
        // Outside the workspace a tool of the host gets what was judged, and no more.
        let is_outside = containing.is_none() && tool.grant.is_none();
        let may_write = || granted_root(tool, policy, &fact.path, Access::Write).is_some();
        if is_outside || fact.access == Access::Write && may_write() {
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
