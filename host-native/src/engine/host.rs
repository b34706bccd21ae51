//! Performs the effects of an engine.

use std::{collections::VecDeque, future::Future, sync::Arc};

use futures_util::{
    Stream, StreamExt as _,
    stream::{self, BoxStream},
};
use tokio::sync::mpsc;
use windlass_core::{
    EffectId, Millis, Now, SessionId,
    effect::{Answer, Effect as SessionEffect},
    host::CancelSignal,
};
use windlass_engine::{
    machine::{
        ConfigNumber, Configuration, ConnectionId, Effect, EngineHost, Input, Outcome, ServerTool,
        Topic,
    },
    store::Lease,
};

use super::{
    configurations::Configurations,
    debug_log::{DebugLog, what_runs},
    launch::{Journals, Launch},
    look::look,
    start_error::StartError,
};
use crate::{
    checkpoints::SessionCheckpoints,
    effects::{CommonEffects, Servers},
    host::Clock,
    host::WorktreesToRemove,
};

/// The host of an engine on this machine.
pub(super) struct Host {
    clock: Clock,
    pub(super) log: DebugLog,
    configurations: Configurations,
    pub(super) common: CommonEffects,
    journals: Journals,
    lines: mpsc::Sender<String>,
}

impl Host {
    /// A host for an engine with these launch options.
    pub(super) fn new(
        launch: Launch,
        lines: mpsc::Sender<String>,
        inputs: mpsc::UnboundedSender<Input>,
    ) -> Result<(Self, Configuration), StartError> {
        let log = DebugLog::open(&launch)?;
        let worktrees = WorktreesToRemove::default();
        let launch = Arc::new(launch);
        let configurations =
            Configurations::new(Arc::clone(&launch), worktrees.made(), log.of_plugins());
        let base = configurations.first()?;
        log.note(Topic::Engine, || {
            let (version, pid) = (env!("CARGO_PKG_VERSION"), std::process::id());
            let (cwd, config) = (launch.directory(), launch.config.root());
            format!(
                "windlass {version}, process {pid}, works in {}, configured by {}",
                cwd.display(),
                config.display()
            )
        });
        let host = Self {
            clock: Clock::new(),
            common: common(&launch, inputs, worktrees),
            journals: Journals::new(launch.recording.clone()),
            configurations,
            lines,
            log,
        };
        Ok((host, base))
    }

    /// Writes the lines that were left when the engine ended.
    pub(super) async fn last_lines(&self, rest: VecDeque<String>) {
        for line in rest {
            // The reader is gone, so the rest is dropped.
            let _ = self.lines.send(line).await;
        }
    }

    async fn perform(&self, effect: Effect) -> Outcome {
        let effect = match self.common.perform(effect).await {
            Ok(outcome) => return outcome,
            Err(effect) => effect,
        };
        match effect {
            Effect::Configure(request) => {
                let read = self.configurations.read(&request);
                Outcome::Configured(read.map(Box::new).map_err(|error| error.to_string()))
            }
            Effect::Look(asked) => Outcome::Looked(look(asked)),
            // Effects of later engine versions are not supported here.
            _ => Outcome::Finished,
        }
    }

    /// The answers of a tool: logged, with the output of background commands stored in a file.
    fn noted_tool(
        &self,
        id: EffectId,
        call: &windlass_core::tool::ToolCall,
        answers: BoxStream<'static, Answer>,
    ) -> BoxStream<'static, Answer> {
        let watch = self.log.begins(Topic::Tools, || {
            format!("{} {} ({id})", call.name, call.tool_use_id)
        });
        if let Some(approved) = &call.command {
            self.log.note(Topic::Commands, || what_runs(call, approved));
        }
        let answers = answers.inspect(move |answer| watch.saw(answer)).boxed();
        let (log, call) = (self.log.clone(), call.tool_use_id.clone());
        let failed = move |text: &str| log.note(Topic::Tools, || text.to_owned());
        (self.common).keeping_output(id.session, call, answers, failed)
    }
}

/// Session storage and MCP servers, according to the launch options.
fn common(
    launch: &Launch,
    inputs: mpsc::UnboundedSender<Input>,
    worktrees: WorktreesToRemove,
) -> CommonEffects {
    let servers = Servers::new(launch.cwd.clone(), inputs)
        .with_keys(launch.keys.clone())
        .redacting(launch.redactor());
    // One store, since the holder of a lease must write through it.
    let store = Some(launch.store());
    let checkpoints = SessionCheckpoints::new(store.clone(), launch.directory());
    let common = CommonEffects::new(store, Some(checkpoints), servers, worktrees);
    match launch.flags.no_session_persistence {
        true => common.without_output(),
        false => common,
    }
}

impl EngineHost for Host {
    fn now(&self) -> Now {
        self.clock.now()
    }

    fn sleep(&self, until: Millis) -> impl Future<Output = ()> {
        self.clock.sleep(until)
    }

    fn session_effect(
        &self,
        config: ConfigNumber,
        id: EffectId,
        effect: SessionEffect,
        cancel: CancelSignal,
    ) -> impl Stream<Item = Answer> {
        let watch = match &effect {
            SessionEffect::Http(request) => Some(self.log.begins(Topic::Api, || {
                let (method, path, length) = (request.method, &request.path, request.body_len());
                format!("{method} {path} of {length} bytes ({id})")
            })),
            SessionEffect::RunHook(call) => Some(self.log.begins(Topic::Hooks, || {
                format!("{} {} ({id})", call.event.name(), call.hook)
            })),
            _ => None,
        };
        let call = match &effect {
            SessionEffect::CallTool(call) => Some(call.clone()),
            _ => None,
        };
        let answers = match self.configurations.get(config) {
            Some(runners) => runners.perform(id, effect, cancel),
            None => stream::empty().boxed(), // it ends without an answer, and counts as cancelled
        };
        match (call, watch) {
            (Some(call), _) => self.noted_tool(id, &call, answers),
            (None, Some(watch)) => answers.inspect(move |answer| watch.saw(answer)).boxed(),
            (None, None) => answers,
        }
    }

    fn server_tool(
        &self,
        id: EffectId,
        call: ServerTool,
        cancel: CancelSignal,
    ) -> impl Stream<Item = Answer> {
        let asked = call.call.clone();
        let answers = self.common.servers.call(id, call, cancel);
        self.noted_tool(id, &asked, answers)
    }

    async fn effect(&self, effect: Effect) -> Outcome {
        self.perform(effect).await
    }

    async fn room(&self) {
        // The reader is gone, so nobody reads what is written.
        let _ = self.lines.reserve().await;
    }

    fn line(&self, line: String) {
        let _ = self.lines.try_send(line);
    }

    fn warning(&self, text: &str) {
        crate::warning::warn(text);
    }

    fn refusal(&self, text: &str) {
        anstream::eprintln!("{text}");
    }

    fn note(&self, topic: Topic, text: &str) {
        self.log.note(topic, || text.to_owned());
    }

    fn journal(&self, session: SessionId, line: &str) {
        self.journals.line(session, line);
    }

    fn ended(&self, session: SessionId) {
        self.configurations.end_session(session);
    }

    fn forget(&self, config: ConfigNumber) {
        self.configurations.forget(config);
    }

    fn release(&self, lease: &Lease) {
        self.common.release(lease);
    }

    fn disconnect(&self, connection: ConnectionId) {
        self.common.servers.disconnect(connection);
    }
}
