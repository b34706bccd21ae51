//! Nothing of an incomplete response is shown as a response or kept, except the texts of an interrupted one, if the spec
//! keeps them.
//!
//! The oracle reads everything that the server sends. A response counts as complete when its end mark has been delivered:
//! `message_stop`, `[DONE]`, a stop or finish reason (some servers omit the end mark after it, and only counts can follow a
//! reason), or the last brace of a plain JSON answer.

use alloc::{
    collections::{BTreeMap, BTreeSet},
    format,
    string::{String, ToString},
    vec::Vec,
};

use memchr::memmem;
use serde_json::Value;
use windlass_core::{
    content::Block,
    effect::{Answer, EffectId, Input, Output},
    json::RawJson,
    message::Message,
};

use super::{Check, Oracle, View, Violation, message_of};

/// The oracle of this module.
#[derive(Default)]
pub(super) struct Cut {
    /// The bytes received so far, by request.
    arriving: BTreeMap<EffectId, Vec<u8>>,
    /// Blocks of responses that were shown whole.
    shown: BTreeSet<String>,
    /// The number of messages of the history that have been checked.
    checked: usize,
    /// The same for the histories of subagents: their length in bytes and number of messages.
    of_agents: BTreeMap<u32, (usize, usize)>,
}

impl Oracle for Cut {
    fn name(&self) -> &'static str {
        "cut"
    }

    fn input(&mut self, _view: &View<'_>, input: &Input) -> Check {
        match input {
            Input::Answer(id, Answer::HttpHead { .. }) => {
                self.arriving.insert(*id, Vec::new());
            }
            Input::Answer(id, Answer::HttpBody(piece)) => {
                self.arriving
                    .entry(*id)
                    .or_default()
                    .extend_from_slice(piece);
            }
            _ => {}
        }
        Ok(())
    }

    fn output(&mut self, view: &View<'_>, output: &Output) -> Check {
        let Some(Message::Assistant(said)) = message_of(output) else {
            return Ok(());
        };
        if said.error.is_some() {
            return Ok(());
        }
        let id = said.message.id.as_str();
        let may_be_cut = said.aborted && view.spec.prompt.interrupted_answer.is_kept();
        let came = |body: &Vec<u8>| {
            memmem::find(body, id.as_bytes()).is_some() && (may_be_cut || is_whole(body))
        };
        let is_text =
            |block: &RawJson| matches!(Block::from_raw(block.clone()), Block::Text { .. });
        let is_fit = !said.aborted || may_be_cut && said.message.content.iter().all(is_text);
        if !is_fit || !self.arriving.values().any(came) {
            return Err(Violation::CutResponse {
                what: format!("the message {id} is shown as a response"),
            });
        }
        for block in &said.message.content {
            // Compared as values, because the history encodes them anew.
            let block: Value = serde_json::from_str(block.get()).unwrap_or_default();
            self.shown.insert(block.to_string());
        }
        Ok(())
    }

    fn quiet(&mut self, view: &View<'_>, history: Option<&[Value]>) -> Check {
        if let Some(history) = history {
            // All messages but the last are unchanged, unless the history was compacted.
            let from = self.checked.min(history.len());
            self.checked = history.len().saturating_sub(1);
            history[from..]
                .iter()
                .try_for_each(|message| self.was_shown(message))?;
        }
        // If the messages of agents are not all shown, their histories cannot be checked.
        match view.spec.tools.tasks.tool_calls_only {
            true => Ok(()),
            false => self.agents(view),
        }
    }
}

impl Cut {
    /// Checks the new messages of subagents' conversations.
    fn agents(&mut self, view: &View<'_>) -> Check {
        for (number, id) in view.session.agents() {
            let Some(history) = view.session.agent_history(id) else {
                continue;
            };
            let (seen, checked) = self.of_agents.get(&number).copied().unwrap_or_default();
            let (length, count) = (history.encoded_len(), history.message_count());
            if length == seen {
                continue;
            }
            for line in history.lines().skip(checked.min(count)) {
                let message = serde_json::from_slice(&line).unwrap_or(Value::Null);
                self.was_shown(&message)?;
            }
            self.of_agents
                .insert(number, (length, count.saturating_sub(1)));
        }
        Ok(())
    }

    /// Checks that every block of a response in a history was shown.
    fn was_shown(&self, message: &Value) -> Check {
        if message["role"] != "assistant" {
            return Ok(());
        }
        for block in message["content"].as_array().into_iter().flatten() {
            let text = block.to_string();
            if !self.shown.contains(&text) {
                return Err(Violation::CutResponse {
                    what: format!("the history has the block {text}, which no response had"),
                });
            }
        }
        Ok(())
    }
}

/// Whether a body contains its end mark.
fn is_whole(body: &[u8]) -> bool {
    let has = |mark: &str| memmem::find(body, mark.as_bytes()).is_some();
    has("\"message_stop\"")
        || (has("\"message_delta\"") && has("\"stop_reason\":\""))
        || has("\"finish_reason\":\"")
        || has("data: [DONE]")
        || serde_json::from_slice::<serde::de::IgnoredAny>(body).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_whole_with_its_end_mark() {
        assert!(is_whole(b"{\"id\": \"msg_1\"}"));
        assert!(!is_whole(b"{\"id\": \"msg_1\""));
        assert!(is_whole(
            b"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
        ));
        assert!(is_whole(
            b"data: {\"choices\":[{\"finish_reason\":\"stop\"}]}"
        ));
        assert!(!is_whole(b"event: message_start\ndata: {}\n\n".as_slice()));
    }
}
