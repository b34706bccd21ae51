//! Agents that bring tools along: when one starts, the host prepares the tools and returns their definitions.

use alloc::{format, string::ToString, vec::Vec};

use super::super::{Shared, Thread};
use crate::{
    effect::{Effect, Stage},
    tool::{CoreTool, FsGrant, ToolCall, ToolDefinition, ToolResult},
    tools::task::TaskInput,
};

impl Thread {
    /// Asks the host for the tools that an agent brings along. False if it brings none, or they are already known. A resumed
    /// agent has them already.
    pub(super) fn provision(
        &mut self,
        shared: &mut Shared,
        index: usize,
        input: &TaskInput,
    ) -> bool {
        let agent = self.spec.tools.agents.get(&input.subagent_type);
        let brings = agent.is_some_and(|agent| agent.brings_tools);
        let call = &mut self.run.calls[index];
        if !brings || input.resume.is_some() || call.has_own_tools() {
            return false;
        }
        call.make_ready();
        let effect = Effect::CallTool(ToolCall {
            tool_use_id: call.id().to_string(),
            name: CoreTool::Task.name().to_string(),
            input: call.input_or_empty(),
            grant: FsGrant {
                cwd: self.spec.environment.cwd.clone(),
                ..FsGrant::default()
            },
            observed: Vec::new(),
            timeout_ms: None,
            agent: None,
            command: None,
            outside_sandbox: false,
            shell: None,
            model: None,
        });
        let id = self.call_effect(shared, index, Stage::Provision);
        self.perform(shared, id, effect);
        true
    }

    /// The host has answered with the agent's tools, or with an error.
    pub(in crate::session) fn provisioned(
        &mut self,
        shared: &mut Shared,
        index: usize,
        result: &ToolResult,
    ) {
        let call = &mut self.run.calls[index];
        let input = call.input_or_empty().read::<TaskInput>();
        let tools = match &result.structured {
            Some(tools) if !result.is_error => tools.read::<Vec<ToolDefinition>>(),
            _ => Ok(Vec::new()),
        };
        let problem = match (input, tools) {
            _ if result.is_error => result.joined_text(),
            (Ok(input), Ok(tools)) => {
                call.keep_own_tools(tools);
                return self.start_agent(shared, index, input);
            }
            (Err(error), _) | (_, Err(error)) => error.to_string(),
        };
        let text = format!("The agent was not started, for it lacks its tools: {problem}");
        self.review(shared, index, ToolResult::error(text));
    }
}
