//! The phases of a run and all transitions between them.
//!
//! Everything that affects the order of a run is in [`TABLE`]; what happens inside a phase is elsewhere. The diagram in
//! `docs/architecture.md` is printed from the table.

use alloc::{format, string::String};

use serde::{Deserialize, Serialize};

/// The phase of a session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Phase {
    /// Nothing is running; waits for a prompt.
    #[default]
    Idle,
    /// Hooks run on the prompt.
    Submitting,
    /// The prompt is being written to the transcript.
    SavingPrompt,
    /// A model call is in progress.
    Calling,
    /// Waits before retrying a failed model call.
    Backoff,
    /// The response is being written. No call with effects runs before that.
    SavingResponse,
    /// The response's tool calls are judged and run.
    Tooling,
    /// The results are being written. No request is sent before that.
    SavingResults,
    /// The model has ended its turn, and hooks run on that.
    Concluding,
    /// An interrupt: running effects are being cancelled.
    Stopping,
    /// A summary of the conversation is being requested.
    Compacting,
    /// Waits before retrying a failed summary request.
    CompactingBackoff,
    /// The summary is being written.
    SavingSummary,
    /// The last entries of the run are being written.
    SavingEnd,
    /// The result is being emitted.
    Finishing,
}

/// The events that move a session from one phase to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    /// A prompt arrived.
    Prompt,
    /// All is written, and a model request follows.
    Proceed,
    /// The model ended its turn without giving the structured output: it is reminded.
    AskAgain,
    /// All is written, and there are calls to run.
    RunTools,
    /// All is written, and nothing is left to do or a limit forbids it.
    Stop,
    /// All is written and the model has ended its turn: hooks run.
    Conclude,
    /// Hooks keep the run going.
    GoOn,
    /// A complete response arrived.
    Answered,
    /// The model call failed and will be retried.
    Retry,
    /// Model calls failed; the fallback model takes over.
    FallBack,
    /// The model call failed for good.
    GiveUp,
    /// The server refused the results of the last calls: they are repaired.
    Mend,
    /// The conversation has to be compacted first, or the summary requested again.
    Compact,
    /// The wait is over.
    Due,
    /// Every call has its result.
    Settled,
    /// The run is interrupted, or the host cannot continue.
    Interrupt,
    /// Nothing is running any more.
    Drained,
    /// The last entries are written.
    Saved,
    /// The result was emitted.
    Reported,
}

use Event as E;
use Phase as P;

/// The transition table: the whole order of a run.
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

/// The phase after an event; none if there is no such transition.
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
