//! The hooks of a session: callbacks of the SDK, and commands of settings.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use futures_util::stream::{self, BoxStream, StreamExt};
use serde_json::json;
use tokio::task::JoinSet;
use windlass_core::{
    EffectId, RawJson, SessionId, Spec,
    effect::Answer,
    hook::{HookAnswer, HookCall, HookInput, Occurrence, concerned},
    host::CancelSignal,
    id::Stage,
    permission::Mode,
};
use windlass_engine::protocol::host_request::HostRequest;

use super::{
    channel::{ControlChannel, NoAnswer},
    surroundings::Surroundings,
};
use crate::{agent::fresh_uuid, host::RunHook};

/// Runs each hook by its name.
pub(super) struct SessionHooks {
    pub(super) callbacks: CallbackHooks,
    pub(super) commands: Commands,
}

/// The commands that settings name, by the names under which the core knows them.
pub(super) type Commands = BTreeMap<String, Arc<dyn RunHook>>;

impl RunHook for SessionHooks {
    fn run(
        &self,
        id: EffectId,
        call: HookCall,
        cancel: CancelSignal,
    ) -> BoxStream<'static, Answer> {
        match self.commands.get(&call.hook) {
            Some(command) => command.run(id, call, cancel),
            None => self.callbacks.run(id, call, cancel),
        }
    }
}

/// The commands of these settings.
#[cfg(unix)]
pub(super) fn commands(surroundings: &Surroundings) -> Commands {
    use crate::hooks::HookCommand;

    let variables: Vec<(String, String)> = surroundings
        .variables()
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    let named = surroundings.hooks().commands.into_iter();
    named
        .map(|hook| {
            let command = HookCommand::new(hook.command, &surroundings.places.project)
                .with_variables(variables.clone());
            let command: Arc<dyn RunHook> = match hook.is_async {
                true => Arc::new(command.going_on_by_itself()),
                false => Arc::new(command),
            };
            (hook.name, command)
        })
        .collect()
}

/// There is no shell for them.
#[cfg(not(unix))]
pub(super) fn commands(_: &Surroundings) -> Commands {
    Commands::new()
}

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
                    Err(NoAnswer::Said(reason)) => failed(event, &reason),
                    // Nobody knows what it would have said, or what it wanted: that is no consent.
                    Err(reason) => HookAnswer::Failed(reason.to_string()),
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

/// A session that is over, or about to be: there is no loop any more that runs hooks.
pub(super) struct End {
    pub(super) session: SessionId,
    pub(super) mode: Mode,
    /// Whether the SDK can still answer.
    pub(super) asks_sdk: bool,
}

impl End {
    /// Tells those that want to hear of it: commands always, callbacks while they can answer. Each has the time that it was
    /// registered with; what is running when this is dropped is killed.
    pub(super) async fn tell(&self, occurrence: Occurrence, spec: &Spec, hooks: &SessionHooks) {
        let input = HookInput {
            session_id: self.session,
            transcript_path: spec.environment.transcript_of(self.session),
            cwd: spec.environment.cwd.clone(),
            permission_mode: Some(self.mode),
            agent: None,
            event: occurrence.clone(),
        };
        let Ok(input) = RawJson::encode(&input) else {
            return; // texts under names, which always can be encoded
        };
        let mut running = JoinSet::new();
        for (number, (matcher, name)) in (1..).zip(concerned(&spec.hooks, &occurrence)) {
            if !self.asks_sdk && !hooks.commands.contains_key(name) {
                continue;
            }
            let id = EffectId {
                session: self.session,
                agent: 0,
                turn: 0,
                call: 0,
                stage: Stage::Hook(occurrence.event(), number),
                attempt: 1,
            };
            let call = HookCall {
                hook: name.to_owned(),
                event: occurrence.event(),
                input: input.clone(),
                tool_use_id: None,
                timeout_ms: matcher.timeout_ms,
                kind: matcher.kind,
            };
            let limit = Duration::from_millis(matcher.timeout_ms);
            let mut answers = hooks.run(id, call, CancelSignal::new());
            running.spawn(async move {
                let told = async { while answers.next().await.is_some() {} };
                // What it says changes nothing, and its silence does not, either.
                let _ = tokio::time::timeout(limit, told).await;
            });
        }
        while running.join_next().await.is_some() {}
    }
}
