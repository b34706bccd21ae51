//! The model's stream as far as it is passed on: tracks what is open when the stream is interrupted.

use serde::Deserialize;
use serde_json::{Value, json};
use windlass_core::RawJson;

use super::Frames;

/// The part of the stream that has been passed on and not closed.
#[derive(Debug, Default)]
pub(super) struct OpenStream {
    /// Whether a message is open.
    is_open: bool,
    /// The index of the open block.
    block: Option<u64>,
}

#[derive(Deserialize)]
struct EventHead {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    index: Option<u64>,
}

impl OpenStream {
    pub(super) fn see(&mut self, event: &RawJson) {
        let Ok(head) = event.decode::<EventHead>() else {
            return;
        };
        match head.kind.as_str() {
            "message_start" => {
                *self = Self {
                    is_open: true,
                    block: None,
                };
            }
            "message_stop" => *self = Self::default(),
            "content_block_start" => self.block = head.index,
            "content_block_stop" => self.block = None,
            _ => {}
        }
    }

    /// The events that close what is open, so that a reader can assemble the stream.
    fn close(&mut self) -> Vec<Value> {
        let open = std::mem::take(self);
        if !open.is_open {
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
    /// The frame before each request, if the stream is passed on.
    pub(super) fn requesting(&mut self, event: &RawJson) -> Option<String> {
        let starts = event
            .decode::<EventHead>()
            .is_ok_and(|head| head.kind == "message_start");
        starts.then(|| self.system("status", json!({"status": "requesting"})))
    }

    /// Closes the stream after an interrupt.
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
