//! The host of an engine's session: the native one, but that the SDK is asked and told.

use std::{
    collections::BTreeMap,
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicU16, Ordering},
    },
};

use futures_util::{Stream, StreamExt};
use tokio::sync::mpsc;
use windlass_core::{
    EffectId, Host, Message, Millis, Now,
    effect::{
        Answer, Entry, HttpRequest, PermissionRequest, PermissionResponse, ResolvePath,
        ResolvedPath,
    },
    hook::HookCall,
    host::CancelSignal,
    message::SystemMessage,
    tool::ToolCall,
};
use windlass_engine::{
    protocol::{
        frames::Facts,
        host_request::{HostRequest, permission_response},
    },
    settings::{SettingsPlaces, write_permission_updates},
};

use super::{Event, channel::ControlChannel, keeping::Keeper, output::Output};
use crate::host::{NativeHost, RunHook, RunTool};

/// Performs the effects of a session that an SDK drives.
pub(super) struct EngineHost {
    pub(super) native: NativeHost,
    pub(super) output: Arc<Output>,
    pub(super) channel: ControlChannel,
    /// Who writes the transcript, where one is kept.
    pub(super) keeper: Option<Arc<Keeper>>,
    /// Where permissions that are to last are written.
    pub(super) places: SettingsPlaces,
    /// Tools of MCP servers, by the names the model calls them by.
    pub(super) mcp_tools: BTreeMap<String, Arc<dyn RunTool>>,
    /// Callbacks of the SDK.
    pub(super) callbacks: Arc<dyn RunHook>,
    pub(super) events: mpsc::UnboundedSender<Event>,
    /// The status of the last answer of the model server; 0 when there was none.
    pub(super) http_status: Arc<AtomicU16>,
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
        self.native.http(id, request).inspect(move |answer| {
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
        match self.mcp_tools.get(&call.name) {
            Some(tool) => tool.run(id, call, cancel),
            None => self.native.call_tool(id, call, cancel).boxed(),
        }
    }

    fn run_hook(
        &self,
        id: EffectId,
        call: HookCall,
        cancel: CancelSignal,
    ) -> impl Stream<Item = Answer> {
        self.callbacks.run(id, call, cancel)
    }

    fn ask_permission(
        &self,
        _id: EffectId,
        request: PermissionRequest,
    ) -> impl Future<Output = PermissionResponse> {
        let channel = self.channel.clone();
        let places = self.places.clone();
        let output = Arc::clone(&self.output);
        async move {
            let answer = channel.ask(HostRequest::can_use_tool(request)).await;
            let response = permission_response(answer);
            if let PermissionResponse::Allow {
                updated_permissions,
                ..
            } = &response
                && let Err(error) = write_permission_updates(&places, updated_permissions)
            {
                // They hold for the session all the same.
                let word = error.to_string();
                output
                    .say(|frames| vec![frames.informational("warning", &word)])
                    .await;
            }
            response
        }
    }

    async fn persist(&self, _id: EffectId, entries: Vec<Entry>) -> Result<(), String> {
        match &self.keeper {
            Some(keeper) => keeper.persist(&entries).await,
            None => Ok(()),
        }
    }

    async fn message(&self, message: Message) {
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
        let status = self.http_status.load(Ordering::Relaxed);
        let facts = Facts {
            http_status: Some(status).filter(|status| *status != 0),
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
