//! The result of the call that started an agent.

use alloc::{
    borrow::ToOwned,
    format,
    string::{String, ToString},
    vec::Vec,
};

use super::{
    super::{
        Shared,
        background::{AgentTask, Task, Work},
        run::{Ended, Outcome},
    },
    Child, total,
};
use crate::{
    content::{Block, ResultBlock},
    json::RawJson,
    message::TaskKind,
    tool::ToolResult,
    tools::task::{AgentOutput, AgentUsage},
};

impl Child {
    /// Makes the agent a background task and returns the result of its call.
    pub(super) fn launch(&mut self, shared: &mut Shared, tool_use_id: &str) -> ToolResult {
        let facts = &self.facts;
        let kind = TaskKind::LocalAgent;
        let task = Task {
            owner: 0,
            tool_use_id: tool_use_id.to_owned(),
            tool_name: "Task".to_owned(),
            description: facts.task.description.clone(),
            command: None,
            decision: None,
            kind,
            work: Work::Agent(self.thread.number()),
            started: shared.now.mono,
            ended: None,
            stopping: false,
            output: String::new(),
            links: Vec::new(),
        };
        let agent = AgentTask {
            subagent_type: facts.agent.name.clone(),
            prompt: facts.task.prompt.clone(),
        };
        shared.task_begins(facts.id.clone(), task, Some(agent));
        let output_file = shared.output_file(&facts.id, kind);
        let output = AgentOutput::AsyncLaunched {
            agent_id: facts.id.clone(),
            description: facts.task.description.clone(),
            prompt: facts.task.prompt.clone(),
            can_read_output_file: (!output_file.is_empty())
                .then(|| shared.spec.tool("Read").is_some()),
            output_file,
        };
        let text = format!(
            "The agent works in the background, as task {}. You will hear when it ends, with its report; TaskStop stops it.",
            facts.id
        );
        ToolResult {
            structured: RawJson::encode(&output).ok(),
            ..ToolResult::text(text)
        }
    }

    /// The result of its call after its end: its last text, or why there is none.
    pub(super) fn report(&self, ended: &Ended) -> ToolResult {
        let id = &self.facts.id;
        let last = ended.run.text.trim();
        let text = match &ended.outcome {
            Outcome::Success if last.is_empty() => "(The agent ended without a report.)".to_owned(),
            // If the model wrote nothing, the reason of whoever ended the run is used.
            Outcome::StoppedByHook(reason) if last.is_empty() => reason.clone(),
            Outcome::Success | Outcome::StoppedByHook(_) => last.to_owned(),
            Outcome::MaxTurns(max) => {
                let stopped = format!("(The agent was stopped at its limit of {max} tool rounds");
                match last {
                    "" => format!("{stopped}, without a report.)"),
                    last => format!("{stopped}. Its last words:)\n\n{last}"),
                }
            }
            Outcome::MaxBudget(budget) => {
                return failed(
                    &format!("The agent was stopped: the budget of ${budget} is used up."),
                    last,
                );
            }
            Outcome::Interrupted => return failed("The agent was interrupted.", last),
            Outcome::NoOutput { .. } => {
                return failed("The agent gave no answer of the wanted form.", last);
            }
            Outcome::Failed { message, .. } => {
                return failed(&format!("The agent failed: {message}"), last);
            }
        };
        let usage = &ended.run.usage;
        let output = AgentOutput::Completed {
            agent_id: id.clone(),
            content: alloc::vec![Block::text(&text).to_raw()],
            total_tool_use_count: ended.run.tool_uses,
            total_duration_ms: ended.duration_ms,
            total_tokens: total(usage),
            usage: AgentUsage::from(usage),
            prompt: self.facts.task.prompt.clone(),
        };
        let mut told = alloc::vec![text, format!("(agent id for resume: {id})")];
        if let Some(worktree) = &self.facts.worktree {
            let branch = worktree.worktree_branch.as_deref();
            told.push(match branch {
                Some(branch) => format!(
                    "(It worked in the worktree {}, on the branch {branch}: what it changed is there.)",
                    worktree.worktree_path
                ),
                None => format!(
                    "(It worked in the worktree {}: what it changed is there.)",
                    worktree.worktree_path
                ),
            });
        }
        let text = |text| ResultBlock::Text { text };
        ToolResult {
            content: told.into_iter().map(text).collect(),
            structured: RawJson::encode(&output).ok(),
            ..ToolResult::default()
        }
    }
}

/// An error result with the agent's earlier text.
fn failed(reason: &str, last: &str) -> ToolResult {
    ToolResult::error(match last {
        "" => reason.to_string(),
        last => format!("{reason} Its last words:\n\n{last}"),
    })
}
