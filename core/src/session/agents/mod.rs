//! Subagents: threads that answer a call of the main thread.
//!
//! An agent's number is given when the response that calls for it arrives, so it does not depend on the order in
//! which agents end. A thread stays when its agent has ended: it can be resumed.

mod lifecycle;
mod provisioning;
mod report;

use alloc::{borrow::ToOwned, collections::BTreeSet, string::String, sync::Arc, vec::Vec};

use serde::{Deserialize, Serialize};

use super::{
    Shared, Thread,
    call::Call,
    run::{Outcome, Run},
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

/// A subagent: its thread, and whom it answers.
#[derive(Debug)]
pub(super) struct Child {
    pub(super) thread: Thread,
    pub(super) facts: ChildFacts,
}

/// What is known of a subagent besides its conversation.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct ChildFacts {
    /// The id by which it is resumed, stopped and asked about.
    pub(super) id: String,
    /// Its definition, as it was when it was started.
    pub(super) agent: AgentProfile,
    /// The task it works on, or worked on last.
    pub(super) task: TaskInput,
    /// The model it asks.
    pub(super) model: String,
    /// How the main thread had its model think when the task began, and how hard it had it work.
    #[serde(default)]
    pub(super) thinking: Thinking,
    #[serde(default)]
    pub(super) effort: Option<Effort>,
    /// The main thread's response and call that it answers.
    pub(super) answers: Option<(u32, u32)>,
    /// Its call was answered already; it works beside the conversation.
    pub(super) background: bool,
    /// Its own worktree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) worktree: Option<EnterWorktreeOutput>,
}

/// A call of the Task tool that is to be carried out by the session.
#[derive(Debug)]
pub(super) struct AgentRequest {
    pub(super) index: usize,
    pub(super) number: u32,
    pub(super) input: TaskInput,
    /// Where it shall work, if not where its parent does.
    pub(super) worktree: Option<EnterWorktreeOutput>,
}

/// A run that has ended, of a thread that reports to another one.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Ended {
    outcome: Outcome,
    run: Run,
    duration_ms: u64,
}

impl Thread {
    /// Task: the session starts the agent, since it is a thread beside this one.
    pub(super) fn start_agent(&mut self, shared: &mut Shared, index: usize, input: TaskInput) {
        let number = self.run.calls[index].agent();
        if number.is_some() && self.provision(shared, index, &input) {
            return;
        }
        match number {
            // An agent that goes on stays where it is.
            Some(number) if input.isolation.is_some() && input.resume.is_none() => {
                self.isolate(shared, index, number);
            }
            Some(number) => shared.agent_requests.push_back(AgentRequest {
                index,
                number,
                input,
                worktree: None,
            }),
            // Only the main thread's calls are numbered.
            None => {
                let text = "An agent cannot start agents. Do the task yourself.";
                self.review(shared, index, ToolResult::error(text));
            }
        }
    }

    /// Gives every call that starts an agent its number.
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

    /// Marks the calls about an agent that a call before them resumes or names, too. Beside each other, the one that is allowed
    /// first would have the agent, and the others would find it at work, or not find it at all: what comes of a response would
    /// be up to the order in which questions are answered.
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

    /// Ends the run of a subagent: instead of a result message there is an end that the session takes.
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

    /// What its thread is told for a task.
    pub(super) fn spec(&self, parent: &Thread, task: &TaskInput) -> crate::Spec {
        let mut spec = child_spec(&parent.spec, &self.agent, self.options(parent, task));
        spec.model.name.clone_from(&self.model);
        spec.model.thinking = self.thinking;
        spec.model.effort = self.effort;
        spec
    }

    /// Takes over what holds for the main thread as a task begins.
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

    /// The thread of these facts, with nothing said yet.
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

/// What the modes of an agent and of its task take away. Tools and further deny rules are in the thread's spec.
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
    /// An agent that is told of as a task says how far it is.
    pub(super) fn emit_task_progress(&self, shared: &mut Shared) {
        if let Some(agent) = self.agent() {
            let usage = self.task_usage(shared);
            shared.emit_task_progress(&agent.agent_id, usage, self.run.last_tool.clone());
        }
    }
}
