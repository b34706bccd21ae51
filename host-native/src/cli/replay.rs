//! `windlass replay JOURNAL`: replays a recorded run.

mod live;

use std::fs;

use windlass::core::journal::Journal;

use super::{Exit, args::ReplayArgs, start_error::StartError, terminal::Stage};

/// Replays a journal and reports whether it takes the same course.
pub(crate) async fn replay(args: ReplayArgs) -> Result<Exit, StartError> {
    let unusable = |reason: String| StartError::File {
        what: "the journal",
        path: args.journal.clone(),
        reason,
    };
    let text = fs::read_to_string(&args.journal).map_err(|error| unusable(error.to_string()))?;
    let journal = Journal::parse(&text).map_err(|error| unusable(error.to_string()))?;
    if args.live_tools {
        return live::replay(journal).await;
    }
    match journal.replay() {
        Ok(replayed) => Ok(say(&format!(
            "the same: {} inputs, {} outputs",
            replayed.inputs, replayed.outputs
        ))),
        Err(difference) => {
            anstream::eprintln!("windlass: {difference}");
            Ok(Exit::Failed)
        }
    }
}

/// Prints a line.
fn say(line: &str) -> Exit {
    match Stage::stdout().plain(&format!("{line}\n")) {
        Ok(()) => Exit::Done,
        Err(_) => Exit::PipeClosed,
    }
}
