//! What an SDK asks of the engine, apart from answers to prompts.

use serde_json::json;
use windlass_core::{
    Input, Uuid,
    permission::Mode,
    spec::{Thinking, ThinkingDisplay},
};
use windlass_engine::protocol::{
    PROTOCOL_VERSION,
    frames::Frames,
    initialize::{Initialize, ReplyFacts, reply},
    reply::{Reply, ReplyError},
    request::Request,
};

use crate::http::Auth;

use super::{
    actor::Engine,
    checkpoints,
    listings::{read_file, suggestions},
    surroundings::resolved,
};

impl Engine {
    /// Does what is asked and replies: at once, but for what has to wait for servers.
    pub(super) async fn requested(&mut self, id: String, request: Request) {
        let reply = match request {
            Request::Initialize(initialize) => {
                let is_first = self.prepared.is_none();
                let reply = self.initialize(*initialize, is_first).await;
                self.reply(&id, &reply).await;
                if !is_first {
                    // Who says it again wants to know what runs.
                    self.output.say(|frames| vec![frames.tasks_changed()]).await;
                }
                return;
            }
            Request::Interrupt { cancel_queued } => {
                return self.interrupt(&id, cancel_queued).await;
            }
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
            Request::McpMessage { server, message } => self.server_says(&server, &message),
            Request::RewindFiles {
                user_message_id,
                dry_run,
            } => match &self.checkpoints {
                Some(checkpoints) => checkpoints.rewind(&user_message_id, dry_run).await,
                None => checkpoints::not_enabled(dry_run),
            },
            Request::StopTask(task) => {
                self.tell(Input::StopTask(task));
                Reply::with(json!({}))
            }
            Request::BackgroundTasks(call) => self.background(call),
            Request::GetTaskOutput(task) => self.task_output(&task),
            Request::CancelAsyncMessage(given) => self.cancel_message(&given).await,
            Request::GetContextUsage => Reply::with(self.context_usage()),
            Request::ApplyFlagSettings(settings) => done(self.apply_flag_settings(&settings)),
            Request::UpdateSettings { file, settings } => {
                done(self.update_settings(file, &settings))
            }
            Request::GetSettings => Reply::with(self.settings()),
            Request::ListModels => self.models(),
            Request::GetBinaryVersion => Reply::with(json!({
                "version": PROTOCOL_VERSION, "engine": "windlass", "engineVersion": env!("CARGO_PKG_VERSION"),
            })),
            Request::GetSessionCost => {
                Reply::with(json!({"text": self.output.frames().await.cost_in_words()}))
            }
            Request::GetUsage => Reply::with(self.output.frames().await.usage()),
            Request::ListPermissionRules => Reply::with(self.permission_rules()),
            Request::GetHooksListing => Reply::with(self.hooks_listing()),
            Request::RenameSession { title, session_id } => {
                self.rename(&title, session_id.as_deref()).await
            }
            Request::ReadFile {
                path,
                max_bytes,
                encoding,
            } => read_file(&self.cwd(), &path, max_bytes, encoding.as_deref()).into(),
            Request::FileSuggestions(query) => Reply::with(suggestions(&self.cwd(), &query)),
            Request::SeedReadState { path, mtime } => done(self.seed_read_state(&path, mtime)),
            Request::ReloadSkills => self.reload_skills().await,
            Request::ReloadOutputStyles => match self.reload_output_styles() {
                Ok(styles) => Reply::with(styles),
                Err(error) => error.into(),
            },
            Request::ReloadPlugins {
                adds,
                refuse_if_busy,
            } => self.reload_plugins(adds, refuse_if_busy).await,
            Request::RegisterRepoRoot(folder) => done(self.register_repo_root(&folder)),
            // Nothing is held back to be joined, whoever watches.
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
            _ => ReplyError::new("this request is not supported").into(),
        };
        self.reply(&id, &reply).await;
    }

    async fn initialize(&mut self, initialize: Initialize, is_first: bool) -> Reply {
        // What comes after a prompt without it, or once more, decides nothing any more.
        let decides = self.prepared.is_none();
        self.refused = self.prepare(initialize.clone()).await.err();
        if let Some(problem) = &self.refused {
            return ReplyError::new(problem.clone()).into();
        }
        let Some(prepared) = &self.prepared else {
            return ReplyError::new("the engine could not be set up").into();
        };
        let facts = ReplyFacts {
            pid: std::process::id(),
            mode: self.mode(),
            is_running: self.output.frames().await.is_busy(),
            token_source: match self.launch.auth {
                Auth::Bearer(_) => "ANTHROPIC_AUTH_TOKEN",
                _ => "none",
            },
        };
        let offers = prepared.blueprint.spec.initialization();
        let counted = match decides {
            true => &initialize,
            false => &Initialize::default(),
        };
        let answer = reply(counted, &offers, facts);
        // A session that goes on has its title.
        if is_first
            && self.taken_up.is_none()
            && let Some(title) = initialize.title
        {
            self.say_title(&title).await;
            self.title = Some(title);
        }
        Reply::Initialized(answer)
    }

    async fn say_title(&self, title: &str) {
        let changed = json!({"title": title});
        let said = |frames: &mut Frames| vec![frames.system("session_title_changed", changed)];
        self.output.say(said).await;
    }

    /// Says and keeps a title, as the SDKs' own functions write it.
    async fn rename(&mut self, title: &str, of: Option<&str>) -> Reply {
        let title = title.trim();
        if title.is_empty() {
            return ReplyError::new("the title is empty").into();
        }
        // It may have been meant for the conversation before a `/clear`.
        if let Some(of) = of.filter(|of| Uuid::parse(of) != Some(self.session_id)) {
            let text = format!(
                "the session {of} does not run here any more: this is {}",
                self.session_id
            );
            return ReplyError::new(text).into();
        }
        self.say_title(title).await;
        self.title = None;
        self.keep_title(title).await
    }

    /// Keeps a title, if anything is kept.
    pub(super) async fn keep_title(&self, title: &str) -> Reply {
        let Some(keeper) = &self.keeper else {
            return Reply::done();
        };
        let line =
            json!({"type": "custom-title", "customTitle": title, "sessionId": self.session_id});
        let kept = keeper.line(&line).await;
        kept.map_or_else(|reason| ReplyError::new(reason).into(), |()| Reply::done())
    }

    async fn interrupt(&mut self, id: &str, cancel_queued: bool) {
        let cancelled = match cancel_queued {
            true => self.withdraw_all().await,
            false => Vec::new(),
        };
        let still_queued: Vec<String> = {
            let frames = self.output.frames().await;
            frames.queued().map(|(_, given)| given.to_owned()).collect()
        };
        let mut receipt = json!({"still_queued": still_queued});
        if cancel_queued {
            receipt["cancelled"] = json!(cancelled);
        }
        // The receipt first: what follows from the interrupt comes behind it.
        self.reply(id, &Reply::Success(Some(receipt))).await;
        // A prompt that has not reached the session goes first, so that it has a result to be interrupted with.
        self.pump().await;
        self.tell(Input::Interrupt);
    }

    /// Tells the session something: now, or when it begins.
    pub(super) fn tell(&mut self, input: Input) {
        match self.session() {
            Some(live) => live.send(input),
            None => self.before.push(input),
        }
    }

    /// The permission mode in force.
    pub(super) fn mode(&self) -> Mode {
        let told = self.before.iter().rev().find_map(|input| match input {
            Input::SetMode(mode) => Some(*mode),
            _ => None,
        });
        let of_session = || self.live.as_ref().map(|live| live.session.look().mode());
        let of_spec = || {
            self.prepared
                .as_ref()
                .map(|it| it.blueprint.spec.permissions.mode)
        };
        told.or_else(of_session)
            .or_else(of_spec)
            .unwrap_or_default()
    }

    /// The model of the next request.
    pub(super) fn model(&self) -> String {
        let told = self.before.iter().rev().find_map(|input| match input {
            Input::SetModel(model) => Some(model.clone()),
            _ => None,
        });
        let of_spec = || {
            let spec = self.prepared.as_ref().map(|it| &it.blueprint.spec);
            spec.map(|spec| spec.model.clone()).unwrap_or_default()
        };
        match told {
            Some(Some(model)) => model,
            Some(None) => of_spec(),
            None => {
                let of_session = self
                    .live
                    .as_ref()
                    .map(|live| live.session.look().model().to_owned());
                of_session.unwrap_or_else(of_spec)
            }
        }
    }

    fn set_mode(&mut self, mode: Mode) -> Reply {
        if let Some(refusal) = self.mode_refusal(mode) {
            return refusal.into();
        }
        self.tell(Input::SetMode(mode));
        Reply::with(json!({"mode": mode.name()}))
    }

    /// Why a mode cannot be taken on, if it cannot.
    pub(super) fn mode_refusal(&self, mode: Mode) -> Option<ReplyError> {
        let may_bypass = match &self.prepared {
            Some(prepared) => prepared.blueprint.spec.permissions.allow_bypass,
            None => self.launch.flags.allow_bypass || self.launch.flags.bypass,
        };
        if mode == Mode::BypassPermissions && !may_bypass {
            let text = "Cannot set permission mode to bypassPermissions because the session was not launched with --dangerously-skip-permissions";
            return Some(ReplyError::coded("bypass_not_launched", text));
        }
        None
    }

    /// Another model from here on; nothing for the session's own.
    pub(super) fn choose_model(&mut self, model: Option<String>) {
        self.has_commands_model = false;
        self.chosen_model.clone_from(&model);
        self.tell(Input::SetModel(model));
    }

    fn set_thinking(
        &mut self,
        tokens: Option<Option<u32>>,
        display: Option<Option<ThinkingDisplay>>,
    ) -> Reply {
        if let Some(display) = display {
            let launched = self.launch.flags.thinking_display;
            if let Some(prepared) = &mut self.prepared {
                prepared.blueprint.spec.thinking_display = display.or(launched);
                self.made_of_changed();
            }
        }
        if let Some(tokens) = tokens {
            let thinking = tokens.map(|tokens| Thinking::from_options(None, Some(tokens)));
            self.tell(Input::SetThinking(thinking));
        }
        Reply::done()
    }

    fn background(&mut self, call: Option<String>) -> Reply {
        let is_running = self
            .live
            .as_ref()
            .is_some_and(|live| live.session.look().can_background(call.as_deref()));
        if is_running {
            self.tell(Input::Background(call.clone()));
        }
        // All of none is done, too.
        match call {
            None => Reply::with(json!({})),
            Some(_) => Reply::with(json!({"backgrounded": is_running})),
        }
    }

    fn set_model(&mut self, model: Option<String>) -> Reply {
        let spec = self.prepared.as_ref().map(|it| &it.blueprint.spec);
        let model = match (model, spec) {
            (Some(name), Some(spec)) => Some(resolved(spec, &name)),
            (model, _) => model,
        };
        let of_spec = self
            .prepared
            .as_ref()
            .map(|it| it.blueprint.spec.model.clone());
        let resolved = model.clone().or(of_spec).unwrap_or_else(|| self.model());
        self.choose_model(model);
        Reply::with(json!({"model": resolved}))
    }

    async fn cancel_message(&mut self, given: &str) -> Reply {
        let uuid = {
            let frames = self.output.frames().await;
            frames
                .queued()
                .find(|(_, known)| *known == given)
                .map(|(uuid, _)| uuid)
        };
        if let Some(uuid) = uuid {
            self.withdraw(uuid).await;
        }
        Reply::with(json!({"cancelled": uuid.is_some()}))
    }
}

/// The reply to what gives nothing.
fn done(outcome: Result<(), ReplyError>) -> Reply {
    outcome.map_or_else(Into::into, |()| Reply::done())
}
