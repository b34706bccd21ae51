//! Performs the effects of an engine: those of its session, and its own as far as a page has what they need.

use std::future::Future;

use futures_core::Stream;
use js_sys::Promise;
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::JsFuture;
use windlass_core::{
    ApprovedCall, EffectId, Host, Message, Millis, Now, SessionId,
    effect::{Answer, Effect as SessionEffect},
    host::CancelSignal,
    perform,
};
use windlass_engine::{
    machine::{ConfigNumber, ConnectionId, Effect, EngineHost, Fault, Outcome, ServerTool, Topic},
    protocol::reply::ReplyError,
    store::Lease,
};

use crate::{host::BrowserHost, mcp};

/// The error of effects that need what a page does not have.
const NOT_HERE: &str = "there is no such thing in a page";

impl EngineHost for BrowserHost {
    fn now(&self) -> Now {
        Host::now(self)
    }

    fn sleep(&self, until: Millis) -> impl Future<Output = ()> {
        Host::sleep(self, until)
    }

    fn session_effect(
        &self,
        _config: ConfigNumber,
        id: EffectId,
        effect: SessionEffect,
        cancel: CancelSignal,
    ) -> impl Stream<Item = Answer> {
        perform(self, id, effect, cancel)
    }

    fn server_tool(
        &self,
        _id: EffectId,
        call: ServerTool,
        cancel: CancelSignal,
    ) -> impl Stream<Item = Answer> {
        mcp::call(&self.js, &call, &cancel)
    }

    async fn effect(&self, effect: Effect) -> Outcome {
        let unavailable = || NOT_HERE.to_owned();
        match self.kept.perform(effect).await {
            Ok(outcome) => outcome,
            Err(Effect::Configure(_)) => Outcome::Configured(Err(unavailable())),
            Err(Effect::Look(_)) => Outcome::Looked(Err(ReplyError::new(NOT_HERE))),
            Err(Effect::Connect(request)) => mcp::connect(&self.js, &request).await,
            Err(Effect::Ask(..)) => Outcome::Asked(Err(unavailable())),
            Err(Effect::KeepOutput(..)) => Outcome::OutputFile(Err(unavailable())),
            Err(Effect::Checkpoint(_)) => Outcome::Checkpointed(Err(unavailable())),
            Err(Effect::ListWorktrees) => Outcome::Worktrees(Vec::new()),
            Err(Effect::CloseServers(connections)) => {
                connections.into_iter().for_each(|it| self.disconnect(it));
                Outcome::Finished
            }
            // There are no worktrees to remove.
            Err(_) => Outcome::Finished,
        }
    }

    async fn message(&self, message: Message) {
        let message = match message {
            Message::StreamEvent(event) => return self.stream_events.add(event).await,
            message => message,
        };
        self.stream_events.give();
        // An error of the receiver does not stop the session.
        let is_result = matches!(message, Message::Result(_));
        let taken = self.js.message(&message.to_line(), is_result);
        if let Ok(Ok(read)) = taken.map(JsCast::dyn_into::<Promise>) {
            let _ = JsFuture::from(read).await;
        }
    }

    fn opened(&self, session: SessionId) {
        self.js.opened(&session.to_string());
    }

    fn allowed(&self, call: &ApprovedCall) {
        self.js.allowed(
            &call.effect.to_string(),
            &call.tool_use_id,
            call.parent_tool_use_id.as_deref(),
            &call.tool_name,
            &call.cause,
        );
    }

    fn fault(&self, fault: Fault) {
        self.stream_events.give();
        self.js.fault(&fault.to_string());
    }

    fn warning(&self, text: &str) {
        self.js.warning(text);
    }

    fn release(&self, lease: &Lease) {
        self.kept.release(lease);
    }

    fn disconnect(&self, connection: ConnectionId) {
        self.js.disconnect(connection as f64);
    }

    // The methods below are for engines that speak the line protocol, keep journals or read files.

    async fn room(&self) {}

    fn line(&self, _: String) {}

    fn refusal(&self, _: &str) {}

    fn note(&self, _: Topic, _: &str) {}

    fn journal(&self, _: SessionId, _: &str) {}

    fn forget(&self, _: ConfigNumber) {}
}
