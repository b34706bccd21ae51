//! The engine: everything around a session that is not the loop itself, as a machine without IO.
//!
//! [`Engine::handle`] takes what happened, [`Engine::poll`] gives what is to be done, [`Engine::deadline`] says when a tick is
//! due; [`drive()`] turns an engine with an [`EngineHost`]. The engine owns its session and drains it after every input. What the
//! session says becomes lines, what it asks a person or the SDK's hooks becomes questions among these lines, what it wants to
//! keep becomes appends to a store; everything else passes on to the host.
//!
//! ```text
//! lines ─▶ Engine::handle ─▶ control.rs, prompts.rs ─▶ session.rs ─▶ windlass_core::Session
//! lines ◀─ Engine::poll ◀── outbox.rs ◀── questions.rs, log.rs ◀────────┘
//! ```
//!
//! The life of an engine is a table ([`State`], `state.rs`). One thing that takes time is done at once: lines that come
//! meanwhile wait in their order, but for answers to questions.

mod changes;
mod checkpoints;
mod config;
mod context;
mod control;
mod drive;
mod farewell;
mod flag_settings;
mod hooks;
mod hooks_listing;
mod io;
mod launch;
mod lifecycle;
mod listings;
mod log;
mod mcp;
mod opening;
mod outbox;
mod pending;
mod program;
mod prompts;
mod questions;
mod queue;
mod routes;
mod running;
mod session;
mod state;

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use windlass_core::{
    Input as SessionInput, Millis, Now, Prompt, Seeded, SessionId, permission::Mode,
};

use self::{
    config::Prepared, farewell::Farewell, hooks::Telling, log::TranscriptLog, mcp::ServerTable,
    opening::ResumedSession, outbox::Outbox, pending::Pending, questions::Questions,
    running::Running, state::Step,
};
pub use self::{
    config::{
        BUILTIN_TOOLS, CompleteError, Configuration, ConfigureRequest, is_default, resolved_model,
        tool_names,
    },
    drive::{EngineHost, drive},
    io::{
        Checkpoint, Checkpointed, ConfigNumber, ConnectRequest, ConnectionId, Effect, EffectNumber,
        Ending, Fault, Input, LineGroup, LoadedSession, Look, Offer, Outcome, Output, Question,
        Seen, ServerEvent, ServerTool, Topic,
    },
    launch::{Face, Launch, Redaction},
    mcp::inline_servers,
    state::{State, diagram},
};
use crate::protocol::{
    frames::{FrameSettings, Frames},
    inbound::{Inbound, answered_id_in, request_id_in},
    line::Line,
    reply::{Reply, ReplyError},
};

/// An engine. See the [module](self).
#[derive(Debug)]
pub struct Engine {
    launch: Launch,
    now: Now,
    /// Ids of questions, prompts and sessions, and the seeds of sessions.
    ids: Seeded,
    state: State,
    outbox: Outbox,
    questions: Questions,
    session_id: SessionId,
    /// What flags and files say, until `initialize` or a first prompt completes it.
    base: Option<Configuration>,
    /// What sessions are made of.
    prepared: Option<Arc<Prepared>>,
    /// Why no session may begin: what was brought along to judge calls cannot be used.
    refused: Option<String>,
    servers: ServerTable,
    /// What is to go on, until the session begins.
    resumed: Option<ResumedSession>,
    /// Who writes the transcript, where one is kept.
    log: Option<TranscriptLog>,
    /// What files were before they were changed is kept.
    keeps_files: bool,
    /// The session that runs.
    session: Option<Running>,
    /// A session has run to its end.
    has_ended: bool,
    /// The session that begins next takes the place of one that was cleared away.
    is_cleared: bool,
    /// What the session is to be told when it begins.
    before: Vec<SessionInput>,
    /// The title that the SDK gave: kept with the first prompt, so that nothing is written of a session without one.
    title: Option<String>,
    /// The model that the SDK chose while the session ran; nothing for the session's own.
    chosen_model: Option<String>,
    /// A command is being answered by a model of its own: the other comes back behind it.
    has_commands_model: bool,
    /// What sessions are made of has changed while one ran.
    is_stale: bool,
    input_ended: bool,
    /// Nobody reads what is said.
    is_unread: bool,
    /// Hooks are told, or were, that the session ends.
    has_told_the_end: bool,
    /// The mode of the session that was let go last, for the hooks of its end.
    last_mode: Option<Mode>,
    /// When background work has gone on for long enough after the input has ended.
    enough_at: Option<Millis>,
    /// When the first words of the SDK have been waited for long enough.
    refused_at: Option<Millis>,
    /// The end, or that of a conversation, as far as it has come.
    farewell: Option<Farewell>,
    /// Hooks that are told of the end.
    telling: Option<Telling>,
    /// The last number that an effect of the engine has.
    numbers: EffectNumber,
    pending: BTreeMap<EffectNumber, Pending>,
    /// Something is done that takes time: lines wait.
    is_blocked: bool,
    /// Lines that wait.
    inbox: VecDeque<Arrived>,
    /// The status of the last answer of the model server, where there was one.
    http_status: Option<u16>,
    /// The files of commands in the background, by the calls that started them.
    output_files: BTreeMap<String, String>,
}

impl Engine {
    /// An engine that has heard nothing yet. `base` is what flags and files say without what an SDK brings along; ids and
    /// seeds come from `seed`.
    #[must_use]
    pub fn new(launch: Launch, base: Configuration, seed: [u8; 32]) -> Self {
        let mut ids = Seeded::new(seed);
        let session_id = launch.session_id.unwrap_or_else(|| ids.uuid());
        let settings = FrameSettings {
            replay: launch.flags.replay_user_messages,
            partial: launch.flags.include_partial_messages,
            states: launch.states,
        };
        let frames = Frames::new(session_id, settings, fresh_seed(&mut ids));
        let mut engine = Self {
            outbox: Outbox::new(launch.face, frames, launch.longest_frame),
            questions: Questions::default(),
            now: Now::default(),
            state: State::Opening,
            session_id,
            base: Some(base),
            prepared: None,
            refused: None,
            servers: ServerTable::default(),
            resumed: None,
            log: None,
            keeps_files: false,
            session: None,
            has_ended: false,
            is_cleared: false,
            before: Vec::new(),
            title: None,
            chosen_model: None,
            has_commands_model: false,
            is_stale: false,
            input_ended: false,
            is_unread: false,
            has_told_the_end: false,
            last_mode: None,
            enough_at: None,
            refused_at: None,
            farewell: None,
            telling: None,
            numbers: 0,
            pending: BTreeMap::new(),
            is_blocked: true,
            inbox: VecDeque::new(),
            http_status: None,
            output_files: BTreeMap::new(),
            ids,
            launch,
        };
        engine.open();
        engine
    }

    /// Where the engine stands.
    #[must_use]
    pub fn state(&self) -> State {
        self.state
    }

    /// Takes in what happened. Poll until nothing is left before the next input.
    pub fn handle(&mut self, now: Now, input: Input) {
        self.now = now;
        if self.state == State::Ended {
            return;
        }
        match input {
            Input::Line(line) => self.line(line),
            Input::InputEnded if self.state == State::Refused => self.heard(),
            Input::Prompt(prompt) => self.inbox.push_back(Arrived::Prompt(Box::new(prompt))),
            Input::Tell(input) => self.inbox.push_back(Arrived::Told(Box::new(input))),
            // In its order behind what waits.
            Input::InputEnded => self.inbox.push_back(Arrived::End),
            Input::Session(id, answer) => self.session_answered(id, answer),
            Input::Done(number, outcome) => self.done(number, outcome),
            Input::Server(connection, event) => self.server_event(connection, event),
            Input::Tick => self.tick(),
            Input::Stop => self.stop(),
            Input::Unread => {
                self.is_unread = true;
                self.stop();
            }
        }
        self.settle();
    }

    /// What is to be done next.
    pub fn poll(&mut self) -> Option<Output> {
        self.outbox.pop()
    }

    /// When a tick is due.
    #[must_use]
    pub fn deadline(&self) -> Option<Millis> {
        let session = (self.session.as_ref()).and_then(Running::deadline);
        let telling = self.telling.as_ref().and_then(Telling::deadline);
        let farewell = self.farewell.as_ref().and_then(Farewell::deadline);
        let servers = self.servers.deadline();
        let own = [session, telling, farewell, servers];
        let own = own.into_iter().chain([self.enough_at, self.refused_at]);
        own.flatten().min()
    }

    /// Does what can be done now, until nothing more can.
    fn settle(&mut self) {
        loop {
            self.turn_session();
            let takes_lines = !self.is_blocked && !self.state.is_over();
            if takes_lines && let Some(line) = self.inbox.pop_front() {
                self.take_line(line);
            }
            let before = self.state;
            if !self.state.is_over() {
                self.go_on();
            }
            let is_settled = self.session.as_ref().is_none_or(Running::has_heard_all);
            let waits = self.is_blocked || self.inbox.is_empty();
            // A session that works off what it has may have none, and be at its end.
            if is_settled && self.state == before && (waits || self.state.is_over()) {
                return;
            }
        }
    }

    /// A line comes: answers go to who waits for them, everything else in its order.
    fn line(&mut self, line: Line) {
        if self.state == State::Refused {
            return self.heard();
        }
        match Arrived::read(&line) {
            Arrived::Said(Inbound::Response { id, answer }) => self.question_answered(&id, answer),
            arrived => self.inbox.push_back(arrived),
        }
    }

    fn take_line(&mut self, line: Arrived) {
        match line {
            Arrived::Said(Inbound::Request { id, request }) => match request {
                Ok(request) => {
                    self.note(Topic::Control, || format!("{} ({id})", variant(&request)));
                    self.requested(id, request);
                }
                Err(error) => self.reply(&id, &error.into()),
            },
            Arrived::Said(Inbound::User(frame)) => self.prompted(frame),
            Arrived::Prompt(prompt) => self.asked_by_program(*prompt),
            Arrived::Told(input) => self.told_by_program(*input),
            // Answers do not come here, and what is cancelled here is answered at once.
            Arrived::Said(_) => {}
            Arrived::End => {
                self.input_ended = true;
                self.close_questions();
            }
            Arrived::Unusable {
                problem,
                request_id,
            } => self.unusable(problem, request_id),
        }
    }

    /// A line that was not understood: whoever sent it hears of it in the place where they wait for an answer.
    fn unusable(&mut self, problem: String, request_id: Option<String>) {
        match request_id {
            Some(id) => self.reply(&id, &ReplyError::new(problem).into()),
            None => self.outbox.queue.push_unusable(problem),
        }
    }

    fn reply(&mut self, id: &str, reply: &Reply) {
        self.outbox.frame(&reply.to_frame(id));
    }

    /// Asks the host for something.
    fn effect(&mut self, effect: Effect, pending: Pending) {
        self.numbers += 1;
        self.pending.insert(self.numbers, pending);
        self.outbox.push(Output::Effect(self.numbers, effect));
    }

    /// The same, and lines wait until [`unblock`](Self::unblock).
    fn blocking_effect(&mut self, effect: Effect, pending: Pending) {
        self.is_blocked = true;
        self.effect(effect, pending);
    }

    /// What took time is done.
    fn unblock(&mut self) {
        self.is_blocked = false;
    }

    /// A deadline may have passed.
    fn tick(&mut self) {
        let mono = self.now.mono;
        if self.refused_at.is_some_and(|at| at <= mono) {
            self.heard();
        }
        self.servers_tick();
        self.telling_tick();
        self.farewell_tick();
        self.session_tick();
        if self.enough_at.is_some_and(|at| at <= mono) {
            self.enough_at = None;
            self.close();
        }
    }

    /// Goes to the state that a step leads to.
    fn step(&mut self, step: Step) {
        match self.state.after(step) {
            Some(state) => self.state = state,
            None => debug_assert!(false, "no step {step:?} from {:?}", self.state),
        }
    }

    /// Something a person should know who looks for it.
    fn warn(&mut self, warning: &str) {
        self.outbox.push(Output::Warning(warning.to_owned()));
        self.note(Topic::Engine, || warning.to_owned());
    }

    /// Writes a line of the log, if somebody wants to read it.
    fn note(&mut self, topic: Topic, text: impl FnOnce() -> String) {
        if self.launch.notes {
            self.outbox.push(Output::Note(topic, text()));
        }
    }
}

/// Something that has come, in its order.
#[derive(Debug)]
enum Arrived {
    /// A line.
    Said(Inbound),
    /// A prompt of the program.
    Prompt(Box<Prompt>),
    /// Something else that the program tells the session.
    Told(Box<SessionInput>),
    /// It cannot be used.
    Unusable {
        problem: String,
        /// The control request it was meant to be.
        request_id: Option<String>,
    },
    /// No more comes.
    End,
}

impl Arrived {
    fn read(line: &Line) -> Self {
        match line {
            Line::Text(text) => match Inbound::parse(text) {
                Ok(inbound) => Self::Said(inbound),
                Err(error) => Self::unusable(text, error.to_string(), error.request_id.clone()),
            },
            Line::Fault(fault) => {
                let request_id = request_id_in(fault.ends());
                Self::unusable(fault.ends(), fault.to_string(), request_id)
            }
        }
    }

    /// A line that cannot be used: an answer then, which says so to whoever waits for it, or something to complain about.
    fn unusable(line: &str, problem: String, request_id: Option<String>) -> Self {
        match answered_id_in(line) {
            Some(id) => Self::Said(Inbound::Response {
                id,
                answer: Err(problem),
            }),
            None => Self::Unusable {
                problem,
                request_id,
            },
        }
    }
}

/// A seed that nothing else has.
fn fresh_seed(ids: &mut Seeded) -> [u8; 32] {
    let mut seed = [0; 32];
    for chunk in seed.chunks_exact_mut(8) {
        chunk.copy_from_slice(&ids.next_u64().to_le_bytes());
    }
    seed
}

/// The name of a variant, without what it holds.
#[must_use]
pub fn variant(value: &impl std::fmt::Debug) -> String {
    let text = format!("{value:?}");
    text.chars()
        .take_while(|letter| letter.is_ascii_alphanumeric())
        .collect()
}
