//! A session whose transcript ends in the middle of a turn, with a response whose calls wait for a person.

use serde::Deserialize;
use serde_json::value::RawValue;
use windlass_core::RawJson;

use super::{Kind, SavedSession};
use crate::transcript::scribe::{LastResponse, call_in};

impl SavedSession {
    /// The snapshot that was stored with the last line, if there is one.
    #[must_use]
    pub fn snapshot(&self) -> Option<&[u8]> {
        self.snapshot.as_deref()
    }

    /// The response at the end of the transcript.
    #[must_use]
    pub fn last_response(&self) -> LastResponse {
        let Some(last) = self.leaf() else {
            return LastResponse::default();
        };
        let mut response = LastResponse::default();
        let mut next = self.by_id.get(&last).copied();
        let id = next.and_then(|at| self.lines[at].response.as_ref());
        while let Some(at) = next {
            let line = &self.lines[at];
            if line.kind != Kind::Response || line.response.as_ref() != id {
                break;
            }
            response.lines = Some((line.uuid, last));
            let calls = calls_in(&self.text[line.bytes.clone()]);
            response
                .calls
                .extend(calls.into_iter().map(|call| (call, line.uuid)));
            next = line
                .parent
                .and_then(|parent| self.by_id.get(&parent).copied());
        }
        response
    }
}

/// The ids of the calls in a line.
fn calls_in(line: &[u8]) -> Vec<String> {
    #[derive(Deserialize)]
    struct Form<'a> {
        #[serde(borrow)]
        message: Message<'a>,
    }
    #[derive(Deserialize)]
    struct Message<'a> {
        #[serde(borrow)]
        content: &'a RawValue,
    }
    let content = serde_json::from_slice(line.trim_ascii()).map(|form: Form<'_>| form.message);
    let blocks = content.and_then(|message| serde_json::from_str(message.content.get()));
    let blocks: Vec<RawJson> = blocks.unwrap_or_default();
    blocks.iter().filter_map(call_in).collect()
}
