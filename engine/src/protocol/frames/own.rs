//! Frames that no message of the session stands for.

use serde_json::{Map, Value, json};
use windlass_core::{
    SessionId, Uuid,
    hook::HookEvent,
    message::{ResultMessage, ResultSubtype},
    permission::Mode,
};

use super::{Frames, QueuedPrompt, State, StateFrames, ending::Ending};
use crate::protocol::line::to_line;

/// A slash command that the engine answers without the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LocalCommand {
    /// `/clear`: begin anew.
    Clear,
    /// `/cost`: what it has cost.
    Cost,
    /// `/context`: what fills the context.
    Context,
    /// `/rename TITLE`: what the session is called from now on.
    Rename,
}

impl LocalCommand {
    /// The command that a prompt consists of. One alone takes words behind it.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        match text.trim() {
            "/clear" | "/reset" | "/new" => Some(Self::Clear),
            "/cost" | "/usage" => Some(Self::Cost),
            "/context" => Some(Self::Context),
            other => Self::title(other).map(|_| Self::Rename),
        }
    }

    /// The title that a prompt gives the session, which is empty where `/rename` stands alone.
    #[must_use]
    pub fn title(text: &str) -> Option<&str> {
        let behind = text.trim().strip_prefix("/rename")?;
        let is_name = behind.is_empty() || behind.starts_with(char::is_whitespace);
        is_name.then(|| behind.trim())
    }

    /// Its name, without the slash.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Clear => "clear",
            Self::Cost => "cost",
            Self::Context => "context",
            Self::Rename => "rename",
        }
    }
}

impl Frames {
    /// A frame with an id and the session.
    pub(super) fn stamped(&mut self, mut frame: Value) -> String {
        frame["uuid"] = self.ids.uuid().to_string().into();
        frame["session_id"] = self.session_id.to_string().into();
        to_line(&frame)
    }

    /// The session that frames are about from now on.
    pub fn belongs_to(&mut self, session: SessionId) {
        self.session_id = session;
    }

    /// A frame of type `system`.
    pub fn system(&mut self, subtype: &str, mut fields: Value) -> String {
        fields["type"] = "system".into();
        fields["subtype"] = subtype.into();
        self.stamped(fields)
    }

    /// A turn begins; nothing if it has begun.
    pub(super) fn running(&mut self) -> Vec<String> {
        match self.state {
            State::Idle => self.enter(State::Running),
            _ => Vec::new(),
        }
    }

    /// Somebody is being asked, or no longer is.
    pub fn requires_action(&mut self, does: bool) -> Vec<String> {
        match (self.state, does) {
            (State::Running, true) => self.enter(State::RequiresAction),
            (State::RequiresAction, false) => self.enter(State::Running),
            _ => Vec::new(),
        }
    }

    /// Nothing more is owed.
    pub fn idle(&mut self) -> Vec<String> {
        match self.state {
            State::Idle => Vec::new(),
            _ => self.enter(State::Idle),
        }
    }

    fn enter(&mut self, state: State) -> Vec<String> {
        self.state = state;
        let name = match state {
            State::Idle => "idle",
            State::Running => "running",
            State::RequiresAction => "requires_action",
        };
        let mut fields = json!({"state": name});
        match self.settings.states {
            StateFrames::Off => return Vec::new(),
            StateFrames::ForSdk => fields["sdk_host_only"] = true.into(),
            StateFrames::ForCaller => {}
        }
        vec![self.system("session_state_changed", fields)]
    }

    /// The permission mode has changed before there was a session to say so.
    pub fn mode_changed(&mut self, mode: Mode) -> String {
        self.system(
            "status",
            json!({"status": null, "permissionMode": mode.name()}),
        )
    }

    /// The background tasks that run.
    pub fn tasks_changed(&mut self) -> String {
        let tasks = self.tasks.clone();
        self.system("background_tasks_changed", json!({"tasks": tasks}))
    }

    /// What callbacks are told beside the event: the prompt that is being answered, or the `next` one where none is, and what
    /// goes on when the model is done.
    #[must_use]
    pub fn hook_context(
        &self,
        event: HookEvent,
        next: Option<&QueuedPrompt>,
    ) -> Map<String, Value> {
        let mut context = Map::new();
        let prompt = self.turn.prompts.last().or(next);
        if let Some(prompt) = prompt {
            context.insert("prompt_id".to_owned(), prompt.uuid.to_string().into());
        }
        if matches!(event, HookEvent::Stop | HookEvent::SubagentStop) {
            context.insert("background_tasks".to_owned(), self.tasks.clone().into());
            context.insert("session_crons".to_owned(), json!([]));
        }
        context
    }

    /// Whether a background task of this kind (`local_agent`) is known to run.
    #[must_use]
    pub fn has_task_of(&self, kind: &str) -> bool {
        self.tasks.iter().any(|task| task["task_type"] == kind)
    }

    /// A word to the person.
    pub fn informational(&mut self, level: &str, content: &str) -> String {
        self.system("informational", json!({"level": level, "content": content}))
    }

    /// The conversation begins anew under another id. The frame that says so still carries the old one.
    pub fn reset(&mut self, new: SessionId, prompt: Uuid) -> Vec<String> {
        let frame = json!({
            "type": "conversation_reset", "new_conversation_id": new, "trigger": "clear",
            "user_message_uuid": prompt,
        });
        let reset = self.stamped(frame);
        self.tasks.clear();
        let tasks = self.tasks_changed();
        self.session_id = new;
        vec![reset, tasks]
    }

    /// The first frame of a turn that has no session to say it.
    pub fn init(&mut self, mut fields: Value) -> String {
        fields["capabilities"] = json!(super::CAPABILITIES);
        self.system("init", fields)
    }

    /// What the engine says in the place of the model, and the result with the same words. `prompt` was the command; `queued`
    /// prompts wait behind it.
    pub fn local_answer(
        &mut self,
        command: LocalCommand,
        prompt: Option<QueuedPrompt>,
        text: &str,
        queued: usize,
    ) -> Vec<String> {
        let mut lines = Vec::new();
        if !text.is_empty() {
            let id = self.ids.uuid();
            lines.push(self.stamped(json!({
                "type": "assistant",
                "message": {
                    "id": id, "type": "message", "role": "assistant", "model": "<synthetic>",
                    "content": [{"type": "text", "text": text}], "stop_reason": "end_turn",
                    "stop_sequence": null, "usage": windlass_core::provider::Usage::default(),
                },
                "parent_tool_use_id": null,
            })));
        }
        let ending = Ending {
            prompts: prompt.into_iter().collect(),
            queued,
            local_command: Some(command.name()),
            ..Ending::default()
        };
        let result = self.empty_result(ResultSubtype::Success, text.to_owned());
        lines.extend(self.ended(result, ending));
        lines
    }

    /// Something that was sent cannot be answered: the result in the place of an answer. `queued` prompts wait behind it.
    pub fn refusal(&mut self, problem: &str, queued: usize) -> Vec<String> {
        let result = self.empty_result(ResultSubtype::ErrorDuringExecution, problem.to_owned());
        let ending = Ending {
            queued,
            ..Ending::default()
        };
        self.ended(result, ending)
    }

    fn empty_result(&mut self, subtype: ResultSubtype, text: String) -> ResultMessage {
        let is_error = subtype != ResultSubtype::Success;
        ResultMessage {
            subtype,
            is_error,
            duration_ms: 0,
            duration_api_ms: 0,
            num_turns: 0,
            structured_output: None,
            deferred_tool_use: None,
            errors: is_error.then(|| vec![text.clone()]),
            result: (!is_error).then_some(text),
            stop_reason: None,
            total_cost_usd: self.total.spent.cost,
            usage: windlass_core::provider::Usage::default(),
            model_usage: self.total.spent.model_usage.clone(),
            permission_denials: Vec::new(),
            uuid: self.ids.uuid(),
            session_id: self.session_id,
        }
    }
}
