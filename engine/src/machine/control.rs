//! Control requests of the SDK.

use std::sync::Arc;

use serde_json::json;
use windlass_core::{
    Input, Uuid,
    permission::Mode,
    spec::{Thinking, ThinkingDisplay},
};

use super::{
    Engine,
    config::Prepared,
    io::{Effect, Look, Seen},
    pending::{Looking, Pending, PreparedFor, Then},
};
use crate::settings::LoadedSettings;
use crate::{
    models::resolved_model,
    protocol::{
        PROTOCOL_VERSION,
        frames::{Frames, LocalCommand},
        initialize::{Initialize, ReplyFacts, reply},
        reply::{Reply, ReplyError},
        request::Request,
    },
};

impl Engine {
    /// Handles a control request and replies: immediately, unless the reply has to wait for MCP servers.
    pub(super) fn requested(&mut self, id: String, request: Request) {
        let reply = match request {
            Request::Initialize(initialize) => {
                let is_first = self.prepared.is_none();
                return self.initialize(id, *initialize, is_first);
            }
            Request::Interrupt { cancel_queued } => return self.interrupt(&id, cancel_queued),
            Request::SetPermissionMode(mode) => self.set_mode(mode),
            Request::SetModel(model) => self.set_model(model),
            Request::SetThinking { tokens, display } => self.set_thinking(tokens, display),
            Request::McpStatus => Reply::with(self.server_status()),
            Request::McpReconnect(name) => match self.reconnect(&id, &name) {
                Ok(()) => return,
                Err(error) => error.into(),
            },
            Request::McpToggle {
                server,
                enabled: true,
            } => match self.enable(&id, &server) {
                Ok(()) => return,
                Err(error) => error.into(),
            },
            Request::McpToggle { server, .. } => done(self.disable(&server)),
            Request::McpSetServers(servers) => match self.set_servers(&id, &servers) {
                Some(reply) => reply,
                None => return,
            },
            Request::McpMessage { server, message } => {
                return self.server_says(&id, &server, &message);
            }
            Request::RewindFiles {
                user_message_id,
                dry_run,
            } => return self.rewind(id, user_message_id, dry_run),
            Request::StopTask(task) => {
                self.tell_session(Input::StopTask(task));
                Reply::with(json!({}))
            }
            Request::BackgroundTasks(call) => self.background(call),
            Request::GetTaskOutput(task) => self.task_output(&task),
            Request::CancelAsyncMessage(given) => self.cancel_message(&given),
            Request::GetContextUsage => Reply::with(self.context_usage()),
            Request::ApplyFlagSettings(settings) => {
                return self.apply_flag_settings(id, &settings);
            }
            Request::UpdateSettings { file, settings } => {
                return self.update_settings(id, file, settings);
            }
            Request::GetSettings => Reply::with(self.settings()),
            Request::ListModels => self.models(),
            Request::GetBinaryVersion => Reply::with(json!({
                "version": PROTOCOL_VERSION, "engine": "windlass", "engineVersion": self.launch.version,
            })),
            Request::GetSessionCost => {
                Reply::with(json!({"text": self.outbox.frames.cost_in_words()}))
            }
            Request::GetUsage => Reply::with(self.outbox.frames.usage()),
            Request::ListPermissionRules => Reply::with(self.permission_rules()),
            Request::GetHooksListing => Reply::with(self.hooks_listing()),
            Request::RenameSession { title, session_id } => {
                return self.rename(id, &title, session_id.as_deref());
            }
            Request::GenerateSessionTitle {
                description,
                persist,
            } => self.generate_title(&description, persist),
            Request::ReadFile {
                path,
                max_bytes,
                encoding,
            } => {
                let cwd = self.cwd().to_owned();
                let look = Look::File {
                    cwd,
                    path,
                    max_bytes,
                    encoding,
                };
                return self.look(id, look, Looking::Reply);
            }
            Request::FileSuggestions(query) => {
                let cwd = self.cwd().to_owned();
                return self.look(id, Look::Suggestions { cwd, query }, Looking::Reply);
            }
            Request::SeedReadState { path, mtime } => {
                let cwd = self.cwd().to_owned();
                return self.look(id, Look::Observe { cwd, path, mtime }, Looking::Read);
            }
            Request::ReloadSkills => return self.reload_skills(id),
            Request::ReloadOutputStyles => return self.reload_output_styles(id),
            Request::ReloadPlugins {
                adds,
                refuse_if_busy,
            } => return self.reload_plugins(id, adds, refuse_if_busy),
            Request::RegisterRepoRoot(path) => {
                let cwd = self.cwd().to_owned();
                let looking = Looking::RepoRoot(path.clone());
                return self.look(id, Look::Folder { cwd, path }, looking);
            }
            // Output is never held back to be batched, so subscribers make no difference.
            Request::SetHasSubscribers => Reply::done(),
            Request::McpCall {
                tool,
                arguments,
                timeout_ms,
            } => match self.call_past_the_model(&id, &tool, &arguments, timeout_ms) {
                Ok(()) => return,
                Err(error) => error.into(),
            },
            Request::McpReadResource { server, uri } => {
                match self.read_resource(&id, &server, &uri) {
                    Ok(()) => return,
                    Err(error) => error.into(),
                }
            }
            Request::SetMcpMode { server, asks } => self.set_server_mode(&server, asks),
        };
        self.reply(&id, &reply);
    }

    /// Asks the host to look at files; the reply follows from the result.
    fn look(&mut self, id: String, look: Look, looking: Looking) {
        self.blocking_effect(Effect::Look(look), Pending::Look(id, looking));
    }

    /// Handles the result of looking at files.
    pub(super) fn looked(&mut self, id: &str, looking: Looking, seen: Result<Seen, ReplyError>) {
        let reply = match (looking, seen) {
            (Looking::Reply, Ok(Seen::Value(value))) => Reply::with(value),
            (Looking::RepoRoot(named), Ok(Seen::Path(real))) => {
                done(self.register_repo_root(&named, real))
            }
            (Looking::Read, Ok(Seen::Observed(observation))) => {
                if let Some(observation) = observation {
                    self.tell_session(Input::Seen(observation));
                }
                Reply::done()
            }
            (_, Ok(_)) => ReplyError::new("the host has looked at something else").into(),
            (_, Err(error)) => error.into(),
        };
        self.reply(id, &reply);
        self.unblock();
    }

    fn initialize(&mut self, id: String, initialize: Initialize, is_first: bool) {
        // An `initialize` after the first prompt, or a repeated one, no longer changes the configuration.
        match self.prepared {
            None => self.prepare(initialize, PreparedFor::Request(id, is_first)),
            Some(_) => self.initialized(&id, &initialize, is_first, false, Ok(())),
        }
    }

    /// Replies to `initialize` once the configuration is ready or has failed. `decides` is set if this request determined the
    /// configuration.
    pub(super) fn initialized(
        &mut self,
        id: &str,
        initialize: &Initialize,
        is_first: bool,
        decides: bool,
        prepared: Result<(), String>,
    ) {
        self.refused = prepared.err();
        let reply = match &self.refused {
            Some(problem) => ReplyError::new(problem.clone()).into(),
            None => self.initialize_reply(initialize, is_first, decides),
        };
        self.reply(id, &reply);
        if !is_first {
            // A repeated `initialize` asks for the running tasks.
            self.outbox.say(|frames| vec![frames.tasks_changed()]);
        }
    }

    fn initialize_reply(
        &mut self,
        initialize: &Initialize,
        is_first: bool,
        decides: bool,
    ) -> Reply {
        let Some(prepared) = &self.prepared else {
            return ReplyError::new("the engine could not be set up").into();
        };
        let facts = ReplyFacts {
            pid: self.launch.pid,
            mode: self.mode(),
            is_running: self.outbox.frames.is_busy(),
            token_source: prepared.config.token_source,
        };
        let mut offers = prepared.spec().initialization();
        offers.models = prepared.models();
        let counted = match decides {
            true => initialize,
            false => &Initialize::default(),
        };
        let answer = reply(counted, &offers, facts);
        if is_first {
            self.give_title(initialize.title.as_deref());
        }
        Reply::Initialized(answer)
    }

    /// Sets the session's title: the name given on the command line, which also applies to a resumed session, else the SDK's
    /// title, which applies only to a new session, because a resumed session already has one.
    pub(super) fn give_title(&mut self, of_sdk: Option<&str>) {
        let of_sdk = of_sdk.filter(|_| self.resumed.is_none());
        let title = (self.launch.flags.name.take()).or_else(|| of_sdk.map(ToOwned::to_owned));
        if let Some(title) = title {
            self.emit_title(&title);
            self.title = Some(title);
        }
    }

    fn emit_title(&mut self, title: &str) {
        let changed = json!({"title": title});
        let said = |frames: &mut Frames| vec![frames.system("session_title_changed", changed)];
        self.outbox.say(said);
    }

    /// Announces and stores a title, in the same format as the SDKs' own functions.
    fn rename(&mut self, id: String, title: &str, of: Option<&str>) {
        let title = title.trim();
        let refusal = if title.is_empty() {
            Some("the title is empty".to_owned())
        } else {
            // The request may be meant for the conversation before a `/clear`.
            of.filter(|of| Uuid::try_parse(of).ok() != Some(self.session_id))
                .map(|of| {
                    let now = self.session_id;
                    format!("the session {of} does not run here any more: this is {now}")
                })
        };
        if let Some(refusal) = refusal {
            return self.reply(&id, &ReplyError::new(refusal).into());
        }
        self.emit_title(title);
        self.title = None;
        self.is_blocked = true;
        self.append_title(title, Then::Reply(id));
    }

    /// The same for `/rename TITLE`; returns the text for the user.
    pub(super) fn rename_in_words(&mut self, prompt: &str) -> String {
        let title = LocalCommand::title(prompt).unwrap_or_default();
        if title.is_empty() {
            return "Nothing was renamed: the title goes behind the command, as in `/rename Knots`."
                .to_owned();
        }
        self.emit_title(title);
        self.title = None;
        self.append_title(title, Then::Warn);
        format!("The session is called \u{201c}{title}\u{201d} now.")
    }

    /// Appends a title to the transcript, if one is kept.
    pub(super) fn append_title(&mut self, title: &str, then: Then) {
        let line =
            json!({"type": "custom-title", "customTitle": title, "sessionId": self.session_id});
        // A map with string keys always encodes.
        let line = windlass_core::RawJson::encode(&line);
        self.append_line(
            line.unwrap_or_else(|_| windlass_core::RawJson::empty_object()),
            then,
        );
    }

    fn interrupt(&mut self, id: &str, cancel_queued: bool) {
        let cancelled = match cancel_queued {
            true => self.withdraw_all(),
            false => Vec::new(),
        };
        let named = self.outbox.queue.named();
        let still_queued: Vec<String> = named.map(|(_, given)| given.to_owned()).collect();
        let mut receipt = json!({"still_queued": still_queued});
        if cancel_queued {
            receipt["cancelled"] = json!(cancelled);
        }
        // The receipt comes before everything that follows from the interrupt.
        self.reply(id, &Reply::Success(Some(receipt)));
        // A prompt that has not reached the session yet is sent first, so that it gets a result that reports the interrupt.
        self.pump();
        self.tell_session(Input::Interrupt);
    }

    /// Sends an input to the session: now, or when it begins.
    pub(super) fn tell_session(&mut self, input: Input) {
        match self.begin_session() {
            true => self.send(input),
            false => self.before.push(input),
        }
    }

    /// The last matching input that the session has not processed yet.
    fn unheard<T>(&self, pick: impl Fn(&Input) -> Option<T>) -> Option<T> {
        let of_session = self.session.iter().flat_map(|session| session.unheard());
        let mut unheard: Vec<&Input> = of_session.collect();
        unheard.extend(&self.before);
        unheard.into_iter().rev().find_map(pick)
    }

    /// The permission mode in force.
    pub(super) fn mode(&self) -> Mode {
        let told = self.unheard(|input| match input {
            Input::SetMode(mode) => Some(*mode),
            _ => None,
        });
        let of_session = || self.session.as_ref().map(|it| it.core_session().mode());
        let of_spec = || {
            self.prepared
                .as_ref()
                .map(|it| it.spec().policy.permissions.mode)
        };
        let of_last = || self.last_mode.filter(|_| self.has_ended);
        told.or_else(of_session)
            .or_else(of_last)
            .or_else(of_spec)
            .unwrap_or_default()
    }

    /// The model of the next request.
    pub(super) fn model(&self) -> String {
        let told = self.unheard(|input| match input {
            Input::SetModel(model) => Some(model.clone()),
            _ => None,
        });
        let of_spec = || {
            let prepared = self.prepared.as_ref();
            prepared.map_or_else(String::new, |it| it.spec().model.name.clone())
        };
        match told {
            Some(Some(model)) => model,
            Some(None) => of_spec(),
            None => {
                let of_session = self
                    .session
                    .as_ref()
                    .map(|it| it.core_session().model().to_owned());
                of_session.unwrap_or_else(of_spec)
            }
        }
    }

    fn set_mode(&mut self, mode: Mode) -> Reply {
        if let Some(refusal) = self.mode_refusal(mode) {
            return refusal.into();
        }
        self.tell_session(Input::SetMode(mode));
        Reply::with(json!({"mode": mode.name()}))
    }

    /// Why a permission mode cannot be set, if it cannot.
    pub(super) fn mode_refusal(&self, mode: Mode) -> Option<ReplyError> {
        let may_bypass = match &self.prepared {
            Some(prepared) => prepared.spec().policy.permissions.allow_bypass,
            None => self.launch.flags.allow_bypass || self.launch.flags.bypass,
        };
        if mode == Mode::BypassPermissions && !may_bypass {
            let text = "Cannot set permission mode to bypassPermissions because the session was not launched with --dangerously-skip-permissions";
            return Some(ReplyError::coded("bypass_not_launched", text));
        }
        let settings = self.prepared.as_ref().map(|it| &it.config.settings);
        if mode == Mode::Auto && settings.is_some_and(LoadedSettings::disables_auto_mode) {
            let text = "Cannot set permission mode to auto because settings disable it (`disableAutoMode`)";
            return Some(ReplyError::coded("auto_mode_disabled", text));
        }
        None
    }

    /// Sets the model from now on; `None` returns to the session's own.
    pub(super) fn choose_model(&mut self, model: Option<String>) {
        self.has_commands_model = false;
        self.chosen_model.clone_from(&model);
        self.tell_session(Input::SetModel(model));
    }

    fn set_thinking(
        &mut self,
        tokens: Option<Option<u32>>,
        display: Option<Option<ThinkingDisplay>>,
    ) -> Reply {
        if let Some(display) = display {
            let launched = self.launch.flags.thinking_display;
            if let Some(prepared) = &mut self.prepared {
                let prepared = Arc::make_mut(prepared);
                Arc::make_mut(&mut prepared.config.spec)
                    .model
                    .thinking_display = display.or(launched);
                self.mark_stale();
            }
        }
        if let Some(tokens) = tokens {
            let thinking = tokens.map(|tokens| Thinking::from_options(None, Some(tokens)));
            self.tell_session(Input::SetThinking(thinking));
        }
        Reply::done()
    }

    fn background(&mut self, call: Option<String>) -> Reply {
        let session = self.session.as_ref();
        let is_running =
            session.is_some_and(|it| it.core_session().can_background(call.as_deref()));
        if is_running {
            self.tell_session(Input::Background(call.clone()));
        }
        // Moving all calls succeeds even if there are none.
        match call {
            None => Reply::with(json!({})),
            Some(_) => Reply::with(json!({"backgrounded": is_running})),
        }
    }

    fn set_model(&mut self, model: Option<String>) -> Reply {
        let prepared = self.prepared.as_ref();
        if let (Some(name), Some(prepared)) = (&model, prepared)
            && let Some(refusal) = prepared.model_refusal(name)
        {
            return refusal.into();
        }
        let model = match (model, prepared) {
            (Some(name), Some(prepared)) => Some(resolved_model(prepared.spec(), &name)),
            (model, _) => model,
        };
        let of_spec = prepared.map(|it| it.spec().model.name.clone());
        let resolved = model.clone().or(of_spec).unwrap_or_else(|| self.model());
        let is_known = |prepared: &Arc<Prepared>| {
            let own = prepared.spec().model.catalogue.get(&resolved);
            own.is_some_and(|facts| !facts.prefix.is_empty())
        };
        if prepared.is_some_and(|prepared| !is_known(prepared)) {
            self.warn(&format!(
                "the model {resolved} is not known: it is asked as the newest ones are, and what it costs is an estimate or 0"
            ));
        }
        self.choose_model(model);
        Reply::with(json!({"model": resolved}))
    }

    fn cancel_message(&mut self, given: &str) -> Reply {
        let mut named = self.outbox.queue.named();
        let uuid = named.find(|(_, known)| *known == given).map(|it| it.0);
        drop(named);
        let is_cancelled = uuid.is_some_and(|uuid| self.withdraw(uuid));
        Reply::with(json!({"cancelled": is_cancelled}))
    }
}

/// The reply to a request that returns no data.
pub(super) fn done(outcome: Result<(), ReplyError>) -> Reply {
    outcome.map_or_else(Into::into, |()| Reply::done())
}
