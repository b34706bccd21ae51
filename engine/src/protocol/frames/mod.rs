//! Converts the messages of a session to the frames that an SDK reads.
//!
//! [`Frames`] is told about events (a prompt is accepted, the session sends a message, a permission question is open) and
//! returns the lines to write, in order. It has no other inputs, so a conversation can be tested as data.

mod api_error;
mod conversation;
mod ending;
mod measured;
mod own;
mod stream;
mod task;
mod turn;

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value, json};
use windlass_core::{
    Message, Seeded, SessionId, UnixMillis,
    context::CompactionTrigger,
    message::{SystemMessage, UserMessage},
};

use self::{measured::SubagentStats, task::RunningAgent, turn::Turn};
pub use self::{measured::Timing, own::LocalCommand, turn::QueuedPrompt};
pub use super::CAPABILITIES;
use super::line::to_line;
use crate::transcript::CostState;

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
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    /// The HTTP status of the model server's response, if it was an error.
    pub http_status: Option<u16>,
    /// The id that the model server gave its response.
    pub request_id: Option<String>,
    /// How long the turn has taken so far.
    pub timing: Timing,
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
    /// The `init` of a turn whose prompt is still with hooks: it follows them.
    init: Option<String>,
    /// The agents of the session.
    subagents: SubagentStats,
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
            init: None,
            subagents: SubagentStats::default(),
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
        let mut lines = match is_of_hooks(&message) {
            true => Vec::new(),
            false => self.begun(),
        };
        lines.extend(self.frames_of(message, facts));
        lines
    }

    /// The `init` frame of the turn, if it waits for the hooks that its prompt is with.
    pub fn begun(&mut self) -> Vec<String> {
        self.init.take().into_iter().collect()
    }

    fn frames_of(&mut self, message: Message, facts: Facts) -> Vec<String> {
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

    /// Frames for a prompt that enters the conversation.
    pub fn taken_in(&mut self, prompt: QueuedPrompt, mut user: UserMessage) -> Vec<String> {
        let mut lines = self.begun();
        lines.extend(self.lifecycle(&prompt, "started"));
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
                let lines = self.running();
                self.begin_turn(facts.queued);
                let more = json!({"capabilities": CAPABILITIES});
                self.init = Some(with(&system_of(SystemMessage::Init(init)), fields(more)));
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

/// Whether a message tells of hooks, which may be those that a prompt is with.
fn is_of_hooks(message: &Message) -> bool {
    let Message::System(message) = message else {
        return false;
    };
    matches!(
        message,
        SystemMessage::HookStarted(_)
            | SystemMessage::HookProgress(_)
            | SystemMessage::HookResponse(_)
    )
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

#[cfg(test)]
mod tests;
