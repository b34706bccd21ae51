//! How promises are broken.

use alloc::{string::String, vec::Vec};

use windlass_core::effect::EffectId;
use windlass_scripted_model::HistoryFault;

/// A broken promise of the machine.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Violation {
    /// The API would refuse what a session says, or would say next.
    #[error("the API would refuse {place}: {}", faults.iter().map(alloc::string::ToString::to_string).collect::<Vec<_>>().join("; "))]
    History {
        /// The request, or the history as it stands.
        place: String,
        /// Every fault.
        faults: Vec<HistoryFault>,
    },
    /// A tool runs, and nothing says why it may.
    #[error("{effect} runs {tool} without a recorded decision")]
    NoDecision {
        /// The call.
        effect: EffectId,
        /// Its tool.
        tool: String,
    },
    /// What is denied runs.
    #[error("{effect} runs {tool} although it is denied: {why}")]
    Denied {
        /// The call.
        effect: EffectId,
        /// Its tool.
        tool: String,
        /// What denies it.
        why: String,
    },
    /// What somebody refused runs.
    #[error("{effect} runs {tool} although {by} refused it")]
    Refused {
        /// The call.
        effect: EffectId,
        /// Its tool.
        tool: String,
        /// Who refused it.
        by: String,
    },
    /// What only a person can answer runs, and nobody was asked.
    #[error("{effect} runs {tool} although nobody said yes to it")]
    NoConsent {
        /// The call.
        effect: EffectId,
        /// Its tool.
        tool: String,
    },
    /// A result, or an agent, of a call that nothing ever let run.
    #[error("the call {tool_use_id} {what} without a recorded decision")]
    Undecided {
        /// The model's id of the call.
        tool_use_id: String,
        /// What shows that it ran.
        what: &'static str,
    },
    /// An effect is issued that runs already, or ended under this name.
    #[error("{effect} names two different effects")]
    NameTwice {
        /// The name.
        effect: EffectId,
    },
    /// An effect that does not run is cancelled or dropped, or is cancelled twice.
    #[error("{effect} is stopped, but does not run")]
    NotRunning {
        /// Its name.
        effect: EffectId,
    },
    /// A result came while effects of its run were under way.
    #[error("the result came while {effect} was under way")]
    OutlivesResult {
        /// The effect.
        effect: EffectId,
    },
    /// Something was said or asked between a result and the next prompt.
    #[error("outside of a run: {what}")]
    OutsideOfRun {
        /// It.
        what: String,
    },
    /// Not one result for each prompt.
    #[error("{prompts} prompts, {inits} beginnings and {results} results")]
    ResultCount {
        /// Prompts that were given.
        prompts: usize,
        /// `init` messages.
        inits: usize,
        /// `result` messages.
        results: usize,
    },
    /// A result whose fields contradict each other.
    #[error("a result contradicts itself: {what}")]
    ResultFields {
        /// How.
        what: String,
    },
    /// Something happened before what it depends on was safe.
    #[error("{effect} did not wait for {waits_for}")]
    TooEarly {
        /// What happened.
        effect: EffectId,
        /// What is not done yet.
        waits_for: EffectId,
    },
    /// A call without a result, or with two.
    #[error("the call {tool_use_id} {what}")]
    CallResult {
        /// The model's id of the call.
        tool_use_id: String,
        /// What is wrong with it.
        what: &'static str,
    },
    /// Two messages of one id.
    #[error("two messages have the id {uuid}")]
    MessageIdTwice {
        /// The id.
        uuid: String,
    },
    /// A sum that does not add up.
    #[error("{what} of the result: {found}, but its responses add up to {expected}")]
    Usage {
        /// Which sum.
        what: &'static str,
        /// What the responses add up to.
        expected: String,
        /// What the result says.
        found: String,
    },
    /// A background task that did not go its way, or was lost on it.
    #[error("the background task {task_id} {what}")]
    Task {
        /// Its id.
        task_id: String,
        /// What is wrong with it.
        what: String,
    },
    /// Something of a response that did not come to its end.
    #[error("of a response that did not come to its end: {what}")]
    CutResponse {
        /// What of it, and where it appears.
        what: String,
    },
    /// A session that was put away and taken up again is another one.
    #[error(
        "taken up again, the session does something else after {after}: expected {expected}, found {found}"
    )]
    Restored {
        /// The input after which they differ.
        after: String,
        /// What the session that was never put away gives.
        expected: String,
        /// What the other one gives.
        found: String,
    },
    /// Another order of answers led to other effects.
    #[error(
        "another order of answers led to other effects: only in the first order {only_first:?}, only in the second {only_second:?}"
    )]
    Permutation {
        /// Names that only the first order has.
        only_first: Vec<EffectId>,
        /// Names that only the second order has.
        only_second: Vec<EffectId>,
    },
    /// What the contract allows was refused, or the other way round.
    #[error("{input}: {what}")]
    Contract {
        /// The input.
        input: String,
        /// What happened.
        what: String,
    },
    /// A promise that is not one of the machine's: those of your own agent.
    #[error("{what}")]
    Broken {
        /// The oracle.
        oracle: &'static str,
        /// What happened.
        what: String,
    },
    /// Nothing runs, nothing is due, and it is not done.
    #[error("the session hangs in {phase}: {what}")]
    Stuck {
        /// Where.
        phase: String,
        /// What is the matter.
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
