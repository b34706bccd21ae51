//! The stream as events of the Messages API, for applications that show a response while it arrives, whichever format the server
//! uses.

use alloc::{format, string::String, vec::Vec};

use crate::{
    json::RawJson,
    model::{StopReason, Usage},
};

/// Events that were not taken yet.
#[derive(Debug, Default)]
pub(super) struct Events(Vec<RawJson>);

impl Events {
    pub(super) fn take(&mut self) -> Vec<RawJson> {
        core::mem::take(&mut self.0)
    }

    pub(super) fn start(&mut self, id: &str, model: &str) {
        self.push(format!(
            r#"{{"type":"message_start","message":{{"model":{},"id":{},"type":"message","role":"assistant","content":[],"stop_reason":null,"stop_sequence":null,"usage":{}}}}}"#,
            RawJson::string(model),
            RawJson::string(id),
            counts(&Usage::default()),
        ));
    }

    pub(super) fn open(&mut self, index: usize, thinking: bool) {
        self.open_block(
            index,
            match thinking {
                true => r#"{"type":"thinking","thinking":"","signature":""}"#,
                false => r#"{"type":"text","text":""}"#,
            },
        );
    }

    pub(super) fn open_call(&mut self, index: usize, id: &str, name: &str) {
        let block = format!(
            r#"{{"type":"tool_use","id":{},"name":{},"input":{{}}}}"#,
            RawJson::string(id),
            RawJson::string(name)
        );
        self.open_block(index, &block);
    }

    pub(super) fn text(&mut self, index: usize, piece: &str) {
        self.delta(index, "text_delta", "text", piece);
    }

    pub(super) fn thinking(&mut self, index: usize, piece: &str) {
        self.delta(index, "thinking_delta", "thinking", piece);
    }

    pub(super) fn arguments(&mut self, index: usize, piece: &str) {
        self.delta(index, "input_json_delta", "partial_json", piece);
    }

    pub(super) fn stop(&mut self, index: usize) {
        self.push(format!(
            r#"{{"type":"content_block_stop","index":{index}}}"#
        ));
    }

    pub(super) fn end(&mut self, reason: Option<&StopReason>, usage: &Usage) {
        let reason = RawJson::encode(&reason).unwrap_or_else(|_| RawJson::null());
        let usage = counts(usage);
        self.push(format!(
            r#"{{"type":"message_delta","delta":{{"stop_reason":{reason},"stop_sequence":null}},"usage":{usage}}}"#
        ));
        self.push(r#"{"type":"message_stop"}"#.into());
    }

    fn open_block(&mut self, index: usize, block: &str) {
        self.push(format!(
            r#"{{"type":"content_block_start","index":{index},"content_block":{block}}}"#
        ));
    }

    fn delta(&mut self, index: usize, kind: &str, field: &str, piece: &str) {
        let piece = RawJson::string(piece);
        self.push(format!(
            r#"{{"type":"content_block_delta","index":{index},"delta":{{"type":"{kind}","{field}":{piece}}}}}"#
        ));
    }

    fn push(&mut self, event: String) {
        // Built from JSON above; an invalid event would be left out.
        self.0.extend(RawJson::parse(event));
    }
}

fn counts(usage: &Usage) -> RawJson {
    // Numbers only: encoding cannot fail.
    RawJson::encode(usage).unwrap_or_else(|_| RawJson::empty_object())
}
