//! Calls that move the session into a git worktree: the host creates it, the session changes its directory.

use alloc::{
    borrow::ToOwned,
    format,
    string::{String, ToString},
    sync::Arc,
};

use super::{
    super::{Phase, Shared, Thread, agents::AgentRequest, background::id_of},
    hook_state::HookedWorktree,
    record::{Call, CallState, ToolCallInput},
};
use crate::{
    effect::{Effect, Stage},
    hook::{
        HookEvent, Merged, Occurrence,
        input::{CwdChanged, WorktreeCreate},
    },
    id::Uuid,
    json::RawJson,
    permission::Mode,
    tool::{CoreTool, FsGrant, ToolCall, ToolResult},
    tools::{
        enter_worktree::{EnterWorktreeInput, EnterWorktreeOutput, OF_AGENTS},
        task::TaskInput,
    },
};

impl Thread {
    /// Changes the working directory.
    pub(in crate::session) fn enter(&mut self, directory: &str) {
        let cwd = &mut Arc::make_mut(&mut self.spec).environment.cwd;
        if cwd == directory {
            return;
        }
        let left = core::mem::replace(cwd, directory.to_owned());
        self.workplace.move_to(directory, left);
        // The working directory is part of the prefix of requests.
        self.context.forget_prefix();
    }

    /// Runs the hooks for a changed working directory.
    pub(super) fn tell_hooks_of_move(&mut self, shared: &mut Shared, old_cwd: String) {
        let new_cwd = self.command_directory().to_owned();
        if new_cwd != old_cwd {
            let moved = CwdChanged { old_cwd, new_cwd };
            self.tell_hooks(shared, Occurrence::CwdChanged(moved));
        }
    }

    /// A path in the form the host needs: hosts resolve relative paths from the directory that the session began in.
    pub(super) fn seen_from_here(&self, path: String) -> String {
        let is_relative =
            !path.starts_with(['/', '\\', '~']) && path.as_bytes().get(1) != Some(&b':');
        match is_relative && self.workplace.has_moved() {
            true => format!("{}/{path}", self.spec.environment.cwd),
            false => path,
        }
    }

    /// Takes the result of a call that a host ran. Some core tools act on it.
    pub(super) fn ran(&mut self, shared: &mut Shared, index: usize, mut result: ToolResult) {
        self.take_shell(shared, index, &mut result);
        let core = (self.spec.tool(&self.run.calls[index].name)).and_then(|tool| tool.core);
        match core {
            Some(CoreTool::EnterWorktree) => {
                let result = match EnterWorktreeOutput::of(&result) {
                    Ok(worktree) => {
                        let left = self.command_directory().to_owned();
                        self.enter(&worktree.worktree_path);
                        self.tell_hooks_of_move(shared, left);
                        result
                    }
                    Err(refused) => refused,
                };
                self.review(shared, index, result);
            }
            Some(CoreTool::Task) => self.isolated(shared, index, &result),
            _ => self.review(shared, index, result),
        }
    }

    /// Asks the hooks that create worktrees for the one that a call needs. False if there are none, or they have been asked. If
    /// `name` is none, the name in the call's input is used, or a generated one.
    pub(super) fn ask_hooks_for_worktree(
        &mut self,
        shared: &mut Shared,
        index: usize,
        name: Option<String>,
    ) -> bool {
        let event = HookEvent::WorktreeCreate;
        let is_known = self.run.calls[index].hooks.worktree.is_some();
        if is_known
            || self
                .spec
                .policy
                .hooks
                .iter()
                .all(|hook| hook.event != event)
        {
            return false;
        }
        let call = &mut self.run.calls[index];
        let name = name
            .or_else(|| asked_name(call))
            .unwrap_or_else(|| made_up(shared.ids.uuid()));
        call.hooks.worktree = Some(HookedWorktree {
            name: name.clone(),
            path: None,
        });
        let occurrence = Occurrence::WorktreeCreate(WorktreeCreate { name });
        self.wait_for_hooks(shared, index, occurrence, CallState::Preparing)
    }

    /// The hooks have answered: the worktree was created, was refused, or the host has to create it.
    pub(super) fn worktree_prepared(&mut self, shared: &mut Shared, index: usize, merged: Merged) {
        if self.run.hook_stop.is_some() {
            return self.refuse_after_stop(shared, index);
        }
        let call = &mut self.run.calls[index];
        if let Some(reason) = merged.block {
            let text = format!("No worktree was made, for a hook refused it: {reason}");
            let refused = ToolResult::error(text);
            return self.ran(shared, index, refused);
        }
        if let Some(worktree) = &mut call.hooks.worktree {
            worktree.path = merged.worktree_path;
        }
        match call.agent {
            Some(number) => self.isolate(shared, index, number),
            None => {
                let decision = call.decision.clone().unwrap_or_default();
                self.run_call(shared, index, decision);
            }
        }
    }

    /// Asks the host for a worktree for an agent.
    pub(in crate::session) fn isolate(&mut self, shared: &mut Shared, index: usize, number: u32) {
        let can = self
            .spec
            .offered_tools()
            .any(|tool| tool.core == Some(CoreTool::EnterWorktree));
        if !can {
            let text =
                "Worktrees are not available in this session. Start the agent without isolation.";
            return self.review(shared, index, ToolResult::error(text));
        }
        if self.policy(shared).mode() == Mode::Plan {
            let text = "No worktree is made in plan mode. Start the agent without isolation.";
            return self.review(shared, index, ToolResult::error(text));
        }
        let name = format!("{OF_AGENTS}{}", id_of('a', shared.id, [number, 0, 0]));
        if self.ask_hooks_for_worktree(shared, index, Some(name.clone())) {
            return;
        }
        let call = &mut self.run.calls[index];
        call.state = CallState::Running;
        let effect = Effect::CallTool(ToolCall {
            tool_use_id: call.id.clone(),
            name: CoreTool::EnterWorktree.name().to_owned(),
            input: worktree_input(call, Some(name)),
            grant: FsGrant {
                cwd: self.spec.environment.cwd.clone(),
                ..FsGrant::default()
            },
            observed: alloc::vec::Vec::new(),
            timeout_ms: None,
            agent: None,
            command: None,
            outside_sandbox: false,
            shell: None,
            model: None,
        });
        let id = self.call_effect(shared, index, Stage::Run);
        self.perform(shared, id, effect);
    }

    /// The host has answered: the agent's worktree was created, or not.
    fn isolated(&mut self, shared: &mut Shared, index: usize, result: &ToolResult) {
        if self.phase() == Phase::Stopping {
            return; // nothing is started any more; the call is answered as the run ends
        }
        let call = &self.run.calls[index];
        let input = match &call.input {
            ToolCallInput::Json(input) => input.read::<TaskInput>().ok(),
            ToolCallInput::Unusable(_) => None,
        };
        match (EnterWorktreeOutput::of(result), call.agent, input) {
            (Ok(worktree), Some(number), Some(input)) => {
                shared.agent_requests.push_back(AgentRequest {
                    index,
                    number,
                    input,
                    worktree: Some(worktree),
                });
            }
            (refused, ..) => {
                let said = refused.err().map(|refused| refused.joined_text());
                let text = format!(
                    "The agent was not started, for it has no worktree: {}",
                    said.unwrap_or_default()
                );
                self.review(shared, index, ToolResult::error(text));
            }
        }
    }
}

/// The input for the host's worktree: its name, and its path if a hook created it. If `name` is none, the name that hooks
/// received or the one in the call's input is used.
pub(super) fn worktree_input(call: &Call, name: Option<String>) -> RawJson {
    let hooked = call.hooks.worktree.as_ref();
    let input = EnterWorktreeInput {
        name: name
            .or_else(|| hooked.map(|worktree| worktree.name.clone()))
            .or_else(|| asked_name(call)),
        path: hooked.and_then(|worktree| worktree.path.clone()),
    };
    // Strings: encoding cannot fail.
    RawJson::encode(&input).unwrap_or_else(|_| RawJson::empty_object())
}

/// The name in the model's input.
fn asked_name(call: &Call) -> Option<String> {
    match &call.input {
        ToolCallInput::Json(input) => input.read::<EnterWorktreeInput>().ok()?.name,
        ToolCallInput::Unusable(_) => None,
    }
}

/// A generated name for a worktree.
fn made_up(id: Uuid) -> String {
    let id = id.to_string();
    format!("work-{}", id.get(..8).unwrap_or(&id))
}
