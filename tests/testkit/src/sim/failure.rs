//! A seed that broke a promise.

use alloc::{format, string::String, vec::Vec};

use super::run::Failed;
use crate::oracle::Violation;

/// A run in which a promise was broken, and the steps before it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("seed {seed}{}, step {step}: [{}] {violation}{}", crashing(*crash_at), violation.oracle(), shown(trace))]
pub struct SimFailure {
    /// The seed; running it again reproduces the failure.
    pub seed: u64,
    /// The step after which a crash was simulated, if any ([`Sim::crashing_at`](super::Sim::crashing_at)).
    pub crash_at: Option<u64>,
    /// The number of steps of the run.
    pub step: u64,
    /// The broken promise.
    pub violation: Violation,
    /// The last inputs and outputs, oldest first.
    pub trace: Vec<String>,
}

impl SimFailure {
    pub(super) fn new(seed: u64, failed: Failed, last: usize) -> Self {
        let mut trace = failed.trace;
        trace.drain(..trace.len().saturating_sub(last));
        Self {
            seed,
            crash_at: None,
            step: failed.step,
            violation: failed.violation,
            trace,
        }
    }

    /// Two runs that contradict each other.
    pub(super) fn between(seed: u64, violation: Violation) -> Self {
        Self {
            seed,
            crash_at: None,
            step: 0,
            violation,
            trace: Vec::new(),
        }
    }

    /// A failure that could not be reproduced with the same seed.
    pub(super) fn vanished(seed: u64) -> Self {
        let violation = Violation::Contract {
            input: format!("the seed {seed}"),
            what:
                "failed once and passed once: the world or an oracle depends on more than the seed"
                    .into(),
        };
        Self::between(seed, violation)
    }
}

fn crashing(at: Option<u64>) -> String {
    at.map_or_else(String::new, |at| format!(" crashing at step {at}"))
}

fn shown(trace: &[String]) -> String {
    if trace.is_empty() {
        return String::new();
    }
    format!("\nthe last steps:\n  {}", trace.join("\n  "))
}
