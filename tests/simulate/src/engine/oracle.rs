//! The promises of the engine.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use windlass_core::{Message, SessionId, Uuid};
use windlass_engine::machine::State;

use super::{host::Host, program::Program};

/// What was asked, said and promised so far.
#[derive(Debug, Default)]
pub(super) struct Oracle {
    /// Control requests of the SDK without a reply.
    unanswered: BTreeSet<String>,
    replied: BTreeSet<String>,
    /// Questions of the engine that are open.
    questions: BTreeSet<String>,
    /// What has become of each prompt that its sender has named.
    prompts: BTreeMap<String, &'static str>,
    /// Prompts that had a result, by the ids of their sender, and the sessions in which they had it: `/clear` goes on in
    /// another one.
    answered: BTreeMap<String, SessionId>,
    /// What a program was promised.
    pub(super) program: Program,
    /// Results so far.
    results: u64,
    state: Option<String>,
    has_ended: bool,
}

impl Oracle {
    /// A program hears a message.
    pub(super) fn message(&mut self, message: &Message) -> Result<(), String> {
        let answered = self.program.heard(message)?;
        self.results += u64::from(matches!(message, Message::Result(_)));
        self.answered.extend(answered);
        Ok(())
    }

    pub(super) fn asked(&mut self, id: &str) {
        self.unanswered.insert(id.to_owned());
    }

    pub(super) fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// A line was written.
    pub(super) fn line(&mut self, line: &str) -> Result<Value, String> {
        let text = line.strip_suffix('\n').ok_or("a line without its end")?;
        if text.contains('\n') {
            return Err(format!("more than a line: {text}"));
        }
        let frame: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        match frame["type"].as_str().unwrap_or_default() {
            "control_response" => self.reply(&frame)?,
            "control_request" => {
                let id = frame["request_id"].as_str().unwrap_or_default();
                if !self.questions.insert(id.to_owned()) {
                    return Err(format!("the question {id} is asked twice"));
                }
            }
            "control_cancel_request" => {
                let id = frame["request_id"].as_str().unwrap_or_default();
                if !self.questions.remove(id) {
                    return Err(format!("the question {id} is taken back and was not open"));
                }
            }
            "command_lifecycle" => self.lifecycle(&frame)?,
            "result" => self.result(&frame)?,
            "system" if frame["subtype"] == "session_state_changed" => {
                self.state = frame["state"].as_str().map(ToOwned::to_owned);
            }
            _ => {}
        }
        Ok(frame)
    }

    fn reply(&mut self, frame: &Value) -> Result<(), String> {
        let id = frame["response"]["request_id"].as_str().unwrap_or_default();
        if !self.unanswered.remove(id) {
            return Err(match self.replied.contains(id) {
                true => format!("the request {id} is answered twice"),
                false => format!("the request {id} is answered and was not made"),
            });
        }
        self.replied.insert(id.to_owned());
        Ok(())
    }

    fn lifecycle(&mut self, frame: &Value) -> Result<(), String> {
        let id = frame["command_uuid"].as_str().unwrap_or_default();
        let known = self.prompts.get(id).copied();
        let state = match (known, frame["state"].as_str().unwrap_or_default()) {
            (None, "queued") => "queued",
            (Some("queued"), "started") => "started",
            (Some("queued" | "started"), "completed") => "completed",
            (Some("queued" | "started"), "cancelled") => "cancelled",
            (known, state) => return Err(format!("the prompt {id} is {state} after {known:?}")),
        };
        self.prompts.insert(id.to_owned(), state);
        Ok(())
    }

    fn result(&mut self, frame: &Value) -> Result<(), String> {
        if frame["result_index"].as_u64() != Some(self.results) {
            let index = &frame["result_index"];
            return Err(format!(
                "the result has the number {index}, not {}",
                self.results
            ));
        }
        self.results += 1;
        let given = frame["user_message_uuids"].as_array().into_iter().flatten();
        let given = given.filter_map(Value::as_str).map(ToOwned::to_owned);
        if frame["subtype"] == "success"
            && frame["is_error"] == false
            && frame.get("local_command").is_none()
        {
            let session = frame["session_id"]
                .as_str()
                .and_then(|id| Uuid::try_parse(id).ok());
            let session = session.ok_or("a result without a session")?;
            self.answered.extend(given.map(|prompt| (prompt, session)));
        }
        Ok(())
    }

    /// The SDK has answered a question.
    pub(super) fn answers(&mut self, id: &str) {
        self.questions.remove(id);
    }

    /// Whether a question is open.
    pub(super) fn is_open(&self, id: &str) -> bool {
        self.questions.contains(id)
    }

    /// Everybody has answered, and nothing waits for the time.
    pub(super) fn quiet(&self, state: State) -> Result<(), String> {
        if let Some(id) = self.unanswered.first() {
            return Err(format!("the request {id} has no reply ({state:?})"));
        }
        self.program.is_owed_nothing(state)?;
        if self.state.as_deref().is_some_and(|state| state != "idle") {
            return Err(format!(
                "nothing is owed, and the state is {:?}",
                self.state
            ));
        }
        Ok(())
    }

    pub(super) fn exit(&mut self) -> Result<(), String> {
        match std::mem::replace(&mut self.has_ended, true) {
            true => Err("it ends twice".to_owned()),
            false => Ok(()),
        }
    }

    pub(super) fn ended(&self, state: State) -> Result<(), String> {
        match state {
            State::Ended => Ok(()),
            state => Err(format!("it has ended and is {state:?}")),
        }
    }

    /// The engine was ended in the middle of whatever it did: what had a result is in the store.
    pub(super) fn crashed(&mut self, host: &Host) -> Result<(), String> {
        let is_kept = |(prompt, session): (&String, &SessionId)| host.has_line(*session, prompt);
        let lost = self.answered.iter().find(|answered| !is_kept(*answered));
        if let Some((prompt, _)) = lost.filter(|_| !host.has_failed()) {
            return Err(format!("the prompt {prompt} had a result and is lost"));
        }
        *self = Self {
            answered: std::mem::take(&mut self.answered),
            ..Self::default()
        };
        Ok(())
    }
}
