//! Hooks that are callbacks of the SDK.

use std::{collections::BTreeSet, sync::Arc};

use futures_util::stream::{self, BoxStream, StreamExt};
use serde_json::json;
use windlass_core::{
    EffectId, RawJson,
    effect::Answer,
    hook::{HookAnswer, HookCall},
    host::CancelSignal,
};
use windlass_engine::protocol::host_request::HostRequest;

use super::channel::ControlChannel;
use crate::{agent::fresh_uuid, host::RunHook};

/// Runs the callbacks of an SDK.
pub(super) struct CallbackHooks {
    pub(super) channel: ControlChannel,
    /// Those whose failure stops what they should have judged.
    pub(super) blocking: Arc<BTreeSet<String>>,
}

impl RunHook for CallbackHooks {
    fn run(
        &self,
        _id: EffectId,
        call: HookCall,
        cancel: CancelSignal,
    ) -> BoxStream<'static, Answer> {
        let channel = self.channel.clone();
        let is_blocking = self.blocking.contains(&call.hook);
        let event = call.event.name();
        stream::once(async move {
            let context = channel.hook_context(call.event).await;
            let request = HostRequest::hook_callback(call, &fresh_uuid().to_string(), context);
            // When its time is over, or the run is interrupted, the question is taken back at once.
            tokio::select! {
                biased;
                answer = channel.ask(request) => Answer::Hook(match answer {
                    Ok(output) => HookAnswer::Output(output),
                    Err(reason) if is_blocking => HookAnswer::Failed(format!(
                        "[callback]: failed; blocking because onFailure is \"block\": {reason}"
                    )),
                    Err(reason) => failed(event, &reason),
                }),
                () = cancel.cancelled() => Answer::Cancelled,
            }
        })
        .boxed()
    }
}

/// A callback that failed is as if it had not been there, but for a word to the person.
fn failed(event: &str, reason: &str) -> HookAnswer {
    let word = format!("A {event} hook callback failed: {reason}");
    match RawJson::encode(&json!({"systemMessage": word})) {
        Ok(output) => HookAnswer::Output(output),
        Err(error) => HookAnswer::Failed(error.to_string()),
    }
}
