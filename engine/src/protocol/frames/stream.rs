//! The model's stream, as far as it is handed on: what is open of it when somebody interrupts.

use serde::Deserialize;
use serde_json::{Map, Value, json};
use windlass_core::RawJson;

use super::{Facts, Frames};

/// What of the model's stream was handed on and is not closed.
#[derive(Debug, Default)]
pub(super) struct OpenStream {
    /// The message as it began; none while none is open.
    message: Option<Map<String, Value>>,
    /// The block that is open.
    block: Option<u64>,
    /// The texts of the message so far, by block.
    texts: Vec<(u64, String)>,
}

#[derive(Deserialize)]
struct EventHead {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    index: Option<u64>,
    #[serde(default)]
    delta: Option<Piece>,
    #[serde(default)]
    content_block: Option<Piece>,
    #[serde(default)]
    message: Option<RawJson>,
}

#[derive(Deserialize)]
struct Piece {
    #[serde(default)]
    text: Option<String>,
}

impl OpenStream {
    pub(super) fn see(&mut self, event: &RawJson) {
        let Ok(head) = event.decode::<EventHead>() else {
            return;
        };
        match head.kind.as_str() {
            "message_start" => {
                let message = head.message.and_then(|message| message.decode().ok());
                *self = Self {
                    message: Some(message.unwrap_or_default()),
                    ..Self::default()
                };
            }
            "message_stop" => *self = Self::default(),
            "content_block_start" => {
                self.block = head.index;
                if let (Some(index), Some(text)) =
                    (head.index, head.content_block.and_then(|block| block.text))
                {
                    self.texts.push((index, text));
                }
            }
            "content_block_delta" => {
                let text = head.delta.and_then(|delta| delta.text).unwrap_or_default();
                if let Some((index, so_far)) = self.texts.last_mut()
                    && head.index == Some(*index)
                {
                    so_far.push_str(&text);
                }
            }
            "content_block_stop" => self.block = None,
            _ => {}
        }
    }

    /// What was said of the message that is open: its texts, and which of them was cut.
    fn said(&self) -> Vec<(Value, bool)> {
        let Some(message) = &self.message else {
            return Vec::new();
        };
        let texts = self.texts.iter().filter(|(_, text)| !text.is_empty());
        let frames = texts.map(|(index, text)| {
            let mut message = message.clone();
            message.insert(
                "content".to_owned(),
                json!([{"type": "text", "text": text}]),
            );
            (Value::Object(message), self.block == Some(*index))
        });
        frames.collect()
    }

    /// The events that close what is open, as whoever puts the stream together needs them.
    fn close(&mut self) -> Vec<Value> {
        let open = std::mem::take(self);
        if open.message.is_none() {
            return Vec::new();
        }
        let stop = open
            .block
            .map(|index| json!({"type": "content_block_stop", "index": index}));
        let delta = json!({"type": "message_delta", "delta": {"stop_reason": null, "stop_sequence": null},
            "usage": {"output_tokens": 0}});
        stop.into_iter()
            .chain([delta, json!({"type": "message_stop"})])
            .collect()
    }
}

impl Frames {
    /// Before each request, where the stream is handed on.
    pub(super) fn requesting(&mut self, event: &RawJson) -> Option<String> {
        let starts = event
            .decode::<EventHead>()
            .is_ok_and(|head| head.kind == "message_start");
        starts.then(|| self.system("status", json!({"status": "requesting"})))
    }

    /// What the model had said when it was interrupted. Only who is shown the stream is shown it: the conversation goes on
    /// without.
    pub(super) fn cut_words(&mut self, facts: Facts) -> Vec<String> {
        let said = self.turn.stream.said();
        let frame = |(message, is_cut): (Value, bool)| {
            let mut frame =
                json!({"type": "assistant", "message": message, "parent_tool_use_id": null});
            if is_cut {
                frame["aborted"] = true.into();
            }
            if let Some(at) = facts.at {
                frame["timestamp"] = at.to_rfc3339().into();
            }
            self.stamped(frame)
        };
        said.into_iter().map(frame).collect()
    }

    /// Closes the stream that an interrupt has cut.
    pub(super) fn close_stream(&mut self) -> Vec<String> {
        let events = self.turn.stream.close();
        let frame =
            |event| json!({"type": "stream_event", "event": event, "parent_tool_use_id": null});
        events
            .into_iter()
            .map(|event| self.stamped(frame(event)))
            .collect()
    }
}
