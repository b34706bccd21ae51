//! The lines of a journal.

use alloc::{string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use super::JOURNAL_VERSION;
use crate::{
    effect::{Effect, EffectId, Input, Output},
    id::{Now, SessionId},
    json::RawJson,
    session_request::SessionRequest,
    spec::Spec,
};

/// The first line.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Header {
    /// Always `journal`.
    pub(super) windlass: String,
    pub(super) version: u32,
    /// The session request, as [`SessionRequest::to_json`](crate::session_request::SessionRequest::to_json) writes it.
    pub(super) task: RawJson,
    /// The session at the start of the recording, if it was not new.
    #[serde(default)]
    pub(super) snapshot: Option<String>,
}

impl Header {
    pub(super) fn new(task: RawJson, snapshot: Option<String>) -> Self {
        Self {
            windlass: "journal".into(),
            version: JOURNAL_VERSION,
            task,
            snapshot,
        }
    }
}

/// An input and its time.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct InputLine {
    pub(super) now: Now,
    pub(super) input: Input,
}

/// A replacement of the spec, as a session request without a prompt.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ConfigureLine {
    pub(super) configure: RawJson,
}

/// The spec in the form of [`SessionRequest::to_json`](crate::session_request::SessionRequest::to_json).
pub(super) fn task(spec: &Spec, id: Option<SessionId>, seed: [u8; 32]) -> RawJson {
    let task = SessionRequest {
        seed,
        session_id: id,
        prompt: None,
        spec: spec.clone(),
    };
    task.to_json()
}

/// Encodes a value on one line. Strings, numbers, raw JSON and maps with string keys only: encoding cannot fail.
pub(super) fn encode(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// Encodes the outputs of a session.
#[derive(Debug, Default)]
pub(super) struct Outputs {
    /// The body of the previous request.
    body: Vec<u8>,
}

impl Outputs {
    /// The line of an output.
    pub(super) fn line(&mut self, output: &Output) -> String {
        let Output::Effect(id, Effect::Http(request)) = output else {
            return encode(&Line { output });
        };
        let body = request.body_bytes();
        let mut same = (body.iter().zip(&self.body))
            .take_while(|(a, b)| a == b)
            .count();
        // Not in the middle of a character.
        while same > 0 && body.get(same).is_some_and(|byte| byte & 0xc0 == 0x80) {
            same -= 1;
        }
        let line = encode(&Line {
            output: RequestForm::Effect(
                *id,
                HttpForm::Http {
                    method: request.method,
                    path: &request.path,
                    headers: &request.headers,
                    body: BodyForm {
                        same,
                        then: &String::from_utf8_lossy(&body[same..]),
                    },
                },
            ),
        });
        self.body = body;
        line
    }

    /// The line of an input that was refused.
    pub(super) fn refused(problem: &str) -> String {
        #[derive(Serialize)]
        struct Refused<'a> {
            refused: &'a str,
        }
        encode(&Refused { refused: problem })
    }
}

#[derive(Serialize)]
struct Line<T> {
    output: T,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum RequestForm<'a> {
    Effect(EffectId, HttpForm<'a>),
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum HttpForm<'a> {
    Http {
        method: &'a str,
        path: &'a str,
        headers: &'a [(String, String)],
        body: BodyForm<'a>,
    },
}

#[derive(Serialize)]
struct BodyForm<'a> {
    /// The number of leading bytes that are equal to those of the previous request.
    same: usize,
    /// The rest of the body.
    then: &'a str,
}
