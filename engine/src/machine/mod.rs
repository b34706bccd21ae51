//! The engine: everything around a session except the agent loop itself, as a state machine without IO.
//!
//! [`Engine::handle`] takes an input, [`Engine::poll`] returns the next output, and [`Engine::deadline`] says when the next
//! tick is due. [`drive()`] runs an engine with an [`EngineHost`]. The engine owns its session and drains it after every
//! input. Messages of the session become lines; permission questions and hook callbacks become requests among these lines;
//! transcript entries become appends to a store. All other effects are passed on to the host.
//!
//! ```text
//! lines ─▶ Engine::handle ─▶ control.rs, prompts.rs ─▶ session.rs ─▶ windlass_core::Session
//! lines ◀─ Engine::poll ◀── outbox.rs ◀── questions.rs, log.rs ◀────────┘
//! ```
//!
//! The life cycle of an engine is a transition table ([`State`], `state.rs`). Blocking operations run one at a time: lines
//! that arrive in the meantime wait in order, except answers to the engine's own requests.

mod changes;
mod checkpoints;
mod closed_files;
mod config;
mod context;
mod control;
mod drive;
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
mod responses;
mod routes;
mod running;
mod session;
mod shutdown;
mod state;
mod store_effects;
mod suspended;
mod titles;

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use windlass_core::{
    Input as SessionInput, Millis, Now, Prompt, Seeded, SessionId, permission::Mode,
};

use self::{
    config::Prepared, hooks::EndHooks, log::TranscriptLog, mcp::ServerTable,
    opening::ResumedSession, outbox::Outbox, pending::Pending, questions::Questions,
    responses::Responses, running::Running, shutdown::Shutdown, state::Step,
};
pub use self::{
    config::{
        BUILTIN_TOOLS, CompleteError, ConfigNumber, Configuration, ConfigureRequest, is_default,
        tool_names,
    },
    drive::{EngineHost, drive},
    io::{
        Checkpoint, Checkpointed, ConnectRequest, ConnectionId, Effect, EffectNumber, Ending,
        Fault, Input, LineGroup, LoadedSession, Look, Offer, Outcome, Output, Question, Seen,
        ServerEvent, ServerTool, Topic,
    },
    launch::{Face, Launch, Redaction},
    mcp::inline_servers,
    state::{State, diagram},
    store_effects::StoreEffects,
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
    /// Generates the ids of requests, prompts and sessions, and the seeds of sessions.
    ids: Seeded,
    state: State,
    outbox: Outbox,
    questions: Questions,
    session_id: SessionId,
    /// The configuration from flags and files, until `initialize` or a first prompt completes it.
    base: Option<Configuration>,
    /// The completed configuration of sessions.
    prepared: Option<Arc<Prepared>>,
    /// Why no session may begin, for example because a hook of `initialize` is unusable.
    refused: Option<String>,
    servers: ServerTable,
    /// The session to be resumed, until it begins.
    resumed: Option<ResumedSession>,
    /// The writer of the transcript, if one is kept.
    log: Option<TranscriptLog>,
    /// Whether file checkpoints are kept.
    keeps_files: bool,
    /// The running session.
    session: Option<Running>,
    /// Whether a session has run to its end.
    has_ended: bool,
    /// Whether the next session replaces one that was ended by `/clear`.
    is_cleared: bool,
    /// Inputs for the session, until it begins.
    before: Vec<SessionInput>,
    /// The title given by the SDK. It is written with the first prompt, so that nothing is written for a session without one.
    title: Option<String>,
    /// The model that the SDK chose while the session ran; `None` for the session's own.
    chosen_model: Option<String>,
    /// Whether a command is being answered by a model of its own, after which the previous model is restored.
    has_commands_model: bool,
    /// Whether the configuration has changed while a session ran.
    is_stale: bool,
    input_ended: bool,
    /// Whether the reader of the output is gone.
    is_unread: bool,
    /// Whether hooks have been, or are being, told that the session ends.
    has_told_the_end: bool,
    /// The permission mode of the last session that was dropped, for the hooks that are told about its end.
    last_mode: Option<Mode>,
    /// When background tasks are ended after the end of the input.
    enough_at: Option<Millis>,
    /// When a refused engine stops waiting for the first input of the SDK.
    refused_at: Option<Millis>,
    /// The shutdown in progress, of the engine or of a conversation.
    shutdown: Option<Shutdown>,
    /// The hooks that are being told about the end.
    end_hooks: Option<EndHooks>,
    /// The number of the last effect of the engine.
    numbers: EffectNumber,
    pending: BTreeMap<EffectNumber, Pending>,
    /// Whether a blocking operation is in progress, so that lines wait.
    is_blocked: bool,
    /// Inputs that wait, in order.
    inbox: VecDeque<Arrived>,
    /// What is known of the model server's last responses.
    responses: Responses,
    /// The output files of background commands, by the calls that started them.
    output_files: BTreeMap<String, String>,
}

impl Engine {
    /// A new engine. `base` is the configuration from flags and files, without the data of `initialize`; ids and seeds are
    /// derived from `seed`.
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
            shutdown: None,
            end_hooks: None,
            numbers: 0,
            pending: BTreeMap::new(),
            is_blocked: true,
            inbox: VecDeque::new(),
            responses: Responses::default(),
            output_files: BTreeMap::new(),
            ids,
            launch,
        };
        engine.open();
        engine
    }

    /// The current state.
    #[must_use]
    pub fn state(&self) -> State {
        self.state
    }

    /// Handles an input. Poll until nothing is left before the next input.
    pub fn handle(&mut self, now: Now, input: Input) {
        self.now = now;
        if self.state == State::Ended {
            return;
        }
        match input {
            Input::Line(line) if self.launch.face.has_lines() => self.line(line),
            Input::Line(_) => {}
            Input::InputEnded if self.state == State::Refused => self.heard(),
            Input::Prompt(prompt) => self.inbox.push_back(Arrived::Prompt(Box::new(prompt))),
            Input::Tell(input) => self.inbox.push_back(Arrived::Told(Box::new(input))),
            // Queued behind the inputs that wait.
            Input::InputEnded => self.inbox.push_back(Arrived::End),
            Input::Session(id, answer) => self.session_answered(id, answer),
            Input::Done(number, outcome) => self.done(number, outcome),
            Input::Server(connection, event) => self.server_event(connection, event),
            Input::Reconnect(name) => self.reconnect_by_program(&name),
            Input::Tick => self.tick(),
            Input::Stop => self.stop(),
            Input::Unread => {
                self.is_unread = true;
                self.stop();
            }
        }
        self.settle();
    }

    /// The next output.
    pub fn poll(&mut self) -> Option<Output> {
        self.outbox.pop()
    }

    /// When a tick is due.
    #[must_use]
    pub fn deadline(&self) -> Option<Millis> {
        let session = (self.session.as_ref()).and_then(Running::deadline);
        let end_hooks = self.end_hooks.as_ref().and_then(EndHooks::deadline);
        let shutdown = self.shutdown.as_ref().and_then(Shutdown::deadline);
        let servers = self.servers.deadline();
        let own = [session, end_hooks, shutdown, servers];
        let own = own.into_iter().chain([self.enough_at, self.refused_at]);
        own.flatten().min()
    }

    /// Runs until nothing more can be done without another input.
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
            // A session that finishes its work may have none left; then it has ended and this needs another round.
            if is_settled && self.state == before && (waits || self.state.is_over()) {
                return self.keep_questions();
            }
        }
    }

    /// Handles a line: an answer is delivered immediately, everything else is queued in order.
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
            Arrived::Said(said) if self.launch.face.has_lines() => self.said(said),
            // Nothing is said to an engine of a program.
            Arrived::Said(_) => {}
            Arrived::Prompt(prompt) => self.asked_by_program(*prompt),
            Arrived::Told(input) => self.told_by_program(*input),
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

    fn said(&mut self, said: Inbound) {
        match said {
            Inbound::Request { id, request } => match request {
                Ok(request) => {
                    self.note(Topic::Control, || format!("{} ({id})", variant(&request)));
                    self.requested(id, request);
                }
                Err(error) => self.reply(&id, &error.into()),
            },
            Inbound::User(frame) => self.prompted(frame),
            // Answers are handled in `line`. A request to be cancelled has been answered already.
            _ => {}
        }
    }

    /// Reports an invalid line: as the reply to the request that it was meant to be, else in place of the prompt.
    fn unusable(&mut self, problem: String, request_id: Option<String>) {
        match request_id {
            Some(id) => self.reply(&id, &ReplyError::new(problem).into()),
            None => self.outbox.queue.push_unusable(problem),
        }
    }

    fn reply(&mut self, id: &str, reply: &Reply) {
        self.outbox.frame(&reply.to_frame(id));
    }

    /// Requests an effect from the host.
    fn effect(&mut self, effect: Effect, pending: Pending) {
        self.numbers += 1;
        self.pending.insert(self.numbers, pending);
        self.outbox.push(Output::Effect(self.numbers, effect));
    }

    /// Requests an effect, and holds back lines until [`unblock`](Self::unblock).
    fn blocking_effect(&mut self, effect: Effect, pending: Pending) {
        self.is_blocked = true;
        self.effect(effect, pending);
    }

    /// Ends the blocking operation.
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
        self.end_hooks_tick();
        self.shutdown_tick();
        self.session_tick();
        if self.enough_at.is_some_and(|at| at <= mono) {
            self.enough_at = None;
            self.close();
        }
    }

    /// Changes to the state that a step leads to.
    fn step(&mut self, step: Step) {
        match self.state.after(step) {
            Some(state) => self.state = state,
            None => debug_assert!(false, "no step {step:?} from {:?}", self.state),
        }
    }

    /// Warns the user on standard error and in the debug log.
    fn warn(&mut self, warning: &str) {
        self.outbox.push(Output::Warning(warning.to_owned()));
        self.note(Topic::Engine, || warning.to_owned());
    }

    /// Writes a line to the debug log, if one is kept.
    fn note(&mut self, topic: Topic, text: impl FnOnce() -> String) {
        if self.launch.notes {
            self.outbox.push(Output::Note(topic, text()));
        }
    }
}

/// A queued input.
#[derive(Debug)]
enum Arrived {
    /// A valid line.
    Said(Inbound),
    /// A prompt of the embedding program.
    Prompt(Box<Prompt>),
    /// Another input of the embedding program to the session.
    Told(Box<SessionInput>),
    /// An invalid line.
    Unusable {
        problem: String,
        /// The id of the control request that it was meant to be.
        request_id: Option<String>,
    },
    /// The end of the input.
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

    /// Classifies an invalid line: as a failed answer to the request that it refers to, if it does, else as unusable.
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

/// A new seed.
fn fresh_seed(ids: &mut Seeded) -> [u8; 32] {
    let mut seed = [0; 32];
    for chunk in seed.chunks_exact_mut(8) {
        chunk.copy_from_slice(&ids.next_u64().to_le_bytes());
    }
    seed
}

/// The name of an enum variant, without its fields.
#[must_use]
pub fn variant(value: &impl std::fmt::Debug) -> String {
    let text = format!("{value:?}");
    text.chars()
        .take_while(|letter| letter.is_ascii_alphanumeric())
        .collect()
}
