//! Running hooks: which ones an occurrence concerns, their time, their answers, what they say together.
//!
//! [`rounds`] knows which are under way, [`round`] runs them, [`settled`] does what they said, [`say`] tells the application.

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

/// Text that hooks add for the model; none for blanks, which the API would refuse.
pub(super) fn context_block(event: HookEvent, text: &str) -> Option<RawJson> {
    let text = text.trim();
    (!text.is_empty()).then(|| {
        let whole = format!("[{} hook] {text}", event.name());
        Block::text(&whole).to_raw()
    })
}

/// The file of a subagent's transcript beside that of the session; empty where none is kept.
pub(super) fn agent_transcript(transcript: &str, agent_id: &str) -> String {
    match transcript.strip_suffix(".jsonl") {
        None => String::new(),
        Some(stem) => format!("{stem}/subagents/agent-{agent_id}.jsonl"),
    }
}
