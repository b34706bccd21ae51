//! Starting, resuming and ending subagents.

use alloc::{borrow::ToOwned, format, string::String, sync::Arc, vec::Vec};

use super::{
    super::{
        Phase, Session,
        background::{Task, Work, id_of},
        call::Call,
        run::Outcome,
    },
    AgentRequest, Child, narrowing, total,
};
use crate::{
    effect::Prompt,
    message::{TaskEnd, TaskUsage},
    tool::{ToolDefinition, ToolResult},
    tools::task::TaskInput,
};

impl Session {
    /// Carries out what threads requested of each other, until nothing is left to do.
    pub(in crate::session) fn settle(&mut self) {
        loop {
            if let Some(request) = self.shared.agent_requests.pop_front() {
                self.start_agent(request);
                continue;
            }
            if let Some(number) = self.ended_agent() {
                self.agent_ended(number);
                continue;
            }
            if core::mem::take(&mut self.shared.interrupt_main) {
                self.main.interrupt(&mut self.shared, Outcome::Interrupted);
            }
            if self.main.phase() == Phase::Stopping {
                self.interrupt_agents();
            }
            self.stop_agents();
            // An agent that was only waiting has ended at once. Its end must be handled now, since snapshots do not contain it.
            if self.ended_agent().is_some() {
                continue;
            }
            self.shared.end_lost_tasks();
            if self.shared.tasks_changed {
                self.shared.tasks_changed = false;
                self.main.answer_task_waits(&mut self.shared);
                for child in self.children.values_mut() {
                    child.thread.answer_task_waits(&mut self.shared);
                }
                continue;
            }
            if !self.begin_next_run() {
                return;
            }
        }
    }

    fn ended_agent(&self) -> Option<u32> {
        let ended = |child: &Child| child.thread.ended.is_some();
        let mut children = self.children.iter();
        children.find(|(_, child)| ended(child)).map(|(n, _)| *n)
    }

    /// Starts the agent of a call, or resumes an existing one.
    fn start_agent(&mut self, request: AgentRequest) {
        let AgentRequest {
            index,
            number,
            input,
            worktree,
        } = request;
        let Some(call) = self.main.run.calls.get_mut(index) else {
            return; // of a round that is over
        };
        let own_tools = call.take_own_tools();
        let number = match self.find_or_make(number, &input, own_tools) {
            Ok(number) => number,
            Err(text) => {
                self.main
                    .review(&mut self.shared, index, ToolResult::error(text));
                return self.main.go_on_with_calls(&mut self.shared);
            }
        };
        let Some(child) = self.children.get_mut(&number) else {
            return; // it was found or made above
        };
        let shared = &mut self.shared;
        let call = &mut self.main.run.calls[index];
        let background = input.run_in_background == Some(true);
        if let Some(worktree) = worktree {
            child.thread.enter(&worktree.worktree_path);
            child.facts.worktree = Some(worktree);
        }
        child.facts.answers = Some((
            self.main.turns.current(),
            u32::try_from(index).unwrap_or(u32::MAX),
        ));
        child.facts.background = background;
        child.facts.task = input;
        child.thread.answer_call(Some(call.id().to_owned()));
        call.agent_started(!background);
        if let Some(name) = &child.facts.task.name {
            shared
                .agent_names
                .insert(name.clone(), child.facts.id.clone());
        }
        if background {
            let result = child.launch(shared, self.main.run.calls[index].id());
            self.main.review(shared, index, result);
        } else if shared.spec.tools.tasks.announce_agents
            && let Some(agent) = child.thread.agent().cloned()
        {
            let call = self.main.run.calls[index].id();
            shared.awaited_begins(agent, &child.facts.task, call);
        }
        let prompt = Prompt::text(&child.facts.task.prompt);
        child.thread.start(shared, prompt);
        if background {
            self.main.go_on_with_calls(shared);
        }
    }

    /// The number of the agent to start: a new one, or the one to resume.
    fn find_or_make(
        &mut self,
        number: u32,
        input: &TaskInput,
        own_tools: Option<Vec<ToolDefinition>>,
    ) -> Result<u32, String> {
        if let Some(name) = &input.resume {
            return self.find_to_resume(name, input);
        }
        let spec = self.main.spec.clone();
        let Some(agent) = spec.tools.agents.get(&input.subagent_type) else {
            let known: Vec<&str> = spec
                .tools
                .agents
                .iter()
                .map(|agent| agent.name.as_str())
                .collect();
            return Err(format!(
                "There is no agent named {}. The agents are: {}.",
                input.subagent_type,
                known.join(", ")
            ));
        };
        let id = id_of('a', self.shared.id, [number, 0, 0]);
        let mut agent = agent.clone();
        if let Some(tools) = own_tools {
            agent.own_tools = tools;
        }
        let child = Child::new(&self.main, number, id, agent, input.clone());
        self.children.insert(number, child);
        Ok(number)
    }

    fn find_to_resume(&mut self, name: &str, input: &TaskInput) -> Result<u32, String> {
        let id = self
            .shared
            .agent_names
            .get(name)
            .map_or(name, String::as_str);
        let found = self
            .children
            .iter_mut()
            .find(|(_, child)| child.facts.id == id);
        let Some((number, child)) = found else {
            return Err(format!(
                "There is no agent {name} to resume. Start a new one without resume."
            ));
        };
        if child.thread.phase() != Phase::Idle {
            return Err(format!(
                "The agent {name} is still running. Wait for its end before you give it more to do."
            ));
        }
        let parent = &self.main;
        child.facts.follow(parent, input);
        let mut spec = child.facts.spec(parent, input);
        // A resumed agent continues in its own directory, even if its parent has moved.
        let place = &child.thread.spec.environment.cwd;
        spec.environment.cwd.clone_from(place);
        child.thread.spec = Arc::new(spec);
        child.thread.narrow(narrowing(input, &child.facts.agent));
        // Settings chosen during a task apply only to that task; so do those inherited from the parent.
        child.thread.forget_choices();
        // Tools and model may have changed.
        child.thread.context.forget_prefix();
        Ok(*number)
    }

    /// Passes an agent's report to whoever waits for it.
    fn agent_ended(&mut self, number: u32) {
        let shared = &mut self.shared;
        let Some(child) = self.children.get_mut(&number) else {
            return;
        };
        let Some(ended) = child.thread.ended.take() else {
            return;
        };
        // Nobody else would learn of the background tasks it leaves running.
        for task in shared
            .tasks
            .values_mut()
            .filter(|task| task.owner == number)
        {
            task.owner = 0;
        }
        let unheard = shared.task_notices.remove(&number).unwrap_or_default();
        shared.task_notices.or_default(0).extend(unheard);
        let result = child.report(&ended);
        let end = match (result.is_error, &ended.outcome) {
            (_, Outcome::Interrupted) => TaskEnd::Stopped,
            (true, _) => TaskEnd::Failed,
            (false, _) => TaskEnd::Completed,
        };
        let usage = TaskUsage {
            total_tokens: total(&ended.run.usage),
            tool_uses: ended.run.tool_uses,
            duration_ms: ended.duration_ms,
        };
        let id = child.facts.id.clone();
        if child.facts.background {
            return shared.task_ends(&id, end, result.joined_text(), Some(usage));
        }
        shared.awaited_ends(&id, end, &ended.run.text, usage);
        let Some((turn, call)) = child.facts.answers.take() else {
            return;
        };
        let index = call as usize;
        let waiting = turn == self.main.turns.current()
            && (self.main.run.calls.get(index)).is_some_and(Call::is_running);
        if waiting {
            self.main.review(shared, index, result);
            self.main.go_on_with_calls(shared);
            self.main.drained_if_quiet(shared);
        }
    }

    /// Interrupts the agents whose tasks are to be stopped.
    fn stop_agents(&mut self) {
        let stopping = |task: &Task| match task.work {
            Work::Agent(number) if task.stopping && task.ended.is_none() => Some(number),
            _ => None,
        };
        let numbers: Vec<u32> = self.shared.tasks.values().filter_map(stopping).collect();
        for number in numbers {
            if let Some(child) = self.children.get_mut(&number) {
                child
                    .thread
                    .interrupt(&mut self.shared, Outcome::Interrupted);
            }
        }
    }

    /// Interrupts the agents that the main thread waits for. Background agents continue.
    pub(in crate::session) fn interrupt_agents(&mut self) {
        for child in self
            .children
            .values_mut()
            .filter(|child| !child.facts.background)
        {
            child
                .thread
                .interrupt(&mut self.shared, Outcome::Interrupted);
        }
    }

    /// Whether [`Input::Background`](crate::Input::Background) would currently apply to a call.
    #[must_use]
    pub fn can_background(&self, tool_use_id: Option<&str>) -> bool {
        let mut calls = self.main.run.calls.iter();
        self.main.phase() == Phase::Tooling
            && calls.any(|call| self.is_detachable(call, tool_use_id))
    }

    fn is_detachable(&self, call: &Call, tool_use_id: Option<&str>) -> bool {
        let is_meant = tool_use_id.is_none_or(|id| call.id() == id);
        // A host effect for a core tool is only a part of the call.
        let is_core =
            || (self.main.spec.tool(call.tool_name())).is_some_and(|tool| tool.core.is_some());
        is_meant && call.is_running() && (call.agent_runs() || !is_core())
    }

    /// Moves running calls of the main thread to the background: one, or all. Calls of a run that is being stopped end with it.
    pub(in crate::session) fn detach(&mut self, tool_use_id: Option<&str>) {
        if self.main.phase() != Phase::Tooling {
            return;
        }
        for index in 0..self.main.run.calls.len() {
            let call = &self.main.run.calls[index];
            if !self.is_detachable(call, tool_use_id) {
                continue;
            }
            if !call.agent_runs() {
                self.main.detach_call(&mut self.shared, index, true);
                continue;
            }
            let number = u32::try_from(index).ok();
            let answers = number.map(|index| (self.main.turns.current(), index));
            let child = (self.children.values_mut()).find(|child| {
                child.facts.answers == answers && child.thread.phase() != Phase::Idle
            });
            if let Some(child) = child {
                child.facts.background = true;
                let id = call.id().to_owned();
                let result = child.launch(&mut self.shared, &id);
                self.main.review(&mut self.shared, index, result);
            }
        }
        self.main.go_on_with_calls(&mut self.shared);
    }
}
