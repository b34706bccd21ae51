//! A session is found or begun, kept, and goes on with another spec when what it is made of has changed.

use std::sync::Arc;

use windlass_core::{
    ConfigureError, Input as SessionInput, Session, SessionId,
    context::{MemoryFile, MemoryScope},
    hook::{
        Occurrence, concerned,
        input::{ConfigChange, ConfigSource, InstructionsLoaded, LoadReason, MemoryType, Setup},
    },
    permission::Destination,
};

use super::{
    Engine, State, Topic,
    config::{Configuration, ConfigureRequest, Prepared},
    fresh_seed,
    io::{Checkpoint, Effect, LoadedSession, Output},
    log::TranscriptLog,
    pending::{Pending, Prepare},
    session::{Kept, Running},
    state::Step,
};
use crate::{
    protocol::{frames::Frames, initialize::Initialize},
    store::Lease,
    transcript::{ResumeOptions, SavedSession, Which},
};

/// How long an engine that cannot do what it was started for waits for the first words of the SDK, in milliseconds.
const FIRST_WORDS_MS: u64 = 1_000;

/// A session that goes on.
#[derive(Debug)]
pub(super) struct TakenUp {
    saved: SavedSession,
    /// Under another id, in another transcript.
    is_fork: bool,
    /// The right to write to it, until its transcript is gone on with.
    lease: Option<Lease>,
}

impl Engine {
    /// Finds the session that is to go on, if one is.
    pub(super) fn open(&mut self) {
        let flags = &self.launch.flags;
        let which = match (&flags.resume, flags.continue_session) {
            (Some(id), _) => Which::Session(id.clone()),
            (None, true) => Which::Latest,
            (None, false) => return self.keep(),
        };
        let exclusive = !flags.fork_session && !flags.no_session_persistence;
        self.effect(Effect::Load { which, exclusive }, Pending::Load);
    }

    /// The session that is to go on is read, or cannot be.
    pub(super) fn loaded(&mut self, loaded: Result<Option<LoadedSession>, String>) {
        let flags = &self.launch.flags;
        let options = ResumeOptions {
            at: flags.resume_session_at.clone().filter(|at| !at.is_empty()),
            drops_turn: flags.resume_drops_turn.clone(),
        };
        let is_fork = flags.fork_session;
        let taken_up = loaded.and_then(|loaded| {
            let Some(LoadedSession { saved, lease }) = loaded else {
                return Ok(None);
            };
            match saved.truncated(&options) {
                Ok(saved) => Ok(Some(TakenUp {
                    saved,
                    is_fork,
                    lease,
                })),
                Err(error) => {
                    let release = lease.map(Output::Release);
                    release.into_iter().for_each(|it| self.outbox.push(it));
                    Err(error.to_string())
                }
            }
        });
        match taken_up {
            Ok(taken_up) => {
                if let Some(taken_up) = taken_up.as_ref().filter(|it| !it.is_fork) {
                    self.session_id = taken_up.saved.id;
                }
                self.taken_up = taken_up;
                self.keep();
            }
            Err(problem) => self.not_opened(&problem),
        }
    }

    /// Writes down what is said from now on, and keeps what files hold, under the id that the session has.
    pub(super) fn keep(&mut self) {
        let lease = self.taken_up.as_mut().and_then(|it| it.lease.take());
        let is_new = self.taken_up.as_ref().is_none_or(|it| it.is_fork);
        let persists = !self.launch.flags.no_session_persistence;
        // An id that was given must be free, also where nothing is kept under it.
        let is_given = is_new && self.launch.session_id == Some(self.session_id);
        match lease {
            Some(lease) => self.leased(Ok(lease)),
            None if persists || is_given => {
                let create = Effect::Create(self.session_id);
                self.effect(create, Pending::Lease);
            }
            None => self.kept(),
        }
    }

    /// The right to write to the session is there, or is not to be had.
    pub(super) fn leased(&mut self, lease: Result<Lease, String>) {
        let lease = match lease {
            Ok(lease) => lease,
            Err(problem) => return self.not_opened(&problem),
        };
        if self.launch.flags.no_session_persistence {
            self.outbox.push(Output::Release(lease));
            return self.kept();
        }
        let log = TranscriptLog::new(lease, self.scribe());
        self.log = Some(match &self.taken_up {
            None => log,
            Some(TakenUp { saved, is_fork, .. }) => {
                let log = log.going_on(saved);
                match is_fork {
                    true => log.beginning_with(saved.forked(self.session_id)),
                    false => log,
                }
            }
        });
        self.kept();
    }

    /// The transcript is ready; the checkpoints are next.
    fn kept(&mut self) {
        if !self.launch.file_checkpoints {
            return self.checkpoints_opened(Ok(()));
        }
        let forked_from = self.taken_up.as_ref().filter(|it| it.is_fork);
        let open = Checkpoint::Open {
            session: self.session_id,
            forked_from: forked_from.map(|it| it.saved.id),
        };
        self.effect(Effect::Checkpoint(open), Pending::OpenCheckpoints);
    }

    pub(super) fn checkpoints_opened(&mut self, opened: Result<(), String>) {
        self.keeps_files = self.launch.file_checkpoints && opened.is_ok();
        match (opened, self.state) {
            (Ok(()), State::Opening) => {
                self.step(Step::Opened);
                self.unblock();
            }
            (Err(problem), State::Opening) => self.not_opened(&problem),
            (opened, _) => {
                if let Err(problem) = opened {
                    self.warn(&problem); // there are no checkpoints then, and rewinding says so
                }
                self.cleared();
            }
        }
    }

    /// There is no session to begin: known to the SDKs as a result that answers nothing, and words for the person.
    fn not_opened(&mut self, problem: &str) {
        if self.state != State::Opening {
            self.warn(problem);
            return self.kept();
        }
        self.step(Step::NotOpened);
        self.close_log();
        if self.launch.tells_refusals {
            self.outbox.push(Output::Refusal(problem.to_owned()));
        }
        self.outbox.refuse(problem);
        // An SDK that finds nobody to write its first request to tells that, and not what the result says.
        let heard_already = !self.inbox.is_empty();
        self.refused_at = Some(self.now.mono.after(FIRST_WORDS_MS));
        if heard_already {
            self.heard();
        }
    }

    /// The first words of the SDK have come, or it says none: an engine that cannot begin ends.
    pub(super) fn heard(&mut self) {
        if self.state == State::Refused {
            self.refused_at = None;
            self.step(Step::End);
            self.outbox
                .push(Output::Exit(super::Ending::Done { failed: true }));
        }
    }

    /// Makes what sessions are made of.
    pub(super) fn prepare(&mut self, initialize: Initialize, who: Prepare) {
        self.step(Step::Prepare);
        let request = ConfigureRequest::of(&initialize);
        match self.base.take() {
            // What the SDK brings along decides neither which files are read nor which rules there are.
            Some(base) if request == ConfigureRequest::default() => {
                self.configured(initialize, who, Ok(base));
            }
            _ => {
                let pending = Pending::Prepare(Box::new(initialize), who);
                self.blocking_effect(Effect::Configure(Box::new(request)), pending);
            }
        }
    }

    /// What sessions are made of is read, or cannot be.
    pub(super) fn configured(
        &mut self,
        initialize: Initialize,
        who: Prepare,
        config: Result<Configuration, String>,
    ) {
        self.unblock();
        let completed = config.and_then(|config| {
            let completed = config.completed(&self.launch, &initialize);
            completed.map_err(|error| error.to_string())
        });
        let prepared = match completed {
            Ok(config) => {
                self.step(Step::Prepared);
                self.take_on(config, initialize.clone());
                Ok(())
            }
            Err(problem) => {
                self.step(Step::Unprepared);
                Err(problem)
            }
        };
        let is_prepared = prepared.is_ok();
        match who {
            Prepare::Request(id, is_first) => {
                self.initialized(&id, &initialize, is_first, true, prepared);
            }
            Prepare::Prompt => self.prompt_prepared(prepared),
        }
        if is_prepared {
            // Servers in the SDK's process are asked behind the reply.
            self.add_servers();
        }
    }

    /// Sessions are made of this.
    fn take_on(&mut self, config: Configuration, initialize: Initialize) {
        let spec = &config.spec;
        let text = format!(
            "session {}, model {}, mode {}, {} tools, {} hooks",
            self.session_id,
            spec.model,
            spec.permissions.mode.name(),
            spec.tools.len(),
            spec.hooks.len()
        );
        self.note(Topic::Engine, || text);
        self.outbox.frames.belongs_to(self.session_id);
        if let Some(TakenUp { saved, .. }) = &self.taken_up {
            self.outbox.frames.counting_on(&saved.cost_state());
        }
        for warning in &config.warnings {
            self.warn(warning);
        }
        self.prepared = Some(Arc::new(Prepared { config, initialize }));
    }

    /// The session, begun if it has not. False while servers are waited for.
    pub(super) fn begin_session(&mut self) -> bool {
        if self.session.is_some() {
            return true;
        }
        if self.state != State::Ready || self.servers_are_pending() {
            return false;
        }
        let (Some(prepared), Some(spec)) = (self.prepared.clone(), self.spec()) else {
            return false;
        };
        let (id, seed) = (self.session_id, fresh_seed(&mut self.ids));
        let kept = match self.taken_up.take() {
            None if self.launch.records => Kept::recorded(spec, id, seed),
            None => Kept::Plain(Box::new(Session::new(spec, id, seed))),
            Some(TakenUp { saved, .. }) => {
                let spent = saved.cost_state().spent;
                // What was mended is what the next request would have been refused for.
                let (session, _) = Session::resume_transcript(spec, id, seed, saved.transcript());
                Kept::Plain(Box::new(session.counting_on(spent)))
            }
        };
        let mut session = Running::new(kept, prepared);
        self.route(&mut session);
        let told = self.told_first();
        for input in told.into_iter().chain(std::mem::take(&mut self.before)) {
            session.send(input);
        }
        self.session = Some(session);
        self.step(Step::Begin);
        true
    }

    /// What hooks are told before the first prompt of a session, where there are any to be told.
    fn told_first(&mut self) -> Vec<SessionInput> {
        let setup = self.launch.flags.setup.take();
        let Some(prepared) = &self.prepared else {
            return Vec::new();
        };
        let loaded = |file: &MemoryFile| {
            Occurrence::InstructionsLoaded(InstructionsLoaded {
                file_path: file.path.clone(),
                memory_type: match file.scope {
                    MemoryScope::User => MemoryType::User,
                    MemoryScope::Project => MemoryType::Project,
                    MemoryScope::Local => MemoryType::Local,
                },
                load_reason: LoadReason::SessionStart,
                globs: None,
                trigger_file_path: None,
                parent_file_path: None,
            })
        };
        let setup = setup.map(|trigger| Occurrence::Setup(Setup { trigger }));
        (setup.into_iter())
            .chain(prepared.config.project.memory.iter().map(loaded))
            .filter(|occurrence| !concerned(&prepared.spec().hooks, occurrence).is_empty())
            .map(SessionInput::Occurred)
            .collect()
    }

    /// What sessions are made of has changed, be it only the tools of servers: the one that runs learns of it when it is quiet.
    pub(super) fn made_of_changed(&mut self) {
        self.is_stale |= self.session.is_some();
    }

    pub(super) fn is_session_idle(&self) -> bool {
        self.session.as_ref().is_none_or(Running::is_idle)
    }

    /// The session goes on with what sessions are made of by now, if that has changed and nothing runs.
    fn configure_if_stale(&mut self) {
        let is_quiet = self.is_session_idle() && self.outbox.frames.has_no_tasks();
        if !self.is_stale || self.servers_are_pending() || !is_quiet {
            return;
        }
        let (Some(prepared), Some(spec)) = (self.prepared.clone(), self.spec()) else {
            return;
        };
        let Some(mut session) = self.session.take() else {
            return;
        };
        let before = Arc::clone(&session.prepared);
        match session.configure(spec, prepared) {
            Ok(()) => {
                self.route(&mut session);
                self.is_stale = false;
                let number = before.config.number;
                if session.prepared.config.number != number {
                    self.outbox.push(Output::Forget(number));
                }
            }
            // It is not as quiet as it seemed, and will be.
            Err(ConfigureError::Busy | ConfigureError::NotDrained) => {}
            Err(error) => {
                self.is_stale = false;
                self.warn(&format!(
                    "the session goes on with the tools it had: {error}"
                ));
            }
        }
        self.session = Some(session);
    }

    /// Does what can be done now.
    pub(super) fn go_on(&mut self) {
        self.equip_agents();
        self.configure_if_stale();
        self.pump();
        if !self.before.is_empty() && !self.is_blocked {
            // What came while servers were waited for is told once they have answered, prompt or no prompt: whoever
            // asked for another mode waits to hear of it. What holds beyond a `/clear` is told at once.
            self.begin_session();
        }
        if self.owes_nothing() {
            self.outbox.say(Frames::idle);
        }
        self.drain_or_close();
    }

    /// Whether everything is answered that was asked, and nothing runs that will be.
    fn owes_nothing(&self) -> bool {
        self.outbox.queue.nothing_waits()
            && !self.is_blocked
            && !self.outbox.is_answering()
            && !self.outbox.frames.has_task_of("local_agent")
            && self.is_session_idle()
    }

    /// Once the input has ended and all of it has gone to the session, that one works off what it has; without one it is the
    /// end.
    fn drain_or_close(&mut self) {
        let is_all = self.input_ended && !self.is_blocked && self.inbox.is_empty();
        if !is_all || !self.outbox.queue.nothing_waits() || self.farewell.is_some() {
            return;
        }
        match self.state {
            State::Running => self.step(Step::Drain),
            State::Fresh | State::Ready => return self.close(),
            State::Draining if self.session.as_ref().is_none_or(Running::is_over) => {
                return self.close();
            }
            State::Draining => {}
            _ => return,
        }
        // Background work may go on for a while.
        if self.enough_at.is_none() && !self.outbox.is_answering() {
            let ceiling = self.launch.background_ceiling_ms;
            self.enough_at = ceiling.map(|ms| self.now.mono.after(ms));
        }
    }

    /// The conversation begins anew, under a new id. Nothing else does: the mode, the rules and guards and the model that hold
    /// by now hold from its first prompt on.
    pub(super) fn begin_anew(&mut self) -> SessionId {
        self.before.retain(outlives_a_conversation);
        if let Some(old) = self.drop_session() {
            let unheard = old.unheard().filter(|it| outlives_a_conversation(it));
            let left = old.look().carried_over().into_iter();
            self.before.extend(left.chain(unheard.cloned()));
            // A session that would be in this mode anyway begins with its first prompt, not before.
            let of_spec = self.prepared.as_ref().map(|it| it.spec().permissions.mode);
            if let [SessionInput::SetMode(mode)] = self.before.as_slice()
                && Some(*mode) == of_spec
            {
                self.before.clear();
            }
            let number = old.prepared.config.number;
            let of_next = self.prepared.as_ref().map(|it| it.config.number);
            if of_next != Some(number) {
                self.outbox.push(Output::Forget(number));
            }
        }
        self.is_stale = false;
        self.close_log();
        self.session_id = self.ids.uuid();
        self.taken_up = None;
        self.session_id
    }
}

/// Whether an input is about more than the conversation in which it comes.
fn outlives_a_conversation(input: &SessionInput) -> bool {
    matches!(
        input,
        SessionInput::SetMode(_)
            | SessionInput::UpdatePermissions(_)
            | SessionInput::GuardServer { .. }
            | SessionInput::SetModel(_)
            | SessionInput::SetThinking(_)
            | SessionInput::SetEffort(_)
            | SessionInput::Occurred(_)
    )
}

/// What hooks are told of a settings file that was written.
pub(super) fn config_changed(destination: Destination, file: String) -> Occurrence {
    Occurrence::ConfigChange(ConfigChange {
        source: match destination {
            Destination::UserSettings => ConfigSource::UserSettings,
            Destination::ProjectSettings => ConfigSource::ProjectSettings,
            _ => ConfigSource::LocalSettings,
        },
        file_path: Some(file),
    })
}
