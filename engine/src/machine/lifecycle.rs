//! Reads the configuration, begins the session, and reconfigures it when the configuration has changed.

use std::sync::Arc;

use windlass_core::{
    ConfigureError, Input as SessionInput, Session, SessionId, Spec,
    context::{MemoryFile, MemoryScope},
    hook::{
        Occurrence, concerned,
        input::{
            ConfigChange, ConfigSource, InstructionsLoaded, LoadReason, MemoryType, SessionStart,
            Setup, StartSource,
        },
    },
    permission::Destination,
};

use super::{
    Engine, State, Topic,
    config::{Configuration, ConfigureRequest, Prepared},
    fresh_seed,
    io::{Effect, Fault, Output},
    opening::ResumedSession,
    pending::{Pending, PreparedFor},
    running::{Kept, Running},
    state::Step,
    suspended::restored,
};
use crate::protocol::{frames::Frames, initialize::Initialize};

impl Engine {
    /// Reads and completes the configuration for sessions.
    pub(super) fn prepare(&mut self, initialize: Initialize, who: PreparedFor) {
        self.step(Step::Prepare);
        let request = ConfigureRequest::of(&initialize);
        match self.base.take() {
            // `initialize` contains nothing that affects which files are read or which rules apply.
            Some(base) if request == ConfigureRequest::default() => {
                self.configured(initialize, who, Ok(base));
            }
            _ => {
                let pending = Pending::Prepare(Box::new(initialize), who);
                self.blocking_effect(Effect::Configure(Box::new(request)), pending);
            }
        }
    }

    /// Handles the result of reading the configuration.
    pub(super) fn configured(
        &mut self,
        initialize: Initialize,
        who: PreparedFor,
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
                self.set_configuration(config, initialize.clone());
                Ok(())
            }
            Err(problem) => {
                self.step(Step::Unprepared);
                Err(problem)
            }
        };
        let is_prepared = prepared.is_ok();
        match who {
            PreparedFor::Request(id, is_first) => {
                self.initialized(&id, &initialize, is_first, true, prepared);
            }
            PreparedFor::Prompt => self.prompt_prepared(prepared),
        }
        if is_prepared {
            // Servers in the SDK's process are contacted only after the reply.
            self.add_servers();
        }
    }

    /// Makes this the configuration of sessions.
    fn set_configuration(&mut self, config: Configuration, initialize: Initialize) {
        let spec = &config.spec;
        let text = format!(
            "session {}, model {}, mode {}, {} tools, {} hooks",
            self.session_id,
            spec.model.name,
            spec.policy.permissions.mode.name(),
            spec.tools.definitions.len(),
            spec.policy.hooks.len()
        );
        self.note(Topic::Engine, || text);
        self.outbox.frames.belongs_to(self.session_id);
        if let Some(ResumedSession { saved, .. }) = &self.resumed {
            self.outbox.frames.counting_on(&saved.cost_state());
        }
        for warning in &config.warnings {
            self.warn(warning);
        }
        self.prepared = Some(Arc::new(Prepared { config, initialize }));
    }

    /// Begins the session if none runs. Returns whether there is one; false for example while servers are pending.
    pub(super) fn begin_session(&mut self) -> bool {
        if self.session.is_some() {
            return true;
        }
        if self.state != State::Ready || self.refused.is_some() || self.servers_are_pending() {
            return false;
        }
        let (Some(prepared), Some(spec)) = (self.prepared.clone(), self.spec()) else {
            return false;
        };
        if self.launch.needs_prompt_tool
            && let Some(problem) = without_prompt_tool(&spec)
        {
            self.refuse_session(problem);
            return false;
        }
        let id = self.session_id;
        let seed = self.session_seed();
        let goes_on = matches!(self.before.first(), Some(SessionInput::Resumed { .. }));
        let is_resumed = self.resumed.is_some();
        let kept = match self.resumed.take() {
            resumed if goes_on => match restored(spec, resumed.as_ref()) {
                Ok(session) => Kept::Plain(Box::new(session)),
                Err(problem) => {
                    self.before.clear();
                    self.refuse_session(problem);
                    return false;
                }
            },
            None if self.launch.records => Kept::recorded(spec, id, seed),
            None => Kept::Plain(Box::new(Session::new(spec, id, seed))),
            Some(ResumedSession { saved, .. }) => {
                let spent = saved.cost_state().spent;
                // Resuming repairs what the API would reject in the next request; the list of repairs is not needed here.
                let (session, _) = Session::resume_transcript(spec, id, seed, saved.transcript());
                let session = session
                    .counting_on(spent)
                    .numbering_after(saved.taken_numbers());
                Kept::Plain(Box::new(session))
            }
        };
        let mut session = Running::new(kept, prepared);
        if is_resumed {
            session = session.going_on();
        }
        self.route(&mut session);
        // A session that goes on in the middle of a turn has been told.
        let told = match goes_on {
            true => Vec::new(),
            false => self.first_occurrences(),
        };
        for input in told.into_iter().chain(std::mem::take(&mut self.before)) {
            session.send(input);
        }
        self.session = Some(session);
        self.step(Step::Begin);
        true
    }

    /// Refuses to begin a session because of a problem found after its servers were known.
    fn refuse_session(&mut self, problem: String) {
        self.refused = Some(problem.clone());
        self.outbox.queue.clear();
        self.outbox
            .fail(&problem, Fault::NotOpened(problem.clone()));
        self.outbox.say(Frames::idle);
    }

    /// The seed of the session that is about to begin. A resumed session mixes its leaf into the seed, so that its ids differ
    /// from those in its transcript even if it began with the same seed.
    fn session_seed(&mut self) -> [u8; 32] {
        let Some(mut seed) = self.launch.session_seed.take() else {
            return fresh_seed(&mut self.ids);
        };
        let leaf = self.resumed.as_ref().and_then(|it| it.saved.leaf());
        let leaf = leaf.map(|leaf| leaf.to_string()).unwrap_or_default();
        for (byte, of_leaf) in seed.iter_mut().zip(leaf.bytes()) {
            *byte ^= of_leaf;
        }
        seed
    }

    /// The occurrences to report before the first prompt of a session, if hooks are registered for them.
    fn first_occurrences(&mut self) -> Vec<SessionInput> {
        let setup = self.launch.flags.setup.take();
        let is_cleared = std::mem::take(&mut self.is_cleared);
        let Some(prepared) = &self.prepared else {
            return Vec::new();
        };
        let loaded = |file: &MemoryFile| {
            Occurrence::InstructionsLoaded(InstructionsLoaded {
                file_path: file.path.clone(),
                memory_type: memory_type(file.scope),
                load_reason: LoadReason::SessionStart,
                globs: None,
                trigger_file_path: None,
                parent_file_path: None,
            })
        };
        let setup = setup.map(|trigger| Occurrence::Setup(Setup { trigger }));
        // In all other cases the session itself reports its start.
        let start = is_cleared.then(|| {
            Occurrence::SessionStart(SessionStart {
                source: StartSource::Clear,
                agent_type: prepared.spec().tools.agent.clone(),
                model: Some(self.model()),
            })
        });
        (setup.into_iter())
            .chain(prepared.config.project.memory.iter().map(loaded))
            .filter(|occurrence| !concerned(&prepared.spec().policy.hooks, occurrence).is_empty())
            .chain(start)
            .map(SessionInput::Occurred)
            .collect()
    }

    /// Marks the running session as stale: its configuration, or only the tools of its servers, have changed. It is
    /// reconfigured when it is idle.
    pub(super) fn mark_stale(&mut self) {
        self.is_stale |= self.session.is_some();
    }

    pub(super) fn is_session_idle(&self) -> bool {
        self.session.as_ref().is_none_or(Running::is_idle)
    }

    /// Reconfigures the session if it is stale and nothing runs.
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
            // The session is not idle after all; it will be later.
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

    /// Does everything that can be done now.
    pub(super) fn go_on(&mut self) {
        self.provision_agents();
        self.configure_if_stale();
        self.pump();
        if !self.before.is_empty() && !self.is_blocked {
            // Inputs that arrived while servers were pending are delivered once the servers have answered, even without a
            // prompt: the caller may be waiting for the confirmation of a mode change. Inputs that remain valid across
            // `/clear` are delivered immediately.
            self.begin_session();
        }
        if self.owes_nothing() {
            self.outbox.say(Frames::idle);
        }
        self.drain_or_close();
    }

    /// Whether all requests are answered and nothing runs that would lead to an answer.
    fn owes_nothing(&self) -> bool {
        self.outbox.queue.nothing_waits()
            && !self.is_blocked
            && !self.outbox.is_answering()
            && !self.outbox.frames.has_task_of("local_agent")
            && self.is_session_idle()
    }

    /// After the input has ended and all prompts have been sent, lets the session finish its work; shuts the engine down when
    /// it has, or if there is no session.
    fn drain_or_close(&mut self) {
        let is_all = self.input_ended && !self.is_blocked && self.inbox.is_empty();
        if !is_all || !self.outbox.queue.nothing_waits() || self.shutdown.is_some() {
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
        // Background tasks may continue for a limited time.
        if self.enough_at.is_none() && !self.outbox.is_answering() {
            let ceiling = self.launch.background_ceiling_ms;
            self.enough_at = ceiling.map(|ms| self.now.mono.after(ms));
        }
    }

    /// Starts a new conversation under a new id. The current mode, permission rules, guards and model carry over to its first
    /// prompt.
    pub(super) fn begin_anew(&mut self) -> SessionId {
        self.before.retain(outlives_a_conversation);
        if let Some(old) = self.drop_session() {
            let unheard = old.unheard().filter(|it| outlives_a_conversation(it));
            let left = old.core_session().carried_over().into_iter();
            self.before.extend(left.chain(unheard.cloned()));
            // The new session has this mode anyway: then it need not begin before its first prompt.
            let of_spec = self
                .prepared
                .as_ref()
                .map(|it| it.spec().policy.permissions.mode);
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
        self.outbox.push(Output::Ended(self.session_id));
        self.is_stale = false;
        self.is_cleared = true;
        self.close_log();
        self.session_id = self.ids.uuid();
        self.resumed = None;
        self.session_id
    }
}

/// The problem if the permission prompt tool is not a tool of any server: every call that it should decide would be denied.
fn without_prompt_tool(spec: &Spec) -> Option<String> {
    let name = spec.policy.permissions.prompt_tool.as_deref()?;
    match spec.tool(name) {
        Some(_) => None,
        None => Some(format!(
            "--permission-prompt-tool: no MCP server has a tool named {name}; it is written mcp__SERVER__TOOL, and the server must have started"
        )),
    }
}

/// Whether an input stays in force beyond the current conversation.
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

/// The occurrence that reports a written settings file to hooks.
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

/// The scope of an instructions file, as hooks and the summary of the context name it.
pub(super) fn memory_type(scope: MemoryScope) -> MemoryType {
    match scope {
        MemoryScope::User => MemoryType::User,
        MemoryScope::Project => MemoryType::Project,
        MemoryScope::Local => MemoryType::Local,
    }
}
