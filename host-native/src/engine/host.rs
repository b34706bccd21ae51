//! Performs what an engine asks for.

use std::{future::Future, sync::Arc};

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
    build::StartError,
    configurations::Configurations,
    debug_log::{DebugLog, what_runs},
    launch::{Journals, Launch},
    look::look,
    output_files::OutputFiles,
    serve::Rest,
};
use crate::{
    checkpoints::SessionCheckpoints, host::Clock, mcp::Servers, store::Kept,
    worktree::WorktreesToRemove,
};

/// The host of an engine on this machine.
pub(super) struct Host {
    clock: Clock,
    pub(super) log: DebugLog,
    configurations: Configurations,
    pub(super) servers: Servers,
    kept: Kept,
    checkpoints: SessionCheckpoints,
    output_files: OutputFiles,
    worktrees: WorktreesToRemove,
    journals: Journals,
    lines: mpsc::Sender<String>,
}

impl Host {
    /// A host for what an engine was started with, and what flags and files say of it.
    pub(super) fn new(
        launch: Launch,
        lines: mpsc::Sender<String>,
        inputs: mpsc::UnboundedSender<Input>,
    ) -> Result<(Self, Configuration), StartError> {
        let log = DebugLog::open(&launch)?;
        let worktrees = WorktreesToRemove::default();
        let launch = Arc::new(launch);
        let configurations = Configurations::new(Arc::clone(&launch), worktrees.made());
        let base = configurations.read(&Default::default())?;
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
            servers: servers(&launch, inputs),
            kept: Kept::new(launch.store()),
            checkpoints: SessionCheckpoints::new(launch.config.clone(), launch.directory()),
            output_files: OutputFiles::new(&launch),
            journals: Journals::new(launch.recording.clone()),
            configurations,
            worktrees,
            lines,
            log,
        };
        Ok((host, base))
    }

    /// Writes what was not taken while the engine ran.
    pub(super) async fn last_lines(&self, rest: Rest) {
        for line in rest {
            // Nobody reads any more: the rest is for nobody.
            let _ = self.lines.send(line).await;
        }
    }

    async fn perform(&self, effect: Effect) -> Outcome {
        match effect {
            Effect::Configure(request) => {
                let read = self.configurations.read(&request);
                Outcome::Configured(read.map(Box::new).map_err(|error| error.to_string()))
            }
            Effect::Load { which, exclusive } => {
                Outcome::Loaded(self.kept.load(&which, exclusive).await)
            }
            Effect::Create(session) => Outcome::Leased(self.kept.create(session).await),
            Effect::Append(lease, groups) => {
                Outcome::Appended(self.kept.append(&lease, &groups).await)
            }
            Effect::Keep {
                lease,
                agent,
                name,
                document,
            } => Outcome::Kept(self.kept.keep(&lease, &agent, &name, &document).await),
            Effect::Checkpoint(checkpoint) => {
                Outcome::Checkpointed(self.checkpoints.perform(checkpoint).await)
            }
            Effect::KeepOutput(session, call) => {
                Outcome::OutputFile(match self.output_files.open(session, &call) {
                    Ok(file) => Some(file),
                    Err(error) => {
                        let text = || format!("the file of a task: {error}");
                        self.log.note(Topic::Tools, text);
                        None
                    }
                })
            }
            Effect::WritePermissions(updates) => {
                Outcome::Written(self.configurations.write_permissions(&updates))
            }
            Effect::WriteSettings(destination, settings) => {
                let written = self.configurations.write_settings(destination, &settings);
                Outcome::Written(written)
            }
            Effect::Look(asked) => Outcome::Looked(look(asked)),
            Effect::Connect(request) => Outcome::Connected(self.servers.connect(*request).await),
            Effect::Ask(connection, question) => {
                Outcome::Asked(self.servers.ask(connection, question).await)
            }
            Effect::CloseServers(connections) => {
                self.servers.close(&connections).await;
                Outcome::Finished
            }
            Effect::ListWorktrees => Outcome::Worktrees(self.worktrees.list().await),
            Effect::RemoveWorktrees => {
                self.worktrees.remove().await;
                Outcome::Finished
            }
            // What a later engine asks for is not done here.
            _ => Outcome::Finished,
        }
    }

    /// The answers of a tool, noted, and with what it puts out in the background in its file.
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
        let (files, log) = (self.output_files.clone(), self.log.clone());
        let (session, call) = (id.session, call.tool_use_id.clone());
        answers
            .inspect(move |answer| {
                watch.saw(answer);
                if let Err(error) = files.answered(session, &call, answer) {
                    log.note(Topic::Tools, || format!("the output of {call}: {error}"));
                }
            })
            .boxed()
    }
}

/// What connects to MCP servers as an engine was told to.
fn servers(launch: &Launch, inputs: mpsc::UnboundedSender<Input>) -> Servers {
    Servers::new(launch.cwd.clone(), inputs)
        .with_keys(launch.keys.clone())
        .redacting(launch.redactor())
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
        let answers = self.servers.call(id, call, cancel);
        self.noted_tool(id, &asked, answers)
    }

    async fn effect(&self, effect: Effect) -> Outcome {
        self.perform(effect).await
    }

    async fn room(&self) {
        // Nobody reads any more: what is written now is for nobody.
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

    fn forget(&self, config: ConfigNumber) {
        self.configurations.forget(config);
    }

    fn release(&self, lease: &Lease) {
        self.kept.release(lease);
    }

    fn disconnect(&self, connection: ConnectionId) {
        self.servers.disconnect(connection);
    }
}
