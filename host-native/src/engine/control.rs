//! What an SDK asks of the engine, apart from answers to prompts.

use std::collections::BTreeMap;

use serde_json::json;
use windlass_core::{
    Input, RawJson,
    permission::{
        Behavior, Destination, Mode, PermissionSettings, PermissionUpdate, Rule, RuleChange,
        RuleError,
    },
    spec::Thinking,
};
use windlass_engine::protocol::{
    PROTOCOL_VERSION,
    frames::Frames,
    initialize::{Initialize, ReplyFacts, reply},
    reply::{Reply, ReplyError},
    request::Request,
};

use super::{
    actor::Engine,
    checkpoints,
    listings::{read_file, suggestions},
    surroundings::resolved,
};

/// A reply that waits for a server.
pub(super) enum WaitingReply {
    /// It is the whole reply.
    Server(String),
    /// One of several servers; the reply goes out with the last of them.
    Several {
        request: String,
        added: Vec<String>,
        removed: Vec<String>,
    },
}

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
            Request::SetMaxThinkingTokens(tokens) => {
                let thinking = tokens.map(|tokens| Thinking::from_options(None, Some(tokens)));
                self.tell(Input::SetThinking(thinking));
                Reply::done()
            }
            Request::McpStatus => Reply::with(self.servers.status()),
            Request::McpReconnect(name) => match self.reconnect(&id, &name) {
                Ok(()) => return,
                Err(error) => error.into(),
            },
            Request::McpToggle {
                server,
                enabled: true,
            } => match self.servers.check(&server) {
                Ok(()) => return self.connect(&server, Some(WaitingReply::Server(id))),
                Err(error) => error.into(),
            },
            Request::McpToggle { server, .. } => match self.servers.disable(&server) {
                Ok(()) => {
                    self.tools_changed();
                    Reply::done()
                }
                Err(error) => error.into(),
            },
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
            Request::BackgroundTasks(call) => {
                self.tell(Input::Background(call));
                Reply::with(json!({}))
            }
            Request::CancelAsyncMessage(given) => self.cancel_message(&given).await,
            Request::GetContextUsage => Reply::with(self.context_usage()),
            Request::ApplyFlagSettings(settings) => self.apply_settings(&settings),
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
            Request::RenameSession(title) => {
                self.say_title(&title).await;
                self.rename(&title).await
            }
            Request::ReadFile {
                path,
                max_bytes,
                encoding,
            } => read_file(&self.cwd(), &path, max_bytes, encoding.as_deref()).into(),
            Request::FileSuggestions(query) => Reply::with(suggestions(&self.cwd(), &query)),
            // What the model has not read itself it must read before it edits: nothing is lost by that.
            Request::SeedReadState { .. } => Reply::done(),
            Request::ReloadSkills => self.skills().await,
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
        };
        let offers = prepared.blueprint.spec.initialization();
        let counted = match decides {
            true => &initialize,
            false => &Initialize::default(),
        };
        let answer = reply(counted, &offers, facts);
        if is_first && let Some(title) = &initialize.title {
            self.say_title(title).await;
        }
        Reply::Initialized(answer)
    }

    async fn say_title(&self, title: &str) {
        let changed = json!({"title": title});
        let said = |frames: &mut Frames| vec![frames.system("session_title_changed", changed)];
        self.output.say(said).await;
    }

    /// Keeps a title, as the SDKs' own functions write it.
    async fn rename(&self, title: &str) -> Reply {
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
        self.output.frames().await.interrupting();
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
        let may_bypass = match &self.prepared {
            Some(prepared) => prepared.blueprint.spec.permissions.allow_bypass,
            None => self.launch.flags.allow_bypass || self.launch.flags.bypass,
        };
        if mode == Mode::BypassPermissions && !may_bypass {
            let text = "Cannot set permission mode to bypassPermissions because the session was not launched with --dangerously-skip-permissions";
            return ReplyError::coded("bypass_not_launched", text).into();
        }
        self.tell(Input::SetMode(mode));
        Reply::with(json!({"mode": mode.name()}))
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
        self.tell(Input::SetModel(model));
        Reply::with(json!({"model": resolved}))
    }

    fn reconnect(&mut self, id: &str, name: &str) -> Result<(), ReplyError> {
        self.servers.check(name)?;
        if self.servers.is_sdk(name) {
            let text = format!(
                "{name} lives in the process of the SDK: there is no connection to make anew"
            );
            return Err(ReplyError::new(text));
        }
        self.connect(name, Some(WaitingReply::Server(id.to_owned())));
        Ok(())
    }

    /// None where the reply has to wait for the servers that are new.
    fn set_servers(&mut self, id: &str, configs: &BTreeMap<String, RawJson>) -> Option<Reply> {
        let (added, removed) = self.servers.replace_dynamic(configs);
        self.tools_changed();
        if added.is_empty() {
            return Some(Reply::with(
                json!({"added": [], "removed": removed, "errors": {}}),
            ));
        }
        for name in &added {
            let reply = WaitingReply::Several {
                request: id.to_owned(),
                added: added.clone(),
                removed: removed.clone(),
            };
            self.connect(name, Some(reply));
        }
        None
    }

    /// A server has answered for which a reply waits.
    pub(super) async fn connected(&mut self, reply: WaitingReply, outcome: Result<(), String>) {
        match reply {
            WaitingReply::Server(id) => {
                let reply = outcome
                    .map_or_else(|reason| ReplyError::new(reason).into(), |()| Reply::done());
                self.reply(&id, &reply).await;
            }
            WaitingReply::Several {
                request,
                added,
                removed,
            } => {
                if self.servers.any_pending(&added) {
                    return;
                }
                let errors: BTreeMap<&String, &str> = (added.iter())
                    .filter_map(|name| Some((name, self.servers.failure(name)?)))
                    .collect();
                let reply =
                    Reply::with(json!({"added": added, "removed": removed, "errors": errors}));
                self.reply(&request, &reply).await;
            }
        }
    }

    /// A server in the SDK's process says something of its own accord.
    fn server_says(&mut self, name: &str, message: &RawJson) -> Reply {
        #[derive(serde::Deserialize)]
        struct Notification {
            #[serde(default)]
            method: String,
        }
        if let Err(error) = self.servers.check(name) {
            return error.into();
        }
        let method = message.decode::<Notification>().map(|it| it.method);
        if method.is_ok_and(|method| method == "notifications/tools/list_changed") {
            self.connect(name, None);
        }
        Reply::done()
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

    /// Settings as if they had been on the command line: those that hold for a session that runs.
    fn apply_settings(&mut self, settings: &RawJson) -> Reply {
        #[derive(serde::Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Settings {
            #[serde(default)]
            model: Option<String>,
            #[serde(default)]
            effort_level: Option<String>,
            #[serde(default)]
            permissions: PermissionSettings,
        }
        let settings: Settings = match settings.decode() {
            Ok(settings) => settings,
            Err(error) => {
                return ReplyError::new(format!("the settings cannot be read: {error}")).into();
            }
        };
        let updates = match rule_updates(&settings.permissions) {
            Ok(updates) => updates,
            Err(error) => return ReplyError::new(format!("permissions: {error}")).into(),
        };
        if let Some(mode) = settings.permissions.default_mode
            && let Reply::Error(error) = self.set_mode(mode)
        {
            return error.into();
        }
        if !updates.is_empty() {
            self.tell(Input::UpdatePermissions(updates));
        }
        if let Some(model) = settings.model {
            self.tell(Input::SetModel(
                Some(model).filter(|model| model != "default"),
            ));
        }
        if let Some(name) = settings.effort_level {
            let Some(effort) = windlass_core::spec::Effort::parse(&name) else {
                return ReplyError::new(format!("there is no effort named {name}")).into();
            };
            self.tell(Input::SetEffort(Some(effort)));
        }
        Reply::done()
    }
}

/// The rules of settings, as if they had been on the command line.
fn rule_updates(settings: &PermissionSettings) -> Result<Vec<PermissionUpdate>, RuleError> {
    let mut updates = Vec::new();
    for (behavior, entries) in [
        (Behavior::Allow, &settings.allow),
        (Behavior::Ask, &settings.ask),
        (Behavior::Deny, &settings.deny),
    ] {
        let rules = entries.iter().map(|entry| Rule::parse(&entry.rule));
        let rules: Vec<_> = rules
            .map(|rule| rule.map(|rule| rule.value()))
            .collect::<Result<_, _>>()?;
        if !rules.is_empty() {
            updates.push(PermissionUpdate::AddRules(RuleChange {
                rules,
                behavior,
                destination: Destination::CliArg,
            }));
        }
    }
    Ok(updates)
}
