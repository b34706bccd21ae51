//! Receiving a response.

use alloc::{borrow::ToOwned, format, string::String, vec::Vec};

use super::{
    super::{Event, Shared, Thread},
    failure::transport_error,
    incoming::Body,
    wait::too_large,
};
use crate::{
    effect::{ADDRESS_HEADER, Answer, EffectId, HttpFailure, HttpFailureKind, Stage},
    json::RawJson,
    message::{Message, StreamEvent},
    money::Usd,
    provider::Response,
};

/// At most this many bytes of an error response are read.
const ERROR_BODY_LIMIT: usize = 64 << 10;

impl Thread {
    pub(in crate::session) fn model_answer(
        &mut self,
        shared: &mut Shared,
        id: EffectId,
        answer: Answer,
    ) -> Option<Event> {
        if self.model_call.incoming.as_ref().is_none_or(|i| i.id != id) {
            return None; // the tail of a response that is over or was given up
        }
        match answer {
            Answer::HttpHead { status, headers } => {
                self.note_progress(shared);
                if let Some(info) = self.spec.model.provider.rate_limit(status, &headers) {
                    shared.note_rate_limit(info);
                }
                self.head(status, &headers);
                None
            }
            Answer::HttpBody(bytes) => self.body(shared, &bytes),
            Answer::HttpEnd => self.end(shared),
            Answer::HttpFailed(failure) => self.broken_off(shared, failure),
            // After an interrupt no response is expected: the host dropped it already.
            _ => {
                let dropped = "the host dropped the exchange with the model server";
                let failure = HttpFailure::new(HttpFailureKind::Interrupted, dropped);
                self.broken_off(shared, failure)
            }
        }
    }

    /// The exchange broke off; what was received may suffice.
    pub(super) fn broken_off(
        &mut self,
        shared: &mut Shared,
        failure: HttpFailure,
    ) -> Option<Event> {
        let enough = self.model_call.incoming.as_ref().is_some_and(|incoming| {
            // An error status is sufficient, even if the rest of the body is missing.
            incoming.complete_since.is_some() || matches!(incoming.body, Body::Error { .. })
        });
        if enough {
            self.end(shared)
        } else {
            self.call_failed(shared, transport_error(failure), None)
        }
    }

    fn head(&mut self, status: u16, headers: &[(String, String)]) {
        let header = |name: &str| {
            headers
                .iter()
                .find(|(key, _)| key.eq_ignore_ascii_case(name))
                .map(|(_, value)| value.as_str())
        };
        let wants_events = self.spec.stream.partial_messages;
        let decoder = (200..300).contains(&status).then(|| {
            let content_type = header("content-type").unwrap_or("");
            self.spec.model.provider.decoder(content_type, wants_events)
        });
        let retry_after_ms = header("retry-after").and_then(retry_after);
        if let Some(incoming) = &mut self.model_call.incoming {
            incoming.retry_after_ms = retry_after_ms;
            incoming.body = match decoder {
                Some(decoder) => Body::Success(decoder),
                None => Body::Error {
                    status,
                    bytes: Vec::new(),
                    address: header(ADDRESS_HEADER).map(ToOwned::to_owned),
                },
            };
        }
    }

    fn body(&mut self, shared: &mut Shared, bytes: &[u8]) -> Option<Event> {
        let incoming = self.model_call.incoming.as_mut()?;
        let id = incoming.id;
        let limit = self.spec.model.response.max_bytes;
        if incoming.wait.receives(bytes.len(), limit) {
            shared.cancel(id);
            let failure = HttpFailure::new(HttpFailureKind::TooLarge, &too_large(limit));
            return self.broken_off(shared, failure);
        }
        match &mut incoming.body {
            Body::Awaited => {}
            Body::Error { bytes: held, .. } => {
                let room = ERROR_BODY_LIMIT.saturating_sub(held.len());
                held.extend_from_slice(&bytes[..bytes.len().min(room)]);
            }
            Body::Success(decoder) => {
                let fed = decoder.feed(bytes);
                incoming.wait.progress(decoder.progress(), shared.now.mono);
                let events = decoder.take_events();
                if decoder.is_complete() && incoming.complete_since.is_none() {
                    incoming.complete_since = Some(shared.now.mono);
                }
                self.emit_stream_events(shared, events);
                if let Err(error) = fed {
                    shared.cancel(id);
                    return self.call_failed(shared, error.into_api_error(), None);
                }
            }
        }
        None
    }

    fn emit_stream_events(&mut self, shared: &mut Shared, events: Vec<RawJson>) {
        if self.is_muted() || self.run.is_compacting() || self.model_call.suggestion().is_some() {
            return; // neither a summary nor a suggestion is an answer to anybody
        }
        for event in events {
            let uuid = shared.ids.uuid();
            shared.say(Message::StreamEvent(StreamEvent {
                event,
                parent_tool_use_id: self.parent_tool_use_id(),
                uuid,
                session_id: shared.id,
            }));
        }
    }

    /// Takes what was received of the current response; the rest is ignored.
    pub(in crate::session) fn take_incoming(&mut self) -> Option<Response> {
        match self.model_call.incoming.take()?.body {
            Body::Success(decoder) => decoder.so_far(),
            Body::Awaited | Body::Error { .. } => None,
        }
    }

    /// The response is complete, but the server did not close the connection.
    pub(in crate::session) fn stop_lingering(&mut self, shared: &mut Shared) -> Option<Event> {
        shared.cancel(self.model_call.incoming.as_ref()?.id);
        self.end(shared)
    }

    fn end(&mut self, shared: &mut Shared) -> Option<Event> {
        let incoming = self.model_call.incoming.take()?;
        if incoming.id.stage == Stage::Suggestion {
            if let Body::Success(decoder) = incoming.body
                && let Ok(response) = decoder.finish()
            {
                self.suggested(shared, &response, &incoming.model);
            }
            return None;
        }
        match incoming.body {
            Body::Awaited => {
                let failure = HttpFailure::new(
                    HttpFailureKind::Interrupted,
                    "the model server ended the exchange without an answer",
                );
                self.call_failed(shared, transport_error(failure), None)
            }
            Body::Error {
                status,
                bytes,
                address,
            } => {
                let mut error = self.spec.model.provider.error(status, &bytes);
                if let Some(address) = address {
                    error.message += &format!(" from {address}: check the base URL and the model");
                }
                self.call_failed(shared, error, incoming.retry_after_ms)
            }
            Body::Success(decoder) => match decoder.finish() {
                Ok(response) => self.answered(shared, response, &incoming.model),
                Err(error) => self.call_failed(shared, error.into_api_error(), None),
            },
        }
    }
}

/// The seconds of a `retry-after` header, in milliseconds. Model servers do not use the date form.
fn retry_after(value: &str) -> Option<u64> {
    let seconds = Usd::parse(value.trim())?; // a decimal number, exactly
    Some(seconds.nanos / 1_000_000)
}
