//! Calls that move the work into a git worktree: the host makes it, the session goes there.

use alloc::{
    borrow::ToOwned,
    format,
    string::{String, ToString},
    sync::Arc,
};

use super::{
    super::{Phase, Shared, Thread, agents::AgentRequest, background::id_of},
    hooked::HookedWorktree,
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
    /// Works in another directory from now on.
    pub(in crate::session) fn enter(&mut self, directory: &str) {
        let cwd = &mut Arc::make_mut(&mut self.spec).environment.cwd;
        if cwd == directory {
            return;
        }
        let left = core::mem::replace(cwd, directory.to_owned());
        self.workplace.move_to(directory, left);
        // The working directory is part of what requests begin with.
        self.context.forget_prefix();
    }

    /// Hooks that watch where the work is done hear of it when it has moved.
    pub(super) fn tell_hooks_of_move(&mut self, shared: &mut Shared, old_cwd: String) {
        let new_cwd = self.command_directory().to_owned();
        if new_cwd != old_cwd {
            let moved = CwdChanged { old_cwd, new_cwd };
            self.tell_hooks(shared, Occurrence::CwdChanged(moved));
        }
    }

    /// A path as the host shall see it: hosts know the directory that the session began in.
    pub(super) fn seen_from_here(&self, path: String) -> String {
        let is_relative =
            !path.starts_with(['/', '\\', '~']) && path.as_bytes().get(1) != Some(&b':');
        match is_relative && self.workplace.has_moved() {
            true => format!("{}/{path}", self.spec.environment.cwd),
            false => path,
        }
    }

    /// A call that a host ran has its result. For the tools that are the core's as well, something follows from it.
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

    /// Asks the hooks that make worktrees for the one that a call needs; false if there are none, or they have been asked.
    /// Without a name it has the one of its input, or one is made up.
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

    /// The hooks were asked for a worktree: it is there, is refused, or is to be made by the host.
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

    /// Asks the host for a worktree in which an agent shall work.
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
        });
        let id = self.call_effect(shared, index, Stage::Run);
        self.perform(shared, id, effect);
    }

    /// The worktree of an agent is there, or there is none.
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

/// What the host is told of the worktree that a call needs: its name, and where a hook has made it. Without a name it has
/// the one that hooks were told, or that of the call's input.
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

/// The name that the model gave.
fn asked_name(call: &Call) -> Option<String> {
    match &call.input {
        ToolCallInput::Json(input) => input.read::<EnterWorktreeInput>().ok()?.name,
        ToolCallInput::Unusable(_) => None,
    }
}

/// A name for a worktree that was given none.
fn made_up(id: Uuid) -> String {
    let id = id.to_string();
    format!("work-{}", id.get(..8).unwrap_or(&id))
}
