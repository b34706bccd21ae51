//! Copies of stored sessions.

use wasm_bindgen::prelude::*;
use windlass_engine::transcript::{ResumeOptions, SavedSession};

use crate::session::id_of_session;

/// The lines that a fork of a session begins with, in JSON: its conversation, as a session that goes on has it, up to a message or to
/// the end, under the id of the fork.
///
/// # Errors
/// An id that is none, or a message that is not in the transcript.
#[wasm_bindgen]
pub fn forked(
    session: &str,
    transcript: &str,
    fork: &str,
    up_to: Option<String>,
) -> Result<Vec<String>, JsError> {
    let options = ResumeOptions {
        at: up_to,
        ..ResumeOptions::default()
    };
    let saved = SavedSession::read(id_of_session(session)?, transcript.as_bytes().to_vec());
    let lines = saved.truncated(&options)?.forked(id_of_session(fork)?);
    Ok(lines.iter().map(|line| line.get().to_owned()).collect())
}
