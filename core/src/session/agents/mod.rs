//! Subagents: threads that answer a call of the main thread.
//!
//! An agent gets its number when the response that calls for it arrives, so numbers do not depend on the order in which agents
//! end. The thread of an agent that has ended is kept, so that it can be resumed.

mod lifecycle;
mod provisioning;
mod report;
mod request;

pub(super) use self::request::AgentRequest;

use alloc::{borrow::ToOwned, collections::BTreeSet, string::String, sync::Arc, vec::Vec};

use serde::{Deserialize, Serialize};

use super::{
    Shared, Thread,
    call::Call,
    run::{Ended, Outcome, Run},
};
use crate::{
    agent::AgentProfile,
    hook::input::AgentName,
    json::RawObject,
    message::TaskUsage,
    model::{Effort, Thinking, Usage},
    permission::Narrowing,
    spec::{ChildOptions, child_spec},
    tool::{CoreTool, ToolResult},
    tools::{enter_worktree::EnterWorktreeOutput, task::TaskInput},
};

/// A subagent: its thread, and the call it answers.
#[derive(Debug)]
pub(super) struct Child {
    pub(super) thread: Thread,
    pub(super) facts: ChildFacts,
}

/// The state of a subagent apart from its conversation.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct ChildFacts {
    /// The id by which it is resumed, stopped and looked up.
    pub(super) id: String,
    /// Its definition at the time it was started.
    pub(super) agent: AgentProfile,
    /// Its current or last task.
    pub(super) task: TaskInput,
    /// Its model.
    pub(super) model: String,
    /// The thinking and effort settings of the main thread when the task began.
    #[serde(default)]
    pub(super) thinking: Thinking,
    #[serde(default)]
    pub(super) effort: Option<Effort>,
    /// The response and the call of the main thread that it answers.
    pub(super) answers: Option<(u32, u32)>,
    /// Whether it runs in the background: its call has been answered already.
    pub(super) background: bool,
    /// The worktree that was created for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) worktree: Option<EnterWorktreeOutput>,
}

impl Thread {
    /// Task: passed on to the session, which starts the agent, since threads cannot access each other.
    pub(super) fn start_agent(&mut self, shared: &mut Shared, index: usize, input: TaskInput) {
        let number = self.run.calls[index].agent();
        if number.is_some() && self.provision(shared, index, &input) {
            return;
        }
        match number {
            // A resumed agent keeps its directory.
            Some(number) if input.isolation.is_some() && input.resume.is_none() => {
                self.isolate(shared, index, number);
            }
            Some(number) => shared.agent_requests.push_back(AgentRequest {
                index,
                number,
                input,
                worktree: None,
            }),
            // Only calls of the main thread get numbers.
            None => {
                let text = "An agent cannot start agents. Do the task yourself.";
                self.review(shared, index, ToolResult::error(text));
            }
        }
    }

    /// Numbers the calls that start agents.
    pub(super) fn number_agents(&mut self, shared: &mut Shared) {
        self.run.tool_uses = self
            .run
            .tool_uses
            .saturating_add(u32::try_from(self.run.calls.len()).unwrap_or(u32::MAX));
        if let Some(last) = self.run.calls.last() {
            self.run.last_tool = Some(last.tool_name().to_owned());
        }
        if !self.is_main() {
            return self.emit_task_progress(shared);
        }
        for call in &mut self.run.calls {
            let core = self.spec.tool(call.tool_name()).and_then(|tool| tool.core);
            if core == Some(CoreTool::Task) {
                shared.agents_numbered = shared.agents_numbered.saturating_add(1);
                call.start_agent(shared.agents_numbered);
            }
        }
        self.part_calls_on_one_agent(shared);
    }

    /// Marks calls that concern an agent which an earlier call of the response resumes or names. If they ran concurrently, the
    /// first one to be allowed would get the agent, and the others would find it busy or not find it: the outcome would depend on
    /// the order in which permission requests are answered.
    fn part_calls_on_one_agent(&mut self, shared: &Shared) {
        let mut before: BTreeSet<String> = BTreeSet::new();
        for call in &mut self.run.calls {
            let (Some(_), Some(input)) = (call.agent(), call.json()) else {
                continue;
            };
            let fields = RawObject::parse(input.get()).unwrap_or_default();
            let resumed = fields.get_string("resume").map(|name| {
                let known = shared.agent_names.get(&name).cloned();
                [Some(name), known]
            });
            let about: Vec<String> = (resumed.into_iter().flatten().flatten())
                .chain(fields.get_string("name"))
                .collect();
            call.set_shares_agent(about.iter().any(|name| before.contains(name)));
            before.extend(about);
        }
    }

    /// Ends the run of a subagent. Instead of a result message it leaves an [`Ended`] for the session.
    pub(super) fn end_subagent(&mut self, shared: &Shared, outcome: Outcome, run: Run) {
        self.ended = Some(Ended {
            duration_ms: shared.now.mono.since(run.started),
            outcome,
            run,
        });
    }

    /// Whether a call waits for a subagent.
    pub(super) fn waits_for_agent(&self) -> bool {
        let waits = |call: &Call| call.agent_runs() && call.is_running();
        self.run.calls.iter().any(waits)
    }

    fn task_usage(&self, shared: &Shared) -> TaskUsage {
        TaskUsage {
            total_tokens: total(&self.run.usage),
            tool_uses: self.run.tool_uses,
            duration_ms: shared.now.mono.since(self.run.started),
        }
    }
}

impl ChildFacts {
    fn options<'a>(&'a self, parent: &'a Thread, task: &'a TaskInput) -> ChildOptions<'a> {
        ChildOptions {
            main_model: parent.model(),
            model: task.model.as_ref(),
            max_turns: task.max_turns,
        }
    }

    /// The spec of its thread for a task.
    pub(super) fn spec(&self, parent: &Thread, task: &TaskInput) -> crate::Spec {
        let mut spec = child_spec(&parent.spec, &self.agent, self.options(parent, task));
        spec.model.name.clone_from(&self.model);
        spec.model.thinking = self.thinking;
        spec.model.effort = self.effort;
        spec
    }

    /// Takes over the model settings of the main thread at the start of a task.
    fn follow(&mut self, parent: &Thread, task: &TaskInput) {
        let spec = child_spec(&parent.spec, &self.agent, self.options(parent, task));
        (self.model, self.thinking, self.effort) =
            (spec.model.name, spec.model.thinking, spec.model.effort);
    }
}

impl Child {
    fn new(parent: &Thread, number: u32, id: String, agent: AgentProfile, task: TaskInput) -> Self {
        let mut facts = ChildFacts {
            id,
            agent,
            task,
            model: String::new(),
            thinking: Thinking::default(),
            effort: None,
            answers: None,
            background: false,
            worktree: None,
        };
        let task = facts.task.clone();
        facts.follow(parent, &task);
        Self::with(parent, number, facts)
    }

    /// Creates the thread of a subagent with an empty conversation.
    pub(super) fn with(parent: &Thread, number: u32, facts: ChildFacts) -> Self {
        let agent = AgentName {
            agent_id: facts.id.clone(),
            agent_type: facts.agent.name.clone(),
        };
        let mut thread = Thread::new(number, Arc::new(facts.spec(parent, &facts.task))).of(agent);
        thread.narrow(narrowing(&facts.task, &facts.agent));
        thread.workplace = parent.workplace.of_agent();
        Self { thread, facts }
    }
}

/// The restrictions from the modes of an agent and of its task. Tools and further deny rules are in the thread's spec.
fn narrowing(task: &TaskInput, agent: &AgentProfile) -> Option<Narrowing> {
    let of = |mode| Narrowing {
        mode,
        ..Narrowing::default()
    };
    let both = of(agent.definition.permission_mode).further(&of(task.mode));
    both.mode.is_some().then_some(both)
}

/// Tokens of all kinds.
fn total(usage: &Usage) -> u64 {
    [
        usage.input_tokens,
        usage.output_tokens,
        usage.cache_creation_input_tokens,
        usage.cache_read_input_tokens,
    ]
    .into_iter()
    .fold(0, u64::saturating_add)
}

impl Thread {
    /// Reports the progress of an agent that is announced as a task.
    pub(super) fn emit_task_progress(&self, shared: &mut Shared) {
        if let Some(agent) = self.agent() {
            let usage = self.task_usage(shared);
            shared.emit_task_progress(&agent.agent_id, usage, self.run.last_tool.clone());
        }
    }
}
