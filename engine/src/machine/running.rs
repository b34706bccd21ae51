//! The running session and the state that belongs to it.

use std::{
    any::Any,
    collections::{BTreeMap, BTreeSet, VecDeque},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, mpsc},
};

use serde_json::Value;
use windlass_core::{
    ConfigureError, EffectId, HostError, Input as SessionInput, Message, Millis, Now,
    Output as SessionOutput, Session, SessionId, Spec, Uuid,
    effect::{Answer, PermissionRequest, Stage},
    hook::HookCall,
    journal::Recorder,
    permission::Mode,
    tool::{Access, ToolCall, ToolDefinition},
};

use super::{config::Prepared, io::Fault, routes::Routes};

/// A session, with or without a journal.
pub(super) enum Kept {
    Plain(Box<Session>),
    Recorded(Box<Recorder<JournalLines>>, mpsc::Receiver<String>),
}

type JournalLines = Box<dyn FnMut(&str) + Send>;

/// The running session and the state that belongs to it.
#[derive(Debug)]
pub(super) struct Running {
    kept: Kept,
    /// Its configuration.
    pub(super) prepared: Arc<Prepared>,
    /// Routes to the tools of MCP servers, by the names that the model uses.
    pub(super) routes: Routes,
    /// Routes to tools that belong to a single agent, by agent.
    pub(super) agents_routes: BTreeMap<String, Routes>,
    /// For each tool that edits files, the input fields that name the files it changes.
    pub(super) changed_fields: BTreeMap<String, Vec<String>>,
    /// Callbacks whose failure blocks what they should have judged.
    pub(super) blocking: BTreeSet<String>,
    /// Inputs that it has not processed yet.
    inbox: VecDeque<SessionInput>,
    /// A message that may only be sent after something has been written.
    held: Option<Message>,
    /// Its effects that have no last answer yet.
    effects: BTreeSet<EffectId>,
    /// Calls and hooks that wait for something before they run.
    parked: BTreeMap<EffectId, Parked>,
    /// Whether an effect has begun or ended since its state was last stored.
    has_changed: bool,
    /// Calls that wait for the resources of servers.
    pub(super) resource_calls: BTreeMap<EffectId, ResourceCall>,
    told_of_the_end: bool,
    /// Whether a prompt before the current one has been answered, here or before the session was taken up.
    has_answered: bool,
    is_answered: bool,
}

/// A call or hook that is waiting to run.
#[derive(Debug)]
pub(super) enum Parked {
    /// Waits for the servers of the agent that it starts.
    Provision(String),
    /// Waits until the files that it changes are kept; the flag is set if it was cancelled in the meantime.
    Checkpoint(Box<ToolCall>, bool),
    /// A hook that waits for the transcript, whose place it is told, to exist; the flag is as above.
    Hook(Box<HookCall>, bool),
    /// A question to a person that waits for the state of the session to be stored.
    Question(Box<PermissionRequest>),
}

/// A call about the resources of servers that waits for their answers.
#[derive(Debug)]
pub(super) enum ResourceCall {
    /// Lists them.
    List {
        /// How many servers have not answered.
        waits_for: usize,
        /// What the others have.
        found: Vec<Value>,
        /// Why some gave no list.
        failures: Vec<String>,
    },
    /// Reads one.
    Read,
}

impl std::fmt::Debug for Kept {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.session().fmt(f)
    }
}

impl Kept {
    pub(super) fn recorded(spec: Arc<Spec>, id: SessionId, seed: [u8; 32]) -> Self {
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
        let tools = &prepared.spec().tools.definitions;
        Self {
            kept,
            routes: Routes::new(),
            agents_routes: BTreeMap::new(),
            changed_fields: changed_fields(tools),
            blocking: prepared.initialize.blocking_callbacks(),
            prepared,
            inbox: VecDeque::new(),
            held: None,
            effects: BTreeSet::new(),
            parked: BTreeMap::new(),
            has_changed: false,
            resource_calls: BTreeMap::new(),
            told_of_the_end: false,
            has_answered: false,
            is_answered: false,
        }
    }

    /// It goes on with a conversation that has answers.
    pub(super) fn going_on(mut self) -> Self {
        self.is_answered = true;
        self
    }

    /// A turn has its result.
    pub(super) fn turn_ended(&mut self) {
        self.has_answered = std::mem::replace(&mut self.is_answered, true);
    }

    /// Whether it may suggest what the user says next. After a single answer there is little to go by, and many conversations
    /// have no more; in plan mode the next thing said is about the plan.
    pub(super) fn may_suggest(&self) -> bool {
        self.has_answered && self.core_session().mode() != Mode::Plan
    }

    /// Read access to the session.
    pub(super) fn core_session(&self) -> &Session {
        self.kept.session()
    }

    pub(super) fn deadline(&self) -> Option<Millis> {
        self.core_session().deadline()
    }

    pub(super) fn send(&mut self, input: SessionInput) {
        self.inbox.push_back(input);
    }

    /// Withdraws a waiting prompt. Returns false if the session has begun it, or does not know it.
    pub(super) fn withdraw(&mut self, uuid: Uuid) -> bool {
        let is_it = |input: &SessionInput| matches!(input, SessionInput::Prompt(prompt) if prompt.uuid == Some(uuid));
        if let Some(at) = self.inbox.iter().position(is_it) {
            self.inbox.remove(at);
            return true;
        }
        let waits = (self.core_session().queued()).any(|prompt| prompt.uuid == Some(uuid));
        if waits {
            // Processed before any other input, which could begin the prompt.
            self.inbox.push_front(SessionInput::Withdraw(uuid));
        }
        waits
    }

    /// Inputs that it has not processed yet.
    pub(super) fn unheard(&self) -> impl DoubleEndedIterator<Item = &SessionInput> {
        self.inbox.iter()
    }

    /// Whether no input is left that it could process now.
    pub(super) fn has_heard_all(&self) -> bool {
        self.held.is_some() || self.inbox.is_empty()
    }

    /// Whether nothing runs in it except background tasks.
    pub(super) fn is_idle(&self) -> bool {
        self.held.is_none() && self.inbox.is_empty() && self.core_session().is_idle()
    }

    /// Whether nothing runs in it at all.
    pub(super) fn is_over(&self) -> bool {
        self.is_idle() && self.effects.is_empty()
    }

    /// The ids of its open effects.
    pub(super) fn effects(&self) -> impl Iterator<Item = EffectId> {
        self.effects.iter().copied()
    }

    /// Calls that start agents and wait for the agents' servers.
    pub(super) fn provisioning(&self) -> Vec<(EffectId, String)> {
        let parked = self.parked.iter();
        parked
            .filter_map(|(id, parked)| match parked {
                Parked::Provision(agent) => Some((*id, agent.clone())),
                Parked::Checkpoint(..) | Parked::Hook(..) | Parked::Question(_) => None,
            })
            .collect()
    }

    /// The next output of the session. A panic ends the session, but not the engine.
    pub(super) fn poll(&mut self) -> Result<Option<SessionOutput>, Fault> {
        let kept = &mut self.kept;
        catch_unwind(AssertUnwindSafe(|| kept.poll())).map_err(|panic| panicked(&*panic))
    }

    /// Passes an input to the session.
    pub(super) fn handle(&mut self, now: Now, input: SessionInput) -> Result<(), Fault> {
        let kept = &mut self.kept;
        match catch_unwind(AssertUnwindSafe(|| kept.handle(now, input))) {
            Ok(handled) => Ok(handled?),
            Err(panic) => Err(panicked(&*panic)),
        }
    }

    /// The next input for the session. With `is_finishing`, once only background tasks are left, this is the end of the
    /// input.
    pub(super) fn next_input(&mut self, is_finishing: bool) -> Option<SessionInput> {
        let is_idle = self.core_session().is_idle();
        // If anything begins after the end of the input, the session has to be told about the end again.
        self.told_of_the_end &= is_idle;
        if let Some(input) = self.inbox.pop_front() {
            return Some(input);
        }
        let goes_on = is_finishing && is_idle && !self.effects.is_empty();
        let is_new = goes_on && !std::mem::replace(&mut self.told_of_the_end, goes_on);
        is_new.then_some(SessionInput::End)
    }

    /// The journal lines since the last call.
    pub(super) fn journal(&self) -> impl Iterator<Item = String> {
        let lines = match &self.kept {
            Kept::Plain(_) => None,
            Kept::Recorded(_, lines) => Some(lines.try_iter()),
        };
        lines.into_iter().flatten()
    }

    pub(super) fn begin_effect(&mut self, id: EffectId) {
        self.effects.insert(id);
        self.has_changed = true;
    }

    /// The state of the session, if it has changed since the last time while something is waited for that is worth it: a person,
    /// or with `whole_turns` whatever a prompt waits for except the transcript.
    pub(super) fn changed_while_waiting(&mut self, whole_turns: bool) -> Option<Vec<u8>> {
        let asks = self.effects.iter().any(|id| id.stage == Stage::Ask);
        let waits = || whole_turns && !self.core_session().is_idle() && !self.is_writing();
        let is_settled = self.held.is_none() && self.inbox.is_empty();
        if !(self.has_changed && is_settled && (asks || waits())) {
            return None;
        }
        let snapshot = self.core_session().snapshot().ok()?;
        self.has_changed = false;
        Some(snapshot)
    }

    /// Whether it waits for its transcript, in which case a state that is stored now is outdated at once.
    fn is_writing(&self) -> bool {
        self.effects.iter().any(|id| {
            let stage = id.stage;
            matches!(
                stage,
                Stage::SavePrompt | Stage::SaveResponse | Stage::SaveResults | Stage::SaveSummary
            )
        })
    }

    /// Questions that wait for the state of the session to be stored.
    pub(super) fn parked_questions(&self) -> Vec<EffectId> {
        let parked = self.parked.iter();
        let questions = parked.filter(|(_, parked)| matches!(parked, Parked::Question(_)));
        questions.map(|(id, _)| *id).collect()
    }

    /// Queues an answer to an effect. Returns false if the session has no such open effect.
    pub(super) fn answered(&mut self, id: EffectId, answer: Answer) -> bool {
        if !self.effects.contains(&id) {
            return false;
        }
        if answer.is_last() {
            self.effects.remove(&id);
            self.has_changed = true;
        }
        self.send(SessionInput::Answer(id, answer));
        true
    }

    /// Drops an effect; no answer to it is expected any more.
    pub(super) fn forget(&mut self, id: EffectId) {
        self.effects.remove(&id);
        self.parked.remove(&id);
    }

    pub(super) fn park(&mut self, id: EffectId, parked: Parked) {
        self.parked.insert(id, parked);
    }

    pub(super) fn parked(&mut self, id: EffectId) -> Option<&mut Parked> {
        self.parked.get_mut(&id)
    }

    pub(super) fn unpark(&mut self, id: EffectId) -> Option<Parked> {
        self.parked.remove(&id)
    }

    /// Holds back a message and everything that follows it.
    pub(super) fn hold(&mut self, message: Message) {
        self.held = Some(message);
    }

    pub(super) fn is_held(&self) -> bool {
        self.held.is_some()
    }

    pub(super) fn take_held(&mut self) -> Option<Message> {
        self.held.take()
    }

    /// Reconfigures the session with another spec, if it can be done now.
    pub(super) fn configure(
        &mut self,
        spec: Arc<Spec>,
        prepared: Arc<Prepared>,
    ) -> Result<(), ConfigureError> {
        let tools = changed_fields(&spec.tools.definitions);
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

/// For each tool that edits files, the input fields that name the files it changes.
fn changed_fields(tools: &[ToolDefinition]) -> BTreeMap<String, Vec<String>> {
    let changing = tools.iter().filter(|tool| tool.edits_files());
    changing
        .map(|tool| {
            let written = (tool.paths.iter()).filter(|path| path.access == Access::Write);
            let fields = written.map(|path| path.field.clone()).collect();
            (tool.name.clone(), fields)
        })
        .collect()
}

/// The message of a panic.
fn panicked(payload: &(dyn Any + Send)) -> Fault {
    let text = payload
        .downcast_ref::<&str>()
        .map(ToString::to_string)
        .or_else(|| payload.downcast_ref::<String>().cloned());
    Fault::Panicked(text.unwrap_or_else(|| "without a message".to_owned()))
}
