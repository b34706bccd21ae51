//! The ways in which promises can be broken.

use alloc::{string::String, vec::Vec};

use windlass_core::effect::EffectId;
use windlass_scripted_model::HistoryFault;

/// A broken promise of the machine.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Violation {
    /// The API would reject a request, or the next one.
    #[error("the API would refuse {place}: {}", faults.iter().map(alloc::string::ToString::to_string).collect::<Vec<_>>().join("; "))]
    History {
        /// The request, or the current history.
        place: String,
        /// Every fault.
        faults: Vec<HistoryFault>,
    },
    /// A tool runs without a decision.
    #[error("{effect} runs {tool} without a recorded decision")]
    NoDecision {
        /// The call.
        effect: EffectId,
        /// Its tool.
        tool: String,
    },
    /// A denied call runs.
    #[error("{effect} runs {tool} although it is denied: {why}")]
    Denied {
        /// The call.
        effect: EffectId,
        /// Its tool.
        tool: String,
        /// The reason of the denial.
        why: String,
    },
    /// A refused call runs.
    #[error("{effect} runs {tool} although {by} refused it")]
    Refused {
        /// The call.
        effect: EffectId,
        /// Its tool.
        tool: String,
        /// The origin of the refusal.
        by: String,
    },
    /// A call that requires the consent of a person runs without a question.
    #[error("{effect} runs {tool} although nobody said yes to it")]
    NoConsent {
        /// The call.
        effect: EffectId,
        /// Its tool.
        tool: String,
    },
    /// There is a result, or an agent, of a call that was never approved.
    #[error("the call {tool_use_id} {what} without a recorded decision")]
    Undecided {
        /// The model's id of the call.
        tool_use_id: String,
        /// The sign that it ran.
        what: &'static str,
    },
    /// An effect is issued under the name of one that is running or has ended.
    #[error("{effect} names two different effects")]
    NameTwice {
        /// The name.
        effect: EffectId,
    },
    /// An effect that is not running is cancelled or dropped, or an effect is cancelled twice.
    #[error("{effect} is stopped, but does not run")]
    NotRunning {
        /// Its name.
        effect: EffectId,
    },
    /// A result was emitted while effects of its run were open.
    #[error("the result came while {effect} was under way")]
    OutlivesResult {
        /// The effect.
        effect: EffectId,
    },
    /// Something was emitted between a result and the next prompt.
    #[error("outside of a run: {what}")]
    OutsideOfRun {
        /// The output.
        what: String,
    },
    /// The number of results does not match the number of prompts.
    #[error("{prompts} prompts, {inits} beginnings and {results} results")]
    ResultCount {
        /// The number of prompts.
        prompts: usize,
        /// The number of `init` messages.
        inits: usize,
        /// The number of `result` messages.
        results: usize,
    },
    /// The fields of a result contradict each other.
    #[error("a result contradicts itself: {what}")]
    ResultFields {
        /// The contradiction.
        what: String,
    },
    /// Something happened before its precondition was stored.
    #[error("{effect} did not wait for {waits_for}")]
    TooEarly {
        /// The effect that was too early.
        effect: EffectId,
        /// The effect that it depends on.
        waits_for: EffectId,
    },
    /// A call has no result, or two.
    #[error("the call {tool_use_id} {what}")]
    CallResult {
        /// The model's id of the call.
        tool_use_id: String,
        /// The problem.
        what: &'static str,
    },
    /// Two messages have the same id.
    #[error("two messages have the id {uuid}")]
    MessageIdTwice {
        /// The id.
        uuid: String,
    },
    /// A sum is wrong.
    #[error("{what} of the result: {found}, but its responses add up to {expected}")]
    Usage {
        /// The sum.
        what: &'static str,
        /// The sum of the responses.
        expected: String,
        /// The value in the result.
        found: String,
    },
    /// A background task did not follow its life cycle, or was lost.
    #[error("the background task {task_id} {what}")]
    Task {
        /// Its id.
        task_id: String,
        /// The problem.
        what: String,
    },
    /// Part of an incomplete response was shown or kept.
    #[error("of a response that did not come to its end: {what}")]
    CutResponse {
        /// The part, and where it appears.
        what: String,
    },
    /// A restored session behaves differently.
    #[error(
        "taken up again, the session does something else after {after}: expected {expected}, found {found}"
    )]
    Restored {
        /// The input after which they differ.
        after: String,
        /// What the original session does.
        expected: String,
        /// What the restored session does.
        found: String,
    },
    /// Another order of answers led to other effects.
    #[error(
        "another order of answers led to other effects: only in the first order {only_first:?}, only in the second {only_second:?}"
    )]
    Permutation {
        /// Effects only in the first order.
        only_first: Vec<EffectId>,
        /// Effects only in the second order.
        only_second: Vec<EffectId>,
    },
    /// An input permitted by the contract was rejected, or the reverse.
    #[error("{input}: {what}")]
    Contract {
        /// The input.
        input: String,
        /// What happened.
        what: String,
    },
    /// A promise of your own agent is broken.
    #[error("{what}")]
    Broken {
        /// The oracle.
        oracle: &'static str,
        /// What happened.
        what: String,
    },
    /// Nothing runs, no timer is set, and the run has not ended.
    #[error("the session hangs in {phase}: {what}")]
    Stuck {
        /// The phase.
        phase: String,
        /// The problem.
        what: &'static str,
    },
}

impl Violation {
    /// The oracle that found it.
    #[must_use]
    pub fn oracle(&self) -> &'static str {
        match self {
            Self::History { .. } => "history",
            Self::NoDecision { .. } | Self::Undecided { .. } => "decision",
            Self::NoConsent { .. } => "consent",
            Self::Denied { .. } => "deny",
            Self::Refused { .. } => "refusal",
            Self::NameTwice { .. } | Self::NotRunning { .. } | Self::OutlivesResult { .. } => {
                "answered"
            }
            Self::OutsideOfRun { .. } | Self::ResultCount { .. } | Self::ResultFields { .. } => {
                "result"
            }
            Self::TooEarly { .. } | Self::CallResult { .. } | Self::MessageIdTwice { .. } => {
                "order"
            }
            Self::Usage { .. } => "usage",
            Self::Task { .. } => "task",
            Self::CutResponse { .. } => "cut",
            Self::Restored { .. } => "restore",
            Self::Permutation { .. } => "permutation",
            Self::Contract { .. } => "contract",
            Self::Broken { oracle, .. } => oracle,
            Self::Stuck { .. } => "progress",
        }
    }
}
