//! Calls of tools that the core runs itself: no host is involved, and the result is available at once.

use alloc::{format, string::String};

use super::{
    super::{Shared, Thread, thread::Chosen},
    record::ToolCallInput,
};
use crate::{
    json::{JsonError, RawJson},
    permission::{PermissionUpdate, Rule},
    tool::{CoreTool, ToolResult},
    tools::{
        self, Change, Done, Seen,
        background::{TaskOutputInput, TaskStopInput},
        task::TaskInput,
    },
};

impl Thread {
    /// Runs an allowed call. The caller has to start the calls that may follow.
    pub(super) fn run_in_core(
        &mut self,
        shared: &mut Shared,
        index: usize,
        tool: CoreTool,
        decision: String,
    ) {
        let ToolCallInput::Json(input) = self.run.calls[index].input.clone() else {
            return;
        };
        self.let_run(shared, index, decision);
        if let Some(tool) = TaskTool::of(tool, &input) {
            return self.run_task_tool(shared, index, tool);
        }
        let (spec, session_spec) = (self.spec.clone(), shared.spec.clone());
        let model = String::from(self.model());
        let seen = Seen {
            spec: &spec,
            model: &model,
            mode: shared.permissions.mode(),
            session_spec: &session_spec,
            in_subagent: self.number() > 0,
        };
        let found_before = self.tool_state.loaded.len();
        let Done { result, changes } = tools::run(tool, &input, &seen, &mut self.tool_state);
        if self.tool_state.loaded.len() > found_before {
            // If found definitions are added to the request, its prefix changes.
            self.context.forget_prefix();
        }
        for change in changes {
            self.take_over(shared, change);
        }
        self.review(shared, index, result);
    }

    /// Runs the tools that concern other threads and running effects.
    fn run_task_tool(
        &mut self,
        shared: &mut Shared,
        index: usize,
        tool: Result<TaskTool, JsonError>,
    ) {
        match tool {
            Ok(TaskTool::Start(input)) => self.start_agent(shared, index, input),
            Ok(TaskTool::Read(input)) => self.read_task(shared, index, input),
            Ok(TaskTool::Stop(input)) => self.stop_task(shared, index, input),
            Err(error) => {
                let text = format!("The input cannot be used: {error}");
                self.review(shared, index, ToolResult::error(text));
            }
        }
    }

    fn take_over(&mut self, shared: &mut Shared, change: Change) {
        match change {
            Change::Mode(Some(mode)) => shared.change_permissions(|permissions, spec| {
                permissions.set_mode(&spec.policy.permissions, &spec.environment, mode)
            }),
            Change::Mode(None) => shared.leave_plan_mode(),
            Change::Allow(rules) => {
                let rules = rules.iter().map(Rule::value).collect();
                shared.update_permissions(&[PermissionUpdate::allow_in_session(rules)]);
            }
            Change::Model(model) => {
                let chosen = self.chosen().clone();
                self.choose(shared, Chosen { model, ..chosen });
            }
            Change::Effort(effort) => {
                let chosen = self.chosen().clone();
                self.choose(shared, Chosen { effort, ..chosen });
            }
            Change::Thinking(thinking) => {
                let chosen = self.chosen().clone();
                self.choose(shared, Chosen { thinking, ..chosen });
            }
        }
    }

    /// Whether a tool's definition is still deferred for the model.
    pub(super) fn waits_to_be_found(&self, tool: &str) -> bool {
        !self.tool_state.loaded.iter().any(|loaded| loaded == tool)
            && tools::deferred(&self.spec, self.model()).contains_key(tool)
    }

    /// Errors in the input of a core tool that its schema cannot express.
    pub(super) fn core_fault(
        &self,
        shared: &Shared,
        tool: CoreTool,
        input: &RawJson,
    ) -> Option<String> {
        let seen = Seen {
            spec: &self.spec,
            model: self.model(),
            mode: shared.permissions.mode(),
            session_spec: &shared.spec,
            in_subagent: self.number() > 0,
        };
        tool.fault(input, &seen)
    }
}

/// The input of a tool for background tasks.
enum TaskTool {
    Start(TaskInput),
    Read(TaskOutputInput),
    Stop(TaskStopInput),
}

impl TaskTool {
    fn of(tool: CoreTool, input: &RawJson) -> Option<Result<Self, JsonError>> {
        match tool {
            CoreTool::Task => Some(input.read().map(Self::Start)),
            CoreTool::TaskOutput => Some(input.read().map(Self::Read)),
            CoreTool::TaskStop => Some(input.read().map(Self::Stop)),
            _ => None,
        }
    }
}
