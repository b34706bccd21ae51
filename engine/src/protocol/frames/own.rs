//! Frames that do not stem from a message of the session.

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
    /// `/clear`: begin a new conversation.
    Clear,
    /// `/cost`: show the cost of the session.
    Cost,
    /// `/context`: what fills the context.
    Context,
    /// `/rename TITLE`: set the title of the session.
    Rename,
}

impl LocalCommand {
    /// The command that a prompt consists of. Only `/rename` takes an argument.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        match text.trim() {
            "/clear" | "/reset" | "/new" => Some(Self::Clear),
            "/cost" | "/usage" => Some(Self::Cost),
            "/context" => Some(Self::Context),
            other => Self::title(other).map(|_| Self::Rename),
        }
    }

    /// The title that a prompt gives the session; empty for `/rename` without a title.
    #[must_use]
    pub fn title(text: &str) -> Option<&str> {
        let behind = text.trim().strip_prefix("/rename")?;
        let is_name = behind.is_empty() || behind.starts_with(char::is_whitespace);
        is_name.then(|| behind.trim())
    }

    /// The name, without the slash.
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
    /// Adds a new id and the session id to a frame.
    pub(super) fn stamped(&mut self, mut frame: Value) -> String {
        frame["uuid"] = self.ids.uuid().to_string().into();
        frame["session_id"] = self.session_id.to_string().into();
        to_line(&frame)
    }

    /// Sets the session that further frames belong to.
    pub fn belongs_to(&mut self, session: SessionId) {
        self.session_id = session;
    }

    /// A frame of type `system`.
    pub fn system(&mut self, subtype: &str, mut fields: Value) -> String {
        fields["type"] = "system".into();
        fields["subtype"] = subtype.into();
        self.stamped(fields)
    }

    /// Frames for the beginning of a turn; none if it has begun already.
    pub(super) fn running(&mut self) -> Vec<String> {
        match self.state {
            State::Idle => self.enter(State::Running),
            _ => Vec::new(),
        }
    }

    /// Frames for a permission question that is opened, or for the last one that is closed.
    pub fn requires_action(&mut self, does: bool) -> Vec<String> {
        match (self.state, does) {
            (State::Running, true) => self.enter(State::RequiresAction),
            (State::RequiresAction, false) => self.enter(State::Running),
            _ => Vec::new(),
        }
    }

    /// Frames for the end of all work.
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

    /// The frame for a change of the permission mode before the session has begun.
    pub fn mode_changed(&mut self, mode: Mode) -> String {
        self.system(
            "status",
            json!({"status": null, "permissionMode": mode.name()}),
        )
    }

    /// The frame that lists the running background tasks.
    pub fn tasks_changed(&mut self) -> String {
        let tasks = self.tasks.clone();
        self.system("background_tasks_changed", json!({"tasks": tasks}))
    }

    /// The additional fields for hook callbacks: the prompt that is being answered, or else the `next` one, and the
    /// background tasks that continue after the model has stopped.
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

    /// Whether a background task of this kind (`local_agent`) is running.
    #[must_use]
    pub fn has_task_of(&self, kind: &str) -> bool {
        self.tasks.iter().any(|task| task["task_type"] == kind)
    }

    /// A message for the user.
    pub fn informational(&mut self, level: &str, content: &str) -> String {
        self.system("informational", json!({"level": level, "content": content}))
    }

    /// Frames for a new conversation under another id. The first of them still carries the old id.
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

    /// The `init` frame of a turn without a session.
    pub fn init(&mut self, mut fields: Value) -> String {
        fields["capabilities"] = json!(super::CAPABILITIES);
        self.system("init", fields)
    }

    /// Frames for an answer of the engine in place of the model: the message, and a result with the same text. `prompt` was
    /// the command; `queued` prompts wait behind it.
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

    /// The error result for input that cannot be answered. `queued` prompts wait behind it.
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
