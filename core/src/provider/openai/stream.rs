//! A streamed response: chunks, then `[DONE]`.

use alloc::{boxed::Box, string::ToString, vec::Vec};

use super::{assembly::Assembly, chunk::Chunk, events::Events};
use crate::{
    json::RawJson,
    provider::{Decoder, Response, WireError, error_response::garbled_event},
    sse::SseParser,
};

/// Decodes the chunks.
#[derive(Debug)]
pub(super) struct StreamDecoder {
    sse: SseParser,
    arriving: Arriving,
}

#[derive(Debug)]
struct Arriving {
    response: Assembly,
    events: Option<Events>,
    /// `[DONE]` was received.
    done: bool,
}

impl StreamDecoder {
    pub(super) fn new(wants_events: bool, keeps_reasoning: bool) -> Self {
        Self {
            sse: SseParser::for_model_servers(),
            arriving: Arriving {
                response: Assembly::new(keeps_reasoning),
                events: wants_events.then(Events::default),
                done: false,
            },
        }
    }
}

impl Decoder for StreamDecoder {
    fn feed(&mut self, bytes: &[u8]) -> Result<(), WireError> {
        let Self { sse, arriving } = self;
        let mut outcome = Ok(());
        sse.feed(bytes, |data| {
            if outcome.is_ok() && !arriving.done {
                outcome = arriving.event(data);
            }
        })
        .map_err(|e| WireError::garbled(&e.to_string()))?;
        outcome
    }

    fn take_events(&mut self) -> Vec<RawJson> {
        let events = self.arriving.events.as_mut();
        events.map(Events::take).unwrap_or_default()
    }

    fn is_complete(&self) -> bool {
        self.arriving.done
    }

    fn progress(&self) -> Option<u64> {
        Some(self.arriving.response.progress())
    }

    fn finish(self: Box<Self>) -> Result<Response, WireError> {
        let Arriving { response, done, .. } = self.arriving;
        // Some servers leave `[DONE]` out; after a finish reason only the counts can be missing.
        if response.is_finished() || (done && response.is_answered()) {
            return Ok(response.finish());
        }
        Err(WireError::Cut)
    }

    fn so_far(self: Box<Self>) -> Option<Response> {
        let response = self.arriving.response;
        response.is_answered().then(|| response.finish())
    }
}

impl Arriving {
    fn event(&mut self, data: &[u8]) -> Result<(), WireError> {
        if data.trim_ascii() == b"[DONE]" {
            self.done = true;
            if let Some(events) = self.events.as_mut().filter(|_| self.response.is_answered()) {
                self.response.end(events);
            }
            return Ok(());
        }
        let chunk: Chunk<'_> =
            crate::json::read::from_slice(data).map_err(|e| garbled_event(data, &e))?;
        self.response.add(&chunk, &mut self.events)
    }
}
