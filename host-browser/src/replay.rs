//! Journals of sessions, recorded here or on any other host.

use wasm_bindgen::prelude::*;
use windlass_core::journal::Journal;

/// Replays a journal: runs a session with the recorded inputs and compares its outputs, byte for byte. Returns the numbers of
/// inputs and of outputs.
///
/// # Errors
/// What is wrong with the journal, or the first difference, with its line.
#[wasm_bindgen]
pub fn replay(journal: &str) -> Result<Vec<u32>, JsError> {
    let replayed = Journal::parse(journal)?.replay()?;
    let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    Ok(vec![count(replayed.inputs), count(replayed.outputs)])
}
