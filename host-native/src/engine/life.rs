//! The life of a session: found or begun, kept, renewed when its tools have changed, ended.

use std::sync::{Arc, Mutex};

use windlass_core::{
    Input, SessionId, Spec,
    context::{MemoryFile, MemoryScope},
    hook::{
        Occurrence, concerned,
        input::{InstructionsLoaded, LoadReason, MemoryType, SessionEnd, Setup},
    },
    testkit::Recorder,
};
use windlass_engine::store::Leased;

use super::{
    actor::Engine,
    agent_servers::{ToolRunners, may_replace},
    build::{Blueprint, with_servers},
    checkpoints::{Checkpoints, changed_fields},
    hooks::{CallbackHooks, End, SessionHooks, commands},
    host::EngineHost,
    keeping::{Keeper, TakenUp, taken_up},
    launch::Recording,
    preparing::Prepared,
    servers::Servers,
    session::{Kept, Live, outlives_a_conversation},
};
use crate::{
    agent::{fresh_uuid, random_seed},
    store::{SessionFiles, TaskOutputs},
    worktree,
};

impl Engine {
    /// Finds the session that is to go on, if one is.
    pub(super) async fn take_up(&mut self) -> Result<(), String> {
        let taken_up = taken_up(&self.launch, &self.store).await;
        let taken_up = taken_up.map_err(|error| error.to_string())?;
        if let Some(taken_up) = &taken_up {
            let given = self
                .launch
                .flags
                .session_id
                .as_ref()
                .map(|_| self.session_id);
            self.session_id = taken_up.id(given);
        }
        self.taken_up = taken_up;
        self.keep().await
    }

    /// Writes down what is said from now on, and keeps what files hold, under the id that the session has.
    async fn keep(&mut self) -> Result<(), String> {
        let id = self.session_id;
        self.keeper = match self.launch.flags.no_session_persistence {
            true => {
                // An id that was given must be free, also where nothing is kept under it.
                let is_new = self.taken_up.as_ref().is_none_or(|it| it.is_fork);
                if is_new && self.launch.flags.session_id.is_some() {
                    let free = Leased::create(self.store.clone(), id).await;
                    free.map_err(|error| error.to_string())?;
                }
                None
            }
            false => {
                let (store, output) = (self.store.clone(), Arc::clone(&self.output));
                let taken_up = self.taken_up.as_mut();
                let keeper = Keeper::new(&self.launch, store, id, taken_up, output).await;
                Some(Arc::new(keeper.map_err(|error| error.to_string())?))
            }
        };
        self.checkpoints = match self.launch.file_checkpoints {
            false => None,
            true => {
                let (taken_up, keeper) = (self.taken_up.as_ref(), self.keeper.clone());
                let opened = Checkpoints::open(&self.launch, id, taken_up, keeper);
                Some(opened.map_err(|error| error.to_string())?)
            }
        };
        Ok(())
    }

    /// The session, begun if it has not. None while servers are waited for.
    pub(super) fn session(&mut self) -> Option<&Live> {
        if self.live.is_none() && self.prepared.is_some() && !self.servers_are_pending() {
            let spec = self.spec()?;
            let session = match self.taken_up.take() {
                None => self.fresh_session(spec),
                Some(TakenUp { saved, .. }) => {
                    let (id, seed) = (self.session_id, random_seed());
                    let transcript = saved.transcript();
                    let spent = saved.cost_state().spent;
                    // What was mended is what the next request would have been refused for.
                    let (session, _) =
                        windlass_core::Session::resume_transcript(spec, id, seed, transcript);
                    Kept::plain(session.counting_on(spent))
                }
            };
            let live = self.start(session)?;
            let told = self.told_first();
            for input in told.into_iter().chain(std::mem::take(&mut self.before)) {
                live.send(input);
            }
            self.live = Some(live);
        }
        self.live.as_ref()
    }

    /// What hooks are told before the first prompt of a session, where there are any to be told.
    fn told_first(&mut self) -> Vec<Input> {
        let setup = self.launch.flags.setup.take();
        let Some(prepared) = &self.prepared else {
            return Vec::new();
        };
        let Blueprint {
            spec, surroundings, ..
        } = &prepared.blueprint;
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
            .chain(surroundings.project.memory.iter().map(loaded))
            .filter(|occurrence| !concerned(&spec.hooks, occurrence).is_empty())
            .map(Input::Occurred)
            .collect()
    }

    fn spec(&self) -> Option<Arc<Spec>> {
        let prepared = self.prepared.as_ref()?;
        let spec = &prepared.blueprint.spec;
        Some(with_servers(spec, &self.servers, &self.agent_servers))
    }

    /// Whether a server of the main thread has not answered yet: one of the session, or of the agent that it runs as. Those of
    /// other agents are their agents' to wait for.
    fn servers_are_pending(&self) -> bool {
        let agent = (self.prepared.as_ref()).and_then(|it| it.blueprint.spec.agent.as_deref());
        let agents_own = agent.and_then(|agent| self.agent_servers.get(agent));
        self.servers.are_pending() || agents_own.is_some_and(Servers::are_pending)
    }

    /// A session that begins, with a journal where one is wanted.
    fn fresh_session(&self, spec: Arc<Spec>) -> Kept {
        let (id, seed) = (self.session_id, random_seed());
        match &self.launch.recording {
            None => Kept::plain(windlass_core::Session::new(spec, id, seed)),
            Some(Recording(open)) => {
                Kept::Recorded(Box::new(Recorder::start(spec, id, seed, open(id))))
            }
        }
    }

    fn start(&self, session: Kept) -> Option<Live> {
        let prepared = self.prepared.as_ref()?;
        // Its messages are taken by the host around it.
        let (native, _) = prepared.blueprint.agent.host();
        let native = native.with_worktrees(self.worktrees.clone());
        let mut own_tools: ToolRunners = self
            .servers
            .tools()
            .map(|(definition, tool)| (definition.name, tool))
            .collect();
        let agents_tools = self.agent_servers.runners();
        let spec = &prepared.blueprint.spec;
        if let Some(tools) = spec
            .agent
            .as_ref()
            .and_then(|agent| agents_tools.get(agent))
        {
            let asked = spec.permissions.prompt_tool.as_deref();
            let tools = tools.iter().filter(|(name, _)| may_replace(asked, name));
            own_tools.extend(tools.map(|(name, tool)| (name.clone(), Arc::clone(tool))));
        }
        #[cfg(unix)]
        {
            let variables = prepared.blueprint.surroundings.variables();
            let sandbox = &prepared.blueprint.sandbox;
            if !variables.is_empty() || sandbox.is_some() {
                let mut bash = crate::bash::Bash::new().with_variables(variables);
                if let Some(sandbox) = sandbox {
                    bash = bash.confined_by(sandbox.clone());
                }
                own_tools.insert("Bash".to_owned(), Arc::new(bash));
            }
        }
        let hooks = self.hooks(prepared);
        let host = EngineHost {
            native,
            output: Arc::clone(&self.output),
            channel: self.channel.clone(),
            keeper: self.keeper.clone(),
            checkpoints: self.checkpoints.clone(),
            task_outputs: self.keeper.as_ref().map(|_| {
                let files = SessionFiles::of(&self.launch.config, &self.launch.directory());
                Arc::new(TaskOutputs::new(&files, self.session_id))
            }),
            changed_fields: changed_fields(&prepared.blueprint.spec.tools),
            places: prepared.blueprint.surroundings.places.clone(),
            own_tools,
            agents_tools: Mutex::new(agents_tools),
            hooks,
            events: self.events.clone(),
            log: self.log.clone(),
            http_status: Arc::default(),
        };
        Some(Live::start(session, host, self.events.clone()))
    }

    /// Who runs the hooks of a session.
    fn hooks(&self, prepared: &Prepared) -> SessionHooks {
        let callbacks = CallbackHooks {
            channel: self.channel.clone(),
            blocking: Arc::new(prepared.initialize.blocking_callbacks()),
        };
        SessionHooks {
            callbacks,
            commands: commands(&prepared.blueprint.surroundings),
        }
    }

    /// The session goes on with what sessions are made of by now, if that has changed and nothing runs.
    pub(super) async fn renew_if_stale(&mut self) {
        self.is_about_to_be_renewed = false;
        let is_quiet = self.is_session_idle() && self.output.frames().await.has_no_tasks();
        if !self.is_stale || self.servers_are_pending() || !is_quiet {
            return;
        }
        let (Some(live), Some(spec)) = (&self.live, self.spec()) else {
            return;
        };
        match live.session.renewed(spec) {
            Ok((session, unheard)) => {
                if live.session.look().is_recorded() {
                    self.warn("the tools have changed, and the journal ends here");
                }
                let live = self.start(Kept::plain(session));
                if let Some(live) = live {
                    live.send(Input::Resumed { live: Vec::new() });
                    for input in unheard {
                        live.send(input);
                    }
                    self.live = Some(live);
                }
                self.is_stale = false;
            }
            // Outputs wait to be taken: it is not as quiet as it seemed, and will be soon.
            Err(windlass_core::SnapshotError::NotDrained) => {
                self.is_about_to_be_renewed = true;
                self.look_again();
            }
            Err(error) => {
                self.is_stale = false;
                self.warn(&format!(
                    "the session goes on with the tools it had: {error}"
                ));
            }
        }
    }

    /// Tells hooks that the session ends, if one has begun.
    pub(super) async fn session_ends(&self, reason: &'static str) {
        let has_begun = self.live.is_some() || self.has_ended;
        let Some(prepared) = self.prepared.as_ref().filter(|_| has_begun) else {
            return;
        };
        let hooks = self.hooks(prepared);
        let ended = Occurrence::SessionEnd(SessionEnd {
            reason: reason.to_owned(),
        });
        let end = self.end();
        let told = end.tell(ended, &prepared.blueprint.spec, &hooks);
        // Those that are not done by then are killed.
        let _ = tokio::time::timeout(self.launch.last_hooks, told).await;
    }

    /// Takes away the worktrees that nobody needs any more, and tells hooks of each before. Nothing else is heard meanwhile, what
    /// a hook may ask for included: hooks have as long as at the session's end, all of them together.
    pub(super) async fn remove_worktrees(&self) {
        let Some(prepared) = &self.prepared else {
            return;
        };
        let hooks = self.hooks(prepared);
        let end = self.end();
        let going = self.worktrees.to_remove().await;
        let spec = &prepared.blueprint.spec;
        let telling = (going.iter()).map(|made| end.tell(made.occurrence(), spec, &hooks));
        let told = futures_util::future::join_all(telling);
        // Those that are not done by then are killed.
        let _ = tokio::time::timeout(self.launch.last_hooks, told).await;
        worktree::remove(going).await;
    }

    fn end(&self) -> End {
        End {
            session: self.session_id,
            mode: self.mode(),
            // Nobody can answer any more once the input has ended, or nobody reads the question.
            asks_sdk: !self.input_ended && !self.output.gone().is_cancelled(),
        }
    }

    /// The conversation begins anew, under a new id. Nothing else does: the mode, the rules and guards and the model that hold
    /// by now hold from its first prompt on.
    pub(super) async fn begin_anew(&mut self) -> SessionId {
        self.before.retain(outlives_a_conversation);
        if let Some(old) = self.live.take() {
            self.before.extend(old.session.left());
            // A session that would be in this mode anyway begins with its first prompt, not before.
            let of_spec = self
                .prepared
                .as_ref()
                .map(|it| it.blueprint.spec.permissions.mode);
            if let [Input::SetMode(mode)] = self.before.as_slice()
                && Some(*mode) == of_spec
            {
                self.before.clear();
            }
        }
        self.session_id = fresh_uuid();
        self.taken_up = None;
        if let Err(problem) = self.keep().await {
            self.warn(&problem); // there are no checkpoints then, and rewinding says so
        }
        self.session_id
    }
}
