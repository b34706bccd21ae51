//! The session that runs: what it is told, what it asks for, and where each of these goes.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, mpsc},
};

use windlass_core::{
    EffectId, HostError, Input as SessionInput, Message, Millis, Now, Output as SessionOutput,
    Session, Spec,
    effect::{Answer, Effect as SessionEffect},
    id::Stage,
    message::{SystemMessage, TaskKind, TaskStarted},
    testkit::Recorder,
    tool::{ToolCall, ToolResult},
};

use super::{
    Engine, Topic,
    config::Prepared,
    io::{Effect, Output, ServerTool},
    log::Then,
    pending::Pending,
    questions::Purpose,
    routes::{Route, Routes},
    state::Step,
    variant,
};
use crate::protocol::frames::Facts;

/// A session, which a journal may be kept of.
pub(super) enum Kept {
    Plain(Box<Session>),
    Recorded(Box<Recorder<JournalLines>>, mpsc::Receiver<String>),
}

type JournalLines = Box<dyn FnMut(&str) + Send>;

/// The session that runs, and what belongs to it alone.
#[derive(Debug)]
pub(super) struct Running {
    kept: Kept,
    /// What it is made of.
    pub(super) prepared: Arc<Prepared>,
    /// Tools of MCP servers, by the names the model calls them by.
    pub(super) routes: Routes,
    /// Those that only one agent has, by agent.
    pub(super) agents_routes: BTreeMap<String, Routes>,
    /// Which fields of which tools name files that a call changes.
    pub(super) changed_fields: BTreeMap<String, Vec<String>>,
    /// Callbacks whose failure stops what they should have judged.
    pub(super) blocking: BTreeSet<String>,
    /// What it is to be told.
    inbox: VecDeque<SessionInput>,
    /// What it says and cannot be said before something is written.
    held: Option<Message>,
    /// Its effects that have no last answer yet.
    effects: BTreeSet<EffectId>,
    /// Calls that wait for something before they run.
    parked: BTreeMap<EffectId, Parked>,
    told_of_the_end: bool,
}

/// A call that does not run yet.
#[derive(Debug)]
pub(super) enum Parked {
    /// The servers of the agent that it starts are waited for.
    Equip(String),
    /// What it is about to change is kept first; whether it was cancelled meanwhile.
    Checkpoint(Box<ToolCall>, bool),
}

impl std::fmt::Debug for Kept {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.session().fmt(f)
    }
}

impl Kept {
    pub(super) fn recorded(spec: Arc<Spec>, id: windlass_core::SessionId, seed: [u8; 32]) -> Self {
        let (sender, lines) = mpsc::channel();
        let sink: JournalLines = Box::new(move |line: &str| {
            // The receiver lives as long as the recorder.
            let _ = sender.send(line.to_owned());
        });
        Self::Recorded(Box::new(Recorder::start(spec, id, seed, sink)), lines)
    }

    fn session(&self) -> &Session {
        match self {
            Self::Plain(session) => session,
            Self::Recorded(recorder, _) => recorder.session(),
        }
    }

    fn handle(&mut self, now: Now, input: SessionInput) -> Result<(), HostError> {
        match self {
            Self::Plain(session) => session.handle(now, input),
            Self::Recorded(recorder, _) => recorder.handle(now, input),
        }
    }

    fn poll(&mut self) -> Option<SessionOutput> {
        match self {
            Self::Plain(session) => session.poll(),
            Self::Recorded(recorder, _) => recorder.poll(),
        }
    }
}

impl Running {
    pub(super) fn new(kept: Kept, prepared: Arc<Prepared>) -> Self {
        let tools = &prepared.spec().tools;
        Self {
            kept,
            routes: Routes::new(),
            agents_routes: BTreeMap::new(),
            changed_fields: super::checkpoints::changed_fields(tools),
            blocking: prepared.initialize.blocking_callbacks(),
            prepared,
            inbox: VecDeque::new(),
            held: None,
            effects: BTreeSet::new(),
            parked: BTreeMap::new(),
            told_of_the_end: false,
        }
    }

    /// The session, to look at.
    pub(super) fn look(&self) -> &Session {
        self.kept.session()
    }

    pub(super) fn deadline(&self) -> Option<Millis> {
        self.look().deadline()
    }

    pub(super) fn send(&mut self, input: SessionInput) {
        self.inbox.push_back(input);
    }

    /// What it was told and has not heard.
    pub(super) fn unheard(&self) -> impl DoubleEndedIterator<Item = &SessionInput> {
        self.inbox.iter()
    }

    /// Whether nothing is left that it could be told now.
    pub(super) fn has_heard_all(&self) -> bool {
        self.held.is_some() || self.inbox.is_empty()
    }

    /// Whether nothing goes on in it but background tasks.
    pub(super) fn is_idle(&self) -> bool {
        self.held.is_none() && self.inbox.is_empty() && self.look().is_idle()
    }

    /// Whether nothing goes on in it at all.
    pub(super) fn is_over(&self) -> bool {
        self.is_idle() && self.effects.is_empty()
    }

    /// The names of its effects that go on.
    pub(super) fn effects(&self) -> impl Iterator<Item = EffectId> {
        self.effects.iter().copied()
    }

    /// Calls that start agents whose servers are waited for.
    pub(super) fn equipping(&self) -> Vec<(EffectId, String)> {
        let parked = self.parked.iter();
        parked
            .filter_map(|(id, parked)| match parked {
                Parked::Equip(agent) => Some((*id, agent.clone())),
                Parked::Checkpoint(..) => None,
            })
            .collect()
    }

    /// Goes on with another spec, if it can now.
    pub(super) fn configure(
        &mut self,
        spec: Arc<Spec>,
        prepared: Arc<Prepared>,
    ) -> Result<(), windlass_core::ConfigureError> {
        let tools = super::checkpoints::changed_fields(&spec.tools);
        match &mut self.kept {
            Kept::Plain(session) => session.configure(spec)?,
            Kept::Recorded(recorder, _) => recorder.configure(spec)?,
        }
        self.changed_fields = tools;
        self.blocking = prepared.initialize.blocking_callbacks();
        self.prepared = prepared;
        Ok(())
    }
}

impl Engine {
    /// Tells the session that runs something.
    pub(super) fn send(&mut self, input: SessionInput) {
        if let Some(session) = &mut self.session {
            session.send(input);
        }
    }

    /// An answer to an effect of the session, from wherever it comes.
    pub(super) fn answer_session(&mut self, id: EffectId, answer: Answer) {
        if let Some(session) = self
            .session
            .as_mut()
            .filter(|session| session.effects.contains(&id))
        {
            if answer.is_last() {
                session.effects.remove(&id);
            }
            session.send(SessionInput::Answer(id, answer));
        }
    }

    /// The host answers an effect that was performed for the session, or for its end.
    pub(super) fn session_answered(&mut self, id: EffectId, answer: Answer) {
        if self.told(id, &answer) {
            return;
        }
        if let Answer::HttpHead { status, .. } = &answer {
            self.http_status = Some(*status);
        }
        self.answer_session(id, answer);
    }

    /// A deadline of the session may have passed.
    pub(super) fn session_tick(&mut self) {
        let due = self.session.as_ref().and_then(Running::deadline);
        if due.is_some_and(|due| due <= self.now.mono) {
            self.send(SessionInput::Tick);
        }
    }

    /// Lets the session hear what it was told, and does what it asks for.
    pub(super) fn turn_session(&mut self) {
        loop {
            let Some(session) = self.session.as_mut().filter(|it| it.held.is_none()) else {
                return;
            };
            // A panic ends the session and not the engine.
            let next = catch_unwind(AssertUnwindSafe(|| session.kept.poll()));
            match next {
                Ok(Some(output)) => self.session_output(output),
                Ok(None) if self.hear_next() => {}
                Ok(None) => return,
                Err(panic) => self.session_failed(&panic_text(&*panic)),
            }
            self.take_journal();
        }
    }

    /// Tells the session the next thing. False when there is nothing.
    fn hear_next(&mut self) -> bool {
        let is_finishing = self.state == super::State::Draining;
        let Some(session) = &mut self.session else {
            return false;
        };
        let is_idle = session.look().is_idle();
        // What begins after the end has to be told of it again.
        session.told_of_the_end &= is_idle;
        let input = match session.inbox.pop_front() {
            Some(input) => input,
            None if is_finishing
                && is_idle
                && !session.effects.is_empty()
                && !session.told_of_the_end =>
            {
                session.told_of_the_end = true;
                SessionInput::End
            }
            None => return false,
        };
        let now = self.now;
        let handled = catch_unwind(AssertUnwindSafe(|| session.kept.handle(now, input)));
        match handled {
            Ok(Ok(())) => {}
            Ok(Err(error)) => self.session_failed(&error.to_string()),
            Err(panic) => self.session_failed(&panic_text(&*panic)),
        }
        true
    }

    fn take_journal(&mut self) {
        let id = self.session_id;
        if let Some(Running {
            kept: Kept::Recorded(_, lines),
            ..
        }) = &self.session
        {
            let lines = lines.try_iter().map(|line| Output::Journal(id, line));
            lines.for_each(|line| self.outbox.push(line));
        }
    }

    /// The session has come to an end that it should not have.
    fn session_failed(&mut self, fault: &str) {
        self.drop_session();
        self.has_ended = true;
        let problem = format!("the session has ended because of a fault of the engine: {fault}");
        self.outbox.queue.clear_all();
        self.outbox.refuse(&problem);
        self.outbox.say(crate::protocol::frames::Frames::idle);
        if self.state.after(Step::SessionEnded).is_some() {
            self.step(Step::SessionEnded);
        }
    }

    /// Lets the session go, with everything that it has under way.
    pub(super) fn drop_session(&mut self) -> Option<Running> {
        self.take_journal();
        let session = self.session.take()?;
        for id in session.effects() {
            self.withdraw_question_of(id);
            self.outbox.push(Output::Abandon(id));
        }
        Some(session)
    }

    /// Does what the session asks for.
    fn session_output(&mut self, output: SessionOutput) {
        match output {
            SessionOutput::Message(message) => self.session_says(message),
            SessionOutput::Effect(id, effect) => self.session_effect(id, effect),
            SessionOutput::Cancel(id) => self.session_cancels(id),
            SessionOutput::Abandon(id) => {
                self.withdraw_question_of(id);
                if let Some(session) = &mut self.session {
                    session.effects.remove(&id);
                    session.parked.remove(&id);
                }
                self.outbox.push(Output::Abandon(id));
            }
            // Who wants a change that does not apply goes on without it.
            _ => {}
        }
    }

    fn session_effect(&mut self, id: EffectId, effect: SessionEffect) {
        if let Some(session) = &mut self.session {
            session.effects.insert(id);
        }
        match effect {
            SessionEffect::Persist(entries) => self.persist(id, &entries),
            SessionEffect::AskPermission(request) => self.ask_permission(id, request),
            SessionEffect::RunHook(call) if !self.is_command(&call.hook) => {
                self.ask_hook(Purpose::hook(id, &call), call);
            }
            SessionEffect::CallTool(call) => self.call_tool(id, call),
            effect => {
                if matches!(effect, SessionEffect::Http(_)) {
                    self.http_status = None;
                }
                self.perform(id, effect);
            }
        }
    }

    /// Has the host perform an effect of the session, with the tools and hooks that belong to it.
    fn perform(&mut self, id: EffectId, effect: SessionEffect) {
        if let Some(session) = &self.session {
            let number = session.prepared.config.number;
            self.outbox.push(Output::Session(number, id, effect));
        }
    }

    /// Whether a hook is a command, and none of the SDK's callbacks.
    fn is_command(&self, hook: &str) -> bool {
        let session = self.session.as_ref();
        session.is_some_and(|session| session.prepared.config.commands.contains(hook))
    }

    fn call_tool(&mut self, id: EffectId, call: ToolCall) {
        if id.stage == Stage::Equip {
            return self.equip(id, &call);
        }
        let Some(session) = &self.session else { return };
        let fields = session.changed_fields.get(&call.name);
        match fields.filter(|_| self.keeps_files) {
            Some(fields) => {
                let before = super::checkpoints::before(&call, fields, self.now.wall);
                self.park(id, Parked::Checkpoint(Box::new(call), false));
                self.effect(Effect::Checkpoint(before), Pending::BeforeCall(id));
            }
            None => self.run_tool(id, call),
        }
    }

    pub(super) fn park(&mut self, id: EffectId, parked: Parked) {
        if let Some(session) = &mut self.session {
            session.parked.insert(id, parked);
        }
    }

    pub(super) fn unpark(&mut self, id: EffectId) -> Option<Parked> {
        self.session.as_mut()?.parked.remove(&id)
    }

    /// Runs a call: a tool of the agent's own before one of the session's, and these before the host's.
    pub(super) fn run_tool(&mut self, id: EffectId, call: ToolCall) {
        let Some(session) = &self.session else { return };
        let of_agent = (call.agent.as_ref())
            .and_then(|agent| session.agents_routes.get(agent)?.get(&call.name));
        let route = of_agent.or_else(|| session.routes.get(&call.name)).cloned();
        match route {
            None => self.perform(id, SessionEffect::CallTool(call)),
            Some(Route::Program { connection, tool }) => {
                let call = ServerTool {
                    connection,
                    tool,
                    call,
                };
                self.outbox.push(Output::ServerTool(id, call));
            }
            Some(Route::Sdk { server, tool }) => self.call_sdk_tool(id, &server, &tool, &call),
        }
    }

    fn session_cancels(&mut self, id: EffectId) {
        if self.cancel_question_of(id) {
            return;
        }
        let parked = self.session.as_mut().and_then(|it| it.parked.get_mut(&id));
        match parked {
            Some(Parked::Equip(_)) => {
                self.unpark(id);
                self.answer_session(id, Answer::Cancelled);
            }
            Some(Parked::Checkpoint(_, is_cancelled)) => *is_cancelled = true,
            None => self.outbox.push(Output::Cancel(id)),
        }
    }

    /// A call that was waited with is not run.
    pub(super) fn refuse_call(&mut self, id: EffectId, text: String) {
        self.answer_session(id, Answer::Tool(ToolResult::error(text)));
    }

    /// The session says something: at once, or when what belongs to it is written.
    fn session_says(&mut self, mut message: Message) {
        if let Message::System(SystemMessage::TaskNotification(task)) = &mut message
            && let Some(call) = &task.tool_use_id
            && let Some(file) = self.output_files.remove(call)
        {
            task.output_file = file;
        }
        if let Some(session) = &mut self.session {
            session.held = Some(message.clone());
        }
        match &message {
            Message::User(prompt) if prompt.is_replay && self.keeps_files => {
                self.begin_checkpoint(prompt.uuid);
            }
            Message::Result(result) => {
                let before = self.outbox.frames.cost_state();
                let after = before.after(result);
                let spent = Some(&after).filter(|after| after.spent != before.spent);
                self.note_turn_end(spent.cloned().as_ref(), Then::Message);
            }
            Message::System(SystemMessage::TaskStarted(task)) => match &task.tool_use_id {
                Some(call) if self.log.is_some() && is_command(task) => {
                    let keep = Effect::KeepOutput(self.session_id, call.clone());
                    self.effect(keep, Pending::OutputFile(call.clone()));
                }
                _ => self.note_agent(task, Then::Message),
            },
            _ => self.say_held(),
        }
    }

    /// Says what waited to be said.
    pub(super) fn say_held(&mut self) {
        let held = self
            .session
            .as_mut()
            .and_then(|session| session.held.take());
        let Some(message) = held else { return };
        if !matches!(message, Message::StreamEvent(_)) {
            self.note(Topic::Session, || noted(&message));
        }
        let facts = Facts {
            http_status: self.http_status,
            at: Some(self.now.wall),
            queued: 0,
        };
        self.outbox.message(message, facts);
    }
}

fn is_command(task: &TaskStarted) -> bool {
    task.task_type == Some(TaskKind::LocalBash)
}

/// A message in a word or two, without what it says.
fn noted(message: &Message) -> String {
    match message {
        Message::System(SystemMessage::ApiRetry(retry)) => format!(
            "attempt {} of {} follows in {} ms, after status {:?}",
            retry.attempt, retry.max_retries, retry.retry_delay_ms, retry.error_status
        ),
        Message::System(system) => format!("system {}", variant(system)),
        Message::Result(result) => format!(
            "result {:?}, {} turns, {} ms, ${} so far",
            result.subtype, result.num_turns, result.duration_ms, result.total_cost_usd
        ),
        message => variant(message),
    }
}

/// What a panic said.
fn panic_text(payload: &(dyn std::any::Any + Send)) -> String {
    let text = payload
        .downcast_ref::<&str>()
        .map(ToString::to_string)
        .or_else(|| payload.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "without a message".to_owned())
}
