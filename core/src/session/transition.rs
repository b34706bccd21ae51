//! Every phase of a run and every way from one to the next.
//!
//! Everything that affects the order of a run stands in [`TABLE`]; what happens inside a phase
//! stands elsewhere. The diagram in `docs/architecture.md` is printed from the table.

use alloc::{format, string::String};

use serde::{Deserialize, Serialize};

/// Where a session is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Phase {
    /// Nothing runs; a prompt is awaited.
    #[default]
    Idle,
    /// Hooks look at the prompt.
    Submitting,
    /// The prompt is being written to the transcript.
    SavingPrompt,
    /// The model is being asked.
    Calling,
    /// A failed model call waits to be asked again.
    Backoff,
    /// The response is being written: no call with effects runs before that.
    SavingResponse,
    /// The response's tool calls are judged and run.
    Tooling,
    /// The results are being written: no request goes out before that.
    SavingResults,
    /// The model is done, and hooks look whether it is.
    Concluding,
    /// An interrupt: what runs is being cancelled.
    Stopping,
    /// The model is being asked for a summary of the conversation.
    Compacting,
    /// A failed request for a summary waits to be made again.
    CompactingBackoff,
    /// The summary is being written.
    SavingSummary,
    /// What the run leaves behind is being written.
    SavingEnd,
    /// The result is being reported.
    Finishing,
}

/// What takes a session from one phase to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    /// A prompt came.
    Prompt,
    /// All is written and the model is to be asked.
    Proceed,
    /// The model is done and has not handed over the answer that is wanted: it is told so.
    AskAgain,
    /// All is written and there are calls to run.
    RunTools,
    /// All is written and nothing is left to do, or a limit forbids it.
    Stop,
    /// All is written and the model is done; hooks are asked.
    Conclude,
    /// Hooks want the model to go on.
    GoOn,
    /// A complete response arrived.
    Answered,
    /// The model call failed and will be asked again.
    Retry,
    /// The model cannot be asked; another takes over.
    FallBack,
    /// The model call failed for good.
    GiveUp,
    /// The server refused what the last calls gave: it is made acceptable.
    Mend,
    /// The conversation is to be compacted first, or the summary to be asked for anew.
    Compact,
    /// The wait is over.
    Due,
    /// Every call has its result.
    Settled,
    /// Somebody wants it to stop, or the host cannot go on.
    Interrupt,
    /// Nothing runs any more.
    Drained,
    /// The last entries are written.
    Saved,
    /// The result is out.
    Reported,
}

use Event as E;
use Phase as P;

/// The whole order of a run.
pub(super) const TABLE: &[(Phase, Event, Phase)] = &[
    (P::Idle, E::Prompt, P::Submitting),
    (P::Submitting, E::Proceed, P::SavingPrompt),
    (P::Submitting, E::Stop, P::Finishing),
    (P::Submitting, E::Compact, P::Compacting),
    (P::SavingPrompt, E::Proceed, P::Calling),
    (P::SavingPrompt, E::Stop, P::Finishing),
    (P::SavingPrompt, E::Compact, P::Compacting),
    (P::Calling, E::Answered, P::SavingResponse),
    (P::Calling, E::Retry, P::Backoff),
    (P::Calling, E::FallBack, P::Calling),
    (P::Calling, E::GiveUp, P::Finishing),
    (P::Calling, E::Mend, P::SavingResults),
    (P::Calling, E::Compact, P::Compacting),
    (P::Backoff, E::Due, P::Calling),
    (P::SavingResponse, E::RunTools, P::Tooling),
    (P::SavingResponse, E::Proceed, P::Calling),
    (P::SavingResponse, E::AskAgain, P::SavingPrompt),
    (P::SavingResponse, E::Stop, P::SavingEnd),
    (P::SavingResponse, E::Conclude, P::Concluding),
    (P::Concluding, E::Stop, P::SavingEnd),
    (P::Concluding, E::GoOn, P::SavingPrompt),
    (P::Tooling, E::Settled, P::SavingResults),
    (P::SavingResults, E::Proceed, P::Calling),
    (P::SavingResults, E::Stop, P::Finishing),
    (P::SavingResults, E::Conclude, P::Concluding),
    (P::SavingResults, E::Compact, P::Compacting),
    (P::Compacting, E::Compact, P::Compacting),
    (P::Compacting, E::Answered, P::SavingSummary),
    (P::Compacting, E::Retry, P::CompactingBackoff),
    (P::Compacting, E::Proceed, P::Calling),
    (P::Compacting, E::GiveUp, P::Finishing),
    (P::CompactingBackoff, E::Due, P::Compacting),
    (P::SavingSummary, E::Proceed, P::Calling),
    (P::SavingSummary, E::Stop, P::Finishing),
    (P::Submitting, E::Interrupt, P::Stopping),
    (P::SavingPrompt, E::Interrupt, P::Stopping),
    (P::Calling, E::Interrupt, P::Stopping),
    (P::Backoff, E::Interrupt, P::Stopping),
    (P::SavingResponse, E::Interrupt, P::Stopping),
    (P::Tooling, E::Interrupt, P::Stopping),
    (P::SavingResults, E::Interrupt, P::Stopping),
    (P::Compacting, E::Interrupt, P::Stopping),
    (P::CompactingBackoff, E::Interrupt, P::Stopping),
    (P::SavingSummary, E::Interrupt, P::Stopping),
    (P::Concluding, E::Interrupt, P::Stopping),
    (P::Stopping, E::Drained, P::SavingEnd),
    (P::SavingEnd, E::Saved, P::Finishing),
    (P::SavingEnd, E::Interrupt, P::Finishing),
    (P::Finishing, E::Reported, P::Idle),
];

/// The phase after an event; none when the event has no meaning there.
pub(super) fn next(phase: Phase, event: Event) -> Option<Phase> {
    TABLE
        .iter()
        .find(|(from, on, _)| *from == phase && *on == event)
        .map(|(_, _, to)| *to)
}

/// The table as a Mermaid state diagram.
#[must_use]
pub fn diagram() -> String {
    let mut out = String::from("stateDiagram-v2\n    [*] --> Idle\n");
    for (from, on, to) in TABLE {
        out.push_str(&format!("    {from:?} --> {to:?} : {on:?}\n"));
    }
    out
}
