//! One conversation of a session: the main thread, or a subagent's.

mod identity;
mod state;

pub(super) use self::state::ThreadState;

use alloc::{
    borrow::ToOwned, boxed::Box, collections::VecDeque, string::String, sync::Arc, vec::Vec,
};

use serde::{Deserialize, Serialize};

use super::{
    Phase, Shared,
    call::{CallIds, Workplace},
    context::Context,
    hook::Hooks,
    model_call::ModelCall,
    run::{Ended, Outcome, Run},
    suggestion::SuggestionDue,
    transition::{Event, next},
    turns::Turns,
    writing::{Line, Writing},
};
use crate::{
    content::Block,
    context::compaction,
    effect::{Answer, Delivery, Effect, EffectId, Prompt, Stage},
    history::Role,
    hook::input::AgentName,
    id::{Millis, Uuid},
    json::RawJson,
    message::{Init, Message, SystemMessage, UserContent, UserMessage},
    model::{Effort, Thinking},
    permission::{Mode, Narrowing},
    spec::Spec,
    tool::CoreTool,
    tools::CoreToolState,
};

/// A conversation and the run that answers its prompt. State shared with other threads is passed in with every step.
#[derive(Debug)]
pub(super) struct Thread {
    /// The agent's number in effect ids; 0 is the main thread.
    number: u32,
    /// The spec of this thread; the session's own for the main thread.
    pub(super) spec: Arc<Spec>,
    /// The subagent; none on the main thread.
    agent: Option<AgentName>,
    pub(super) hooks: Hooks,
    /// The call that this thread answers; none on the main thread.
    parent_tool_use_id: Option<String>,
    /// Restrictions relative to the session; none for the main thread.
    narrowing: Option<Narrowing>,
    pub(super) workplace: Workplace,
    pub(super) suggestion: SuggestionDue,
    /// The end of a run that the session has not handled yet.
    pub(super) ended: Option<Ended>,
    /// Settings chosen at run time, which override the spec.
    chosen: Chosen,
    /// Prompts that join the current answer at its next tool results.
    pub(super) steering: VecDeque<Prompt>,
    pub(super) context: Context,
    pub(super) turns: Turns,
    pub(super) call_ids: CallIds,
    pub(super) writing: Writing,
    /// The phase of its run. Changed only by the transition table.
    phase: Phase,
    pub(super) run: Run,
    pub(super) model_call: ModelCall,
    /// The state of the core tools.
    pub(super) tool_state: CoreToolState,
}

impl Thread {
    pub(super) fn new(number: u32, spec: Arc<Spec>) -> Self {
        Self {
            number,
            spec,
            agent: None,
            hooks: Hooks::new(),
            parent_tool_use_id: None,
            narrowing: None,
            workplace: Workplace::default(),
            suggestion: SuggestionDue::default(),
            ended: None,
            chosen: Chosen::default(),
            steering: VecDeque::new(),
            context: Context::default(),
            turns: Turns::default(),
            call_ids: CallIds::default(),
            writing: Writing::default(),
            phase: Phase::Idle,
            run: Run::default(),
            model_call: ModelCall::default(),
            tool_state: CoreToolState::default(),
        }
    }

    /// The phase of its run.
    pub(super) fn phase(&self) -> Phase {
        self.phase
    }

    /// The model that the next request goes to.
    pub(super) fn model(&self) -> &str {
        let chosen = self
            .chosen
            .model
            .as_deref()
            .unwrap_or(&self.spec.model.name);
        let fallback = self.spec.model.fallback.as_deref();
        fallback
            .filter(|_| self.run.is_on_fallback())
            .unwrap_or(chosen)
    }

    /// Sets how the model thinks and its effort; unset values follow the spec.
    pub(super) fn choose(&mut self, shared: &Shared, chosen: Chosen) {
        if (chosen.thinking, chosen.effort) != (self.chosen.thinking, self.chosen.effort) {
            let session_spec = &shared.spec;
            let spec = Arc::make_mut(&mut self.spec);
            spec.model.thinking = chosen.thinking.unwrap_or(session_spec.model.thinking);
            spec.model.effort = chosen.effort.or(session_spec.model.effort);
            self.context.forget_prefix();
        }
        self.chosen = chosen;
    }

    /// The settings chosen at run time.
    pub(super) fn chosen(&self) -> &Chosen {
        &self.chosen
    }

    /// A new task begins: the settings of the spec apply again.
    pub(super) fn forget_choices(&mut self) {
        self.chosen = Chosen::default();
    }

    /// Drops what is only needed during a run and can be rebuilt.
    pub(super) fn rest(&mut self) {
        self.context.rest();
    }

    /// The time at which this thread needs a tick.
    pub(super) fn deadline(&self) -> Option<Millis> {
        let lingering = self.model_call.linger_until();
        let progress = self.progress_due();
        let due = self.run.retry_due().into_iter().chain(lingering);
        let due = due.chain(self.response_due());
        due.chain(progress).chain(self.task_wait_ends()).min()
    }

    /// Handles an answer to an effect of this thread.
    pub(super) fn answer(
        &mut self,
        shared: &mut Shared,
        id: EffectId,
        answer: Answer,
        was_cancelled: bool,
    ) {
        let last = answer.is_last();
        let event = match id.stage {
            Stage::Model | Stage::Summary | Stage::Suggestion => {
                self.model_answer(shared, id, answer)
            }
            Stage::Resolve | Stage::Ask | Stage::Run | Stage::Probe | Stage::Provision => {
                self.call_answer(shared, id, answer, was_cancelled);
                None
            }
            Stage::Hook(..) => self.hook_answer(shared, id, answer, was_cancelled),
            Stage::SavePrompt | Stage::SaveResponse | Stage::SaveResults | Stage::SaveSummary => {
                match answer {
                    Answer::Persisted => self.after_save(shared),
                    Answer::PersistFailed(reason) => self.transcript_failed(shared, &reason),
                    // Writing is never cancelled by the session, so this answer means that the entries were not written.
                    _ => self.transcript_failed(shared, "the host dropped the entries"),
                }
            }
        };
        self.go_on(shared, event);
        if last {
            self.drained_if_quiet(shared);
        }
    }

    /// Handles deadlines that may have passed.
    pub(super) fn tick(&mut self, shared: &mut Shared) {
        let now = shared.now.mono;
        let waits = matches!(self.phase, Phase::Backoff | Phase::CompactingBackoff);
        if waits && self.run.take_due_retry(now) {
            self.go_on(shared, Some(Event::Due));
        }
        let lingering = self.model_call.linger_until();
        if lingering.is_some_and(|until| until <= now) {
            let event = self.stop_lingering(shared);
            self.go_on(shared, event);
        }
        let event = self.stop_waiting_if_due(shared);
        self.go_on(shared, event);
        self.emit_due_progress(shared);
        self.drained_if_quiet(shared);
    }

    /// Performs the transition of an event and those that follow from it, until outside input is needed. The parts of a thread
    /// return their events to the caller of this.
    pub(super) fn go_on(&mut self, shared: &mut Shared, mut event: Option<Event>) {
        while let Some(now) = event {
            event = self.transit(shared, now);
        }
    }

    /// Performs one transition and the entry action of the new phase; returns the event that follows at once.
    fn transit(&mut self, shared: &mut Shared, event: Event) -> Option<Event> {
        // Without a transition in the table, the event came too late to matter (for example an answer after an interrupt).
        self.phase = next(self.phase, event)?;
        match self.phase {
            Phase::SavingPrompt if event == Event::AskAgain => self.remind_of_output(shared),
            Phase::SavingPrompt => self.enter_prompt(shared),
            Phase::Idle | Phase::Submitting | Phase::Backoff | Phase::Concluding => None,
            Phase::CompactingBackoff | Phase::SavingSummary => None,
            Phase::Calling => self.ask_model(shared),
            Phase::Compacting => self.begin_summary(shared),
            Phase::SavingResponse => self.save_response(shared),
            Phase::Tooling => self.schedule_calls(shared),
            Phase::SavingResults if event == Event::Mend => self.save_mended(shared),
            Phase::SavingResults => self.save_results(shared),
            Phase::Stopping => self.drained(shared),
            Phase::SavingEnd => self.save_end(shared),
            Phase::Finishing => self.report_if_quiet(shared),
        }
    }

    /// Begins a run without a prompt, to deliver pending notifications to the model.
    pub(super) fn wake(&mut self, shared: &mut Shared) {
        self.begin_run(shared);
        let event = self.submit(shared, Prompt::default());
        self.go_on(shared, event);
    }

    fn begin_run(&mut self, shared: &mut Shared) {
        self.forget_suggestion(shared);
        self.run = Run::begun(shared.now.mono);
        self.phase = next(Phase::Idle, Event::Prompt).unwrap_or(Phase::Submitting);
        if self.is_main() {
            let init = self.init(shared);
            shared.say(Message::System(SystemMessage::Init(Box::new(init))));
        }
    }

    /// Begins to answer a prompt.
    pub(super) fn start(&mut self, shared: &mut Shared, prompt: Prompt) {
        self.begin_run(shared);
        let event = self.take_prompt(shared, prompt);
        self.go_on(shared, event);
    }

    fn take_prompt(&mut self, shared: &mut Shared, mut prompt: Prompt) -> Option<Event> {
        // Content that the API refuses must not enter: every later request would be refused for it.
        let mut content = core::mem::take(&mut prompt.content);
        content.retain(|block| Block::from_raw(block.clone()).belongs_in_history());
        if content.is_empty() {
            self.run.outcome = Some(Outcome::Failed {
                class: None,
                message: "the prompt is empty: give it a text or another content block".to_owned(),
            });
            return Some(Event::Stop);
        }
        if let Some(instructions) = compaction::command(&content) {
            return Some(self.start_compaction(shared, instructions));
        }
        self.submit(shared, Prompt { content, ..prompt })
    }

    /// No hook objects: the prompt enters the conversation.
    fn enter_prompt(&mut self, shared: &mut Shared) -> Option<Event> {
        // Without a prompt, a hook keeps the run going and has added its own message.
        let prompt = self.run.submitted.take()?;
        self.run.asks_nothing = prompt.delivery == Delivery::Append;
        let uuid = prompt.uuid.unwrap_or_else(|| shared.ids.uuid());
        if self.spec.stream.replay_prompts && self.is_main() && !prompt.content.is_empty() {
            self.emit_prompt(shared, uuid, prompt.content.clone());
        }
        let mut content = self.with_hook_context(prompt.content);
        if !content.is_empty() {
            content.extend(self.plan_reminder(shared));
        }
        let mut lines: Vec<Line> = self.take_news(shared).into_iter().collect();
        self.run.before_prompt = Some(self.place());
        if !content.is_empty() {
            self.context.push(Role::User, content.clone());
            lines.push(Line::new(Role::User, content).under(uuid));
        }
        self.save(shared, Stage::SavePrompt, lines)
    }

    /// The reminder that goes with a prompt in plan mode. Subagents get none: their task comes from the caller.
    fn plan_reminder(&self, shared: &Shared) -> Option<RawJson> {
        let reminder = self.spec.prompt.plan_reminder.as_ref()?;
        if !self.is_main() || shared.permissions.mode() != Mode::Plan {
            return None;
        }
        let exit = CoreTool::ExitPlanMode.name();
        let can_present = self.spec.offered_tools().any(|tool| tool.name == exit);
        Some(Block::text(&reminder.text(can_present)).to_raw())
    }

    /// Emits a prompt in the stream: one that joined a running answer, or any if replay is enabled.
    pub(super) fn emit_prompt(&self, shared: &mut Shared, uuid: Uuid, content: Vec<RawJson>) {
        shared.say(Message::User(UserMessage {
            message: UserContent::new(content),
            parent_tool_use_id: self.parent_tool_use_id.clone(),
            tool_use_result: None,
            is_synthetic: false,
            is_replay: self.spec.stream.replay_prompts,
            uuid,
            session_id: shared.id,
        }));
    }

    /// Emits a user message that was not written by a person.
    pub(super) fn emit_synthetic(&self, shared: &mut Shared, content: Vec<RawJson>, uuid: Uuid) {
        shared.say(Message::User(UserMessage {
            message: UserContent::new(content),
            parent_tool_use_id: self.parent_tool_use_id.clone(),
            tool_use_result: None,
            is_synthetic: true,
            is_replay: false,
            uuid,
            session_id: shared.id,
        }));
    }

    fn init(&self, shared: &mut Shared) -> Init {
        let environment = &self.spec.environment;
        Init {
            cwd: environment.cwd.clone(),
            session_id: shared.id,
            tools: self.spec.offered_tools().map(|t| t.name.clone()).collect(),
            mcp_servers: environment.mcp_servers.clone(),
            model: self.model().to_owned(),
            permission_mode: shared.permissions.mode(),
            slash_commands: environment.command_names(),
            api_key_source: environment.api_key_source.clone(),
            claude_code_version: environment.version.clone(),
            output_style: environment.output_style.clone(),
            agents: self.agents_for_init(),
            skills: environment.skills.clone(),
            plugins: environment.plugins.clone(),
            betas: self.spec.model.betas.clone(),
            uuid: shared.ids.uuid(),
        }
    }

    /// The agents that the host names, and those that the Task tool can start.
    fn agents_for_init(&self) -> Vec<String> {
        let mut names = self.spec.environment.agents.clone();
        let startable = self
            .spec
            .offered_tools()
            .any(|tool| tool.core == Some(CoreTool::Task));
        for agent in self.spec.tools.agents.iter().filter(|_| startable) {
            if !names.contains(&agent.name) {
                names.push(agent.name.clone());
            }
        }
        names
    }

    /// Sends entries to the host; without a transcript they count as written.
    pub(super) fn save(
        &mut self,
        shared: &mut Shared,
        stage: Stage,
        lines: Vec<Line>,
    ) -> Option<Event> {
        let attempt = match stage {
            Stage::SaveSummary => self.run.summaries(),
            Stage::SaveResults if self.run.mended.is_some() => 2,
            _ => 1,
        };
        self.save_under(shared, stage, attempt, lines)
    }

    /// Like [`save`](Self::save), with this attempt number in the effect id.
    pub(super) fn save_under(
        &mut self,
        shared: &mut Shared,
        stage: Stage,
        attempt: u32,
        lines: Vec<Line>,
    ) -> Option<Event> {
        if !self.spec.policy.persist || self.run.transcript_broken {
            return self.after_save(shared);
        }
        let agent = self.agent.as_ref().map(|agent| &agent.agent_id);
        let effect = self.writing.begin(shared, agent, lines);
        let id = self.effect_id(shared, 0, stage, attempt);
        self.perform(shared, id, effect);
        None
    }

    /// All entries sent so far are written: continues from here.
    pub(super) fn after_save(&mut self, shared: &mut Shared) -> Option<Event> {
        self.writing.written();
        let event = match self.phase {
            Phase::SavingPrompt if self.run.asks_nothing => {
                self.run.outcome = Some(Outcome::Success);
                Event::Stop
            }
            Phase::SavingPrompt => self.may_ask(shared),
            Phase::SavingResponse => self.after_response(shared),
            Phase::SavingResults => self.after_results(shared),
            Phase::SavingSummary => self.after_summary(shared),
            Phase::SavingEnd => Event::Saved,
            _ => return None,
        };
        Some(event)
    }

    /// The id of an effect of this thread.
    pub(super) fn effect_id(
        &self,
        shared: &Shared,
        call: u32,
        stage: Stage,
        attempt: u32,
    ) -> EffectId {
        EffectId {
            session: shared.id,
            agent: self.number,
            turn: self.turns.of(stage),
            call,
            stage,
            attempt,
        }
    }

    pub(super) fn perform(&mut self, shared: &mut Shared, id: EffectId, effect: Effect) {
        self.turns.name_with(id.turn);
        shared.perform(id, effect);
    }

    /// Effects of this thread that have not had their last answer.
    pub(super) fn running<'s>(&self, shared: &'s Shared) -> impl Iterator<Item = EffectId> + 's {
        let number = self.number;
        let ids = shared.running.iter();
        ids.filter(move |(id, running)| id.agent == number && !running.detached)
            .map(|(id, _)| *id)
    }
}

/// Settings of a thread chosen at run time.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Chosen {
    pub(super) model: Option<String>,
    pub(super) thinking: Option<Thinking>,
    pub(super) effort: Option<Effort>,
}
