//! The state of an exchange with a model server.

use alloc::{boxed::Box, string::String, vec::Vec};

use super::wait::{Overdue, Wait};
use crate::{
    effect::{EffectId, Stage},
    id::Millis,
    provider::Decoder,
    spec::ResponseLimits,
};

/// How long a server may take to close the connection after a complete response. Closing it first would cost a new connection on
/// the next turn.
const LINGER_MS: u64 = 1_000;

/// The current exchange of a thread with a model server, if any.
#[derive(Debug, Default)]
pub(in crate::session) struct ModelCall {
    pub(super) incoming: Option<Incoming>,
}

/// A response that is being received.
#[derive(Debug)]
pub(super) struct Incoming {
    pub(super) id: EffectId,
    /// The model that the request was sent to; the setting may change meanwhile.
    pub(super) model: String,
    pub(super) body: Body,
    pub(super) retry_after_ms: Option<u64>,
    pub(super) complete_since: Option<Millis>,
    pub(super) wait: Wait,
}

#[derive(Debug)]
pub(super) enum Body {
    /// No head received yet.
    Awaited,
    Success(Box<dyn Decoder>),
    Error {
        status: u16,
        bytes: Vec<u8>,
        /// The address that returned 404, if the host reported it.
        address: Option<String>,
    },
}

impl ModelCall {
    pub(super) fn begin(&mut self, id: EffectId, model: String, now: Millis) {
        self.incoming = Some(Incoming {
            id,
            model,
            body: Body::Awaited,
            retry_after_ms: None,
            complete_since: None,
            wait: Wait::from(now),
        });
    }

    /// Abandons the response.
    pub(in crate::session) fn give_up(&mut self) {
        self.incoming = None;
    }

    /// Abandons the exchange if it asks for a suggestion; returns its effect.
    pub(in crate::session) fn give_up_suggestion(&mut self) -> Option<EffectId> {
        let suggestion = self.suggestion()?;
        self.give_up();
        Some(suggestion)
    }

    /// The effect of the suggestion that is being received, if any.
    pub(super) fn suggestion(&self) -> Option<EffectId> {
        let id = self.incoming.as_ref()?.id;
        (id.stage == Stage::Suggestion).then_some(id)
    }

    /// Until when the server may take to close the connection after a complete response.
    pub(in crate::session) fn linger_until(&self) -> Option<Millis> {
        let complete_since = self.incoming.as_ref()?.complete_since?;
        Some(complete_since.after(LINGER_MS))
    }
}

impl Incoming {
    /// The earliest time limit, and which one it is.
    pub(super) fn due(&self, limits: &ResponseLimits) -> Option<(Millis, Overdue)> {
        // A complete response only waits for the connection to be closed.
        let waits = self.complete_since.is_none();
        waits.then(|| self.wait.due(limits)).flatten()
    }
}
