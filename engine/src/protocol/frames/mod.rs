//! Converts the messages of a session to the frames that an SDK reads.
//!
//! [`Frames`] is told about events (a prompt is accepted, the session sends a message, a permission question is open) and
//! returns the lines to write, in order. It has no other inputs, so a conversation can be tested as data.

mod ending;
mod own;
mod stream;
mod task;
mod turn;

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value, json};
use windlass_core::{
    Message, RawJson, Seeded, SessionId, UnixMillis,
    content::Block,
    context::{CompactionTrigger, interruption::INTERRUPTED_IN_CALLS},
    message::{AssistantMessage, SystemMessage, UserMessage},
};

pub use self::{own::LocalCommand, turn::QueuedPrompt};
use self::{task::RunningAgent, turn::Turn};
pub use super::CAPABILITIES;
use super::line::to_line;
use crate::{block_uuid, transcript::CostState};

/// The status with which a model server reports that it is overloaded.
const OVERLOADED: u16 = 529;

/// Whether `session_state_changed` frames are written, and for which reader.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum StateFrames {
    /// They are not written.
    #[default]
    Off,
    /// For the SDK, which does not pass them on (`CLAUDE_CODE_SDK_READS_SESSION_STATE`).
    ForSdk,
    /// For the caller (`CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS`).
    ForCaller,
}

/// Which frames are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FrameSettings {
    /// Repeat prompts when they are taken in (`--replay-user-messages`).
    pub replay: bool,
    /// Pass on stream events (`--include-partial-messages`).
    pub partial: bool,
    /// State frames.
    pub states: StateFrames,
}

/// Facts that accompany a message and are known only to the host.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Facts {
    /// The HTTP status of the model server's last response, if there was one.
    pub http_status: Option<u16>,
    /// The time of the message.
    pub at: Option<UnixMillis>,
    /// The number of prompts that no turn has taken in yet.
    pub queued: usize,
}

/// The state of a session, as reported by state frames.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum State {
    #[default]
    Idle,
    Running,
    RequiresAction,
}

/// Converts events to frames.
#[derive(Debug)]
pub struct Frames {
    settings: FrameSettings,
    session_id: SessionId,
    /// Generates the ids of frames that do not stem from a message of the session.
    ids: Seeded,
    state: State,
    turn: Turn,
    /// The running background tasks: id, kind, description.
    tasks: Vec<Value>,
    /// The running agents, by the calls that started them.
    agents: BTreeMap<String, RunningAgent>,
    /// Whether the last result was an error, which determines the exit code.
    failed: bool,
    /// The number of results so far.
    results: u64,
    /// What the session has cost so far, for results that do not come from a run.
    total: CostState,
}

/// A message with additional fields.
#[derive(Serialize)]
struct With<'a> {
    #[serde(flatten)]
    message: &'a Message,
    #[serde(flatten)]
    more: Map<String, Value>,
}

impl Frames {
    /// A converter for a new session. Ids of frames are derived from `seed`.
    #[must_use]
    pub fn new(session_id: SessionId, settings: FrameSettings, seed: [u8; 32]) -> Self {
        Self {
            settings,
            session_id,
            ids: Seeded::new(seed),
            state: State::Idle,
            turn: Turn::default(),
            tasks: Vec::new(),
            agents: BTreeMap::new(),
            failed: false,
            results: 0,
            total: CostState::default(),
        }
    }

    /// Whether the last result was an error; the exit code is then 1.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.failed
    }

    /// Whether prompts are repeated when they are taken in.
    #[must_use]
    pub fn repeats_prompts(&self) -> bool {
        self.settings.replay
    }

    /// Whether a turn is running or has been requested.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.state != State::Idle
    }

    /// Whether a turn has begun and has no result yet. A background task alone is not a turn.
    #[must_use]
    pub fn is_in_turn(&self) -> bool {
        self.turn.is_open
    }

    /// Whether no background task is running.
    #[must_use]
    pub fn has_no_tasks(&self) -> bool {
        self.tasks.is_empty()
    }

    /// Frames for an accepted prompt.
    pub fn accepted(&mut self, prompt: &QueuedPrompt) -> Vec<String> {
        let mut lines = self.running();
        lines.extend(self.lifecycle(prompt, "queued"));
        lines
    }

    /// Frames for an accepted prompt that was withdrawn.
    pub fn withdrawn(&mut self, prompt: &QueuedPrompt) -> Vec<String> {
        self.lifecycle(prompt, "cancelled").into_iter().collect()
    }

    /// Whether the turn that is about to end has not been told its prompt: the prompt was dropped before it entered the
    /// conversation, or it was a command to the session.
    #[must_use]
    pub fn lacks_its_prompt(&self) -> bool {
        self.turn.prompts.is_empty() && !self.turn.is_wake
    }

    /// Records that the turn answers this prompt.
    pub fn answers(&mut self, prompt: QueuedPrompt) {
        self.turn.prompts.push(prompt);
    }

    /// Frames for a message of the session.
    pub fn message(&mut self, message: Message, facts: Facts) -> Vec<String> {
        match message {
            Message::Assistant(assistant) => self.assistant(assistant, facts),
            Message::User(user) => self.user(user, facts),
            Message::System(system) => self.system_message(system, facts),
            Message::Result(result) => self.result(result, facts),
            Message::StreamEvent(event) => {
                let mut lines = Vec::new();
                if event.parent_tool_use_id.is_none() {
                    lines.extend(self.requesting(&event.event));
                    self.turn.stream.see(&event.event);
                }
                lines.push(plain(&Message::StreamEvent(event)));
                lines
            }
            other => vec![plain(&other)],
        }
    }

    /// Records a message that is passed on unchanged, without frames. `queued` prompts wait behind it.
    pub fn follow(&mut self, message: &Message, queued: usize) {
        match message {
            Message::System(SystemMessage::Init(init)) => {
                self.session_id = init.session_id;
                self.running();
                self.begin_turn(queued);
            }
            Message::System(SystemMessage::TaskStarted(task)) => {
                self.note_task(task);
            }
            Message::System(SystemMessage::TaskNotification(task)) => {
                self.forget_task(task);
            }
            Message::Result(result) => {
                self.turn = Turn::default();
                self.total = self.total.after(result);
                self.failed = result.is_error;
            }
            _ => {}
        }
    }

    fn begin_turn(&mut self, queued: usize) {
        self.turn = Turn {
            is_open: true,
            is_wake: queued == 0,
            ..Turn::default()
        };
    }

    /// Creates one frame for each content block, as the official engine does.
    fn assistant(&mut self, mut assistant: AssistantMessage, facts: Facts) -> Vec<String> {
        let mut more = Map::new();
        if assistant.error.is_some() {
            // The prefix by which applications recognise such an answer.
            for block in &mut assistant.message.content {
                if let Block::Text { text, .. } = Block::from_raw(block.clone()) {
                    *block = Block::text(&format!("API Error: {text}")).to_raw();
                }
            }
            more.insert("is_api_error_message".to_owned(), true.into());
            if let Some(status) = facts.http_status {
                more.insert("api_error_status".to_owned(), status.into());
            }
        }
        let on_main = assistant.parent_tool_use_id.is_none();
        if on_main {
            self.turn.assistant(&assistant);
            let uuids = self.turn.given_uuids();
            if !self.turn.has_answered && !uuids.is_empty() {
                more.insert("user_message_uuid".to_owned(), json!(uuids[0]));
                more.insert("user_message_uuids".to_owned(), json!(uuids));
            }
            self.turn.has_answered = true;
        }
        let of_agent = self.said_by(assistant.parent_tool_use_id.as_deref(), facts);
        let blocks = assistant.message.content.len();
        let mut lines = Vec::with_capacity(blocks);
        for (index, block) in assistant.message.content.iter().enumerate() {
            let mut frame = assistant.clone();
            // Only the last block of an aborted response is incomplete.
            frame.aborted &= index + 1 == blocks;
            frame.uuid = block_uuid(assistant.uuid, index);
            frame.message.content = vec![block.clone()];
            if assistant.error.is_none() {
                // The final values are part of the result.
                frame.message.stop_reason = None;
                frame.message.stop_sequence = None;
            }
            let mut more = std::mem::take(&mut more);
            more.extend(of_agent.clone());
            lines.push(with(&Message::Assistant(frame), more));
        }
        lines
    }

    fn user(&mut self, mut user: UserMessage, facts: Facts) -> Vec<String> {
        let mut more = Map::new();
        if let Some((call, mut result)) = tool_result(&user) {
            if user.parent_tool_use_id.is_none()
                && self.turn.answered(&call)
                && let Some(blocks) = as_blocks(&mut user)
            {
                result = blocks;
            }
            if user.tool_use_result.is_none() {
                more.insert("tool_use_result".to_owned(), result);
            }
        }
        if user.parent_tool_use_id.is_none() && !user.is_replay {
            self.turn.user_frames += 1;
            self.turn.cut_in_calls |= is_text(&user, INTERRUPTED_IN_CALLS);
        }
        more.extend(self.said_by(user.parent_tool_use_id.as_deref(), facts));
        vec![with(&Message::User(user), more)]
    }

    /// Frames for a prompt that enters the conversation.
    pub fn taken_in(&mut self, prompt: QueuedPrompt, mut user: UserMessage) -> Vec<String> {
        let mut lines: Vec<String> = self.lifecycle(&prompt, "started").into_iter().collect();
        if self.settings.replay {
            user.is_replay = true;
            let mut more = Map::new();
            if let Some(given) = &prompt.given {
                more.insert("uuid".to_owned(), json!(given));
            }
            lines.push(with_replaced(&Message::User(user), more));
        }
        self.turn.prompts.push(prompt);
        lines
    }

    fn system_message(&mut self, system: SystemMessage, facts: Facts) -> Vec<String> {
        match system {
            SystemMessage::Init(init) => {
                self.session_id = init.session_id;
                let mut lines = self.running();
                self.begin_turn(facts.queued);
                let more = json!({"capabilities": CAPABILITIES});
                lines.push(with(&system_of(SystemMessage::Init(init)), fields(more)));
                lines
            }
            SystemMessage::TaskStarted(task) => self.task_started(task),
            SystemMessage::TaskNotification(task) => self.task_ended(task, facts.at),
            SystemMessage::ApiRetry(retry) => {
                let mut more = Map::new();
                if retry.error_status == Some(OVERLOADED) {
                    // A separate error kind for the SDKs, in this frame but not in responses.
                    more.insert("error".to_owned(), "overloaded".into());
                }
                vec![with_replaced(
                    &system_of(SystemMessage::ApiRetry(retry)),
                    more,
                )]
            }
            other => {
                if let SystemMessage::CompactBoundary(boundary) = &other {
                    let trigger = boundary.compact_metadata.trigger;
                    self.turn.was_compacted |= trigger == CompactionTrigger::Manual;
                }
                vec![plain(&system_of(other))]
            }
        }
    }
}

fn system_of(message: SystemMessage) -> Message {
    Message::System(message)
}

/// The fields of a JSON object.
fn fields(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

fn plain(message: &Message) -> String {
    to_line(message)
}

/// A message with additional fields.
fn with(message: &Message, more: Map<String, Value>) -> String {
    match more.is_empty() {
        true => plain(message),
        false => to_line(&With { message, more }),
    }
}

/// A message with some of its fields replaced.
fn with_replaced(message: &Message, more: Map<String, Value>) -> String {
    if more.is_empty() {
        return plain(message);
    }
    let mut frame = fields(serde_json::to_value(message).unwrap_or_default());
    frame.extend(more);
    to_line(&frame)
}

/// The call that a user message answers, and the value for applications if the tool gives no structured one: the content, or
/// the error as text.
fn tool_result(user: &UserMessage) -> Option<(String, Value)> {
    #[derive(serde::Deserialize)]
    struct Block {
        tool_use_id: String,
        #[serde(default)]
        content: Option<RawJson>,
        #[serde(default)]
        is_error: bool,
    }
    let [block] = user.message.content.as_slice() else {
        return None;
    };
    let block: Block = block.decode().ok()?;
    let content: Value = block
        .content
        .and_then(|raw| raw.decode().ok())
        .unwrap_or_default();
    let result = match block.is_error {
        true => format!("Error: {}", words_of(&content)).into(),
        false => content,
    };
    Some((block.tool_use_id, result))
}

/// Whether a user message consists of exactly this text.
fn is_text(user: &UserMessage, text: &str) -> bool {
    let says = |block: &RawJson| Block::from_raw(block.clone()) == Block::text(text);
    matches!(user.message.content.as_slice(), [block] if says(block))
}

/// Converts the content of a result to a list of blocks and returns it, because results of MCP servers are always lists.
/// `None` if it is a list already, or an error text.
fn as_blocks(user: &mut UserMessage) -> Option<Value> {
    let [block] = user.message.content.as_mut_slice() else {
        return None;
    };
    let mut fields: Map<String, Value> = block.decode().ok()?;
    let text = match fields.get("content")? {
        Value::String(text) if fields.get("is_error") != Some(&Value::Bool(true)) => text,
        _ => return None,
    };
    let blocks = json!([{"type": "text", "text": text}]);
    fields.insert("content".to_owned(), blocks.clone());
    *block = RawJson::encode(&fields).ok()?;
    Some(blocks)
}

/// The texts in the content of a result.
fn words_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts: Vec<&str> = blocks
                .iter()
                .filter_map(|block| block["text"].as_str())
                .collect();
            texts.join("\n")
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests;
