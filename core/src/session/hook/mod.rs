//! Running hooks: which ones an event concerns, their time limits, their answers, and the merged outcome.
//!
//! [`rounds`] keeps those in progress, [`round`] runs them, [`settled`] acts on their outcome, [`say`] reports to the
//! application.

mod prompt;
mod round;
mod rounds;
mod say;
mod settled;
mod stop;

pub(super) use self::{
    rounds::{HookRound, Hooks},
    say::stopped_by_hook,
};

use alloc::{format, string::String};

use crate::{content::Block, hook::HookEvent, json::RawJson};

/// Text that hooks add for the model; none for blank text, which the API would refuse.
pub(super) fn context_block(event: HookEvent, text: &str) -> Option<RawJson> {
    let text = text.trim();
    (!text.is_empty()).then(|| {
        let whole = format!("[{} hook] {text}", event.name());
        Block::text(&whole).to_raw()
    })
}

/// The path of a subagent's transcript, next to that of the session; empty if none is kept.
pub(super) fn agent_transcript(transcript: &str, agent_id: &str) -> String {
    match transcript.strip_suffix(".jsonl") {
        None => String::new(),
        Some(stem) => format!("{stem}/subagents/agent-{agent_id}.jsonl"),
    }
}
