//! Performs the effects of a session's engine, and tells the session's runs why it ends.

use std::{
    collections::BTreeMap,
    future::Future,
    sync::{Arc, Mutex, PoisonError},
    task::Poll,
};

use futures_util::{Stream, stream};
use tokio::sync::{mpsc, watch};
use windlass_core::{
    EffectId, Host as _, Message, Millis, Now, RawJson, SessionId,
    effect::{Answer, Effect as SessionEffect},
    host::CancelSignal,
};
use windlass_engine::{
    machine::{
        ConfigNumber, ConnectRequest, ConnectionId, Effect, EngineHost, Fault, Input, Outcome,
        ServerTool, Topic,
    },
    protocol::reply::ReplyError,
    store::Lease,
};

use super::{Agent, JournalSink, prompt_queue::PromptQueue, run_error::RunError};
use crate::{
    checkpoints::SessionCheckpoints,
    effects::{CommonEffects, Servers},
    host::WorktreesToRemove,
    host::{MessageSink, NativeHost},
};

/// The error of effects that only the engine of the SDKs requests.
const NOT_ASKED: &str = "a program does not ask this of its engine";

/// The host of the engine of one session.
pub(super) struct AgentHost {
    native: NativeHost,
    queue: Arc<PromptQueue>,
    /// Publishes the id of the session once it is known.
    known: watch::Sender<Option<SessionId>>,
    common: CommonEffects,
    record: Option<Arc<super::RecordTo>>,
    journal: Mutex<Option<JournalSink>>,
    /// Sends events of this host to the engine.
    events: mpsc::UnboundedSender<Input>,
}

impl AgentHost {
    pub(super) fn new(
        agent: &Agent,
        queue: Arc<PromptQueue>,
        checkpoints: Option<SessionCheckpoints>,
        known: watch::Sender<Option<SessionId>>,
        events: mpsc::UnboundedSender<Input>,
    ) -> Self {
        let worktrees = WorktreesToRemove::default();
        let sink = Arc::clone(&queue);
        let native = agent.host_for(MessageSink::new(move |message| {
            let queue = Arc::clone(&sink);
            async move { queue.deliver(message).await }
        }));
        let parts = &agent.parts;
        #[cfg(all(unix, feature = "mcp"))]
        let servers = Servers::new(
            Some(parts.spec.environment.cwd.as_str().into()),
            events.clone(),
        )
        .with_named(&parts.outside_servers);
        #[cfg(not(all(unix, feature = "mcp")))]
        let servers = Servers;
        Self {
            native: native.with_worktrees(worktrees.made()),
            queue,
            known,
            common: CommonEffects::new(parts.store.clone(), checkpoints, servers, worktrees),
            record: parts.record.clone(),
            journal: Mutex::default(),
            events,
        }
    }

    /// The configurations of the servers that the program has added, for the engine.
    pub(super) fn server_configurations(&self) -> BTreeMap<String, RawJson> {
        self.common.servers.configurations()
    }

    /// All inputs of the engine except the outcomes of its effects.
    pub(super) fn inputs<'h>(
        &'h self,
        mut arriving: mpsc::UnboundedReceiver<Input>,
        mut events: mpsc::UnboundedReceiver<Input>,
    ) -> impl Stream<Item = Input> + 'h {
        let mut has_ended = false;
        stream::poll_fn(move |cx| {
            if let Some(closed) = self.common.servers.newly_closed() {
                return Poll::Ready(Some(closed));
            }
            if let Poll::Ready(Some(event)) = events.poll_recv(cx) {
                return Poll::Ready(Some(event));
            }
            if has_ended {
                return Poll::Pending;
            }
            match arriving.poll_recv(cx) {
                // All senders are gone: no further input can come.
                Poll::Ready(None) => {
                    has_ended = true;
                    Poll::Ready(Some(Input::InputEnded))
                }
                input => input,
            }
        })
    }

    /// Ends the session: every run gets the reason, and the engine stops.
    fn give_up(&self, reason: RunError) {
        self.queue.close(reason);
        // Cannot fail: this host holds the receiver as long as there is an engine.
        let _ = self.events.send(Input::Stop);
    }

    /// Connects to a server. If it was added by the program and fails, the session ends.
    async fn connect(&self, request: ConnectRequest) -> Outcome {
        let server = request.name.clone();
        let is_required = self.common.servers.is_named(&request);
        let connected = self.common.servers.connect(request).await;
        if let (Outcome::Connected(Err(reason)) | Outcome::NeedsAuth(reason), true) =
            (&connected, is_required)
        {
            let reason = reason.clone();
            self.give_up(RunError::McpServer { server, reason });
        }
        connected
    }

    async fn perform(&self, effect: Effect) -> Outcome {
        let effect = match effect {
            Effect::Connect(request) => {
                return Box::pin(self.connect(*request)).await;
            }
            effect => effect,
        };
        match self.common.perform(effect).await {
            Ok(outcome) => outcome,
            Err(Effect::Configure(_)) => Outcome::Configured(Err(NOT_ASKED.to_owned())),
            Err(Effect::Look(_)) => Outcome::Looked(Err(ReplyError::new(NOT_ASKED))),
            // Effects of later engine versions are not supported here.
            Err(_) => Outcome::Finished,
        }
    }
}

impl EngineHost for AgentHost {
    fn now(&self) -> Now {
        self.native.now()
    }

    fn sleep(&self, until: Millis) -> impl Future<Output = ()> {
        self.native.sleep(until)
    }

    fn session_effect(
        &self,
        _config: ConfigNumber,
        id: EffectId,
        effect: SessionEffect,
        cancel: CancelSignal,
    ) -> impl Stream<Item = Answer> {
        let call = match &effect {
            SessionEffect::CallTool(call) => Some(call.tool_use_id.clone()),
            _ => None,
        };
        let answers = self.native.perform(id, effect, cancel);
        match call {
            // Output that is not saved is still in the messages.
            Some(call) => self
                .common
                .keeping_output(id.session, call, answers, |_| {}),
            None => answers,
        }
    }

    fn server_tool(
        &self,
        id: EffectId,
        call: ServerTool,
        cancel: CancelSignal,
    ) -> impl Stream<Item = Answer> {
        self.common.servers.call(id, call, cancel)
    }

    async fn effect(&self, effect: Effect) -> Outcome {
        self.perform(effect).await
    }

    async fn message(&self, message: Message) {
        self.native.message(message).await;
    }

    fn opened(&self, session: SessionId) {
        // There may be no receiver.
        let _ = self.known.send(Some(session));
    }

    fn fault(&self, fault: Fault) {
        self.give_up(match fault {
            Fault::NotOpened(reason) => RunError::NotResumed { reason },
            Fault::Panicked(text) => RunError::Panicked { text },
            Fault::Host(error) => RunError::Host(error),
            fault => RunError::NotResumed {
                reason: fault.to_string(),
            },
        });
    }

    fn journal(&self, session: SessionId, line: &str) {
        let Some(record) = &self.record else { return };
        // A panic of the sink does not invalidate it.
        let mut journal = self.journal.lock().unwrap_or_else(PoisonError::into_inner);
        journal.get_or_insert_with(|| record(session))(line);
    }

    fn release(&self, lease: &Lease) {
        self.common.release(lease);
    }

    fn disconnect(&self, connection: ConnectionId) {
        self.common.servers.disconnect(connection);
    }

    // The methods below are for engines that speak the line protocol, or for a person at a terminal.

    async fn room(&self) {}

    fn line(&self, _: String) {}

    fn warning(&self, _: &str) {}

    fn refusal(&self, _: &str) {}

    fn note(&self, _: Topic, _: &str) {}

    fn forget(&self, _: ConfigNumber) {}
}
