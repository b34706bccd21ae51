//! Calls that move the work into a git worktree: the host makes it, the session goes there.

use alloc::{borrow::ToOwned, format, string::String, sync::Arc};

use super::super::{
    Shared, Thread,
    agents::AgentRequest,
    background::id_of,
    run::{CallState, ToolCallInput},
};
use crate::{
    agent::TaskInput,
    effect::Effect,
    hook::{Occurrence, input::CwdChanged},
    id::Stage,
    json::RawJson,
    permission::Mode,
    tool::{FsGrant, ToolCall, ToolResult},
    tools::{
        CoreTool,
        enter_worktree::{EnterWorktreeInput, EnterWorktreeOutput},
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
        if !self.left.contains(&left) {
            self.left.push(left);
        }
        // The working directory is part of what requests begin with.
        self.prefix = None;
    }

    /// Hooks that watch where the work is done hear of it when it has moved.
    fn tell_hooks_of_move(&mut self, shared: &mut Shared, old_cwd: String) {
        let new_cwd = self.spec.environment.cwd.clone();
        if new_cwd != old_cwd {
            let moved = CwdChanged { old_cwd, new_cwd };
            self.tell_hooks(shared, Occurrence::CwdChanged(moved));
        }
    }

    /// A path as the host shall see it: hosts know the directory that the session began in.
    pub(super) fn seen_from_here(&self, path: String) -> String {
        let is_relative =
            !path.starts_with(['/', '\\', '~']) && path.as_bytes().get(1) != Some(&b':');
        match is_relative && !self.left.is_empty() {
            true => format!("{}/{path}", self.spec.environment.cwd),
            false => path,
        }
    }

    /// A call that a host ran has its result. For the tools that are the core's as well, something follows from it.
    pub(super) fn ran(&mut self, shared: &mut Shared, index: usize, result: ToolResult) {
        let core = (self.spec.tool(&self.run.calls[index].name)).and_then(|tool| tool.core);
        match core {
            Some(CoreTool::EnterWorktree) => {
                let result = match EnterWorktreeOutput::of(&result) {
                    Ok(worktree) => {
                        let left = self.spec.environment.cwd.clone();
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
        if self.standing(shared).mode() == Mode::Plan {
            let text = "No worktree is made in plan mode. Start the agent without isolation.";
            return self.review(shared, index, ToolResult::error(text));
        }
        let name = format!("agent-{}", id_of('a', shared.id, [number, 0, 0]));
        let input = EnterWorktreeInput { name: Some(name) };
        let call = &mut self.run.calls[index];
        call.state = CallState::Running;
        let effect = Effect::CallTool(ToolCall {
            tool_use_id: call.id.clone(),
            name: CoreTool::EnterWorktree.name().to_owned(),
            // A string: encoding cannot fail.
            input: RawJson::encode(&input).unwrap_or_else(|_| RawJson::empty_object()),
            grant: FsGrant {
                cwd: self.spec.environment.cwd.clone(),
                ..FsGrant::default()
            },
            observed: alloc::vec::Vec::new(),
            timeout_ms: None,
            agent: None,
        });
        let id = self.call_effect(shared, index, Stage::Run);
        self.perform(shared, id, effect);
    }

    /// The worktree of an agent is there, or there is none.
    fn isolated(&mut self, shared: &mut Shared, index: usize, result: &ToolResult) {
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
