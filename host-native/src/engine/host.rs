//! The host of an engine's session: the native one, but that the SDK is asked and told.

use std::{
    collections::BTreeMap,
    future::Future,
    path::Path,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU16, Ordering},
    },
};

use futures_util::{FutureExt, Stream, StreamExt, stream};
use tokio::sync::{mpsc, oneshot};
use windlass_core::{
    EffectId, Host, Message, Millis, Now, RawJson,
    agent::TaskInput,
    effect::{
        Answer, Entry, HttpRequest, PermissionRequest, PermissionResponse, Probe, Probed,
        ResolvePath, ResolvedPath,
    },
    hook::{
        HookCall, Occurrence,
        input::{ConfigChange, ConfigSource},
    },
    host::CancelSignal,
    id::Stage,
    message::SystemMessage,
    permission::Destination,
    tool::{ToolCall, ToolResult},
};
use windlass_engine::protocol::{
    frames::Facts,
    host_request::{HostRequest, permission_response},
};

use super::{
    Event,
    agent_servers::ToolRunners,
    channel::ControlChannel,
    checkpoints::{ChangedFields, Checkpoints},
    debug_log::{DebugLog, Topic, variant, what_runs},
    hooks::SessionHooks,
    keeping::Keeper,
    output::Output,
};
use crate::{
    host::{NativeHost, RunHook, RunTool},
    settings::{SettingsPlaces, write_permission_updates},
    store::TaskOutputs,
};

/// Performs the effects of a session that an SDK drives.
pub(super) struct EngineHost {
    pub(super) native: NativeHost,
    pub(super) output: Arc<Output>,
    pub(super) channel: ControlChannel,
    /// Who writes the transcript, where one is kept.
    pub(super) keeper: Option<Arc<Keeper>>,
    /// What files were before they were changed, where that is kept.
    pub(super) checkpoints: Option<Checkpoints>,
    /// What commands in the background put out, where a transcript is kept.
    pub(super) task_outputs: Option<Arc<TaskOutputs>>,
    /// Which fields of which tools name those files.
    pub(super) changed_fields: ChangedFields,
    /// Where permissions that are to last are written.
    pub(super) places: SettingsPlaces,
    /// Tools that this engine runs itself, by the names the model calls them by: those of MCP servers, and Bash with the variables of
    /// the settings.
    pub(super) own_tools: ToolRunners,
    /// Those that only one agent has, by agent.
    pub(super) agents_tools: Mutex<BTreeMap<String, ToolRunners>>,
    /// Callbacks of the SDK, and commands of settings.
    pub(super) hooks: SessionHooks,
    pub(super) events: mpsc::UnboundedSender<Event>,
    pub(super) log: DebugLog,
    /// The status of the last answer of the model server; 0 when there was none.
    pub(super) http_status: Arc<AtomicU16>,
}

impl EngineHost {
    /// What runs a call, if this engine does itself: a tool of the agent's own before one of the session's.
    fn runner(&self, call: &ToolCall) -> Option<Arc<dyn RunTool>> {
        let of_agent = call
            .agent
            .as_ref()
            .and_then(|agent| self.agents_tools().get(agent)?.get(&call.name).cloned());
        of_agent.or_else(|| self.own_tools.get(&call.name).cloned())
    }

    fn agents_tools(&self) -> MutexGuard<'_, BTreeMap<String, ToolRunners>> {
        // A panic while it is held leaves a map that is whole.
        self.agents_tools
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the tools ready that an agent brings along, and says which there are.
    async fn equip(&self, call: &ToolCall, cancel: CancelSignal) -> Answer {
        let agent = match call.input.decode::<TaskInput>() {
            Ok(task) => task.subagent_type,
            Err(error) => return Answer::Tool(ToolResult::error(error.to_string())),
        };
        let (reply, tools) = oneshot::channel();
        // The engine has ended: nobody answers.
        let _ = self.events.send(Event::AgentStarts(agent.clone(), reply));
        let tools = tokio::select! {
            tools = tools => tools.unwrap_or_default(),
            () = cancel.cancelled() => return Answer::Cancelled,
        };
        let mut definitions = Vec::new();
        let mut runners = ToolRunners::new();
        for (name, (definition, runner)) in tools {
            definitions.push(definition);
            runners.insert(name, runner);
        }
        self.agents_tools().insert(agent, runners);
        Answer::Tool(ToolResult {
            structured: RawJson::encode(&definitions).ok(),
            ..ToolResult::text(format!("{} tools are ready.", definitions.len()))
        })
    }

    /// Keeps what a call is about to change.
    async fn keep_before(&self, call: &ToolCall) -> Result<(), String> {
        let fields = self.changed_fields.get(&call.name);
        let (Some(checkpoints), Some(fields)) = (&self.checkpoints, fields) else {
            return Ok(());
        };
        checkpoints.before_call(call, fields, self.now().wall).await
    }

    /// Makes a prompt that is taken up now a place to go back to.
    async fn note_prompt(&self, message: &Message) {
        let Message::User(prompt) = message else {
            return;
        };
        let Some(checkpoints) = self.checkpoints.as_ref().filter(|_| prompt.is_replay) else {
            return;
        };
        if let Err(reason) = checkpoints.begin(prompt.uuid, self.now().wall).await {
            let word = format!("files cannot be taken back to this prompt: {reason}");
            self.output
                .say(|frames| vec![frames.informational("warning", &word)])
                .await;
        }
    }
}

impl Host for EngineHost {
    fn now(&self) -> Now {
        self.native.now()
    }

    fn sleep(&self, until: Millis) -> impl Future<Output = ()> {
        self.native.sleep(until)
    }

    fn http(&self, id: EffectId, request: HttpRequest) -> impl Stream<Item = Answer> {
        let seen = Arc::clone(&self.http_status);
        seen.store(0, Ordering::Relaxed);
        let watch = self.log.begins(Topic::Api, || {
            let (method, path, length) = (request.method, &request.path, request.body_len());
            format!("{method} {path} of {length} bytes ({id})")
        });
        self.native.http(id, request).inspect(move |answer| {
            watch.saw(answer);
            if let Answer::HttpHead { status, .. } = answer {
                seen.store(*status, Ordering::Relaxed);
            }
        })
    }

    fn resolve(
        &self,
        id: EffectId,
        paths: Vec<ResolvePath>,
    ) -> impl Future<Output = Vec<Result<ResolvedPath, String>>> {
        self.native.resolve(id, paths)
    }

    fn call_tool(
        &self,
        id: EffectId,
        call: ToolCall,
        cancel: CancelSignal,
    ) -> impl Stream<Item = Answer> {
        let watch = self.log.begins(Topic::Tools, || {
            format!("{} {} ({id})", call.name, call.tool_use_id)
        });
        let named = call.tool_use_id.clone();
        let answers = async move {
            if id.stage == Stage::Equip {
                return stream::iter([self.equip(&call, cancel).await]).boxed();
            }
            if let Err(reason) = self.keep_before(&call).await {
                // Whoever wants to be able to go back does not go where there is no way back.
                let text = format!("Nothing was changed, because {reason}.");
                let refused = Answer::Tool(ToolResult::error(text));
                return stream::iter([refused]).boxed();
            }
            if let Some(approved) = &call.command {
                self.log
                    .note(Topic::Commands, || what_runs(&call, approved));
            }
            match self.runner(&call) {
                Some(tool) => tool.run(id, call, cancel),
                None => self.native.call_tool(id, call, cancel).boxed(),
            }
        }
        .flatten_stream();
        answers.inspect(move |answer| {
            watch.saw(answer);
            if let Some(outputs) = &self.task_outputs
                && let Err(error) = outputs.answered(&named, answer)
            {
                self.log
                    .note(Topic::Tools, || format!("the output of {named}: {error}"));
            }
        })
    }

    async fn probe_tool(&self, id: EffectId, probe: Probe) -> Probed {
        match self.runner(&probe.call) {
            Some(tool) => tool.probe(probe).await,
            None => self.native.probe_tool(id, probe).await,
        }
    }

    fn run_hook(
        &self,
        id: EffectId,
        call: HookCall,
        cancel: CancelSignal,
    ) -> impl Stream<Item = Answer> {
        let watch = self.log.begins(Topic::Hooks, || {
            format!("{} {} ({id})", call.event.name(), call.hook)
        });
        let answers = self.hooks.run(id, call, cancel);
        answers.inspect(move |answer| watch.saw(answer))
    }

    fn ask_permission(
        &self,
        _id: EffectId,
        request: PermissionRequest,
    ) -> impl Future<Output = PermissionResponse> {
        let channel = self.channel.clone();
        let places = self.places.clone();
        let output = Arc::clone(&self.output);
        let log = self.log.clone();
        let events = self.events.clone();
        let what = format!("{} {}", request.tool_name, request.tool_use_id);
        log.note(Topic::Permissions, || format!("{what} is asked about"));
        async move {
            let answer = channel.ask(HostRequest::can_use_tool(request)).await;
            let response = permission_response(answer.map_err(|error| error.to_string()));
            log.note(Topic::Permissions, || {
                let verdict = match &response {
                    PermissionResponse::Allow { .. } => "allowed",
                    PermissionResponse::Deny { .. } => "denied",
                };
                format!("{what} is {verdict}")
            });
            if let PermissionResponse::Allow {
                updated_permissions,
                ..
            } = &response
            {
                match write_permission_updates(&places, updated_permissions) {
                    Ok(files) => {
                        for file in &files {
                            let changed = Box::new(config_changed(&places, file));
                            // The engine has ended: nobody is told any more.
                            let _ = events.send(Event::Occurred(changed));
                        }
                    }
                    // They hold for the session all the same.
                    Err(error) => {
                        let word = error.to_string();
                        output
                            .say(|frames| vec![frames.informational("warning", &word)])
                            .await;
                    }
                }
            }
            response
        }
    }

    async fn persist(&self, _id: EffectId, entries: Vec<Entry>) -> Result<(), String> {
        let kept = match &self.keeper {
            Some(keeper) => keeper.persist(&entries).await,
            None => Ok(()),
        };
        if let Err(reason) = &kept {
            self.log
                .note(Topic::Session, || format!("the transcript: {reason}"));
        }
        kept
    }

    async fn message(&self, mut message: Message) {
        if let Some(outputs) = &self.task_outputs
            && let Err(error) = outputs.said(&mut message)
        {
            self.log
                .note(Topic::Tools, || format!("the file of a task: {error}"));
        }
        self.note_prompt(&message).await;
        let settles = matches!(
            message,
            Message::Result(_) | Message::System(SystemMessage::TaskNotification(_))
        );
        if let (Message::Result(result), Some(keeper)) = (&message, &self.keeper) {
            let (before, after) = {
                let frames = self.output.frames().await;
                let before = frames.cost_state();
                (before.spent.clone(), before.after(result))
            };
            let spent = Some(&after).filter(|after| after.spent != before);
            keeper.turn_ended(spent).await;
        }
        if let (Message::System(SystemMessage::TaskStarted(task)), Some(keeper)) =
            (&message, &self.keeper)
        {
            keeper.agent_begins(task).await;
        }
        if !matches!(message, Message::StreamEvent(_)) {
            self.log.note(Topic::Session, || noted(&message));
        }
        let status = self.http_status.load(Ordering::Relaxed);
        let facts = Facts {
            http_status: Some(status).filter(|status| *status != 0),
            at: Some(self.now().wall),
        };
        self.output
            .say(|frames| frames.message(message, facts))
            .await;
        if settles {
            // The engine has ended: nothing is owed to anybody.
            let _ = self.events.send(Event::Settled);
        }
    }
}

/// What hooks are told of a settings file that was written.
pub(super) fn config_changed(places: &SettingsPlaces, file: &Path) -> Occurrence {
    let is = |destination| places.file(destination).is_some_and(|path| path == file);
    let source = if is(Destination::UserSettings) {
        ConfigSource::UserSettings
    } else if is(Destination::ProjectSettings) {
        ConfigSource::ProjectSettings
    } else {
        ConfigSource::LocalSettings
    };
    Occurrence::ConfigChange(ConfigChange {
        source,
        file_path: Some(file.display().to_string()),
    })
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
