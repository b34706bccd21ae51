//! Requests to the SDK, and the handling of their answers.

use std::collections::BTreeMap;

use windlass_core::{
    EffectId, Millis, RawJson,
    effect::{Answer, PermissionRequest, PermissionResponse},
    hook::{HookAnswer, HookCall},
    message::PermissionDenial,
    permission::Destination,
};

use super::{
    Engine, Topic,
    io::{ConnectionId, Effect},
    lifecycle::config_changed,
    mcp::ServerMessage,
    pending::Pending,
};
use crate::protocol::{
    frame_limit::{CutChanged, Shortened, TooLong},
    line::to_line,
    sdk_request::{SdkRequest, cancel_frame, permission_response},
};

/// The error text of a request that has no answer when the input ends.
const CLOSED: &str = "Stream closed";

/// The open requests.
#[derive(Debug, Default)]
pub(super) struct Questions {
    open: BTreeMap<String, Open>,
    /// Whether the input has ended, so that no answer can arrive any more.
    is_closed: bool,
}

#[derive(Debug)]
struct Open {
    purpose: Purpose,
    /// The request as sent, without its line: restores texts that were cut.
    shown: Shortened,
}

/// The purpose of a request.
#[derive(Debug)]
pub(super) enum Purpose {
    /// Decide whether this call may run.
    Permission(EffectId, Box<PermissionDenial>),
    /// Run a hook callback of the session, or one for its end.
    Hook {
        id: EffectId,
        event: &'static str,
        /// The hook and its effect, for the debug log.
        what: String,
        asked_at: Millis,
        /// Whether a failure of the hook blocks what it should have judged.
        is_blocking: bool,
    },
    /// Deliver a message to an MCP server in the SDK's process.
    Server(ServerMessage),
    /// Answer the question of this number that a server asks the person.
    Elicitation(ConnectionId, u64),
}

/// Why a request has no usable answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum NoAnswer {
    /// The SDK reported an error, or the input has ended.
    #[error("{0}")]
    Said(String),
    /// The request could not be sent.
    #[error("the SDK could not be asked: {0}")]
    TooLong(#[from] TooLong),
    /// The answer modifies a text that was sent only in part.
    #[error(transparent)]
    CutChanged(#[from] CutChanged),
}

impl Purpose {
    pub(super) fn hook(id: EffectId, call: &HookCall) -> Self {
        Self::Hook {
            id,
            event: call.event.name(),
            what: format!("{} {} ({id})", call.event.name(), call.hook),
            asked_at: Millis::default(),
            is_blocking: false,
        }
    }

    /// Whether it waits for a permission decision.
    fn is_decision(&self) -> bool {
        matches!(self, Self::Permission(..))
    }

    /// The effect of the session that it answers.
    fn effect(&self) -> Option<EffectId> {
        match self {
            Self::Permission(id, _) | Self::Hook { id, .. } => Some(*id),
            Self::Server(message) => message.call(),
            Self::Elicitation(..) => None,
        }
    }
}

impl Questions {
    fn awaits_decision(&self) -> bool {
        self.open.values().any(|open| open.purpose.is_decision())
    }

    /// The request that answers an effect of the session.
    fn of_effect(&self, id: EffectId) -> Option<String> {
        let mut open = self.open.iter();
        let (question, _) = open.find(|(_, open)| open.purpose.effect() == Some(id))?;
        Some(question.clone())
    }

    /// The requests that belong to a connection to a server: those that establish it, and its questions.
    pub(super) fn about_connection(&self, connection: ConnectionId) -> Vec<String> {
        let open = self.open.iter();
        let about = open.filter(|(_, open)| match &open.purpose {
            Purpose::Server(message) => message.connects() == Some(connection),
            Purpose::Elicitation(asking, _) => *asking == connection,
            _ => false,
        });
        about.map(|(question, _)| question.clone()).collect()
    }
}

impl Engine {
    /// Sends a request to the SDK. If it cannot be sent, it fails immediately.
    pub(super) fn ask(&mut self, request: &SdkRequest, purpose: Purpose) {
        let id = self.ids.uuid().to_string();
        let shown = match request.to_shortened_line(&id, self.outbox.longest()) {
            Err(too_long) => return self.has_answer(purpose, Err(too_long.into())),
            Ok(_) if self.questions.is_closed => {
                return self.has_answer(purpose, Err(NoAnswer::Said(CLOSED.to_owned())));
            }
            Ok(shown) => shown,
        };
        if purpose.is_decision() {
            self.outbox.say(|frames| frames.requires_action(true));
        }
        let mut shown = shown;
        self.outbox.line(std::mem::take(&mut shown.line));
        self.questions.open.insert(id, Open { purpose, shown });
    }

    /// Handles an answer of the SDK. An answer without an open request is ignored.
    pub(super) fn question_answered(&mut self, id: &str, answer: Result<RawJson, String>) {
        let Some(Open { purpose, shown }) = self.questions.open.remove(id) else {
            return;
        };
        if purpose.is_decision() {
            self.decided();
        }
        let answer = answer.map_err(NoAnswer::Said);
        let answer = answer.and_then(|answer| Ok(shown.restored(answer)?));
        self.has_answer(purpose, answer);
    }

    /// Reports that no decision is awaited, if that is the case.
    fn decided(&mut self) {
        if !self.questions.awaits_decision() {
            self.outbox.say(|frames| frames.requires_action(false));
        }
    }

    /// Fails all open requests and all later ones, because no answer can arrive any more.
    pub(super) fn close_questions(&mut self) {
        self.questions.is_closed = true;
        while let Some(id) = self.questions.open.keys().next().cloned() {
            self.question_answered(&id, Err(CLOSED.to_owned()));
        }
    }

    /// Cancels a request: the SDK is told that no answer is needed.
    pub(super) fn withdraw_question(&mut self, id: &str) -> Option<Purpose> {
        let open = self.questions.open.remove(id)?;
        self.outbox.line(to_line(&cancel_frame(id)));
        if open.purpose.is_decision() {
            self.decided();
        }
        Some(open.purpose)
    }

    /// Cancels the request that answers an effect of the session; the effect gets no answer.
    pub(super) fn withdraw_question_of(&mut self, id: EffectId) -> Option<Purpose> {
        let question = self.questions.of_effect(id)?;
        self.withdraw_question(&question)
    }

    /// Cancels the request behind an effect that the session cancels. Returns false if there is none.
    pub(super) fn cancel_question_of(&mut self, id: EffectId) -> bool {
        let Some(purpose) = self.withdraw_question_of(id) else {
            return false;
        };
        match purpose {
            Purpose::Hook { what, asked_at, .. } => {
                self.note_end(Topic::Hooks, &what, asked_at, "was cancelled");
            }
            Purpose::Server(message) => self.call_given_up(&message),
            Purpose::Permission(_, call) => self.outbox.frames.undecided(*call),
            Purpose::Elicitation(..) => {}
        }
        self.answer_session(id, Answer::Cancelled);
        true
    }

    fn has_answer(&mut self, purpose: Purpose, answer: Result<RawJson, NoAnswer>) {
        match purpose {
            Purpose::Permission(id, call) => {
                self.permission_answered(id, &described(&call), answer);
            }
            Purpose::Hook {
                id,
                event,
                what,
                asked_at,
                is_blocking,
            } => {
                let answer = hook_answer(event, is_blocking, answer);
                let how = match &answer {
                    HookAnswer::Failed(_) => "failed",
                    _ => "is done",
                };
                self.note_end(Topic::Hooks, &what, asked_at, how);
                let answer = Answer::Hook(answer);
                if !self.end_hook_answered(id, &answer) {
                    self.answer_session(id, answer);
                }
            }
            Purpose::Server(message) => {
                self.server_answered(message, answer.map_err(|error| error.to_string()));
            }
            Purpose::Elicitation(connection, number) => {
                self.elicitation_answered(connection, number, answer);
            }
        }
    }

    /// Asks whether a call may run.
    pub(super) fn ask_permission(&mut self, id: EffectId, request: PermissionRequest) {
        let call = PermissionDenial {
            tool_name: request.tool_name.clone(),
            tool_use_id: request.tool_use_id.clone(),
            tool_input: request.input.clone(),
        };
        self.note(Topic::Permissions, || {
            format!("{} is asked about", described(&call))
        });
        let request = SdkRequest::can_use_tool(request);
        self.ask(&request, Purpose::Permission(id, Box::new(call)));
    }

    fn permission_answered(&mut self, id: EffectId, what: &str, answer: Result<RawJson, NoAnswer>) {
        let response = permission_response(answer.map_err(|error| error.to_string()));
        self.note(Topic::Permissions, || {
            let verdict = match &response {
                PermissionResponse::Allow { .. } => "allowed",
                PermissionResponse::Deny { .. } => "denied",
            };
            format!("{what} is {verdict}")
        });
        match &response {
            PermissionResponse::Allow {
                updated_permissions,
                ..
            } if updated_permissions
                .iter()
                .any(|it| is_kept(it.destination())) =>
            {
                let write = Effect::WritePermissions(updated_permissions.clone());
                self.effect(write, Pending::Permissions(id, Box::new(response)));
            }
            _ => self.answer_session(id, Answer::Permission(response)),
        }
    }

    /// Handles the result of writing permission updates; they apply to the session even if they could not be written.
    pub(super) fn permissions_written(
        &mut self,
        id: EffectId,
        response: PermissionResponse,
        written: Result<Vec<(Destination, String)>, String>,
    ) {
        let files = match written {
            Ok(files) => files,
            Err(word) => {
                self.outbox
                    .say(|frames| vec![frames.informational("warning", &word)]);
                Vec::new()
            }
        };
        self.answer_session(id, Answer::Permission(response));
        for (destination, file) in files {
            let changed = config_changed(destination, file);
            self.send(windlass_core::Input::Occurred(changed));
        }
    }

    /// Calls a hook callback of the SDK.
    pub(super) fn ask_hook(&mut self, purpose: Purpose, call: HookCall) {
        let Purpose::Hook {
            id, event, what, ..
        } = purpose
        else {
            return;
        };
        self.note(Topic::Hooks, || format!("{what} begins"));
        let is_blocking = match &self.session {
            Some(session) => session.blocking.contains(&call.hook),
            None => false,
        };
        let next = self.outbox.queue.first();
        let context = self.outbox.frames.hook_context(call.event, next);
        let fallback_id = self.ids.uuid().to_string();
        let request = SdkRequest::hook_callback(call, &fallback_id, context);
        let purpose = Purpose::Hook {
            id,
            event,
            what,
            asked_at: self.now.mono,
            is_blocking,
        };
        self.ask(&request, purpose);
    }

    fn note_end(&mut self, topic: Topic, what: &str, since: Millis, how: &str) {
        let ms = self.now.mono.since(since);
        self.note(topic, || format!("{what} {how} after {ms} ms"));
    }
}

/// A call as the debug log names it.
fn described(call: &PermissionDenial) -> String {
    format!("{} {}", call.tool_name, call.tool_use_id)
}

/// Whether a destination is a file.
fn is_kept(destination: Destination) -> bool {
    matches!(
        destination,
        Destination::UserSettings | Destination::ProjectSettings | Destination::LocalSettings
    )
}

/// The result of a callback, or the consequence of its failure.
fn hook_answer(event: &str, is_blocking: bool, answer: Result<RawJson, NoAnswer>) -> HookAnswer {
    match answer {
        Ok(output) => HookAnswer::Output(output),
        Err(reason) if is_blocking => HookAnswer::Failed(format!(
            "[callback]: failed; blocking because onFailure is \"block\": {reason}"
        )),
        Err(NoAnswer::Said(reason)) => failed(event, &reason),
        // Its intended decision is unknown, so it does not count as consent.
        Err(reason) => HookAnswer::Failed(reason.to_string()),
    }
}

/// A failed callback has no effect except a message to the user.
fn failed(event: &str, reason: &str) -> HookAnswer {
    let word = format!("A {event} hook callback failed: {reason}");
    match RawJson::encode(&serde_json::json!({"systemMessage": word})) {
        Ok(output) => HookAnswer::Output(output),
        Err(error) => HookAnswer::Failed(error.to_string()),
    }
}
