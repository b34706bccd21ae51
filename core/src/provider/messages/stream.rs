//! A streamed response: `message_start`, blocks with their deltas, `message_delta`, `message_stop`.

use alloc::{
    borrow::Cow,
    boxed::Box,
    format,
    string::{String, ToString},
    vec::Vec,
};

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{
    block::{Building, Delta},
    error, plain_delta,
};
use crate::{
    json::RawJson,
    model::{CacheCreation, ServerToolUse, StopReason, Usage, is_fast, is_us},
    provider::{Decoder, MOST_BLOCKS, Response, WireError, error_response::garbled_event},
    sorted::SortedMap,
    sse::SseParser,
};

/// Decodes the event stream.
#[derive(Debug)]
pub(super) struct StreamDecoder {
    sse: SseParser,
    message: Accumulated,
    events: Option<Vec<RawJson>>,
}

#[derive(Debug, Default)]
struct Accumulated {
    /// The number of events with content, plus the bytes of text in them.
    progress: u64,
    started: bool,
    stopped: bool,
    id: String,
    model: String,
    /// The blocks by index; several may be open at once.
    blocks: SortedMap<u32, Building>,
    stop_reason: Option<StopReason>,
    stop_sequence: Option<String>,
    usage: Usage,
}

/// Any event, flat and borrowed.
#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(default)]
    index: u32,
    #[serde(borrow, default)]
    delta: Option<Delta<'a>>,
    #[serde(borrow, default)]
    content_block: Option<&'a RawValue>,
    #[serde(borrow, default)]
    message: Option<&'a RawValue>,
    #[serde(borrow, default)]
    usage: Option<&'a RawValue>,
    #[serde(default)]
    error: Option<error::ErrorBody>,
}

#[derive(Deserialize)]
struct StartedMessage {
    #[serde(default)]
    id: String,
    #[serde(default)]
    model: String,
    #[serde(default)]
    usage: Option<UsageUpdate>,
}

/// Counts as reported: each replaces the earlier one; absent ones leave it.
#[derive(Default, Deserialize)]
#[serde(default)]
struct UsageUpdate {
    input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    server_tool_use: Option<ServerToolUse>,
    cache_creation: Option<CacheCreation>,
    #[serde(rename = "inference_geo", deserialize_with = "is_us")]
    is_us: bool,
    #[serde(rename = "speed", deserialize_with = "is_fast")]
    is_fast: bool,
}

impl StreamDecoder {
    pub(super) fn new(wants_events: bool) -> Self {
        Self {
            sse: SseParser::for_model_servers(),
            message: Accumulated::default(),
            events: wants_events.then(Vec::new),
        }
    }
}

impl Decoder for StreamDecoder {
    fn feed(&mut self, bytes: &[u8]) -> Result<(), WireError> {
        let Self {
            sse,
            message,
            events,
        } = self;
        let mut outcome = Ok(());
        sse.feed(bytes, |data| {
            if outcome.is_ok() && !message.stopped {
                outcome = message.event(data, events.as_mut());
            }
        })
        .map_err(|e| WireError::garbled(&e.to_string()))?;
        outcome
    }

    fn take_events(&mut self) -> Vec<RawJson> {
        self.events
            .as_mut()
            .map(core::mem::take)
            .unwrap_or_default()
    }

    fn is_complete(&self) -> bool {
        self.message.stopped
    }

    fn progress(&self) -> Option<u64> {
        Some(self.message.progress)
    }

    fn finish(self: Box<Self>) -> Result<Response, WireError> {
        let message = self.message;
        // Some servers leave `message_stop` out; after a stop reason nothing can be missing.
        if !message.started || !(message.stopped || message.stop_reason.is_some()) {
            return Err(WireError::Cut);
        }
        Ok(message.response())
    }

    fn so_far(self: Box<Self>) -> Option<Response> {
        self.message.started.then(|| self.message.response())
    }
}

impl Accumulated {
    fn response(self) -> Response {
        Response {
            id: self.id,
            model: self.model,
            content: self.blocks.into_values().map(Building::finish).collect(),
            stop_reason: self.stop_reason,
            stop_sequence: self.stop_sequence,
            usage: self.usage,
        }
    }

    fn event(&mut self, data: &[u8], events: Option<&mut Vec<RawJson>>) -> Result<(), WireError> {
        let garbled = |fault| garbled_event(data, &fault);
        let text = crate::json::read::text(data).map_err(garbled)?;
        if let Some((index, delta)) = plain_delta::read(text) {
            self.add(index, &delta)?;
        } else {
            let event: Event<'_> = crate::json::read::from_str(text).map_err(garbled)?;
            self.apply(&event)?;
            if event.kind == "ping" {
                return Ok(());
            }
        }
        if let Some(events) = events {
            events.extend(RawJson::of_read(text));
        }
        Ok(())
    }

    fn add(&mut self, index: u32, delta: &Delta<'_>) -> Result<(), WireError> {
        let block = self.blocks.get_mut(&index).ok_or_else(|| {
            WireError::garbled(&format!(
                "a delta for content block {index}, which was never started"
            ))
        })?;
        self.progress += block.add(delta) as u64;
        Ok(())
    }

    fn apply(&mut self, event: &Event<'_>) -> Result<(), WireError> {
        match event.kind.as_ref() {
            "content_block_delta" => {
                self.add(
                    event.index,
                    event.delta.as_ref().unwrap_or(&Delta::default()),
                )?;
            }
            "content_block_start" => {
                let raw = event
                    .content_block
                    .ok_or_else(|| WireError::garbled("content_block_start without a block"))?;
                if self.blocks.len() >= MOST_BLOCKS {
                    return Err(WireError::garbled(
                        "more content blocks than any response has",
                    ));
                }
                self.progress += 1;
                let block = Building::start(raw).map_err(|e| {
                    WireError::garbled(&format!("content block {}: {e}", event.index))
                })?;
                if self.blocks.insert(event.index, block).is_some() {
                    // Continuing would silently lose the first message.
                    return Err(WireError::garbled(&format!(
                        "content block {} was started twice",
                        event.index
                    )));
                }
            }
            "message_start" => {
                let raw = event
                    .message
                    .ok_or_else(|| WireError::garbled("message_start without a message"))?;
                let message: StartedMessage = crate::json::read::from_str(raw.get())
                    .map_err(|e| WireError::garbled(&format!("message_start: {e}")))?;
                self.progress += u64::from(!self.started);
                self.started = true;
                self.id = message.id;
                self.model = message.model;
                message.usage.unwrap_or_default().apply_to(&mut self.usage);
            }
            "message_delta" => {
                if let Some(delta) = &event.delta {
                    if let Some(reason) = delta.stop_reason {
                        self.progress += u64::from(self.stop_reason.is_none());
                        self.stop_reason = crate::json::read::from_str(reason.get())
                            .map_err(|e| WireError::garbled(&format!("stop_reason: {e}")))?;
                    }
                    if let Some(sequence) = &delta.stop_sequence {
                        self.stop_sequence = Some(sequence.to_string());
                    }
                }
                if let Some(usage) = event.usage {
                    crate::json::read::from_str::<UsageUpdate>(usage.get())
                        .map_err(|e| WireError::garbled(&format!("usage: {e}")))?
                        .apply_to(&mut self.usage);
                }
            }
            "message_stop" => {
                if !self.started {
                    return Err(WireError::garbled("message_stop before message_start"));
                }
                self.stopped = true;
            }
            "error" => {
                let unknown = error::ErrorBody::default();
                let body = event.error.as_ref().unwrap_or(&unknown);
                return Err(WireError::Api(error::from_event(body)));
            }
            // `content_block_stop` adds nothing; `ping` and unknown events are ignored.
            _ => {}
        }
        Ok(())
    }
}

impl UsageUpdate {
    fn apply_to(self, usage: &mut Usage) {
        let set = |slot: &mut u64, value: Option<u64>| {
            if let Some(value) = value {
                *slot = value;
            }
        };
        set(&mut usage.input_tokens, self.input_tokens);
        set(
            &mut usage.cache_creation_input_tokens,
            self.cache_creation_input_tokens,
        );
        set(
            &mut usage.cache_read_input_tokens,
            self.cache_read_input_tokens,
        );
        set(&mut usage.output_tokens, self.output_tokens);
        if let Some(server) = self.server_tool_use {
            usage.server_tool_use = server;
        }
        if let Some(written) = self.cache_creation {
            usage.cache_creation = written;
        }
        usage.is_us |= self.is_us;
        usage.is_fast |= self.is_fast;
    }
}
