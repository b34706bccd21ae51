//! What is known of the model server's responses beside their content: status, id, and how long they took.

use std::collections::BTreeMap;

use windlass_core::{
    EffectId, Millis,
    effect::{Answer, Stage},
};

use crate::protocol::frames::Timing;

/// The header with the id that the model server gives a response.
const REQUEST_ID: &str = "request-id";

/// The model server's last responses.
#[derive(Debug, Default)]
pub(super) struct Responses {
    /// By agent; 0 is the main thread.
    by_agent: BTreeMap<u32, Response>,
    /// The agent that the session was given an answer for last: what it says next is about that agent.
    heard: u32,
    turn_began: Millis,
    timing: Timing,
}

#[derive(Debug, Default)]
struct Response {
    /// The HTTP status, if it is an error.
    status: Option<u16>,
    request_id: Option<String>,
}

impl Responses {
    /// A turn of the main thread begins.
    pub(super) fn turn_begins(&mut self, now: Millis) {
        self.turn_began = now;
        self.timing = Timing::default();
    }

    /// A request is sent.
    pub(super) fn asked(&mut self, id: EffectId, now: Millis) {
        self.by_agent.insert(id.agent, Response::default());
        if is_of_turn(id) {
            let since = now.since(self.turn_began);
            self.timing.request_ms.get_or_insert(since);
        }
    }

    /// The session is about to be given an answer.
    pub(super) fn heard(&mut self, id: EffectId, answer: &Answer, now: Millis) {
        self.heard = id.agent;
        match answer {
            Answer::HttpHead { status, headers } => {
                let named = headers.iter().find(|(name, _)| name == REQUEST_ID);
                let response = Response {
                    // A response that breaks off later has no error status.
                    status: Some(*status).filter(|status| *status >= 400),
                    request_id: named.map(|(_, value)| value.clone()),
                };
                self.by_agent.insert(id.agent, response);
            }
            Answer::HttpBody(_) if is_of_turn(id) && self.status().is_none() => {
                let since = now.since(self.turn_began);
                self.timing.first_byte_ms.get_or_insert(since);
            }
            _ => {}
        }
    }

    /// Something of a response reaches the reader.
    pub(super) fn shown(&mut self, now: Millis) {
        if self.timing.first_byte_ms.is_some() {
            let since = now.since(self.turn_began);
            self.timing.first_frame_ms.get_or_insert(since);
        }
    }

    /// The status of the response that is being told of, if it is an error.
    pub(super) fn status(&self) -> Option<u16> {
        self.by_agent.get(&self.heard)?.status
    }

    /// Its id.
    pub(super) fn request_id(&self) -> Option<&str> {
        self.by_agent.get(&self.heard)?.request_id.as_deref()
    }

    /// How long the turn has taken so far.
    pub(super) fn timing(&self) -> Timing {
        self.timing
    }
}

/// Whether a request is for an answer of the main thread.
fn is_of_turn(id: EffectId) -> bool {
    id.agent == 0 && id.stage == Stage::Model
}
